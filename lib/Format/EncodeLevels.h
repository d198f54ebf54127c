//===- EncodeLevels.h - the nearest codes of any level -*- C++ -*-============//
//-*-=============//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODELEVELS_H
#define GRIT_LIB_FORMAT_ENCODELEVELS_H

#include "NearestCode.h"
#include "StepTable.h"
#include "VectorGrid.h"
#include "grit/Format/Description.h"
#include <memory>
#include <optional>
#include <span>

namespace grit {

/// The codes whose levels are nearest to given numbers, for any level without a
/// book.
class NearestLevels {
public:
  /// The most elements of a vector.
  static constexpr unsigned kMostElements = 16;

  explicit NearestLevels(const FormatDescription &format);

  /// Elements of a code.
  unsigned size() const { return vector; }

  /// The level of element `position` of a code.
  float levelOf(uint32_t code, size_t position) const {
    const size_t entry = code * vector + position;
    return entry < table.size() ? table[entry] : level.decode(code);
  }

  /// Where codes stand for elements: the nearest to a number.
  uint32_t nearest(float number) const {
    return steps ? codes[(*steps)(number)] : nearestOfMany(number);
  }

  /// Where codes stand for vectors: adds those to try for `size` numbers to
  /// `codes`, one or, where the vectors leave a gap, those around it.
  void near(std::span<const float> numbers, std::vector<uint32_t> &codes) const;

  /// The level of largest magnitude.
  float largest() const { return most; }
  /// True when the negative of every level is one.
  bool isSymmetric() const { return symmetric; }

private:
  uint32_t nearestOfMany(float number) const;

  const Level &level;
  unsigned vector;
  NearestCode wide;         ///< for codes of too many values for `steps`
  std::vector<float> table; ///< the levels of each code, where it is short
  std::vector<float> values;
  std::vector<uint32_t> codes; ///< of `values`
  std::optional<StepTable> steps;
  std::shared_ptr<const VectorGrid> grid;
  float most = 0;
  bool symmetric = true;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODELEVELS_H
