//===- EncodeGgml.cpp - the one-pass quantizers of ggml -------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml's reference quantizers write. Every operation is one
// of theirs, in their order; conversions out of range, which C leaves open, are
// those of x86, on which the published libraries run.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

//===----------------------------------------------------------------------===//
// GgmlSignedMax and GgmlAbsMax: one scale, codes by multiplication
//===----------------------------------------------------------------------===//

namespace {
class GgmlMaxRule : public Rule {
public:
  explicit GgmlMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number),
        isSigned(format.encoding.rule == EncodeRule::GgmlSignedMax),
        bias(static_cast<float>(-format.level.number.plus)),
        maxCode(maxFinite(format.level.number.word)),
        mask((1u << format.level.number.word.width()) - 1) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  bool isSigned;
  float bias, maxCode;
  uint32_t mask;
};
} // namespace

/// The value of largest magnitude, the first of equals; 0 for zeros.
static float signedMax(std::span<const float> values) {
  float amax = 0, result = 0;
  for (float v : values)
    if (amax < std::fabs(v)) {
      amax = std::fabs(v);
      result = v;
    }
  return result;
}

std::optional<Error> GgmlMaxRule::encode(EncodeUnit &unit) const {
  const float d =
      isSigned ? signedMax(unit.values) / -bias : absMax(unit.values) / maxCode;
  const float reciprocal = d != 0 ? 1 / d : 0;
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = unit.values[i] * reciprocal;
    // Truncation of x + bias + 1/2 against rounding half away from zero.
    int32_t code = isSigned
                       ? std::min<int32_t>(static_cast<int32_t>(maxCode),
                                           int8_t(toInt(x + (bias + 0.5f))))
                       : toInt(std::round(x));
    unit.codes[i] = static_cast<uint8_t>(uint32_t(code) & mask);
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlMaxRule(const FormatDescription &format) {
  bool isSigned = format.encoding.rule == EncodeRule::GgmlSignedMax;
  std::string_view name = isSigned ? "ggml signed max" : "ggml absmax";
  if (auto error = checkScaled(format, name, LevelKind::Number))
    return tl::unexpected(*error);
  FormatWord word = format.level.number.word;
  const Number &number = format.level.number;
  if (!word.isInteger() || word.width() > 8 || word.isUnsigned() != isSigned ||
      (number.plus < 0) != isSigned || (number.plus != 0 && !isSigned) ||
      number.times != 1 || number.exp2 != 0)
    return refuseRule(name, "level",
                      isSigned ? "an unsigned integer with a bias"
                               : "a signed integer without a bias",
                      word.str());
  return std::make_unique<GgmlMaxRule>(format);
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
  const float d = scale.decode(code);
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = nearestScaledLevel(levels, d, unit.values[i]);
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlExp2Rule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml exp2";
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return tl::unexpected(*error);
  const Number &scale = format.scales[0].number;
  if (!scale.word.isExponentOnly() || scale.word.width() != 8)
    return refuseRule(name, "scale", "an exponent of 8 bits", scale.word.str());
  if (format.level.number.table.size() > 256 ||
      !(absMax(format.level.number.table) > 0))
    return refuseRule(name, "level", "at most 256 levels, not all zero",
                      "others");
  return std::make_unique<GgmlExp2Rule>(format);
}
