//===- LayerArrays.h - from recognized tensors to arrays -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_LAYERARRAYS_H
#define GRIT_LIB_SCAN_LAYERARRAYS_H

#include "LayerFamilies.h"
#include "Layers.h"
#include "grit/Scan/LayerArray.h"

namespace grit::scan {

/// The sizes of a layer; 0 is unknown.
struct LayerSizes {
  int64_t bits = 0, rows = 0, columns = 0, group = 0;
  int64_t padded = 0; ///< groups of a row with those that fill it up
  int64_t blockRows = 128, blockColumns = 128;
  std::vector<int64_t> lead;  ///< axes before rows and columns
  std::vector<int64_t> shape; ///< as a tensor of the layer states it

  /// The shape of the layer; empty while it is unknown.
  std::vector<int64_t> full() const;
  /// The number of elements, 0 while the shape is unknown.
  int64_t total() const;
};

/// A part that is there, and its row.
struct FoundPart {
  const PartRow *row;
  const TensorInfo *info;
};

/// What an extent comes to; nothing while that is unknown or not whole.
std::optional<int64_t> extentOf(Count count, const LayerSizes &sizes);

/// Derives what the shapes imply, from what is known already. The parts' shapes
/// are compared with the result.
std::optional<Error> solveSizes(const FamilyRow &family,
                                const std::vector<FoundPart> &parts,
                                LayerSizes &sizes);

/// What a tensor that is no plane says about sizes; its number in `stated`
/// where the state holds a plane.
std::optional<Error> readStated(const FamilyRow &family, const FoundPart &part,
                                LayerSizes &sizes,
                                std::optional<float> &stated);
/// Compares such a tensor with the sizes and the contract.
std::optional<Error> checkStated(const FoundPart &part, const LayerSizes &sizes,
                                 const Contract &contract);

/// The array of a module; nothing when it is no quantized layer of a family.
std::optional<LayerArray> arrayOf(const Module &module,
                                  const Checkpoint &checkpoint);
/// Of all modules, by name.
std::vector<LayerArray> arraysOf(const Checkpoint &checkpoint);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_LAYERARRAYS_H
