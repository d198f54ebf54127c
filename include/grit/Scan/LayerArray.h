//===- LayerArray.h - layers of checkpoints as arrays -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_SCAN_LAYERARRAY_H
#define GRIT_SCAN_LAYERARRAY_H

#include "grit/Container/TensorFile.h"
#include "grit/Format/Description.h"
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace grit::scan {

/// A layer that a tool stored as several tensors (codes, scales, zero points),
/// as one array; or why it is none.
struct LayerArray {
  std::string layer;  ///< the name of the module: "model.layers.0.mlp.up_proj"
  std::string tensor; ///< of what it decodes to: with ".weight", mostly
  std::string family; ///< "gptq", "awq", "nvfp4", ...
  /// The tensors that the layer consists of. Others of the module (a bias,
  /// scales of activations) are none of its concern.
  std::vector<const TensorInfo *> parts;
  /// Of what it decodes to. Rows are outputs: [out, in]. Experts come first:
  /// [expert, out, in].
  std::vector<int64_t> shape;
  /// Its elements in row-major order are those of the shape. So are its
  /// extents, but where groups do not lie along rows.
  std::optional<ArraySpec> array;
  /// Into the mapped files, but for `number`. Of a plane that is a copy, what
  /// it is copied from: see readPlanes.
  std::vector<ByteSpan> planes;

  /// A plane whose values lie in other places of its tensor.
  struct Copy {
    size_t plane;
    std::string name;
    BitField from;
  };
  std::vector<Copy> copies;
  /// The name and the bytes of the one plane that is no tensor but a number;
  /// empty for most layers.
  std::string numberName;
  std::shared_ptr<const std::vector<uint8_t>> number;
  /// A byte that no scale may be; -1: any may.
  int forbiddenScale = -1;
  /// Set when there is no array.
  std::optional<Error> refusal;

  uint64_t bytes() const;
  bool isCopy(size_t plane) const {
    for (const Copy &copy : copies)
      if (copy.plane == plane)
        return true;
    return false;
  }
  /// The names of the planes that are no bytes of the files.
  std::vector<std::string> copiedPlanes() const;
};

/// The planes of a layer, as its contract has them.
struct LayerPlanes {
  std::vector<ByteSpan> spans;
  /// What those spans refer to that are neither of the files nor of the layer.
  std::vector<std::shared_ptr<const std::vector<uint8_t>>> owned;
};

/// Makes the copies that a layer with an array needs; most need none.
Expected<LayerPlanes> readPlanes(const LayerArray &layer);

/// The error, its field prefixed with "layer 'name': ".
Error inLayer(Error error, const LayerArray &layer);

/// What only the codes and scales themselves can refuse: reads planes.
std::optional<Error> checkContents(const LayerArray &layer);

/// A check of the array at level 2.
std::optional<Error> checkPlanes(const LayerArray &layer);

/// What a configuration may leave open.
struct CheckpointOptions {
  /// "gptq" or "gptq_v2", for layers whose configuration has no
  /// checkpoint_format; "": such layers are refused.
  std::string checkpointFormat = {};
};

/// The files of a checkpoint with its layers. Everything refers to the mapped
/// files and lives as long as this object.
class CheckpointFiles {
public:
  CheckpointFiles() = default;
  CheckpointFiles(const CheckpointFiles &) = delete;
  CheckpointFiles &operator=(const CheckpointFiles &) = delete;

  /// A tensor file, an index of several (*.index.json), or a directory: the
  /// files of its index, or else its safetensors files. The configuration
  /// beside them is read.
  static Expected<std::unique_ptr<CheckpointFiles>>
  open(const std::string &path, const CheckpointOptions &options = {});

  const std::string &path() const { return name; }
  std::span<const std::unique_ptr<TensorFile>> files() const { return opened; }
  /// By name.
  std::span<const LayerArray> layers() const { return all; }

private:
  std::string name;
  std::vector<std::unique_ptr<TensorFile>> opened;
  std::vector<LayerArray> all;
};

/// The table of families in Markdown.
std::string layerDocumentation();

} // namespace grit::scan

#endif // GRIT_SCAN_LAYERARRAY_H
