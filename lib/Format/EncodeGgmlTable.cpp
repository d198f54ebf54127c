//===- EncodeGgmlTable.cpp - the search of ggml over a table of levels ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml writes for its non-linear 4-bit blocks: a weighted
// least-squares scale for each of sixteen guesses, the best of them kept. Where
// groups share a factor, their scales become integers under the largest.
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlSearch.h"

using namespace grit;

namespace {
/// Sums over a block of weight * level * (value, level).
struct Sums {
  float qx = 0, qq = 0;
};

class TableSearchRule : public Rule {
public:
  explicit TableSearchRule(const FormatDescription &format)
      : scale(format.scales[0].number), levels(format.level.number.table),
        nearest(StepTable::nearestLevel(levels)) {
    if (format.scales.size() == 1)
      return;
    inner = format.scales[1].number;
    group = format.scales[1].group;
  }

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  void encodeGroups(EncodeUnit &unit, std::span<const float> scales) const;
  Sums fit(std::span<const float> values, std::span<const float> weights,
           float reciprocal) const;
  /// The best scale, or NaN where the sums overflow.
  float search(std::span<const float> values,
               std::span<const float> weights) const;

  Number scale;
  std::vector<float> levels;
  StepTable nearest;
  Number inner;      ///< of the groups, where they have scales of their own
  int64_t group = 0; ///< 0: they have none
};
} // namespace

/// Guesses on either side of the one that maps the largest value to the end.
static constexpr int kTries = 7;

static std::vector<float> weightsOf(const EncodeUnit &unit) {
  const float count = static_cast<float>(unit.values.size());
  if (!unit.importance.empty())
    return importanceWeights(unit.importance, unit.values,
                             sumOfSquares(unit.values) * (2.0f / count));
  std::vector<float> weights;
  for (float x : unit.values)
    weights.push_back(x * x);
  return weights;
}

Sums TableSearchRule::fit(std::span<const float> values,
                          std::span<const float> weights,
                          float reciprocal) const {
  Sums sums;
  for (size_t i = 0; i < values.size(); ++i) {
    float q = levels[nearest(reciprocal * values[i])];
    sums.qx += weights[i] * q * values[i];
    sums.qq += weights[i] * q * q;
  }
  return sums;
}

float TableSearchRule::search(std::span<const float> values,
                              std::span<const float> weights) const {
  const float max = signedMax(values);
  if (std::fabs(max) < kLeastMax)
    return 0;
  Sums sums = fit(values, weights, 1 / (-max / levels[0]));
  float d = sums.qq > 0 ? sums.qx / sums.qq : 0;
  float best = d * sums.qx;
  for (int attempt = -kTries; attempt <= kTries; ++attempt) {
    sums =
        fit(values, weights, (static_cast<float>(attempt) + levels[0]) / max);
    if (sums.qq > 0 && sums.qx * sums.qx > best * sums.qq) {
      d = sums.qx / sums.qq;
      best = d * sums.qx;
    }
  }
  return d;
}

/// The groups' scales as integers under a factor that maps the largest to the
/// lowest. Codes are chosen before the factor is rounded.
void TableSearchRule::encodeGroups(EncodeUnit &unit,
                                   std::span<const float> scales) const {
  const int lowest = static_cast<int>(inner.plus);
  const float d = -signedMax(scales) / static_cast<float>(-lowest);
  const float reciprocal = d != 0 ? 1 / d : 0;
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  for (size_t g = 0; g < scales.size(); ++g) {
    int integer =
        std::clamp(nearestInt(reciprocal * scales[g]), lowest, -lowest - 1);
    unit.scales[1][g] = integer - lowest;
    const float S = d * static_cast<float>(integer);
    const float inverse = S != 0 ? 1 / S : 0;
    for (size_t i = g * group; i < (g + 1) * group; ++i)
      unit.codes[i] = nearest(inverse * unit.values[i]);
  }
}

std::optional<Error> TableSearchRule::encode(EncodeUnit &unit) const {
  const std::vector<float> weights = weightsOf(unit);
  const size_t size = group ? group : unit.values.size();
  std::vector<float> scales;
  for (size_t first = 0; first < unit.values.size(); first += size) {
    scales.push_back(search(unit.values.subspan(first, size),
                            std::span(weights).subspan(first, size)));
    if (std::isnan(scales.back()))
      return searchOverflow(unit);
  }
  if (group) {
    encodeGroups(unit, scales);
    return std::nullopt;
  }
  const float d = scales[0];
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  const float reciprocal = d != 0 ? 1 / d : 0;
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = nearest(reciprocal * unit.values[i]);
  return std::nullopt;
}

Expected<RulePtr>
grit::makeGgmlTableSearchRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml table search";
  const std::vector<Factor> &scales = format.scales;
  if (auto error = checkScaled(format, name, LevelKind::Table,
                               scales.size() == 2 ? 2 : 1))
    return tl::unexpected(*error);
  if (scales.size() == 2) {
    const Number &inner = scales[1].number;
    if (scales[0].group <= 0 || scales[1].group <= 0 ||
        !isSymmetricInteger(inner) || !inner.word.isUnsigned())
      return refuseRule(name, "scales", "integers less half their number",
                        inner.word.str());
  }
  const std::vector<float> &levels = format.level.number.table;
  if (levels.size() > 256 || !std::ranges::is_sorted(levels) ||
      !(levels.front() < 0))
    return refuseRule(name, "level",
                      "at most 256 ascending levels, the first negative",
                      "others");
  return std::make_unique<TableSearchRule>(format);
}
