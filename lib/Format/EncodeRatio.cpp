//===- EncodeRatio.cpp - scales from the ratio of maxima ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GRIT v1, sections 9.1, 9.4, 10.3 and 10.4: the scale of a group is its
// largest magnitude over the largest element, alone or under a scale of the
// whole array.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

static constexpr std::string_view kName = "ratiomaxabs";

namespace {
class RatioRule : public Rule {
public:
  RatioRule(const FormatDescription &format, const ElementCoder &elements)
      : inner(format.scales.back().number), encoding(format.encoding),
        maxElement(elements.largest()), nan(nanCode(inner)),
        elements(elements) {
    if (format.scales.size() == 2) {
      outer = format.scales[0].number;
      outerNan = nanCode(*outer);
    }
  }

  bool refusesNonFinite() const override { return !nan && !outerNan; }
  void prepare(std::span<const float> values,
               std::span<std::vector<uint32_t>> scales) const override;
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  std::optional<Number> outer; ///< the scale of the whole array
  Number inner;
  Encoding encoding;
  float maxElement;
  /// NaN goes into the innermost scale that has a code for it.
  std::optional<uint32_t> nan, outerNan;
  ElementCoder elements;
};
} // namespace

void RatioRule::prepare(std::span<const float> values,
                        std::span<std::vector<uint32_t>> scales) const {
  if (!outer)
    return;
  if (!nan && outerNan && !allFinite(values)) {
    scales[0][0] = *outerNan;
    return;
  }
  float amax = 0; // of the finite values, those of poisoned groups too
  for (float v : values)
    if (std::isfinite(v) && std::fabs(v) > amax)
      amax = std::fabs(v);
  float wanted = amax == 0 ? 1 : amax / maxElement / maxFinite(inner.word);
  // The rounding of a grade governs group scales and elements, not this one.
  Encoding nearest{encoding.rule, Rounding::RNE, encoding.saturation};
  scales[0][0] = positiveCode(*outer, wanted, nearest);
}

std::optional<Error> RatioRule::encode(EncodeUnit &unit) const {
  uint32_t &scaleCode = unit.scales.back()[0];
  float above = outer ? outer->decode(unit.scales[0][0]) : 1;
  bool isPoisoned = std::isnan(above); // and with it the whole array
  if (isPoisoned || !allFinite(unit.values)) {
    scaleCode = isPoisoned ? 0 : *nan;
    clearCodes(unit);
    return std::nullopt;
  }
  float amax = absMax(unit.values);
  if (amax == 0)
    scaleCode = wordCode(inner, 1, encoding);
  else if (outer) // May underflow to zero: the group is lost beside the array.
    scaleCode = wordCode(inner, amax / maxElement / above, encoding);
  else
    scaleCode = positiveCode(inner, amax / maxElement, encoding);
  return elements.encode(unit, above * inner.decode(scaleCode));
}

Expected<RulePtr> grit::makeRatioRule(const FormatDescription &format) {
  bool twoLevels = format.scales.size() == 2;
  if (auto error =
          checkScaled(format, kName, LevelKind::Number, twoLevels ? 2 : 1))
    return tl::unexpected(*error);
  if (twoLevels && format.scales[0].group != 0)
    return refuseRule(kName, "k1", "0 (one outer scale per array)",
                      "an outer scale per " +
                          std::to_string(format.scales[0].group) + " elements");
  if (twoLevels && format.sparsity)
    return refuseRule(kName, "sp", "none under two levels of scales",
                      "N:M sparsity");
  auto elements = ElementCoder::get(format, kName);
  if (!elements)
    return tl::unexpected(elements.error());
  return std::make_unique<RatioRule>(format, *elements);
}
