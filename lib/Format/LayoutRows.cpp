//===- LayoutRows.cpp - maps that do not know the number of rows ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every need of the table of P14 is that something divides the rows or the
// items, so the numbers of rows that a layout fits are the multiples of one.
// Over two of these numbers, strides and radices are equal, or they grow with
// the rows; then only a layout of the first kind serves any number.
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

/// The least common multiple; none beyond 63 bits.
static std::optional<int64_t> leastCommon(std::optional<int64_t> a,
                                          std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a / std::gcd(*a, *b), *b, &product))
    return std::nullopt;
  return product;
}

/// The rows that make `count` divide the number of items; any for a count of 0,
/// which no matrix fits.
static int64_t rowsFor(int64_t count, int64_t columns) {
  return count == 0 ? 1 : count / std::gcd(count, columns);
}

std::optional<int64_t> Layout::rowMultiple(int64_t &columns) const {
  switch (which) {
  case Kind::RowMajor:
  case Kind::ColMajor:
  case Kind::Opaque:
    return 1;
  case Kind::Tile: {
    int64_t across = numbers[1] == 0 ? 0 : columns / numbers[1], product = 0;
    std::optional<int64_t> tiles = parts[0].rowMultiple(across);
    if (!tiles || __builtin_mul_overflow(*tiles, numbers[0], &product))
      return std::nullopt;
    return std::max<int64_t>(product, 1);
  }
  case Kind::Interleave: {
    std::optional<int64_t> inner = parts[0].rowMultiple(columns);
    return leastCommon(inner, rowsFor(numbers[0], columns));
  }
  case Kind::Swizzle: {
    int64_t bits = 0;
    for (int64_t number : numbers)
      bits += std::min<int64_t>(number, 63);
    if (bits > 62)
      return std::nullopt;
    return rowsFor(int64_t(1) << bits, columns);
  }
  case Kind::Perm:
    return rowsFor(static_cast<int64_t>(numbers.size()), columns);
  case Kind::Pad: {
    int64_t align = std::max<int64_t>(numbers[0], 1);
    int64_t runs = columns / align + (columns % align != 0);
    if (__builtin_mul_overflow(runs, align, &columns))
      return std::nullopt;
    return 1;
  }
  case Kind::Compose: {
    std::optional<int64_t> first = parts[1].rowMultiple(columns);
    return leastCommon(first, parts[0].rowMultiple(columns));
  }
  }
  return std::nullopt;
}

/// The least number of rows that `word` fits.
static Expected<int64_t> leastRows(Placement word, int64_t columns,
                                   const LayoutTable &table) {
  Expected<Layout> layout = resolvePlacement(word, table);
  if (!layout)
    return tl::unexpected(layout.error());
  int64_t wide = columns;
  int64_t rows = layout->rowMultiple(wide).value_or(1);
  // Columns that do not fit are refused for every number of rows.
  if (Expected<LayoutMap> map = planeMap(word, rows, columns, table); !map)
    return tl::unexpected(map.error());
  return rows;
}

/// The map that `make` gives for any multiple of `least` rows.
template <typename Make>
static Expected<MapOfAnyRows> mapOfMultiples(std::optional<int64_t> least,
                                             Make make,
                                             const std::string &words) {
  // Few rows hide digits of one value.
  int64_t some = 0, more = 0;
  if (!least || __builtin_mul_overflow(*least, 4, &some) ||
      __builtin_mul_overflow(*least, 8, &more))
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
  return MapOfAnyRows{std::move(*map), *least};
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
      leastCommon(source->rowMultiple, target->rowMultiple),
      [&](int64_t rows) {
        return relayoutMap(from, to, rows, columns, fromTexts, toTexts);
      },
      from.specName() + " to " + to.specName());
}
