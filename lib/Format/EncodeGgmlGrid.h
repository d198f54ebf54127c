//===- EncodeGgmlGrid.h - what searches over grids share -*- C++ -*-==========//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats whose codes stand for vectors, under scales n that stand for 2n + 1
// and a factor. Byte for byte what ggml writes: all sums run in the order of
// the elements and every product is rounded.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEGGMLGRID_H
#define GRIT_LIB_FORMAT_ENCODEGGMLGRID_H

#include "EncodeGgmlSearch.h"
#include "VectorGrid.h"

namespace grit {

/// How elements are weighed where no importance is given.
enum class GridWeights : uint8_t {
  None,            ///< encode asks for importance
  Squares,         ///< x^2
  SquaresPlusMean, ///< x^2 + a quarter of the mean square
};

/// The weights of a unit, whose mean square is taken `times` times.
std::vector<float> gridWeights(const EncodeUnit &unit, GridWeights kind,
                               float times);

/// A scale for each group as odd integers under a factor.
class OddScales {
public:
  /// Refuses other scales.
  static Expected<OddScales> get(const FormatDescription &format,
                                 std::string_view rule);

  int64_t group() const { return size; }
  /// The factor under which the largest scale is the largest integer; it may be
  /// 0 for the least floats.
  float factorOf(float largest) const {
    return largest / static_cast<float>(2 * most + 1);
  }
  /// The code of a scale over the factor.
  uint32_t codeOf(float reciprocal, float scale) const {
    return static_cast<uint32_t>(
        clampedInt(0.5f * (reciprocal * scale - 1), most));
  }
  uint32_t factorCode(float factor) const {
    return wordCode(outer, factor, kIeee);
  }

private:
  Number outer;
  int64_t size = 0;
  int most = 0; ///< the largest code of a scale
};

/// Stores a code of a vector.
inline void setVector(EncodeUnit &unit, size_t index, uint32_t code) {
  if (unit.wideCodes.empty())
    unit.codes[index] = static_cast<uint8_t>(code);
  else
    unit.wideCodes[index] = code;
}

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEGGMLGRID_H
