//===- EncodeGgmlLevels.cpp - nearest levels as ggml picks them -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml's reference quantizers write for its blocks of FP4
// codes: a scale from the largest magnitude, then the nearest level by
// distance.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>
#include <optional>

using namespace grit;

/// The level nearest to `x` under the scale `d`, the first of equals.
static uint8_t nearestScaledLevel(std::span<const float> levels, float d,
                                  float x) {
  size_t best = 0;
  float least = std::fabs(levels[0] * d - x);
  for (size_t i = 1; i < levels.size(); ++i) {
    float distance = std::fabs(levels[i] * d - x);
    best = distance < least ? i : best;
    least = distance < least ? distance : least;
  }
  return static_cast<uint8_t>(best);
}

/// Gives every value of the unit its level.
static void encodeLevels(EncodeUnit &unit, std::span<const float> levels,
                         float d) {
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = nearestScaledLevel(levels, d, unit.values[i]);
}

static std::optional<Error> checkLevels(const FormatDescription &format,
                                        std::string_view name) {
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return error;
  const std::vector<float> &levels = format.level.number.table;
  if (levels.size() > 256 || !(absMax(levels) > 0))
    return refuseRule(name, "level", "at most 256 levels, not all zero",
                      "others")
        .value();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// GgmlExp2: a power of two, nearest level by distance
//===----------------------------------------------------------------------===//

namespace {
class GgmlExp2Rule : public Rule {
public:
  explicit GgmlExp2Rule(const FormatDescription &format)
      : scale(format.scales[0].number), levels(format.level.number.table),
        maxExp(std::ilogb(absMax(levels))) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  std::vector<float> levels;
  int maxExp; ///< floor(log2(largest level))
};
} // namespace

std::optional<Error> GgmlExp2Rule::encode(EncodeUnit &unit) const {
  float amax = absMax(unit.values);
  uint32_t code = 0;
  if (amax > 0) {
    // The logarithm is rounded to binary32 before its floor is taken, which
    // carries values just below a power of two up to it.
    float log2 = static_cast<float>(std::log2(static_cast<double>(amax)));
    int exponent = static_cast<int>(std::floor(log2)) - maxExp;
    // Below the range of the scale the byte wraps, and all codes become 0.
    code = uint8_t(exponent - scale.exp2 + scale.word.bias());
  }
  unit.scales[0][0] = code;
  encodeLevels(unit, levels, scale.decode(code));
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlExp2Rule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml exp2";
  if (auto error = checkLevels(format, name))
    return tl::unexpected(*error);
  const Number &scale = format.scales[0].number;
  if (!scale.word.isExponentOnly() || scale.word.width() != 8)
    return refuseRule(name, "scale", "an exponent of 8 bits", scale.word.str());
  return std::make_unique<GgmlExp2Rule>(format);
}

//===----------------------------------------------------------------------===//
// GgmlHalfUp: a small float, rounded half up
//===----------------------------------------------------------------------===//

namespace {
/// The codes 0 to `top` of a table that are those of a small float: `fraction`
/// bits below an exponent, subnormal where that is 0.
struct SmallFloat {
  float step = 0; ///< the value of code 1
  unsigned fraction = 0;
  uint32_t top = 0;

  float decode(uint32_t code) const;
  uint32_t encode(float x) const;
  static std::optional<SmallFloat> find(std::span<const float> table);
};

class GgmlHalfUpRule : public Rule {
public:
  GgmlHalfUpRule(const FormatDescription &format, SmallFloat word)
      : scale(format.scales[0].number), levels(format.level.number.table),
        maxLevel(absMax(levels)), word(word) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override {
    uint32_t code = word.encode(absMax(unit.values) / maxLevel);
    unit.scales[0][0] = code;
    encodeLevels(unit, levels, scale.decode(code));
    return std::nullopt;
  }

private:
  Number scale;
  std::vector<float> levels;
  float maxLevel;
  SmallFloat word;
};
} // namespace

float SmallFloat::decode(uint32_t code) const {
  const uint32_t one = 1u << fraction, exponent = code >> fraction;
  if (exponent == 0)
    return static_cast<float>(code) * step;
  return std::ldexp(static_cast<float>(one + code % one) * step,
                    static_cast<int>(exponent) - 1);
}

/// The whole top binade goes to the last code, and what rounds up to the least
/// normal number to the code below it.
uint32_t SmallFloat::encode(float x) const {
  if (!(x > 0))
    return 0;
  const uint32_t one = 1u << fraction;
  const float units = x / step;
  if (units < static_cast<float>(one))
    return std::min(static_cast<uint32_t>(units + 0.5f), one - 1);
  const uint32_t binade = std::ilogb(units) - fraction + 1;
  if (binade >= top >> fraction)
    return top;
  // Of the fraction, one bit more than is kept; the carry goes up a binade.
  auto twice = static_cast<uint32_t>(std::ldexp(units, 2 - int(binade)));
  uint32_t code = (binade << fraction) + (twice + 1) / 2 - one;
  return code >> fraction >= top >> fraction ? top : code;
}

std::optional<SmallFloat> SmallFloat::find(std::span<const float> table) {
  SmallFloat word;
  while (word.top + 1 < table.size() && table[word.top + 1] > table[word.top])
    ++word.top;
  if (word.top == 0 || table[0] != 0)
    return std::nullopt;
  word.step = table[1];
  for (word.fraction = 1; word.fraction < 8; ++word.fraction) {
    uint32_t code = 0;
    while (code <= word.top && word.decode(code) == table[code])
      ++code;
    // The step is a power of two, so that dividing by it is exact.
    int exponent;
    if (code > word.top && std::frexp(word.step, &exponent) == 0.5f)
      return word;
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlHalfUpRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml half up";
  if (auto error = checkLevels(format, name))
    return tl::unexpected(*error);
  std::optional<SmallFloat> word =
      SmallFloat::find(format.scales[0].number.table);
  if (!word)
    return refuseRule(name, "scale", "the table of a float of 8 bits",
                      "others");
  return std::make_unique<GgmlHalfUpRule>(format, *word);
}
