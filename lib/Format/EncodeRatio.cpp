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
  RatioRule(const FormatDescription &format, StepTable elements)
      : inner(format.scales.back().number), encoding(format.encoding),
        maxElement(maxFinite(format.level.number.word)), nan(nanCode(inner)),
        elements(elements) {
    if (format.scales.size() == 2)
      outer = format.scales[0].number;
  }

  bool refusesNonFinite() const override { return !nan; }
  void prepare(std::span<const float> values,
               std::span<std::vector<uint32_t>> scales) const override;
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  std::optional<Number> outer; ///< the scale of the whole array
  Number inner;
  Encoding encoding;
  float maxElement;
  std::optional<uint32_t> nan;
  StepTable elements;
};
} // namespace

void RatioRule::prepare(std::span<const float> values,
                        std::span<std::vector<uint32_t>> scales) const {
  if (!outer)
    return;
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
  if (!allFinite(unit.values)) {
    scaleCode = *nan;
    std::ranges::fill(unit.codes, 0);
    return std::nullopt;
  }
  float amax = absMax(unit.values);
  float above = outer ? outer->decode(unit.scales[0][0]) : 1;
  if (amax == 0)
    scaleCode = wordCode(inner, 1, encoding);
  else if (outer) // May underflow to zero: the group is lost beside the array.
    scaleCode = wordCode(inner, amax / maxElement / above, encoding);
  else
    scaleCode = positiveCode(inner, amax / maxElement, encoding);
  float S = above * inner.decode(scaleCode);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float v = unit.values[i];
    unit.codes[i] = elements(S == 0 ? std::copysign(0.0f, v) : v / S);
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeRatioRule(const FormatDescription &format) {
  bool twoLevels = format.scales.size() == 2;
  if (auto error =
          checkScaled(format, kName, Level::Kind::Number, twoLevels ? 2 : 1))
    return tl::unexpected(*error);
  if (twoLevels && format.scales[0].group != 0)
    return refuseRule(kName, "k1", "0 (one outer scale per array)",
                      "an outer scale per " +
                          std::to_string(format.scales[0].group) + " elements");
  if (twoLevels && format.sparsity)
    return refuseRule(kName, "sp", "none under two levels of scales",
                      "N:M sparsity");
  auto elements = elementTable(format, kName);
  if (!elements)
    return tl::unexpected(elements.error());
  return std::make_unique<RatioRule>(format, *elements);
}
