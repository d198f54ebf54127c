//===- EncodeMeanSquareGroup.cpp - the search in one group ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeMeanSquareGroup.h"
#include "ValueSteps.h"

#include <algorithm>
#include <array>

using namespace grit;

/// Rounds of least squares after the guesses, and for the offset of a guess.
static constexpr int kRounds = 4, kOffsetRounds = 2;
/// What an error must fall below to count as smaller: sums in another order
/// then agree.
static constexpr double kMargin = 1 - 1e-9;

/// The product of the factors above an element, as decode takes it.
float GroupSearch::product(const std::vector<Factor> &factors,
                           const std::vector<std::span<uint32_t>> &codes,
                           size_t element, bool withInner) const {
  float result = 1;
  for (size_t i = 0; i + !withInner < factors.size(); ++i) {
    size_t group = element * codes[i].size() / unit.values.size();
    float number = factors[i].number.decode(codes[i][group]);
    result = i == 0 ? number : result * number;
  }
  return result;
}

GroupSearch::GroupSearch(const MeanSquareSearch &search, EncodeUnit &unit,
                         size_t index)
    : search(search), format(search.description()), unit(unit), index(index),
      vector(format.level.vector) {
  const size_t count = unit.values.size() / unit.scales.back().size();
  begin = index * count;
  end = begin + count;
  outerScale = product(format.scales, unit.scales, begin, false);
  size_t size = count;
  if (format.offset.kind != Offset::Kind::None) {
    const size_t offsets = unit.offsets.back().size();
    size = std::min(count, unit.values.size() / offsets);
    movesOffset = unit.offsets.back().size() >= unit.scales.back().size() &&
                  format.offset.factors.back().group > 0;
    firstOffset = begin * offsets / unit.values.size();
    outerOffset = product(format.offset.factors, unit.offsets, begin, false);
  }
  for (size_t first = begin; first < end; first += size)
    parts.push_back({first, first + size});
}

float GroupSearch::offsetOf(size_t part, uint32_t code) const {
  if (format.offset.kind == Offset::Kind::None)
    return 0;
  if (!movesOffset)
    return product(format.offset.factors, unit.offsets, parts[part].begin,
                   true);
  return joined(format.offset.factors.back(), format.offset.factors.size() == 1,
                outerOffset, code);
}

float GroupSearch::signOf(size_t element) const {
  const std::optional<Signs> &signs = format.level.signs;
  if (!signs)
    return 1;
  return signs->isNegative(unit.signs[element / signs->group],
                           element % signs->group)
             ? -1
             : 1;
}

/// What decode makes of a level.
float GroupSearch::valueOf(float scale, float offset, float level) const {
  float value;
  switch (format.offset.kind) {
  case Offset::Kind::None:
    value = scale * level;
    break;
  case Offset::Kind::ZeroPoint:
    value = scale * (level - offset);
    break;
  case Offset::Kind::Minimum:
    value = scale * level - offset;
    break;
  }
  return format.projection.isIdentity()
             ? value
             : projectValue(format.projection, value);
}

/// The level that would stand for an element exactly.
float GroupSearch::levelFor(float scale, float offset, size_t element) const {
  const float x = unit.values[element];
  switch (format.offset.kind) {
  case Offset::Kind::None:
    return x / scale * signOf(element);
  case Offset::Kind::ZeroPoint:
    return x / scale + offset;
  case Offset::Kind::Minimum:
    return (x + offset) / scale;
  }
  return x;
}

/// The error of one code, or of what it has of elements when it is beyond the
/// limit.
double GroupSearch::errorOf(size_t first, uint32_t code, float scale,
                            float offset, double limit) const {
  double error = 0;
  for (size_t i = 0; i < vector && error <= limit; ++i) {
    float level = search.levels().levelOf(code, i) * signOf(first + i);
    float value = valueOf(scale, offset, level);
    double difference = double(value) - unit.values[first + i];
    error += weightOf(first + i) * difference * difference;
  }
  return error;
}

/// The nearest codes of a part and their error; anything above the limit once
/// that is passed.
double GroupSearch::chooseCodes(const Part &part, float scale, float offset,
                                std::span<uint32_t> codes, double limit) {
  std::array<float, NearestLevels::kMostElements> numbers;
  double sum = 0;
  for (size_t i = part.begin; vector == 1 && i < part.end && sum <= limit;
       ++i) {
    codes[i - begin] = search.levels().nearest(levelFor(scale, offset, i));
    sum += errorOf(i, codes[i - begin], scale, offset, limit);
  }
  if (vector == 1)
    return sum;
  for (size_t first = part.begin; first < part.end && sum <= limit;
       first += vector) {
    for (size_t i = 0; i < vector; ++i)
      numbers[i] = levelFor(scale, offset, first + i);
    near.clear();
    search.levels().near(std::span(numbers).first(vector), near);
    double least = INFINITY;
    for (uint32_t code : near) {
      double error = errorOf(first, code, scale, offset, least);
      if (error < least) {
        least = error;
        codes[(first - begin) / vector] = code;
      }
    }
    sum += least;
  }
  return sum;
}

/// The offset that fits the codes of a part best.
std::optional<double>
GroupSearch::bestOffset(const Part &part, float scale,
                        std::span<const uint32_t> codes) const {
  double weights = 0, sum = 0;
  for (size_t i = part.begin; i < part.end; ++i) {
    double level = format.level.decode(codes[i - begin]);
    double missing = format.offset.kind == Offset::Kind::Minimum
                         ? scale * level - unit.values[i]
                         : level - unit.values[i] / scale;
    sum += weightOf(i) * missing;
    weights += weightOf(i);
  }
  if (!(weights > 0) || !std::isfinite(sum))
    return std::nullopt;
  return sum / weights / (format.offset.factors.size() == 1 ? 1 : outerOffset);
}

/// The codes of one part under its best offset, from the one it has.
double GroupSearch::tryOffsets(size_t index, float scale, Trial &trial,
                               double limit) {
  const Part &part = parts[index];
  std::span<uint32_t> codes(trial.codes);
  double least = chooseCodes(part, scale, offsetOf(index, trial.offsets[index]),
                             codes, limit);
  if (!movesOffset)
    return least;
  std::vector<uint32_t> around;
  for (int round = 0; round < kOffsetRounds; ++round) {
    around.clear();
    if (format.offset.factors.back().number.isTable() || vector > 1)
      search.offsetsAround(
          format.offset.factors.back().number.decode(trial.offsets[index]),
          around);
    else if (auto number = bestOffset(part, scale, codes))
      search.offsetsAround(*number, around);
    bool isBetter = false;
    for (uint32_t code : around) {
      const float offset = offsetOf(index, code);
      if (code == trial.offsets[index] || !std::isfinite(offset))
        continue;
      chosen = trial.codes;
      double error =
          chooseCodes(part, scale, offset, chosen, std::min(least, limit));
      if (error < least) {
        least = error;
        trial.offsets[index] = code;
        std::ranges::copy(chosen, trial.codes.begin());
        isBetter = true;
      }
    }
    if (!isBetter)
      break;
  }
  return least;
}

void GroupSearch::tryScale(uint32_t code) {
  if (std::ranges::find(tried, code) != tried.end())
    return;
  tried.push_back(code);
  const float scale = scaleOf(code);
  if (!std::isfinite(scale) || scale == 0)
    return;
  trial = best;
  trial.scale = code;
  trial.error = 0;
  const double limit = best.error * kMargin;
  for (size_t part = 0; part < parts.size() && trial.error < limit; ++part)
    trial.error += tryOffsets(part, scale, trial, limit - trial.error);
  if (trial.error < limit)
    std::swap(best, trial);
}

/// The scale that fits the best codes so far, as the innermost number.
std::optional<double> GroupSearch::bestScale() const {
  double products = 0, squares = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    const float offset = offsetOf(part, best.offsets[part]);
    for (size_t i = parts[part].begin; i < parts[part].end; ++i) {
      const size_t at = i - begin;
      double level =
          search.levels().levelOf(best.codes[at / vector], at % vector) *
          signOf(i);
      double y = unit.values[i];
      if (format.offset.kind == Offset::Kind::ZeroPoint)
        level -= offset;
      if (format.offset.kind == Offset::Kind::Minimum)
        y += offset;
      products += weightOf(i) * level * y;
      squares += weightOf(i) * level * level;
    }
  }
  if (!(squares > 0) || !std::isfinite(products))
    return std::nullopt;
  return products / squares / (format.scales.size() == 1 ? 1 : outerScale);
}

/// What the rule has chosen, and its error.
void GroupSearch::takeHome() {
  best.scale = unit.scales.back()[index];
  for (size_t part = 0; part < parts.size(); ++part)
    best.offsets.push_back(movesOffset ? unit.offsets.back()[firstOffset + part]
                                       : 0);
  const float scale = scaleOf(best.scale);
  for (size_t first = begin; first < end; first += vector) {
    const uint32_t code = unit.wideCodes.empty()
                              ? unit.codes[first / vector]
                              : unit.wideCodes[first / vector];
    best.codes.push_back(code);
    size_t part = (first - begin) / (parts[0].end - parts[0].begin);
    best.error += errorOf(first, code, scale,
                          offsetOf(part, best.offsets[part]), INFINITY);
  }
}

void GroupSearch::store() {
  unit.scales.back()[index] = best.scale;
  if (movesOffset)
    std::ranges::copy(best.offsets, unit.offsets.back().begin() + firstOffset);
  for (size_t i = 0; i < best.codes.size(); ++i)
    if (unit.wideCodes.empty())
      unit.codes[begin / vector + i] = static_cast<uint8_t>(best.codes[i]);
    else
      unit.wideCodes[begin / vector + i] = best.codes[i];
}

void GroupSearch::run() {
  if (begin == end)
    return;
  takeHome();
  if (!(best.error > 0) || !std::isfinite(best.error))
    return;
  const Number &inner = format.scales.back().number;
  const uint32_t home = best.scale;
  float number = inner.decode(home);
  if (number == 0) {
    std::span<const float> x = unit.values.subspan(begin, end - begin);
    number = absMax(x) / search.levels().largest();
    if (format.scales.size() > 1)
      number /= outerScale;
  }
  std::vector<uint32_t> scales = {home};
  search.scalesAround(number, scales);
  for (uint32_t code : scales)
    tryScale(code);
  for (int round = 0; round < kRounds; ++round) {
    std::optional<double> fitting = bestScale();
    auto code = fitting ? search.scaleNear(*fitting) : std::nullopt;
    if (!code || std::ranges::find(tried, *code) != tried.end())
      break;
    tryScale(*code);
  }
  if (best.scale != home)
    unit.exactScale = scaleOf(best.scale);
  store();
}
