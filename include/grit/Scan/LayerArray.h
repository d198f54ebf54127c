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
  /// Rows are outputs: [out, in]. Experts come first: [expert, out, in].
  std::optional<ArraySpec> array;
  /// Into the mapped files, but for what `copied` holds.
  std::vector<ByteSpan> planes;
  /// The name and the bytes of the one plane that no tensor holds as it is;
  /// empty for most layers.
  std::string copiedName;
  std::shared_ptr<const std::vector<uint8_t>> copied;
  /// A byte that no scale may be; -1: any may.
  int forbiddenScale = -1;
  /// Set when there is no array.
  std::optional<Error> refusal;

  uint64_t bytes() const;
};

/// The error, its field prefixed with "layer 'name': ".
Error inLayer(Error error, const LayerArray &layer);

/// What only the codes and scales themselves can refuse: reads planes.
std::optional<Error> checkContents(const LayerArray &layer);

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
  open(const std::string &path);

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
