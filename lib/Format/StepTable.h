//===- StepTable.h - float to code by counting thresholds -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_STEPTABLE_H
#define GRIT_LIB_FORMAT_STEPTABLE_H

#include "grit/Format/FormatWord.h"
#include "grit/Format/Status.h"
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace grit {

/// A rounding function from binary32 to codes of at most 8 bits, tabulated: the
/// float at which each code begins. It gives exactly what the function gives,
/// whatever its ties, rounding and saturation, in a few instructions.
class StepTable {
public:
  /// `encode` is called with every float but NaN in mind, ordered from -Inf
  /// over -0 and +0 to +Inf; along that order it must be a step function that
  /// never returns to a code it has left.
  static StepTable build(const std::function<uint8_t(float)> &encode);

  /// encodeWord under this rounding and saturation. Refuses invalid words and
  /// those wider than 8 bits. Words that hold magnitudes (a float or an
  /// exponent without a sign) are tabulated for those alone, not for values
  /// below 0.
  static Expected<StepTable> forWord(FormatWord word, Rounding rounding,
                                     Saturation saturation);

  /// Nearest of ascending `levels`; halfway between two, the upper one. The
  /// distances are compared in binary32.
  static StepTable nearestLevel(std::span<const float> levels);

  /// The code of `x`, which must not be a NaN.
  uint8_t operator()(float x) const {
    int32_t key = orderedKey(x);
    unsigned steps = 0;
    if (small) {
      for (unsigned i = 0; i < kSmall; ++i)
        steps += key >= starts[i];
    } else {
      for (unsigned half = kMax / 2; half; half /= 2)
        steps += key >= starts[steps + half - 1] ? half : 0;
    }
    return codes[steps];
  }

private:
  static constexpr unsigned kSmall = 16, kMax = 256;
  static int32_t orderedKey(float x) {
    int32_t bits = std::bit_cast<int32_t>(x);
    return bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max());
  }

  std::array<int32_t, kMax> starts; ///< key at which code i + 1 begins
  std::array<uint8_t, kMax> codes;
  bool small = true;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_STEPTABLE_H
