//===- PlaneMoves.h - where a relayout moves values -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEMOVES_H
#define GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEMOVES_H

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Format/Layout.h"

namespace grit::ir {

/// The values of one plane as a grid, of which a placement is a permutation: a
/// value for every `unit` elements (`perUnit` for sparse ones), `columns` of
/// them in a row.
struct PlaneGrid {
  ItemPacking packing;
  int64_t columns = 0;
  int64_t rows = 0;       ///< kDynamic when another extent is
  unsigned columnDim = 0; ///< the dimension that the columns are cut from
};

/// The permutation that one plane needs.
struct PlaneMove {
  unsigned plane = 0;
  PlaneGrid grid;
  /// The source slot of the value that goes to a target slot. With a dynamic
  /// number of rows, the steps hold for every number that is a multiple of
  /// `rowMultiple`; domain and range mean nothing then.
  LayoutMap source;
  int64_t rowMultiple = 1;
  /// The number of values where the last byte is not full, else 0.
  int64_t tailedValues = 0;
};

/// The moves that lead from one array type to another, in the order of the
/// planes; planes that stay are left out. Refuses placements that have no map.
Expected<llvm::SmallVector<PlaneMove>> planMoves(ArrayType from, ArrayType to);

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEMOVES_H
