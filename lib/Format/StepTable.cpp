//===- StepTable.cpp - float to code by counting thresholds ---------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTable.h"

#include <algorithm>

using namespace grit;

/// The float whose ordered key is `key` (the mapping is its own inverse).
static float floatAt(int64_t key) {
  int32_t bits = static_cast<int32_t>(key);
  return std::bit_cast<float>(
      bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max()));
}

StepTable StepTable::build(const std::function<uint8_t(float)> &encode) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const int64_t last = orderedKey(inf);
  StepTable table;
  // No key reaches the filler, so unused entries never count.
  table.starts.fill(std::numeric_limits<int32_t>::max());
  table.codes.fill(0);

  int64_t begin = orderedKey(-inf);
  unsigned steps = 0;
  table.codes[0] = encode(-inf);
  while (steps + 1 < kMax && encode(inf) != table.codes[steps]) {
    int64_t low = begin, high = last; // encode(low) is the current code
    while (high - low > 1) {
      int64_t mid = low + (high - low) / 2;
      (encode(floatAt(mid)) == table.codes[steps] ? low : high) = mid;
    }
    table.starts[steps++] = static_cast<int32_t>(high);
    table.codes[steps] = encode(floatAt(high));
    begin = high;
  }
  table.small = steps <= kSmall;
  return table;
}

Expected<StepTable> StepTable::forWord(FormatWord word, Rounding rounding,
                                       Saturation saturation) {
  if (word.validate() || word.width() > 8)
    return makeError(
        Status::GradeUnknown, "encode is not defined for this element format",
        "e", "a format of at most 8 bits", word.str(),
        "the format can be stored and decoded, but no rule chooses its codes",
        "encode into another format");
  bool dropsSign = word.isUnsigned() && !word.isInteger();
  // Neither a NaN nor an invalid word is encoded, so there is always a code.
  return build([=](float x) {
    if (dropsSign && x < 0)
      x = 0;
    return static_cast<uint8_t>(
        encodeWord(word, x, rounding, saturation).value_or(0));
  });
}

StepTable StepTable::nearestLevel(std::span<const float> levels) {
  return build([levels](float x) -> uint8_t {
    auto above = std::upper_bound(levels.begin(), levels.end(), x);
    if (above == levels.begin())
      return 0;
    auto index = static_cast<uint8_t>(above - levels.begin());
    if (above == levels.end())
      return index - 1;
    return x - above[-1] < above[0] - x ? index - 1 : index;
  });
}
