//===- CheckpointItems.h - tensors and layers alike -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_CHECKPOINTITEMS_H
#define GRIT_TOOLS_GRIT_CHECKPOINTITEMS_H

#include "Command.h"
#include "grit/Scan/LayerArray.h"

namespace grit::tool {

/// What a command reads as one: a tensor of the input, or a layer.
struct Item {
  const TensorInfo *tensor = nullptr;
  const scan::LayerArray *layer = nullptr;

  const std::string &name() const {
    return layer ? layer->tensor : tensor->name;
  }
  const ArraySpec *array() const {
    const std::optional<ArraySpec> &spec = layer ? layer->array : tensor->array;
    return spec ? &*spec : nullptr;
  }
  /// Of what it decodes to: a tensor's array may have another shape than the
  /// tensor.
  const std::vector<int64_t> &shape() const {
    if (layer)
      return layer->shape;
    return tensor->array ? tensor->array->shape : tensor->shape;
  }
  /// The planes of an array; of some layers they are made for it.
  Expected<scan::LayerPlanes> planes() const {
    return layer ? readPlanes(*layer) : scan::LayerPlanes{tensor->planes(), {}};
  }
  uint64_t bytes() const {
    return layer ? layer->bytes() : tensor->bytes.size();
  }
};

/// All of them, in the order of their bytes.
struct Plan {
  std::vector<Item> items;
  /// Of layers whose tensors are copied as they are.
  std::vector<std::pair<const scan::LayerArray *, Error>> refusals;
};

/// A layer stands where the first of its tensors stood. With patterns, only
/// layers that one of them names are layers; the tensors of others are tensors.
Plan planOf(const scan::CheckpointFiles &checkpoint,
            const std::vector<std::string> &patterns = {});

/// Drops the refusals of layers whose names no pattern matches: they do not
/// matter where single tensors are asked for.
void keepWanted(Plan &plan, const std::vector<std::string> &patterns);

/// An error for the first pattern that matches neither a tensor nor a layer.
std::optional<Error> checkPatterns(const std::vector<std::string> &patterns,
                                   const Plan &plan,
                                   const scan::CheckpointFiles &checkpoint);

/// Gives memory back after bytes of the files were read.
void release(const scan::CheckpointFiles &checkpoint, ByteSpan part);
void release(const scan::CheckpointFiles &checkpoint, const Item &item);

/// Every tensor as it is, without layers.
Plan planOfTensors(const scan::CheckpointFiles &checkpoint);

/// The files that a command reads, which none may replace.
std::vector<std::string> inputsOf(const scan::CheckpointFiles &checkpoint,
                                  std::vector<std::string> others);

/// --checkpoint-format.
void addCheckpointOptions(CLI::App &app, scan::CheckpointOptions &options);

/// Prints the refusals; false when they stop the work.
bool acceptRefusals(const Plan &plan, bool keep);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_CHECKPOINTITEMS_H
