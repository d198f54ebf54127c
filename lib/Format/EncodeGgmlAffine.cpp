//===- EncodeGgmlAffine.cpp - the search of ggml for scale and minimum ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml writes for its super-blocks with minima. Each group
// gets a weighted least-squares line for every one of a row of guesses, the
// best of them kept; the lines are then quantized under a common pair of
// factors.
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlSearch.h"

using namespace grit;

static constexpr std::string_view kName = "ggml_affine_search";

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
class AffineSearchRule : public Rule {
public:
  explicit AffineSearchRule(const FormatDescription &format)
      : outerScale(format.scales[0].number),
        outerMin(format.offset.factors[0].number),
        group(format.scales[1].group),
        maxCode(static_cast<int>(maxFinite(format.level.number.word))),
        maxFactor(static_cast<int>(maxFinite(format.scales[1].number.word))),
        byDistance(format.encoding.rule == EncodeRule::GgmlAffineSearchAbs),
        guesses(format.encoding.rule == EncodeRule::GgmlAffineSearch
                    ? Guesses{-1.0f, 0.1f, 20}
                    : Guesses{-0.5f, 0.1f, 15}),
        squareFactor(byDistance ? 1.0f : 2.0f) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  /// Per group: its line under one scale and one minimum, and its weight.
  struct Groups {
    std::vector<float> scales, offsets, weights;
  };
  Groups fitGroups(EncodeUnit &unit) const;
  void recode(EncodeUnit &unit) const;

  Number outerScale, outerMin;
  int64_t group;
  int maxCode, maxFactor;
  bool byDistance; ///< and by weights that are distances
  Guesses guesses; ///< without importance
  float squareFactor;
};
} // namespace

/// The weights of one group without importance.
static void weigh(std::span<const float> x, bool byDistance,
                  std::span<float> weights) {
  const float rms =
      byDistance ? 0
                 : std::sqrt(sumOfSquares(x) / static_cast<float>(x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    weights[i] = rms + std::fabs(x[i]);
}

AffineSearchRule::Groups AffineSearchRule::fitGroups(EncodeUnit &unit) const {
  const bool weighted = !unit.importance.empty();
  float meanSquare = 0;
  if (weighted)
    meanSquare = squareFactor * sumOfSquares(unit.values) /
                 static_cast<float>(unit.values.size());
  Groups groups;
  std::vector<float> weights(group);
  std::vector<uint8_t> trial(group);
  for (size_t first = 0; first < unit.values.size(); first += group) {
    auto x = unit.values.subspan(first, group);
    if (weighted)
      weights = importanceWeights(unit.importance.subspan(first, group), x,
                                  meanSquare);
    else
      weigh(x, byDistance, weights);
    float sum = 0;
    for (float weight : weights)
      sum += weight;
    Line line =
        LineSearch(x, weights, maxCode, unit.codes.subspan(first, group), trial,
                   byDistance && !weighted)
            .run(weighted ? kWeightedGuesses : guesses);
    groups.scales.push_back(line.scale);
    groups.offsets.push_back(line.offset);
    groups.weights.push_back(sum);
  }
  return groups;
}

/// Rounds `x` to codes under the scale max(x) / most, which is returned.
static float roundToMax(std::span<const float> x, int most,
                        std::span<uint32_t> codes) {
  float max = 0;
  for (float v : x)
    max = v > max ? v : max;
  const float reciprocal = max > 0 ? static_cast<float>(most) / max : 0;
  for (size_t i = 0; i < x.size(); ++i)
    codes[i] = std::min<uint32_t>(most, uint8_t(nearestInt(reciprocal * x[i])));
  return max / static_cast<float>(most);
}

void AffineSearchRule::recode(EncodeUnit &unit) const {
  const float d = outerScale.decode(unit.scales[0][0]);
  const float dmin = outerMin.decode(unit.offsets[0][0]);
  for (size_t g = 0; g < unit.scales[1].size(); ++g) {
    const float S = d * static_cast<float>(unit.scales[1][g]);
    if (S == 0)
      continue; // The codes of the search stay.
    const float Z = dmin * static_cast<float>(unit.offsets[1][g]);
    for (size_t i = g * group; i < (g + 1) * group; ++i)
      unit.codes[i] =
          static_cast<uint8_t>(clampedInt((unit.values[i] + Z) / S, maxCode));
  }
}

std::optional<Error> AffineSearchRule::encode(EncodeUnit &unit) const {
  Groups groups = fitGroups(unit);
  auto factor = [&](std::span<const float> x, std::span<uint32_t> codes) {
    return unit.importance.empty()
               ? roundToMax(x, maxFactor, codes)
               : searchPositive(x, groups.weights, maxFactor, codes);
  };
  float d = factor(groups.scales, unit.scales[1]);
  float dmin = factor(groups.offsets, unit.offsets[1]);
  if (std::isnan(d) || std::isnan(dmin))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(outerScale, d, kIeee);
  unit.offsets[0][0] = wordCode(outerMin, dmin, kIeee);
  recode(unit);
  return std::nullopt;
}

Expected<RulePtr>
grit::makeGgmlAffineSearchRule(const FormatDescription &format) {
  const std::vector<Factor> &scales = format.scales;
  const std::vector<Factor> &mins = format.offset.factors;
  if (format.offset.kind != Offset::Kind::Minimum || scales.size() != 2 ||
      mins.size() != 2)
    return refuseRule(kName, "offset", "a scale and a minimum of two levels",
                      "another structure of scales and offsets");
  if (scales[0].group <= 0 || scales[0].group != mins[0].group ||
      scales[1].group <= 0 || scales[1].group != mins[1].group)
    return refuseRule(kName, "scales",
                      "groups of a fixed size, shared by scales and minima",
                      "others");
  if (!isByteInteger(scales[1].number) ||
      scales[1].number.word != mins[1].number.word)
    return refuseRule(kName, "scales", "unsigned integers of at most 8 bits",
                      scales[1].number.word.str() + ", " +
                          mins[1].number.word.str());
  if (!format.level.number.isPlain() || !isByteInteger(format.level.number))
    return refuseRule(kName, "level", "an unsigned integer of at most 8 bits",
                      format.level.number.word.str());
  return std::make_unique<AffineSearchRule>(format);
}
