//===- EncodeUnits.h - the elements that encode takes at once -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEUNITS_H
#define GRIT_LIB_FORMAT_ENCODEUNITS_H

#include "grit/Format/Contract.h"
#include "grit/Format/Description.h"
#include "grit/Format/Status.h"
#include <cstdint>

namespace grit {

/// Where a unit lies: `outer` runs of `inner` elements each.
struct UnitPlace {
  int64_t first = 0; ///< row-major index
  int64_t inner = 0, stride = 1;
  int64_t outer = 1, outerStride = 0;

  int64_t size() const { return inner * outer; }
  /// Calls `visit(i, index)` for each element i of the unit, in order, with its
  /// row-major index.
  template <typename Visit> void forEach(const Visit &visit) const {
    int64_t i = 0;
    for (int64_t run = 0; run < outer; ++run)
      for (int64_t j = 0; j < inner; ++j)
        visit(i++, first + run * outerStride + j * stride);
  }
  /// The row-major index of element `i` of the unit.
  int64_t element(int64_t i) const {
    return first + i / inner * outerStride + i % inner * stride;
  }
};

/// An array in units: as many elements as share every factor but those of the
/// whole array, so the largest group there is. Units are numbered as the
/// groups of that factor are.
class UnitMap {
public:
  /// Refuses groups that do not nest.
  static Expected<UnitMap> of(const ArraySpec &spec);

  int64_t count() const { return units; }
  /// Elements of a unit; of a block at the edge there are fewer.
  int64_t size() const { return unitSize; }
  bool isContiguous() const { return !isBlock && stride == 1; }
  UnitPlace place(int64_t unit) const;

  /// Groups of a factor in each unit; 0 for a factor of the whole array.
  int64_t groupsPerUnit(const Factor &factor) const;
  /// Groups of a factor in the array.
  int64_t groups(const Factor &factor) const {
    return factor.group ? units * groupsPerUnit(factor) : 1;
  }

private:
  void layOutBlocks(const ArraySpec &spec, const Factor &factor);
  UnitPlace placeOfBlock(int64_t unit) const;

  int64_t unitSize = 1, units = 0;
  int64_t axis = 1;   ///< extent along which units lie, counted in order
  int64_t stride = 1; ///< between consecutive elements of a unit
  bool isBlock = false;
  int64_t rows = 1, columns = 1;           ///< of the matrices
  int64_t blockRows = 1, blockColumns = 1; ///< of the blocks
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEUNITS_H
