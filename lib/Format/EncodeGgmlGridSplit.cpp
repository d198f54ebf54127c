//===- EncodeGgmlGridSplit.cpp - ggml's splits into three levels ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code stands for a vector of three levels, all of which a shift moves up or
// down. The values of a group, in ascending order, are split into three at
// every two places, for every choice of shifts; the best split by weighted
// squares is kept. Points off the grid become the nearest vector around.
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlGrid.h"

#include <array>
#include <limits>
#include <numeric>

using namespace grit;

/// The most shifts of a group: all choices of them are tried.
static constexpr int kMostParts = 4;
/// The most elements of a vector: a grid has at most 2^16 points.
static constexpr unsigned kMostElements = 16;

namespace {
/// Three levels under a shift.
using Levels = std::array<float, 3>;

/// Sums of weight * level * (value, level).
struct Sums {
  float qx = 0, qq = 0;

  void add(float weight, float x, float level) {
    qx += weight * level * x;
    qq += weight * level * level;
  }
};

/// What all groups of an array share.
struct GridSplit {
  std::shared_ptr<const VectorGrid> grid;
  std::array<Levels, 2> levels; ///< by the code of the shift
  GridWeights weights;
  bool sumsPrefixes;
  float least;   ///< groups that are smaller everywhere become zero
  float stretch; ///< of the factor
  bool fitsFactor;
};

/// One group: buffers are made once and used for many.
class SplitGroup {
public:
  SplitGroup(const GridSplit &search, size_t count, size_t parts)
      : search(search), grid(*search.grid), part(count / parts), parts(parts),
        sorted(count), points(count), vectors(count / grid.size()),
        sumX(count + 1), sumW(count + 1) {}

  /// The best scale, 0 or more; nothing where sums overflow.
  std::optional<float> fit(std::span<const float> x,
                           std::span<const float> weights);
  std::span<const uint32_t> codes() const { return vectors; }
  /// The code of the shift of a part.
  uint32_t shift(size_t index) const {
    return shifts >> (parts - 1 - index) & 1;
  }
  /// Adds the sums of the group, each level times `integer`.
  void addTo(Sums &sums, std::span<const float> x,
             std::span<const float> weights, float integer) const;

private:
  struct Split {
    size_t first, second;
    float scale;
  };
  const Levels &levelsOf(size_t element) const {
    return search.levels[shift(element / part)];
  }
  void sort();
  void sumPrefixes();
  void consider(const Sums &sums, size_t first, size_t second, uint32_t choice);
  void splitByPrefixes();
  void splitByElements();
  void addLevel(std::span<Sums> sums, size_t place, int level) const;
  int32_t nearest(uint32_t point, size_t first) const;
  bool placeOnGrid(bool &isOff);

  const GridSplit &search;
  const VectorGrid &grid;
  size_t part, parts; ///< elements under a shift, and how many of them
  std::span<const float> x, weights;
  std::vector<uint32_t> sorted; ///< elements by value
  std::vector<uint8_t> points;  ///< ranks
  std::vector<uint32_t> vectors;
  std::vector<float> sumX, sumW;
  uint32_t shifts = 0; ///< a bit for each part, the first highest
  std::optional<Split> best;
  float bestScore = 0;
};
} // namespace

/// Ascending; equals in their order.
void SplitGroup::sort() {
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, [&](uint32_t a, uint32_t b) {
    return x[a] != x[b] ? x[a] < x[b] : a < b;
  });
}

void SplitGroup::consider(const Sums &sums, size_t first, size_t second,
                          uint32_t choice) {
  if (!(sums.qq > 0 && sums.qx * sums.qx > bestScore * sums.qq))
    return;
  best = {first, second, sums.qx / sums.qq};
  bestScore = best->scale * sums.qx;
  shifts = choice;
}

void SplitGroup::sumPrefixes() {
  for (size_t i = 0; i < sorted.size(); ++i) {
    const uint32_t at = sorted[i];
    sumX[i + 1] = sumX[i] + weights[at] * x[at];
    sumW[i + 1] = sumW[i] + weights[at];
  }
}

/// All elements are under one shift: sums of ranges by differences.
void SplitGroup::splitByPrefixes() {
  sumPrefixes();
  const size_t end = sorted.size();
  for (size_t first = 0; first <= end; ++first)
    for (size_t second = first; second <= end; ++second)
      for (uint32_t choice = 0; choice < 2; ++choice) {
        const Levels &q = search.levels[choice];
        Sums sums;
        sums.qx = (sumX[first] - sumX[0]) * q[0] +
                  (sumX[second] - sumX[first]) * q[1] +
                  (sumX[end] - sumX[second]) * q[2];
        sums.qq = (sumW[first] - sumW[0]) * q[0] * q[0] +
                  (sumW[second] - sumW[first]) * q[1] * q[1] +
                  (sumW[end] - sumW[second]) * q[2] * q[2];
        consider(sums, first, second, choice);
      }
}

/// Adds the element at a place of the order, at a level, for all choices.
void SplitGroup::addLevel(std::span<Sums> sums, size_t place, int level) const {
  const uint32_t at = sorted[place];
  const size_t bit = parts - 1 - at / part;
  for (uint32_t choice = 0; choice < sums.size(); ++choice)
    sums[choice].add(weights[at], x[at],
                     search.levels[choice >> bit & 1][level]);
}

/// Element by element: what two splits begin with alike is summed once.
void SplitGroup::splitByElements() {
  const size_t end = sorted.size();
  std::array<Sums, 1 << kMostParts> low{};
  const size_t choices = size_t(1) << parts;
  for (size_t first = 0; first <= end; ++first) {
    auto middle = low;
    for (size_t second = first; second <= end; ++second) {
      auto sums = middle;
      for (size_t place = second; place < end; ++place)
        addLevel(std::span(sums).first(choices), place, 2);
      for (uint32_t choice = 0; choice < choices; ++choice)
        consider(sums[choice], first, second, choice);
      if (second < end)
        addLevel(std::span(middle).first(choices), second, 1);
    }
    if (first < end)
      addLevel(std::span(low).first(choices), first, 0);
  }
}

/// The vector around a point off the grid that is nearest to the elements from
/// `first` on under the best scale, or -1 where all sums overflow.
int32_t SplitGroup::nearest(uint32_t point, size_t first) const {
  const unsigned size = grid.size();
  std::array<Levels, kMostElements> scaled;
  for (unsigned i = 0; i < size; ++i)
    for (size_t rank = 0; rank < 3; ++rank)
      scaled[i][rank] = best->scale * levelsOf(first + i)[rank];
  float least = std::numeric_limits<float>::max();
  int32_t found = -1;
  for (uint16_t code : grid.neighbours(point)) {
    const uint8_t *ranks = grid.ranks(code);
    float sum = 0;
    for (unsigned i = 0; i < size; ++i) {
      float difference = scaled[i][ranks[i]] - x[first + i];
      sum += weights[first + i] * difference * difference;
    }
    if (sum < least) {
      least = sum;
      found = code;
    }
  }
  return found;
}

/// Codes of the points. False where there is none for one off the grid.
bool SplitGroup::placeOnGrid(bool &isOff) {
  const unsigned size = grid.size();
  for (size_t vector = 0; vector < vectors.size(); ++vector) {
    const size_t first = vector * size;
    const uint32_t point = grid.point(&points[first]);
    int32_t code = grid.codeAt(point);
    if (code < 0) {
      isOff = true;
      code = nearest(point, first);
      if (code < 0)
        return false;
    }
    vectors[vector] = code;
  }
  return true;
}

void SplitGroup::addTo(Sums &sums, std::span<const float> x,
                       std::span<const float> weights, float integer) const {
  for (size_t i = 0; i < x.size(); ++i) {
    const uint8_t rank = grid.ranks(vectors[i / grid.size()])[i % grid.size()];
    sums.add(weights[i], x[i], levelsOf(i)[rank] * integer);
  }
}

std::optional<float> SplitGroup::fit(std::span<const float> values,
                                     std::span<const float> given) {
  x = values;
  weights = given;
  best.reset();
  bestScore = -std::numeric_limits<float>::max();
  shifts = 0;
  std::ranges::fill(vectors, 0);
  if (absMax(x) < search.least)
    return 0.0f;
  sort();
  if (search.sumsPrefixes)
    splitByPrefixes();
  else
    splitByElements();
  if (!best)
    return 0.0f;
  const bool isMirrored = best->scale < 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    uint8_t rank = (i >= best->first) + (i >= best->second);
    points[sorted[i]] = isMirrored ? 2 - rank : rank;
  }
  if (isMirrored) {
    best->scale = -best->scale;
    shifts ^= (1u << parts) - 1;
  }
  bool isOff = false;
  if (!placeOnGrid(isOff))
    return std::nullopt;
  if (isOff) {
    Sums sums;
    addTo(sums, x, weights, 1);
    if (sums.qx > 0 && sums.qq > 0)
      best->scale = sums.qx / sums.qq;
  }
  if (std::isnan(best->scale))
    return std::nullopt;
  return best->scale;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
class GridSplitRule : public Rule {
public:
  GridSplitRule(GridSplit search, OddScales scales, int64_t part)
      : search(std::move(search)), scales(std::move(scales)), part(part) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  bool needsImportance() const override {
    return search.weights == GridWeights::None;
  }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  void roundScales(EncodeUnit &unit, std::span<const SplitGroup> groups,
                   std::span<const float> found,
                   std::span<const float> weights) const;

  GridSplit search;
  OddScales scales;
  int64_t part;
};
} // namespace

/// The scales as integers under a factor, which may be fitted to them.
void GridSplitRule::roundScales(EncodeUnit &unit,
                                std::span<const SplitGroup> groups,
                                std::span<const float> found,
                                std::span<const float> weights) const {
  float factor = scales.factorOf(std::ranges::max(found));
  const float reciprocal = 1 / factor;
  const size_t size = scales.group(), parts = size / part;
  Sums sums;
  for (size_t g = 0; g < groups.size(); ++g) {
    const uint32_t code = scales.codeOf(reciprocal, found[g]);
    unit.scales[1][g] = code;
    for (size_t i = 0; i < parts; ++i)
      unit.offsets[0][g * parts + i] = groups[g].shift(i);
    if (search.fitsFactor)
      groups[g].addTo(sums, unit.values.subspan(g * size, size),
                      weights.subspan(g * size, size),
                      static_cast<float>(2 * code + 1));
  }
  if (sums.qq > 0)
    factor = sums.qx / sums.qq;
  unit.scales[0][0] = scales.factorCode(factor * search.stretch);
}

std::optional<Error> GridSplitRule::encode(EncodeUnit &unit) const {
  const std::vector<float> weights = gridWeights(unit, search.weights, 2);
  const size_t size = scales.group(), count = unit.values.size() / size;
  std::vector<SplitGroup> groups(count, {search, size, size / part});
  std::vector<float> found(count);
  for (size_t g = 0; g < count; ++g) {
    auto scale = groups[g].fit(unit.values.subspan(g * size, size),
                               std::span(weights).subspan(g * size, size));
    if (!scale)
      return searchOverflow(unit);
    found[g] = *scale;
    std::span<const uint32_t> codes = groups[g].codes();
    for (size_t i = 0; i < codes.size(); ++i)
      setVector(unit, g * codes.size() + i, codes[i]);
  }
  unit.scales[0][0] = 0;
  std::ranges::fill(unit.scales[1], 0);
  std::ranges::fill(unit.offsets[0], 0);
  if (std::ranges::max(found) > 0)
    roundScales(unit, groups, found, weights);
  return std::nullopt;
}

Expected<RulePtr> grit::makeGgmlGridSplitRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml grid split";
  Expected<OddScales> scales = OddScales::get(format, name);
  if (!scales)
    return tl::unexpected(scales.error());
  if (format.level.signs)
    return refuseRule(name, "signs", "none", "signs beside the codes");
  const bool fits = format.encoding.rule == EncodeRule::GgmlGridSplitFit;
  const std::vector<Factor> &offsets = format.offset.factors;
  const bool hasShifts = format.offset.kind == Offset::Kind::ZeroPoint &&
                         offsets[0].number.table.size() == 2;
  const int64_t part = hasShifts ? offsets[0].group : 0;
  if (part <= 0 || scales->group() % part ||
      scales->group() / part > (fits ? kMostParts : 1) ||
      scales->group() % format.level.vector)
    return refuseRule(name, "offset",
                      fits ? "two shifts, for up to four parts of a group"
                           : "two shifts, one for each scale",
                      "others");
  auto grid = VectorGrid::get(format.level, 3);
  if (!grid || grid->numbers().size() != 3)
    return refuseRule(name, "level", "a table of vectors of three numbers",
                      grid ? "others" : "another level");
  GridSplit search{std::move(grid),
                   {},
                   fits ? GridWeights::Squares : GridWeights::None,
                   !fits,
                   fits ? 1e-7f : 1e-12f,
                   fits ? 1.1125f : 1.125f,
                   fits};
  for (int shift = 0; shift < 2; ++shift)
    for (int level = 0; level < 3; ++level)
      search.levels[shift][level] =
          search.grid->numbers()[level] - offsets[0].number.table[shift];
  // A scale below 0 is mended by mirroring levels and shifts.
  for (int level = 0; level < 3; ++level)
    if (search.levels[0][level] != -search.levels[1][2 - level])
      return refuseRule(name, "offset", "two opposite shifts", "others");
  return std::make_unique<GridSplitRule>(std::move(search), std::move(*scales),
                                         part);
}
