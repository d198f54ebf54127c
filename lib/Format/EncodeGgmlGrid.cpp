//===- EncodeGgmlGrid.cpp - the search of ggml over a grid ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code stands for a vector of magnitudes, whose signs are beside it. For each
// guess of a group's scale the magnitudes become points of the grid's cube; off
// the grid, the nearest vector around. The best guess by weighted squares is
// kept, and refined once.
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlGrid.h"

#include <limits>

using namespace grit;

//===----------------------------------------------------------------------===//
// The constants of a rule
//===----------------------------------------------------------------------===//

namespace {
/// Which vectors the best guess is refined for.
enum class Refined : uint8_t {
  OffGrid,     ///< those whose points were off the grid
  AllIfAnyOff, ///< all, where one was
  All,
};

struct GridConstants {
  GridWeights weights;
  float meanSquares; ///< how often the mean square is taken
  float least;       ///< groups that are smaller everywhere become zero
  bool startsAside;  ///< guesses surround a scale found without the grid
  int guesses;       ///< on either side
  float step;        ///< between guesses, in odd integers of the largest
  unsigned rings;    ///< of neighbours
  Refined refined;
  float stretch; ///< of the factor
  bool clears;   ///< a unit without a scale is zeros
};
} // namespace

static GridConstants constantsOf(EncodeRule rule) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  using enum GridWeights;
  switch (rule) {
  case EncodeRule::GgmlGridSearchAside:
    return {None, 1, kLeastMax, true, 6, 0.1f, 2, Refined::All, 1, true};
  case EncodeRule::GgmlGridSearchShrunk:
    return {SquaresPlusMean,  2,       1e-8f, false, 9, 0.1f, 1,
            Refined::OffGrid, 0.9875f, false};
  case EncodeRule::GgmlGridSearch31:
    return {Squares,          2,       1e-8f, false, 15, 0.2f, 2,
            Refined::OffGrid, 1.0125f, true};
  case EncodeRule::GgmlGridSearchStretched:
    return {Squares, 2,    kTiny, false, 9, 0.2f, 3, Refined::AllIfAnyOff,
            1.033f,  false};
  default:
    return {None, 1, kLeastMax, false, 9, 0.1f, 2, Refined::OffGrid, 1, true};
  }
}

//===----------------------------------------------------------------------===//
// One group
//===----------------------------------------------------------------------===//

namespace {
/// What all groups of an array share.
struct GridSearch {
  std::shared_ptr<const VectorGrid> grid;
  std::vector<float> integers; ///< odd ones, for each element of the vectors
  GridConstants constants;
  unsigned signGroup;
  uint32_t signMask;
  bool parity;

  float topInteger() const {
    return static_cast<float>(2 * grid->numbers().size() - 1);
  }
};

/// One group: buffers are made once and used for many.
class GridGroup {
public:
  GridGroup(const GridSearch &search, size_t count)
      : search(search), grid(*search.grid), magnitudes(count), roots(count),
        trial(count), ranks(count), trialCodes(count / grid.size()),
        vectors(count / grid.size()), offGrid(vectors.size()),
        trialOff(vectors.size()), signs(count / search.signGroup) {}

  /// The best scale, 0 or more; nothing where sums overflow. `codes` and
  /// `negative` are those of it.
  std::optional<float> fit(std::span<const float> x,
                           std::span<const float> weights);
  std::span<const uint32_t> codes() const { return vectors; }
  std::span<const uint32_t> negative() const { return signs; }

private:
  /// Sums of weight * integer * (value, integer).
  struct Sums {
    float qx = 0, qq = 0;
  };
  void takeSigns(std::span<const float> x);
  void makeEven(size_t group, std::span<const float> x);
  bool place(size_t vector, float reciprocal, float scale);
  bool placeAll(float reciprocal, float scale, bool onlyOff);
  int32_t nearest(size_t vector, uint32_t point, float scale) const;
  Sums sumTrial() const;
  bool tryGuesses(float start, float &scale);
  bool refine(float &scale);

  const GridSearch &search;
  const VectorGrid &grid;
  std::span<const float> weights;
  std::vector<float> magnitudes; ///< some negative, where signs have parity
  std::vector<float> roots;      ///< of the weights
  std::vector<uint8_t> trial, ranks;
  std::vector<uint32_t> trialCodes, vectors;
  std::vector<uint8_t> offGrid, trialOff; ///< a flag for each vector
  std::vector<uint32_t> signs;
};
} // namespace

/// An odd number of negative values: the sign that costs least is changed, and
/// the value's magnitude becomes negative.
void GridGroup::makeEven(size_t group, std::span<const float> x) {
  const size_t first = group * search.signGroup;
  size_t cheapest = 0;
  float least = weights[first] * x[first] * x[first];
  for (size_t i = 1; i < search.signGroup; ++i) {
    float cost = weights[first + i] * x[first + i] * x[first + i];
    if (cost < least) {
      least = cost;
      cheapest = i;
    }
  }
  magnitudes[first + cheapest] = -magnitudes[first + cheapest];
  signs[group] ^= 1u << cheapest;
}

void GridGroup::takeSigns(std::span<const float> x) {
  std::ranges::fill(signs, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool isNegative = !(x[i] >= 0);
    magnitudes[i] = isNegative ? -x[i] : x[i];
    signs[i / search.signGroup] |= uint32_t(isNegative) << i % search.signGroup;
  }
  for (size_t group = 0; group < signs.size(); ++group) {
    if (search.parity && std::popcount(signs[group]) % 2)
      makeEven(group, x);
    signs[group] &= search.signMask;
  }
}

/// The best of some vectors of `Size` elements (0: of `size`) under a scale, or
/// -1 where all sums overflow.
template <unsigned Size>
static int32_t bestVector(std::span<const uint16_t> codes,
                          const float *integers, const float *x,
                          const float *root, float scale, unsigned size) {
  const unsigned count = Size ? Size : size;
  float least = std::numeric_limits<float>::max();
  int32_t best = -1;
  for (uint16_t code : codes) {
    const float *vector = integers + code * count;
    float sum = 0;
    for (unsigned i = 0; i < count; ++i) {
      float difference = scale * vector[i] - x[i];
      sum += root[i] * difference * difference;
    }
    if (sum < least) {
      least = sum;
      best = code;
    }
  }
  return best;
}

/// The best vector around a point.
int32_t GridGroup::nearest(size_t vector, uint32_t point, float scale) const {
  const unsigned size = grid.size();
  auto find = size == 8   ? bestVector<8>
              : size == 4 ? bestVector<4>
                          : bestVector<0>;
  return find(grid.neighbours(point), search.integers.data(),
              &magnitudes[vector * size], &roots[vector * size], scale, size);
}

/// Chooses the code of one vector for the trial; false where there is none.
bool GridGroup::place(size_t vector, float reciprocal, float scale) {
  const unsigned size = grid.size();
  uint8_t *chosen = &trial[vector * size];
  const int last = static_cast<int>(grid.numbers().size()) - 1;
  for (unsigned i = 0; i < size; ++i)
    chosen[i] = static_cast<uint8_t>(clampedInt(
        0.5f * (reciprocal * magnitudes[vector * size + i] - 1), last));
  const uint32_t point = grid.point(chosen);
  int32_t code = grid.codeAt(point);
  trialOff[vector] = code < 0;
  if (code < 0) {
    code = nearest(vector, point, scale);
    if (code < 0)
      return false;
    std::copy_n(grid.ranks(code), size, chosen);
  }
  trialCodes[vector] = code;
  return true;
}

/// The same for all, or for those whose best point is off the grid.
bool GridGroup::placeAll(float reciprocal, float scale, bool onlyOff) {
  for (size_t vector = 0; vector < vectors.size(); ++vector)
    if ((!onlyOff || offGrid[vector]) && !place(vector, reciprocal, scale))
      return false;
  return true;
}

GridGroup::Sums GridGroup::sumTrial() const {
  Sums sums;
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    float q = static_cast<float>(2 * trial[i] + 1);
    sums.qx += weights[i] * magnitudes[i] * q;
    sums.qq += weights[i] * q * q;
  }
  return sums;
}

/// Guesses under which `start` becomes the largest integer, and some around.
bool GridGroup::tryGuesses(float start, float &scale) {
  const GridConstants &constants = search.constants;
  float best = 0;
  for (int guess = -constants.guesses; guess <= constants.guesses; ++guess) {
    const float reciprocal =
        (search.topInteger() + static_cast<float>(guess) * constants.step) /
        start;
    if (!placeAll(reciprocal, 1 / reciprocal, false))
      return false;
    Sums sums = sumTrial();
    if (sums.qq > 0 && sums.qx * sums.qx > best * sums.qq) {
      scale = sums.qx / sums.qq;
      best = scale * sums.qx;
      ranks = trial;
      vectors = trialCodes;
      offGrid = trialOff;
    }
  }
  return true;
}

/// Chooses codes again under the best scale, and the scale for them.
bool GridGroup::refine(float &scale) {
  const Refined refined = search.constants.refined;
  const bool isAnyOff =
      std::ranges::any_of(offGrid, [](uint8_t off) { return off != 0; });
  if (!(scale > 0) || !(isAnyOff || refined == Refined::All))
    return true;
  trial = ranks;
  trialCodes = vectors;
  if (!placeAll(1 / scale, scale, refined == Refined::OffGrid))
    return false;
  vectors = trialCodes;
  Sums sums = sumTrial();
  if (sums.qq > 0)
    scale = sums.qx / sums.qq;
  return true;
}

std::optional<float> GridGroup::fit(std::span<const float> x,
                                    std::span<const float> given) {
  weights = given;
  for (size_t i = 0; i < weights.size(); ++i)
    roots[i] = std::sqrt(weights[i]);
  takeSigns(x);
  float start = magnitudes[0];
  for (float magnitude : magnitudes)
    start = start > magnitude ? start : magnitude;
  float scale = start / search.topInteger();
  bool isZero = start < search.constants.least;
  if (!isZero && search.constants.startsAside) {
    const int count = static_cast<int>(grid.numbers().size());
    scale = searchWrapping(magnitudes, weights, count + 1);
    start = scale * static_cast<float>(count);
    isZero = start <= 0;
  }
  std::ranges::fill(ranks, 0);
  std::ranges::fill(vectors, grid.codeAt(0));
  std::ranges::fill(offGrid, search.constants.refined != Refined::OffGrid);
  if (isZero) {
    std::ranges::fill(vectors, 0);
    std::ranges::fill(signs, 0);
    return 0.0f;
  }
  if (!tryGuesses(start, scale) || !refine(scale) || std::isnan(scale))
    return std::nullopt;
  if (scale < 0)
    for (uint32_t &sign : signs)
      sign = ~sign & search.signMask;
  return std::fabs(scale);
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
class GridSearchRule : public Rule {
public:
  GridSearchRule(GridSearch search, OddScales scales)
      : search(std::move(search)), scales(std::move(scales)) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  bool needsImportance() const override {
    return search.constants.weights == GridWeights::None;
  }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  GridSearch search;
  OddScales scales;
};
} // namespace

std::optional<Error> GridSearchRule::encode(EncodeUnit &unit) const {
  const GridConstants &constants = search.constants;
  const std::vector<float> weights =
      gridWeights(unit, constants.weights, constants.meanSquares);
  const size_t size = scales.group(), count = unit.values.size() / size;
  GridGroup group(search, size);
  std::vector<float> found(count);
  float largest = 0;
  for (size_t g = 0; g < count; ++g) {
    auto scale = group.fit(unit.values.subspan(g * size, size),
                           std::span(weights).subspan(g * size, size));
    if (!scale)
      return searchOverflow(unit);
    found[g] = *scale;
    largest = largest > *scale ? largest : *scale;
    std::span<const uint32_t> codes = group.codes();
    for (size_t i = 0; i < codes.size(); ++i)
      setVector(unit, g * codes.size() + i, codes[i]);
    std::ranges::copy(group.negative(),
                      unit.signs.begin() + g * group.negative().size());
  }
  std::ranges::fill(unit.scales[1], 0);
  unit.scales[0][0] = 0;
  if (largest == 0) {
    if (constants.clears) {
      clearCodes(unit);
      std::ranges::fill(unit.signs, 0);
    }
    return std::nullopt;
  }
  const float factor = scales.factorOf(largest);
  unit.scales[0][0] = scales.factorCode(factor * constants.stretch);
  for (size_t g = 0; g < count; ++g)
    unit.scales[1][g] = scales.codeOf(1 / factor, found[g]);
  return std::nullopt;
}

Expected<RulePtr>
grit::makeGgmlGridSearchRule(const FormatDescription &format) {
  constexpr std::string_view name = "ggml grid search";
  Expected<OddScales> scales = OddScales::get(format, name);
  if (!scales)
    return tl::unexpected(scales.error());
  if (format.offset.kind != Offset::Kind::None)
    return refuseRule(name, "offset", "none", "a zero point or a minimum");
  const std::optional<Signs> &signs = format.level.signs;
  if (!signs || scales->group() % signs->group ||
      scales->group() % format.level.vector)
    return refuseRule(name, "signs", "whole groups of signs under a scale",
                      signs ? "others" : "none");
  GridConstants constants = constantsOf(format.encoding.rule);
  auto grid = VectorGrid::get(format.level, constants.rings);
  if (!grid || grid->codeAt(0) < 0 || !(grid->numbers()[0] > 0))
    return refuseRule(name, "level",
                      "a table of vectors of few positive numbers, one of them "
                      "of the least alone",
                      grid ? "others" : "another level");
  const unsigned bits = signs->group - signs->parity;
  std::vector<float> integers;
  const size_t vectors = format.level.number.table.size() / grid->size();
  for (size_t code = 0; code < vectors; ++code)
    for (unsigned i = 0; i < grid->size(); ++i)
      integers.push_back(static_cast<float>(2 * grid->ranks(code)[i] + 1));
  return std::make_unique<GridSearchRule>(
      GridSearch{std::move(grid), std::move(integers), constants, signs->group,
                 bits < 32 ? (1u << bits) - 1 : ~0u, signs->parity},
      std::move(*scales));
}
