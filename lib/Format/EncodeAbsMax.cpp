//===- EncodeAbsMax.cpp - a scale from the largest magnitude, by steps ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tools that divide the largest magnitude of an array, a line, a group or a
// block by the largest level differ in the steps between, and their bytes with
// them. The description says the steps (AbsMaxSteps) and the extent.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>
#include <limits>

using namespace grit;

static constexpr std::string_view kName = "abs_max";

namespace {
class AbsMaxRule : public Rule {
public:
  AbsMaxRule(const FormatDescription &format, const ElementCoder &elements)
      : scale(format.scales[0].number), encoding(format.encoding),
        steps(format.encoding.steps), elements(elements),
        over(steps.over != 0 ? steps.over : elements.largest()),
        isOfArray(format.scales[0].group == 0) {
    if (format.scales.size() == 2)
      global = format.scales[1].number;
    if (steps.narrow)
      rounder.emplace(scale.word);
  }

  bool refusesNonFinite() const override { return true; }
  void prepare(std::span<const float> values,
               std::span<std::vector<uint32_t>> scales) const override;
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  float narrow(float x) const { return rounder ? (*rounder)(x) : x; }
  uint32_t scaleCode(float m, float factor) const;
  uint32_t globalCode(float m) const;

  Number scale;
  std::optional<Number> global; ///< of the array; it divides
  Encoding encoding;
  AbsMaxSteps steps;
  ElementCoder elements;
  std::optional<WordRounder> rounder;
  float over;
  bool isOfArray; ///< the scale is one for the whole array
};
} // namespace

/// `factor` is the divisor of the array, 1 without one.
uint32_t AbsMaxRule::scaleCode(float m, float factor) const {
  // What is left of an infinity is for the check of finite scales to find.
  Encoding store{encoding.rule, steps.scaleRounding, Saturation::OvfInf};
  if (global)
    store.saturation = Saturation::SatFinite;
  float wanted = narrow(std::max(narrow(m), steps.least) / over);
  if (global)
    wanted = factor * wanted;
  uint32_t code = wordCode(scale, wanted, store);
  if (scale.decode(code) > 0)
    return code;
  if (!steps.epsilon)
    return positiveCode(scale, wanted, store);
  const int bits = scale.word.isFloat() ? scale.word.mantissaBits() : 0;
  return wordCode(scale, std::ldexp(1.0f, -bits), store);
}

/// What makes the largest scale of a group the largest that its word holds: the
/// reciprocal first, then the product.
uint32_t AbsMaxRule::globalCode(float m) const {
  constexpr float kLeast = std::numeric_limits<float>::min();
  float wanted = 1 / std::max(m, kLeast) * (maxFinite(scale.word) * over);
  return positiveCode(*global, std::isfinite(wanted) ? wanted : 1, kIeee);
}

void AbsMaxRule::prepare(std::span<const float> values,
                         std::span<std::vector<uint32_t>> scales) const {
  if (!global && !isOfArray)
    return;
  float m = 0; // infinities are refused later, with their place
  for (float v : values)
    m = std::fabs(v) > m && std::isfinite(v) ? std::fabs(v) : m;
  if (global)
    scales[1][0] = globalCode(m);
  if (isOfArray)
    scales[0][0] = scaleCode(m, global ? global->decode(scales[1][0]) : 1.0f);
}

std::optional<Error> AbsMaxRule::encode(EncodeUnit &unit) const {
  const float factor = global ? global->decode(unit.scales[1][0]) : 1;
  if (!isOfArray)
    unit.scales[0][0] = scaleCode(absMax(unit.values), factor);
  float s = scale.decode(unit.scales[0][0]);
  if (global)
    s = s / factor;
  const float reciprocal = 1 / s;
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float v = narrow(unit.values[i]);
    float x = narrow(steps.reciprocal ? v * reciprocal : v / s);
    if (steps.positiveZero)
      x += 0.0f;
    unit.codes[i] = elements.code(std::isnan(x) ? 0 : x);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Which formats have the rule
//===----------------------------------------------------------------------===//

static bool isPlainFloat(const Number &number) {
  return !number.isTable() && number.isPlain() && number.exp2 == 0 &&
         !number.word.isInteger();
}

static std::optional<Error> checkScales(const FormatDescription &format) {
  const std::vector<Factor> &scales = format.scales;
  if (scales.size() > 2 || format.offset.kind != Offset::Kind::None)
    return refuseRule(kName, "scales", "a scale, and no offset", "others")
        .value();
  for (const Factor &factor : scales)
    if (!isPlainFloat(factor.number) || factor.bits.radix || factor.afterLevel)
      return refuseRule(kName, factor.name, "a float before the level",
                        "another number")
          .value();
  if (scales.size() == 2 &&
      (scales[1].op != FactorOp::Divide || scales[1].group != 0))
    return refuseRule(kName, scales[1].name, "a divisor of the whole array",
                      "another factor")
        .value();
  return std::nullopt;
}

Expected<RulePtr> grit::makeAbsMaxRule(const FormatDescription &format) {
  if (auto error = checkScales(format))
    return tl::unexpected(std::move(*error));
  if (format.sparsity)
    return refuseRule(kName, "sparse", "none", "N:M sparsity");
  auto elements = ElementCoder::get(format, kName);
  if (!elements)
    return tl::unexpected(elements.error());
  if (!elements->isNarrow())
    return refuseRule(kName, "level", "codes of at most 8 bits", "wider ones");
  const AbsMaxSteps &steps = format.encoding.steps;
  if (steps.narrow && (format.scales.size() == 2 ||
                       !WordRounder::isFor(format.scales[0].number.word)))
    return refuseRule(kName, "narrow",
                      "one scale, a float with a sign of at most 32 bits",
                      "others");
  return std::make_unique<AbsMaxRule>(format, *elements);
}
