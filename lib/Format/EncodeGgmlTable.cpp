//===- EncodeGgmlTable.cpp - the search of ggml over a table of levels ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml writes for its non-linear 4-bit blocks: a weighted
// least-squares scale for each of sixteen guesses, the best of them kept.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>

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
        nearest(StepTable::nearestLevel(levels)) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Sums fit(std::span<const float> values, std::span<const float> weights,
           float reciprocal) const;
  /// The best scale, or NaN where the sums overflow.
  float search(std::span<const float> values,
               std::span<const float> weights) const;

  Number scale;
  std::vector<float> levels;
  StepTable nearest;
};
} // namespace

/// Blocks that are smaller than this everywhere become zero.
static constexpr float kLeastMax = 1e-15f;
/// Guesses on either side of the one that maps the largest value to the end.
static constexpr int kTries = 7;

static std::vector<float> weightsOf(const EncodeUnit &unit) {
  float sigma2 = 0;
  for (float x : unit.values)
    sigma2 += x * x;
  sigma2 *= 2.0f / static_cast<float>(unit.values.size());
  std::vector<float> weights;
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float square = unit.values[i] * unit.values[i];
    weights.push_back(unit.importance.empty()
                          ? square
                          : unit.importance[i] * std::sqrt(sigma2 + square));
  }
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
  float max = 0;
  for (float x : values)
    max = std::fabs(x) > std::fabs(max) ? x : max;
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

std::optional<Error> TableSearchRule::encode(EncodeUnit &unit) const {
  float d = search(unit.values, weightsOf(unit));
  if (std::isnan(d))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(scale, d, kIeee);
  const float reciprocal = d != 0 ? 1 / d : 0;
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = nearest(reciprocal * unit.values[i]);
  return std::nullopt;
}

Expected<RulePtr>
grit::makeGgmlTableSearchRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml table search";
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return tl::unexpected(*error);
  const std::vector<float> &levels = format.level.number.table;
  if (levels.size() > 256 || !std::ranges::is_sorted(levels) ||
      !(levels.front() < 0))
    return refuseRule(name, "level",
                      "at most 256 ascending levels, the first negative",
                      "others");
  return std::make_unique<TableSearchRule>(format);
}
