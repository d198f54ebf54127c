//===- EncodeGgmlSymmetric.cpp - the search of ggml for two scales --------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml writes for its super-blocks without minima: a scale
// of either sign for each group, all of them quantized under one factor.
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlSearch.h"

using namespace grit;

namespace {
class SymmetricRule : public Rule {
public:
  explicit SymmetricRule(const FormatDescription &format);

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  /// Per group: its scale, and the sum of its weights.
  struct Groups {
    std::vector<float> scales, weights;
  };
  Groups fitGroups(EncodeUnit &unit) const;
  float roundScales(std::span<const float> scales,
                    std::span<uint32_t> codes) const;
  float searchScales(const Groups &groups, std::span<uint32_t> codes) const;
  void recode(EncodeUnit &unit) const;

  Number outer, inner;
  int64_t group;
  int half;        ///< codes are integers from -half, plus half
  int lowestScale; ///< of the inner scales, as integers
  uint32_t innerMask;
  bool refines;
};
} // namespace

static int lowestInteger(const Number &number) {
  return number.word.isUnsigned() ? static_cast<int>(number.plus)
                                  : -(1 << (number.word.width() - 1));
}

SymmetricRule::SymmetricRule(const FormatDescription &format)
    : outer(format.scales[0].number), inner(format.scales[1].number),
      group(format.scales[1].group),
      half(static_cast<int>(-format.level.number.plus)),
      lowestScale(lowestInteger(inner)),
      innerMask((1u << inner.word.width()) - 1),
      refines(format.encoding.rule == EncodeRule::GgmlSymmetricRefine) {}

SymmetricRule::Groups SymmetricRule::fitGroups(EncodeUnit &unit) const {
  const bool weighted = !unit.importance.empty();
  float meanSquare = 0;
  if (weighted && refines)
    meanSquare =
        2 * sumOfSquares(unit.values) / static_cast<float>(unit.values.size());
  Groups groups;
  for (size_t first = 0; first < unit.values.size(); first += group) {
    auto x = unit.values.subspan(first, group);
    auto codes = unit.codes.subspan(first, group);
    if (refines && !weighted) {
      groups.scales.push_back(refineSymmetric(x, half, codes));
      continue;
    }
    std::vector<float> weights;
    if (weighted) {
      auto importance = unit.importance.subspan(first, group);
      if (refines)
        weights = importanceWeights(importance, x, meanSquare);
      else
        weights.assign(importance.begin(), importance.end());
    }
    groups.scales.push_back(searchSymmetric(x, weights, half, codes));
    float sum = 0;
    for (float weight : weights)
      sum += weight;
    groups.weights.push_back(sum);
  }
  return groups;
}

/// The scale of largest magnitude becomes the lowest integer. Returns the
/// factor that undoes it.
float SymmetricRule::roundScales(std::span<const float> scales,
                                 std::span<uint32_t> codes) const {
  const float max = signedMax(scales);
  if (max == 0 || (!refines && std::fabs(max) < kLeastMax)) {
    std::ranges::fill(codes, 0);
    return 0;
  }
  const float reciprocal = static_cast<float>(lowestScale) / max;
  for (size_t g = 0; g < scales.size(); ++g) {
    int scale = std::clamp(nearestInt(reciprocal * scales[g]), lowestScale,
                           -lowestScale - 1);
    codes[g] = static_cast<uint32_t>(scale - int(inner.plus)) & innerMask;
  }
  return 1 / reciprocal;
}

/// The factor of the inner scales by weighted least squares.
float SymmetricRule::searchScales(const Groups &groups,
                                  std::span<uint32_t> codes) const {
  std::vector<uint8_t> integers(codes.size());
  float d =
      searchSymmetric(groups.scales, groups.weights, -lowestScale, integers);
  std::ranges::copy(integers, codes.begin());
  return d;
}

void SymmetricRule::recode(EncodeUnit &unit) const {
  const float d = outer.decode(unit.scales[0][0]);
  for (size_t g = 0; g < unit.scales[1].size(); ++g) {
    const float S = d * inner.decode(unit.scales[1][g]);
    if (S == 0)
      continue; // The codes of the search stay.
    for (size_t i = g * group; i < (g + 1) * group; ++i) {
      int code = std::clamp(nearestInt(unit.values[i] / S), -half, half - 1);
      unit.codes[i] = static_cast<uint8_t>(code + half);
    }
  }
}

std::optional<Error> SymmetricRule::encode(EncodeUnit &unit) const {
  Groups groups = fitGroups(unit);
  for (float scale : groups.scales)
    if (std::isnan(scale))
      return searchOverflow(unit);
  const bool searches = refines && !unit.importance.empty();
  float d = searches ? searchScales(groups, unit.scales[1])
                     : roundScales(groups.scales, unit.scales[1]);
  if (std::isnan(d))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(outer, d, kIeee);
  if (!refines && d == 0)
    clearCodes(unit);
  recode(unit);
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlSymmetricRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml symmetric search";
  if (auto error = checkScaled(format, name, LevelKind::Number, 2))
    return tl::unexpected(*error);
  const std::vector<Factor> &scales = format.scales;
  if (scales[0].group <= 0 || scales[1].group <= 0)
    return refuseRule(name, "scales", "groups of a fixed size", "others");
  const bool refines = format.encoding.rule == EncodeRule::GgmlSymmetricRefine;
  const FormatWord inner = scales[1].number.word;
  if (!isSymmetricInteger(scales[1].number) || (refines && !inner.isUnsigned()))
    return refuseRule(name, "scales", "integers less half their number",
                      inner.str());
  const Number &level = format.level.number;
  if (!isSymmetricInteger(level) || !level.word.isUnsigned())
    return refuseRule(name, "level", "integers less half their number",
                      level.word.str());
  return std::make_unique<SymmetricRule>(format);
}
