//===- EncodeGroupedSearch.cpp - the scale of least squared error ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums run over ascending elements in plain binary64, without contraction: the
// bytes do not depend on the machine. A candidate has to be better than all
// before it, so the order of the candidates is part of the algorithm.
//
//===----------------------------------------------------------------------===//

#include "EncodeGrouped.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace grit;

namespace {

/// One group in search of its scale.
class ScaleSearch {
public:
  ScaleSearch(const SignedGroups &groups, std::span<const float> values,
              std::span<const float> importance, bool negativeScales)
      : groups(groups), values(values), importance(importance),
        negativeScales(negativeScales), best(values.size()),
        trial(values.size()),
        magnitudeMask((1u << (groups.scale.word.width() - 1)) - 1) {}

  uint32_t run(float amax);
  std::span<const int8_t> integers() const { return best; }

private:
  using Words = std::initializer_list<int>;
  /// Takes the word where its error is below the best.
  void tryWord(uint32_t word);
  void tryNumber(double wanted);
  /// The word some steps of its magnitude away, sign kept.
  void trySteps(uint32_t word, Words steps);
  void tryMultiples(double number);
  std::optional<uint32_t> wordOf(double wanted) const;
  double error(uint32_t word, std::span<const int8_t> integers) const;
  double fit(std::span<const int8_t> integers) const;
  double weight(size_t i) const {
    return importance.empty() ? 1 : importance[i];
  }

  const SignedGroups &groups;
  std::span<const float> values, importance;
  bool negativeScales;
  std::vector<int8_t> best, trial;
  uint32_t magnitudeMask;
  uint32_t bestWord = 0;
  double bestError = std::numeric_limits<double>::infinity();
};

} // namespace

double ScaleSearch::error(uint32_t word,
                          std::span<const int8_t> integers) const {
  const double scale = groups.scale.decode(word);
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double difference = values[i] - scale * integers[i];
    sum += weight(i) * (difference * difference);
  }
  return sum;
}

/// The scale of least weighted squared error of given integers; 0 for none.
double ScaleSearch::fit(std::span<const int8_t> integers) const {
  constexpr double kLeast = 1e-300;
  double above = 0, below = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    above += weight(i) * values[i] * integers[i];
    below += weight(i) * integers[i] * integers[i];
  }
  return below > 0 ? above / std::max(below, kLeast) : 0;
}

/// Rounded to binary32 and then to the word. A number that is not 0 does not
/// become 0; one beyond the word, and 0 itself, have none.
std::optional<uint32_t> ScaleSearch::wordOf(double wanted) const {
  if (wanted == 0)
    return std::nullopt;
  uint32_t word = wordCode(groups.scale, static_cast<float>(wanted), kIeee);
  if ((word & magnitudeMask) == 0)
    word = (wanted < 0 ? magnitudeMask + 1 : 0) | 1;
  if (!std::isfinite(groups.scale.decode(word)))
    return std::nullopt;
  return word;
}

void ScaleSearch::tryWord(uint32_t word) {
  if (word > magnitudeMask && !negativeScales)
    return;
  groups.choose(values, word, trial);
  double found = error(word, trial);
  if (!(found < bestError))
    return;
  bestError = found;
  bestWord = word;
  best.swap(trial);
}

void ScaleSearch::tryNumber(double wanted) {
  if (std::optional<uint32_t> word = wordOf(wanted))
    tryWord(*word);
}

void ScaleSearch::trySteps(uint32_t word, Words steps) {
  const auto magnitude = static_cast<int64_t>(word & magnitudeMask);
  for (int step : steps) {
    int64_t moved = magnitude + step;
    if (moved < 1 || moved > magnitudeMask)
      continue;
    auto candidate = static_cast<uint32_t>(moved);
    if (std::isfinite(groups.scale.decode(candidate)))
      tryWord(candidate | (word & ~magnitudeMask));
  }
}

/// 0.70, 0.72 and so on to 1.18 times the number.
void ScaleSearch::tryMultiples(double number) {
  for (int percent = 70; percent <= 118; percent += 2)
    tryNumber(number * (percent / 100.0));
}

uint32_t ScaleSearch::run(float amax) {
  const uint32_t start = groups.absMaxWord(amax);
  tryWord(start);
  const std::vector<int8_t> startIntegers = best;
  auto extreme =
      std::ranges::find(values, amax, [](float x) { return std::fabs(x); });
  tryMultiples(static_cast<double>(amax) / groups.most);
  tryMultiples(static_cast<double>(*extreme) / groups.least);
  const double scale = groups.scale.decode(start);
  for (double power : {0.25, 0.5, 2.0, 4.0})
    tryNumber(scale * power);
  trySteps(start, {-2, -1, 1, 2});
  if (std::optional<uint32_t> fitted = wordOf(fit(startIntegers))) {
    tryWord(*fitted);
    const double number = groups.scale.decode(*fitted);
    for (double power : {0.5, 2.0})
      tryNumber(number * power);
    trySteps(*fitted, {-2, -1, 1, 2});
  }
  if (std::optional<uint32_t> fitted = wordOf(fit(best))) {
    tryWord(*fitted);
    trySteps(*fitted, {-1, 1});
  }
  return bestWord;
}

uint32_t grit::searchScale(const SignedGroups &groups,
                           std::span<const float> values,
                           std::span<const float> importance, float amax,
                           bool negativeScales, std::span<int8_t> integers) {
  ScaleSearch search(groups, values, importance, negativeScales);
  uint32_t word = search.run(amax);
  std::ranges::copy(search.integers(), integers.begin());
  return word;
}
