//===- EncodeExp2.cpp - shared power-of-two scales ------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GRIT v1, sections 9.1 and 9.2: the scale of a group is 2^X, X from the
// largest magnitude.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

namespace {
class Exp2Rule : public Rule {
public:
  Exp2Rule(const FormatDescription &format, const ElementCoder &elements)
      : scale(format.scales[0].number), encoding(format.encoding),
        maxExp(std::ilogb(elements.largest())), nan(nanCode(scale)),
        elements(elements) {}

  bool refusesNonFinite() const override { return !nan; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  /// log2(amax) rounded to an integer as the rule says.
  int roundedLog2(float amax) const;

  Number scale;
  Encoding encoding;
  int maxExp; ///< floor(log2(largest element))
  std::optional<uint32_t> nan;
  ElementCoder elements;
};
} // namespace

int Exp2Rule::roundedLog2(float amax) const {
  int exponent = std::ilogb(amax);
  // In [1, 2); its square is exact in binary64, so no comparison is off.
  double fraction = std::ldexp(static_cast<double>(amax), -exponent);
  if (encoding.rule == EncodeRule::Exp2Ceil)
    return exponent + (fraction > 1);
  if (encoding.rule == EncodeRule::Exp2Rne)
    return exponent + (fraction * fraction > 2);
  return exponent;
}

std::optional<Error> Exp2Rule::encode(EncodeUnit &unit) const {
  uint32_t &scaleCode = unit.scales[0][0];
  if (!allFinite(unit.values)) {
    scaleCode = *nan;
    clearCodes(unit);
    return std::nullopt;
  }
  float amax = absMax(unit.values);
  float wanted = 1;
  if (amax != 0)
    wanted =
        std::ldexp(1.0f, std::clamp(roundedLog2(amax) - maxExp, -127, 127));
  scaleCode = positiveCode(scale, wanted, encoding);
  return elements.encode(unit, scale.decode(scaleCode));
}

Expected<RulePtr> grit::makeExp2Rule(const FormatDescription &format) {
  constexpr std::string_view name = "exp2...maxabs";
  if (auto error = checkScaled(format, name, LevelKind::Number))
    return tl::unexpected(*error);
  auto elements = ElementCoder::get(format, name);
  if (!elements)
    return tl::unexpected(elements.error());
  return std::make_unique<Exp2Rule>(format, *elements);
}
