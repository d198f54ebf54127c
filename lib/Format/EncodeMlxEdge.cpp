//===- EncodeMlxEdge.cpp - a scale and a bias, from the far edge ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLX's affine quantization: of the two ends of the range, the one farther from
// zero is the bias, and the scale is chosen so that zero has a code. Values are
// those of the word of scale and bias; steps are those of binary32.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

static constexpr std::string_view kName = "mlx_edge";

namespace {
class MlxEdgeRule : public Rule {
public:
  explicit MlxEdgeRule(const FormatDescription &format)
      : scale(format.scales[0].number), bias(format.offset.factors[0].number),
        maxCode(maxFinite(format.level.number.word)), rounded(scale.word) {}

  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale, bias;
  float maxCode;
  WordRounder rounded;
};
} // namespace

std::optional<Error> MlxEdgeRule::encode(EncodeUnit &unit) const {
  constexpr float kLeast = 1e-7f;
  const auto ends = std::ranges::minmax(unit.values);
  const float least = rounded(ends.min), most = rounded(ends.max);
  const bool isNegative = std::fabs(least) > std::fabs(most);
  float s = std::max((most - least) / maxCode, kLeast);
  s = isNegative ? s : -s;
  const float edge = isNegative ? least : most;
  const float atEdge = std::nearbyint(edge / s);
  float b = 0;
  if (atEdge != 0) {
    s = edge / atEdge;
    b = edge;
  }
  // Codes belong to the scale before it is rounded to its word.
  unit.scales[0][0] = wordCode(scale, s, kIeee);
  unit.offsets[0][0] = wordCode(bias, -b, kIeee);
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = std::nearbyint((rounded(unit.values[i]) - b) / s);
    unit.codes[i] =
        static_cast<uint8_t>(std::isnan(x) ? 0 : std::clamp(x, 0.0f, maxCode));
  }
  return std::nullopt;
}

Expected<RulePtr> grit::makeMlxEdgeRule(const FormatDescription &format) {
  if (format.offset.kind != Offset::Kind::Minimum ||
      format.scales.size() != 1 || format.offset.factors.size() != 1)
    return refuseRule(kName, "min", "a scale and a minimum", "others");
  const Factor &scale = format.scales[0], &bias = format.offset.factors[0];
  if (scale.group <= 0 || bias.group != scale.group || format.sparsity)
    return refuseRule(kName, bias.name, "the groups of the scale", "others");
  if (!isByteInteger(format.level.number))
    return refuseRule(kName, "level", "unsigned integers of at most 8 bits",
                      "others");
  if (!WordRounder::isFor(scale.number.word) || scale.number.exp2 ||
      bias.number.word != scale.number.word || bias.number.times != -1 ||
      bias.number.exp2)
    return refuseRule(kName, "scales, min",
                      "a float with a sign, and the negative of another",
                      "others");
  return std::make_unique<MlxEdgeRule>(format);
}
