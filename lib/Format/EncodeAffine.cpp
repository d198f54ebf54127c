//===- EncodeAffine.cpp - scale and minimum from the range ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GRIT v1, section 9.3. With two levels, groups hold a quantized step and a
// quantized minimum under an outer pair of factors; with one level, a step and
// a zero point. Every stored factor is read back before it is used.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>
#include <array>

using namespace grit;

static constexpr std::string_view kName = "affineminmax";

namespace {
class AffineMinMaxRule : public Rule {
public:
  explicit AffineMinMaxRule(const FormatDescription &format)
      : outerScale(format.scales[0].number), scale(format.scales[1].number),
        outerMin(format.offset.factors[0].number),
        minimum(format.offset.factors[1].number), group(format.scales[1].group),
        maxCode(maxFinite(format.level.number.word)), nan(nanCode(outerScale)) {
  }

  bool refusesNonFinite() const override { return !nan; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  void poison(EncodeUnit &unit) const;

  Number outerScale, scale, outerMin, minimum;
  int64_t group;
  float maxCode; ///< the largest element code
  std::optional<uint32_t> nan;
};

/// What a group would need: value = step * code - offset.
struct Range {
  float step, offset;
};
} // namespace

static constexpr Encoding kNearest{EncodeRule::AffineMinMax, Rounding::RNE,
                                   Saturation::SatFinite};

/// rint(x) clamped to [least, most]; total, as x may be infinite, or a NaN
/// where a range overflows binary32.
static int64_t roundClamped(float x, float least, float most) {
  if (std::isnan(x))
    return static_cast<int64_t>(least);
  return static_cast<int64_t>(std::clamp(std::nearbyint(x), least, most));
}
static uint32_t roundClamped(float x, float most) {
  return static_cast<uint32_t>(roundClamped(x, 0, most));
}

static Range rangeOf(std::span<const float> values, float maxCode) {
  // Zero is always in range. A group without negative values has lo = +0 and
  // so the offset -0.
  float lo = 0, hi = 0;
  for (float v : values) {
    lo = v < lo ? v : lo;
    hi = v > hi ? v : hi;
  }
  return {(hi - lo) / maxCode, -lo};
}

void AffineMinMaxRule::poison(EncodeUnit &unit) const {
  unit.scales[0][0] = *nan;
  unit.offsets[0][0] = 0;
  std::ranges::fill(unit.scales[1], 0);
  std::ranges::fill(unit.offsets[1], 0);
  std::ranges::fill(unit.codes, 0);
}

std::optional<Error> AffineMinMaxRule::encode(EncodeUnit &unit) const {
  if (!allFinite(unit.values)) {
    poison(unit);
    return std::nullopt;
  }
  const float maxScale = maxFinite(scale.word),
              maxMin = maxFinite(minimum.word);
  float maxStep = 0, maxOffset = -0.0f;
  for (size_t g = 0; g < unit.scales[1].size(); ++g) {
    Range range = rangeOf(unit.values.subspan(g * group, group), maxCode);
    maxStep = std::max(maxStep, range.step);
    maxOffset = range.offset > maxOffset ? range.offset : maxOffset;
  }
  unit.scales[0][0] = wordCode(outerScale, maxStep / maxScale, kNearest);
  unit.offsets[0][0] = wordCode(outerMin, maxOffset / maxMin, kNearest);
  const float d = outerScale.decode(unit.scales[0][0]);
  const float dmin = outerMin.decode(unit.offsets[0][0]);

  for (size_t g = 0; g < unit.scales[1].size(); ++g) {
    auto values = unit.values.subspan(g * group, group);
    Range range = rangeOf(values, maxCode);
    uint32_t sc = d == 0 ? 0 : roundClamped(range.step / d, maxScale);
    uint32_t m = dmin == 0 ? 0 : roundClamped(range.offset / dmin, maxMin);
    unit.scales[1][g] = sc;
    unit.offsets[1][g] = m;
    const float S = d * scale.decode(sc), Z = dmin * minimum.decode(m);
    uint8_t *codes = &unit.codes[g * group];
    for (int64_t i = 0; i < group; ++i)
      codes[i] = S == 0 ? 0
                        : static_cast<uint8_t>(
                              roundClamped((values[i] + Z) / S, maxCode));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One level, a shared zero point
//===----------------------------------------------------------------------===//

namespace {
class AffineSharedRule : public Rule {
public:
  explicit AffineSharedRule(const FormatDescription &format)
      : scale(format.scales[0].number),
        addend(format.offset.factors[0].number.plus),
        maxCode(maxFinite(format.level.number.word)),
        maxZero(maxFinite(format.offset.factors[0].number.word)),
        nan(nanCode(scale)) {}

  bool refusesNonFinite() const override { return !nan; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  int64_t addend; ///< 1 where the zero point is stored less one
  float maxCode, maxZero;
  std::optional<uint32_t> nan;
};
} // namespace

std::optional<Error> AffineSharedRule::encode(EncodeUnit &unit) const {
  uint32_t &scaleCode = unit.scales[0][0], &zeroCode = unit.offsets[0][0];
  if (!allFinite(unit.values)) {
    scaleCode = *nan;
    zeroCode = 0;
    clearCodes(unit);
    return std::nullopt;
  }
  Range range = rangeOf(unit.values, maxCode);
  scaleCode = positiveCode(scale, range.step == 0 ? 1 : range.step, kNearest);
  const float S = scale.decode(scaleCode);
  const float least = static_cast<float>(addend);
  int64_t zero = roundClamped(range.offset / S, least, maxZero + least);
  zeroCode = static_cast<uint32_t>(zero - addend);
  const int64_t last = static_cast<int64_t>(maxCode);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    int64_t code = roundClamped(unit.values[i] / S, -0x1p40f, 0x1p40f) + zero;
    unit.codes[i] = static_cast<uint8_t>(std::clamp<int64_t>(code, 0, last));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Which formats have the rule
//===----------------------------------------------------------------------===//

/// True for an unsigned integer without a shift: its codes are its values.
static bool isPlainUnsigned(const Number &number) {
  return number.word.isInteger() && number.word.isUnsigned() &&
         number.exp2 == 0;
}

/// What both forms ask of the elements and of the encode projection.
static std::optional<Error> checkElements(const FormatDescription &format) {
  if (!format.level.number.isPlain() || !isPlainUnsigned(format.level.number) ||
      format.level.number.word.width() > 8)
    return refuseRule(kName, "e", "an unsigned integer of at most 8 bits",
                      format.level.number.word.str())
        .value();
  if (format.encoding.rounding != Rounding::RNE ||
      format.encoding.saturation != Saturation::SatFinite)
    return refuseRule(kName, "er, es", "rne, satfinite", "others").value();
  if (format.sparsity)
    return refuseRule(kName, "sp", "none", "N:M sparsity").value();
  return std::nullopt;
}

static Expected<RulePtr> makeSharedRule(const FormatDescription &format) {
  const Factor &zero = format.offset.factors[0];
  if (!isPlainUnsigned(zero.number))
    return refuseRule(kName, "zp", "an unsigned integer",
                      zero.number.word.str());
  if (zero.group != format.scales[0].group)
    return refuseRule(kName, "k0", "a zero point for each scale", "others");
  if (auto error = checkElements(format))
    return tl::unexpected(std::move(*error));
  return std::make_unique<AffineSharedRule>(format);
}

Expected<RulePtr> grit::makeAffineMinMaxRule(const FormatDescription &format) {
  const std::vector<Factor> &scales = format.scales;
  const std::vector<Factor> &mins = format.offset.factors;
  if (format.offset.kind == Offset::Kind::ZeroPoint && scales.size() == 1)
    return makeSharedRule(format);
  if (format.offset.kind != Offset::Kind::Minimum || scales.size() != 2 ||
      mins.size() != 2)
    return refuseRule(kName, "zps", "l1: a scale and a minimum of two levels",
                      "another structure of scales and offsets");
  if (scales[0].group == 0 || scales[0].group != mins[0].group ||
      scales[1].group != mins[1].group)
    return refuseRule(kName, "k1",
                      "groups of a fixed size, shared by scales "
                      "and minima",
                      "others");
  if (!isPlainUnsigned(scales[1].number) || !isPlainUnsigned(mins[1].number))
    return refuseRule(kName, "s0, zp", "unsigned integers",
                      scales[1].number.word.str() + ", " +
                          mins[1].number.word.str());
  if (auto error = checkElements(format))
    return tl::unexpected(std::move(*error));
  return std::make_unique<AffineMinMaxRule>(format);
}
