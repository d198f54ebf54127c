//===- EncodeRowAbsMax.cpp - narrow floats under a scale per line ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are rounded to bfloat16 first. The scale of a line is its largest
// magnitude over the largest element, and codes come from the reciprocal of
// what is stored.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

static constexpr std::string_view kName = "row absmax";

namespace {
class RowAbsMaxRule : public Rule {
public:
  RowAbsMaxRule(const FormatDescription &format, StepTable elements)
      : scale(format.scales[0].number),
        largest(maxFinite(format.level.number.word)), elements(elements) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  WordRounder toBfloat16{FormatWord(0x350F)};
  float largest;
  StepTable elements;
};
} // namespace

static Error beyondRange(const EncodeUnit &unit, size_t at, std::string what,
                         std::string cause) {
  return makeError(Status::GradeUnknown, std::move(what),
                   "values[" + std::to_string(unit.first) +
                       "] and after, element " + std::to_string(at),
                   "a finite number", numberText(unit.values[at]),
                   std::move(cause), "scale the tensor")
      .value();
}

std::optional<Error> RowAbsMaxRule::encode(EncodeUnit &unit) const {
  float amax = 0;
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float magnitude = std::fabs(toBfloat16(unit.values[i]));
    if (!std::isfinite(magnitude))
      return beyondRange(unit, i, "a value is not finite as a bfloat16",
                         "it is above the largest bfloat16");
    amax = std::max(amax, magnitude);
  }
  if (amax == 0) {
    unit.scales[0][0] = 0;
    clearCodes(unit);
    return std::nullopt;
  }
  unit.scales[0][0] = positiveCode(scale, amax / largest, kIeee);
  const float reciprocal = 1 / scale.decode(unit.scales[0][0]);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float y = toBfloat16(unit.values[i]) * reciprocal;
    if (!std::isfinite(y))
      return beyondRange(unit, i, "the reciprocal of a scale overflows",
                         "the largest magnitude of the line is below 2^-119");
    unit.codes[i] = elements(std::clamp(y, -largest, largest));
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeRowAbsMaxRule(const FormatDescription &format) {
  if (auto error = checkScaled(format, kName, LevelKind::Number))
    return tl::unexpected(std::move(*error));
  const Number &level = format.level.number;
  if (!level.isPlain() || level.exp2 || !level.word.isFloat() ||
      level.word.isUnsigned() || !level.word.hasSignedZero() ||
      level.word.width() > 8 || format.sparsity)
    return refuseRule(kName, "level", "a float with a sign of at most 8 bits",
                      level.word.str());
  const Factor &factor = format.scales[0];
  if (!factor.number.isPlain() || factor.number.exp2 ||
      !factor.number.word.isFloat() || factor.group != kWholeAxis)
    return refuseRule(kName, factor.name, "a float for each line of the axis",
                      factor.number.word.str());
  Expected<StepTable> elements =
      StepTable::forWord(level.word, Rounding::RNE, Saturation::SatFinite);
  if (!elements)
    return tl::unexpected(elements.error());
  return std::make_unique<RowAbsMaxRule>(format, std::move(*elements));
}
