//===- EncodeZeroPoint.cpp - a scale and a zero point of each group -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three tools map the range of a group to unsigned integers. What is rounded,
// to what and in which order is theirs: the bytes depend on it.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

namespace {
/// What the three rules share: a format with a scale and a zero point.
class ZeroPointRule : public Rule {
public:
  explicit ZeroPointRule(const FormatDescription &format)
      : scale(format.scales[0].number), zero(format.offset.factors[0].number),
        maxCode(maxFinite(format.level.number.word)) {}

  bool refusesNonFinite() const override { return true; }

protected:
  Number scale, zero;
  float maxCode;
};

struct Bounds {
  float least = 0, most = 0;
};

//===----------------------------------------------------------------------===//
// The zero point is added
//===----------------------------------------------------------------------===//

/// compressed-tensors: each step is rounded to the word of the scale.
class ZeroPointMinMaxRule : public ZeroPointRule {
public:
  explicit ZeroPointMinMaxRule(const FormatDescription &format)
      : ZeroPointRule(format), rounded(scale.word) {}
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  WordRounder rounded;
};
} // namespace

/// The range of the values and of zero.
static Bounds boundsOf(std::span<const float> values) {
  Bounds bounds;
  for (float v : values) {
    bounds.least = std::min(bounds.least, v);
    bounds.most = std::max(bounds.most, v);
  }
  return bounds;
}

std::optional<Error> ZeroPointMinMaxRule::encode(EncodeUnit &unit) const {
  const Bounds bounds = boundsOf(unit.values);
  const float least = rounded(bounds.least), most = rounded(bounds.most);
  // Codes are counted from the middle, as signed integers.
  const float half = (maxCode + 1) / 2;
  auto clamped = [&](float x) { return std::clamp(x, -half, half - 1); };
  float s = rounded(rounded(most - least) / maxCode);
  float z = rounded(-half - rounded(least / s));
  // A group of zeros has 0 / 0 here, which the home makes 0 on x86.
  z = std::isnan(z) ? 0 : std::nearbyint(clamped(z));
  if (s == 0)
    s = std::ldexp(1.0f, -static_cast<int>(scale.word.mantissaBits()));
  unit.scales[0][0] = wordCode(scale, s, kIeee);
  unit.offsets[0][0] = static_cast<uint32_t>(z + half);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = rounded(rounded(rounded(unit.values[i]) / s) + z);
    x = std::isnan(x) ? 0 : std::nearbyint(clamped(x));
    unit.codes[i] = static_cast<uint8_t>(x + half);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The zero point is the middle
//===----------------------------------------------------------------------===//

namespace {
/// AutoGPTQ's Quantizer with `sym`, without the data that GPTQ corrects by.
class GptqSymmetricRule : public ZeroPointRule {
public:
  using ZeroPointRule::ZeroPointRule;
  std::optional<Error> encode(EncodeUnit &unit) const override;
};
} // namespace

std::optional<Error> GptqSymmetricRule::encode(EncodeUnit &unit) const {
  Bounds bounds = boundsOf(unit.values);
  bounds.most = std::max(-bounds.least, bounds.most);
  // Where nothing is negative, the range begins at 0 all the same.
  if (bounds.least < 0)
    bounds.least = -bounds.most;
  if (bounds.least == 0 && bounds.most == 0)
    bounds = {-1, 1};
  const float s = (bounds.most - bounds.least) / maxCode;
  const float middle = (maxCode + 1) / 2;
  // Codes belong to the scale before it is rounded to its word.
  unit.scales[0][0] = positiveCode(scale, s, kIeee);
  unit.offsets[0][0] =
      static_cast<uint32_t>(static_cast<int64_t>(middle) - zero.plus);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = std::nearbyint(unit.values[i] / s) + middle;
    unit.codes[i] =
        static_cast<uint8_t>(std::isnan(x) ? 0 : std::clamp(x, 0.0f, maxCode));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The zero point is no integer
//===----------------------------------------------------------------------===//

namespace {
/// HQQ without its optimizer.
class HqqMinMaxRule : public ZeroPointRule {
public:
  using ZeroPointRule::ZeroPointRule;
  std::optional<Error> encode(EncodeUnit &unit) const override;
};
} // namespace

std::optional<Error> HqqMinMaxRule::encode(EncodeUnit &unit) const {
  constexpr float kLeastRange = 1e-4f, kMostInverse = 2e4f;
  const auto [least, most] = std::ranges::minmax(unit.values);
  const float range = most - least;
  float inverse = 1;
  if (!(std::fabs(range) <= kLeastRange))
    inverse = 1 / range * maxCode;
  inverse = std::min(inverse, kMostInverse);
  const float z = -least * inverse;
  unit.scales[0][0] = wordCode(scale, 1 / inverse, kIeee);
  unit.offsets[0][0] = wordCode(zero, z, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    const float product = unit.values[i] * inverse;
    float x = std::nearbyint(product + z);
    unit.codes[i] =
        static_cast<uint8_t>(std::isnan(x) ? 0 : std::clamp(x, 0.0f, maxCode));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Which formats have the rules
//===----------------------------------------------------------------------===//

static std::optional<Error> checkZeroPoint(const FormatDescription &format,
                                           std::string_view rule) {
  if (format.offset.kind != Offset::Kind::ZeroPoint ||
      format.scales.size() != 1)
    return refuseRule(rule, "zero", "a scale and a zero point", "others")
        .value();
  const Factor &scale = format.scales[0], &zero = format.offset.factors[0];
  if (scale.group <= 0 || zero.group != scale.group)
    return refuseRule(rule, zero.name, "the groups of the scale", "others")
        .value();
  if (!isByteInteger(format.level.number) || format.sparsity)
    return refuseRule(rule, "level", "unsigned integers of at most 8 bits",
                      "others")
        .value();
  if (!WordRounder::isFor(scale.number.word) || scale.number.exp2)
    return refuseRule(rule, scale.name, "a float with a sign", "another")
        .value();
  return std::nullopt;
}

/// True for a zero point of the elements' width, stored less `plus` or so.
static bool isInteger(const Number &zero, const FormatDescription &format) {
  return zero.word == format.level.number.word && zero.exp2 == 0;
}

Expected<RulePtr>
grit::makeZeroPointMinMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "zero_point_min_max";
  if (auto error = checkZeroPoint(format, name))
    return tl::unexpected(std::move(*error));
  const Number &zero = format.offset.factors[0].number;
  if (!isInteger(zero, format) || zero.plus)
    return refuseRule(name, "zero", "an integer of the elements' width",
                      "another");
  return std::make_unique<ZeroPointMinMaxRule>(format);
}

Expected<RulePtr> grit::makeGptqSymmetricRule(const FormatDescription &format) {
  constexpr std::string_view name = "gptq_symmetric";
  if (auto error = checkZeroPoint(format, name))
    return tl::unexpected(std::move(*error));
  const Number &zero = format.offset.factors[0].number;
  if (!isInteger(zero, format) || zero.plus < 0 || zero.plus > 1)
    return refuseRule(name, "zero",
                      "an integer of the elements' width, or that less one",
                      "another");
  return std::make_unique<GptqSymmetricRule>(format);
}

Expected<RulePtr> grit::makeHqqMinMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "hqq_min_max";
  if (auto error = checkZeroPoint(format, name))
    return tl::unexpected(std::move(*error));
  const Number &zero = format.offset.factors[0].number;
  if (!WordRounder::isFor(zero.word) || zero.plus || zero.exp2)
    return refuseRule(name, "zero", "a float with a sign", "another");
  return std::make_unique<HqqMinMaxRule>(format);
}
