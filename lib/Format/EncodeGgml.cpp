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

#include "EncodeGgmlSearch.h"

#include <algorithm>

using namespace grit;

//===----------------------------------------------------------------------===//
// GgmlSignedMax and GgmlAbsMax: one scale, codes by multiplication
//===----------------------------------------------------------------------===//

namespace {
/// A bias from codes to integers, and the largest code.
struct IntegerLevel {
  explicit IntegerLevel(const Number &number)
      : bias(static_cast<int>(-number.plus)),
        maxCode(static_cast<int>(maxFinite(number.word))),
        mask((1u << number.word.width()) - 1) {
    int lowest = number.word.isUnsigned() ? -bias : -maxCode - 1;
    reach = static_cast<float>(std::min(-lowest, maxCode - bias));
  }

  int bias, maxCode;
  uint32_t mask;
  float reach; ///< the largest integer that is a level with either sign
};

class GgmlSignedMaxRule : public Rule {
public:
  explicit GgmlSignedMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number), level(format.level.number) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  bool usesRowMeanSquare() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  std::optional<Error> search(EncodeUnit &unit) const;

  Number scale;
  IntegerLevel level;
};

class GgmlAbsMaxRule : public Rule {
public:
  explicit GgmlAbsMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number), level(format.level.number),
        clamps(format.encoding.rule == EncodeRule::GgmlAbsMaxClamped) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  IntegerLevel level;
  bool clamps;
};
} // namespace

/// With importance: the best scale by weighted least squares.
std::optional<Error> GgmlSignedMaxRule::search(EncodeUnit &unit) const {
  std::vector<float> weights =
      importanceWeights(unit.importance, unit.values, unit.rowMeanSquare);
  float d = searchSymmetric(unit.values, weights, level.bias, unit.codes);
  if (std::isnan(d))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  return std::nullopt;
}

std::optional<Error> GgmlSignedMaxRule::encode(EncodeUnit &unit) const {
  if (!unit.importance.empty())
    return search(unit);
  const float bias = static_cast<float>(level.bias);
  const float d = signedMax(unit.values) / -bias;
  const float reciprocal = d != 0 ? 1 / d : 0;
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = unit.values[i] * reciprocal;
    int32_t code =
        std::min<int32_t>(level.maxCode, int8_t(toInt(x + (bias + 0.5f))));
    unit.codes[i] = static_cast<uint8_t>(uint32_t(code) & level.mask);
  }
  return std::nullopt;
}

std::optional<Error> GgmlAbsMaxRule::encode(EncodeUnit &unit) const {
  const float d = absMax(unit.values) / level.reach;
  const float reciprocal = d != 0 ? 1 / d : 0;
  unit.exactScale = d;
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    int32_t code = toInt(std::round(unit.values[i] * reciprocal)) + level.bias;
    if (clamps)
      code = std::clamp(code, 0, level.maxCode);
    unit.codes[i] = static_cast<uint8_t>(uint32_t(code) & level.mask);
  }
  return std::nullopt;
}

/// Refuses levels that are not integers of at most 8 bits: with a bias where
/// they are unsigned.
static std::optional<Error> checkInteger(const FormatDescription &format,
                                         std::string_view name) {
  if (auto error = checkScaled(format, name, LevelKind::Number))
    return error;
  const Number &number = format.level.number;
  const FormatWord word = number.word;
  if (!word.isInteger() || word.width() > 8 || number.times != 1 ||
      number.exp2 != 0 || (number.plus < 0) != word.isUnsigned() ||
      number.plus > 0 || -number.plus >= maxFinite(word))
    return refuseRule(name, "level",
                      "a signed integer without a bias, or an unsigned one "
                      "less one",
                      word.str())
        .value();
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlMaxRule(const FormatDescription &format) {
  const EncodeRule rule = format.encoding.rule;
  const bool isSigned = rule == EncodeRule::GgmlSignedMax;
  std::string_view name = isSigned ? "ggml signed max" : "ggml absmax";
  if (auto error = checkInteger(format, name))
    return tl::unexpected(*error);
  const FormatWord word = format.level.number.word;
  if (rule != EncodeRule::GgmlAbsMax && !word.isUnsigned())
    return refuseRule(name, "level", "an unsigned integer with a bias",
                      word.str());
  const BitField &codes = format.codes;
  if (codes.radix && 2 * -format.level.number.plus >= codes.radix->base)
    return refuseRule(name, "codes", "digits for every code",
                      "base " + std::to_string(codes.radix->base));
  if (isSigned)
    return std::make_unique<GgmlSignedMaxRule>(format);
  return std::make_unique<GgmlAbsMaxRule>(format);
}

//===----------------------------------------------------------------------===//
// GgmlReciprocalMax: the signed maximum maps to the end of a signed integer
//===----------------------------------------------------------------------===//

namespace {
class GgmlReciprocalMaxRule : public Rule {
public:
  explicit GgmlReciprocalMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number), level(format.level.number) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  IntegerLevel level;
};
} // namespace

std::optional<Error> GgmlReciprocalMaxRule::encode(EncodeUnit &unit) const {
  const float max = signedMax(unit.values);
  if (max == 0) {
    unit.scales[0][0] = 0;
    clearCodes(unit);
    return std::nullopt;
  }
  const float reciprocal = -level.reach / max;
  unit.exactScale = 1 / reciprocal;
  unit.scales[0][0] = wordCode(scale, unit.exactScale, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = static_cast<uint8_t>(
        std::min(level.maxCode, nearestInt(reciprocal * unit.values[i])));
  return std::nullopt;
}

Expected<RulePtr>
grit::makeGgmlReciprocalMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml reciprocal max";
  if (auto error = checkInteger(format, name))
    return tl::unexpected(*error);
  const FormatWord word = format.level.number.word;
  if (word.isUnsigned() || word.width() != 8)
    return refuseRule(name, "level", "a signed integer of 8 bits", word.str());
  return std::make_unique<GgmlReciprocalMaxRule>(format);
}

//===----------------------------------------------------------------------===//
// GgmlMinMax: a scale and a minimum
//===----------------------------------------------------------------------===//

namespace {
class GgmlMinMaxRule : public Rule {
public:
  explicit GgmlMinMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number), offset(format.offset.factors[0].number),
        maxCode(static_cast<int>(maxFinite(format.level.number.word))) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  bool usesRowMeanSquare() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  std::optional<Error> search(EncodeUnit &unit) const;

  Number scale, offset;
  int maxCode;
};
} // namespace

/// With importance: the best line by weighted least squares.
std::optional<Error> GgmlMinMaxRule::search(EncodeUnit &unit) const {
  std::vector<float> weights =
      importanceWeights(unit.importance, unit.values, unit.rowMeanSquare);
  std::vector<uint8_t> trial(unit.values.size());
  Line line = LineSearch(unit.values, weights, maxCode, unit.codes, trial)
                  .run(kWeightedGuesses);
  if (std::isnan(line.scale) || std::isnan(line.offset))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(scale, line.scale, kIeee);
  unit.offsets[0][0] = wordCode(offset, line.offset, kIeee);
  return std::nullopt;
}

std::optional<Error> GgmlMinMaxRule::encode(EncodeUnit &unit) const {
  if (!unit.importance.empty())
    return search(unit);
  float min = unit.values[0], max = min;
  for (float x : unit.values) {
    min = x < min ? x : min;
    max = x > max ? x : max;
  }
  const float d = (max - min) / static_cast<float>(maxCode);
  const float reciprocal = d != 0 ? 1 / d : 0;
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  unit.offsets[0][0] = wordCode(offset, -min, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = (unit.values[i] - min) * reciprocal;
    int code = std::min<int>(maxCode, int8_t(toInt(x + 0.5f)));
    unit.codes[i] = static_cast<uint8_t>(code);
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlMinMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml min max";
  const std::vector<Factor> &mins = format.offset.factors;
  if (format.offset.kind != Offset::Kind::Minimum || mins.size() != 1 ||
      format.scales.size() != 1 || format.scales[0].group <= 0 ||
      format.scales[0].group != mins[0].group)
    return refuseRule(name, "offset",
                      "a scale and a minimum of the same groups",
                      "another structure of scales and offsets");
  if (!isByteInteger(format.level.number) ||
      format.level.number.word.width() > 7)
    return refuseRule(name, "level", "an unsigned integer of at most 7 bits",
                      format.level.number.word.str());
  return std::make_unique<GgmlMinMaxRule>(format);
}

//===----------------------------------------------------------------------===//
// GgmlMeanSign: the mean magnitude and the signs
//===----------------------------------------------------------------------===//

namespace {
class GgmlMeanSignRule : public Rule {
public:
  explicit GgmlMeanSignRule(const FormatDescription &format)
      : scale(format.scales[0].number) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
};
} // namespace

std::optional<Error> GgmlMeanSignRule::encode(EncodeUnit &unit) const {
  float sum = 0;
  for (float x : unit.values)
    sum += std::fabs(x);
  unit.scales[0][0] =
      wordCode(scale, sum / static_cast<float>(unit.values.size()), kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = unit.values[i] >= 0;
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlMeanSignRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml mean sign";
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return tl::unexpected(*error);
  if (format.level.number.table != std::vector<float>{-1, 1})
    return refuseRule(name, "level", "-1 and 1", "others");
  return std::make_unique<GgmlMeanSignRule>(format);
}
