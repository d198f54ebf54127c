//===- VectorGrid.h - the vectors of a level and their neighbours -*- C++ -*-=//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A level whose codes stand for vectors holds few distinct numbers. With each
// number replaced by its rank among them, a vector is a point of a small cube
// of integers. Of every point of the cube the grid knows the code, or the codes
// of the vectors around it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_VECTORGRID_H
#define GRIT_LIB_FORMAT_VECTORGRID_H

#include "grit/Format/Description.h"
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace grit {

class VectorGrid {
public:
  /// Neighbours of a point are the vectors at its `rings` smallest distances.
  /// Null for a level that is no table of vectors, or whose cube has more than
  /// 2^16 points. A grid is computed once and kept.
  static std::shared_ptr<const VectorGrid> get(const Level &level,
                                               unsigned rings);

  /// Elements of a vector.
  unsigned size() const { return dims; }
  /// The distinct numbers, ascending.
  std::span<const float> numbers() const { return distinct; }

  /// The number of a point of the cube, whose ranks are below numbers().size().
  uint32_t point(const uint8_t *ranks) const {
    uint32_t index = 0;
    for (unsigned i = dims; i-- > 0;)
      index = index * radix + ranks[i];
    return index;
  }
  /// The code of the vector at a point, or -1.
  int32_t codeAt(uint32_t point) const { return codes[point]; }
  /// The vectors around a point that is none: by distance, then by code.
  std::span<const uint16_t> neighbours(uint32_t point) const {
    return std::span(lists).subspan(starts[point],
                                    starts[point + 1] - starts[point]);
  }
  /// The ranks of a vector's elements.
  const uint8_t *ranks(uint32_t code) const { return &table[code * dims]; }

private:
  VectorGrid(const Level &level, std::vector<float> distinct);
  void findNeighbours(unsigned rings);
  void addNeighbours(uint32_t point, unsigned rings,
                     std::vector<uint32_t> &distances);

  unsigned dims, radix;
  std::vector<float> distinct;
  std::vector<uint8_t> table; ///< ranks, vector by vector
  std::vector<uint8_t> axes;  ///< the same, axis by axis
  std::vector<int32_t> codes; ///< by point
  std::vector<uint32_t> starts;
  std::vector<uint16_t> lists;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_VECTORGRID_H
