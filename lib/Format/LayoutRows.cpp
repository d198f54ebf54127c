//===- LayoutRows.cpp - maps that do not know the number of rows ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of rows that a layout fits are the multiples of the least one:
// every need of the table of P14 is that something divides the rows or the
// items. Over two of these numbers, strides and radices are equal, or they grow
// with the rows; then only a layout of the first kind serves any number.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <algorithm>
#include <numeric>

using namespace grit;

/// The same steps, but for what the last digit of one leaves open.
static bool sameSteps(const LayoutMap &a, const LayoutMap &b) {
  auto open = [](LayoutStep step) {
    if (auto *move = std::get_if<DigitMove>(&step)) {
      move->digits.back().radix = 0;
      move->range = 0;
    }
    return step;
  };
  return std::ranges::equal(a.steps(), b.steps(), {}, open, open);
}

/// The least number of rows that `word` fits.
static Expected<int64_t> leastRows(Placement word, int64_t columns,
                                   const LayoutTable &table) {
  Expected<Layout> layout = resolvePlacement(word, table);
  if (!layout)
    return tl::unexpected(layout.error());
  // Tiles say what they need. Beyond that, items must come in certain numbers,
  // of which the tables of the largest permutations are the least round.
  constexpr int64_t kTries = static_cast<int64_t>(Layout::kMaxPermNumbers);
  int64_t step = layout->multiples().rows;
  Expected<LayoutMap> map = planeMap(word, step, columns, table);
  int64_t rows = step;
  for (int64_t i = 2; !map && i <= kTries; ++i) {
    if (__builtin_mul_overflow(step, i, &rows))
      break;
    map = planeMap(word, rows, columns, table);
  }
  if (!map)
    return tl::unexpected(map.error());
  return rows;
}

/// The map that `make` gives for any multiple of `least` rows.
template <typename Make>
static Expected<MapOfAnyRows> mapOfMultiples(int64_t least, Make make,
                                             const std::string &words) {
  // Few rows hide digits of one value.
  int64_t some = 0, more = 0;
  if (__builtin_mul_overflow(least, 4, &some) ||
      __builtin_mul_overflow(least, 8, &more))
    return makeError(Status::SizeMismatch,
                     "the rows of the layout are too many", "placement",
                     "fewer than 2^60 rows", words);
  Expected<LayoutMap> map = make(some);
  Expected<LayoutMap> larger = make(more);
  if (!map || !larger)
    return tl::unexpected(map ? larger.error() : map.error());
  if (!sameSteps(*map, *larger))
    return makeError(Status::PlacementUnknown,
                     words + " has no map for a number of rows that is not "
                             "known",
                     "placement", "a layout of whole rows or tiles", words,
                     "the slots depend on the number of rows",
                     "make the extents static, or use row_major");
  return MapOfAnyRows{std::move(*map), least};
}

Expected<MapOfAnyRows> grit::mapOfAnyRows(Placement word, int64_t columns,
                                          const LayoutTable &table) {
  Expected<int64_t> least = leastRows(word, columns, table);
  if (!least)
    return tl::unexpected(least.error());
  return mapOfMultiples(
      *least,
      [&](int64_t rows) { return planeMap(word, rows, columns, table); },
      word.specName());
}

Expected<MapOfAnyRows> grit::relayoutOfAnyRows(Placement from, Placement to,
                                               int64_t columns,
                                               const LayoutTable &fromTexts,
                                               const LayoutTable &toTexts) {
  Expected<MapOfAnyRows> source = mapOfAnyRows(from, columns, fromTexts);
  if (!source)
    return source;
  Expected<MapOfAnyRows> target = mapOfAnyRows(to, columns, toTexts);
  if (!target)
    return target;
  return mapOfMultiples(
      std::lcm(source->rowMultiple, target->rowMultiple),
      [&](int64_t rows) {
        return relayoutMap(from, to, rows, columns, fromTexts, toTexts);
      },
      from.specName() + " to " + to.specName());
}
