//===- VectorGrid.cpp - the vectors of a level and their neighbours -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorGrid.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

using namespace grit;

VectorGrid::VectorGrid(const Level &level, std::vector<float> numbers)
    : dims(level.vector), radix(static_cast<unsigned>(numbers.size())),
      distinct(std::move(numbers)) {
  uint32_t points = 1;
  for (unsigned i = 0; i < dims; ++i)
    points *= radix;
  for (float entry : level.number.table)
    table.push_back(static_cast<uint8_t>(
        std::ranges::lower_bound(distinct, entry) - distinct.begin()));
  const size_t vectors = table.size() / dims;
  axes.resize(table.size());
  for (size_t i = 0; i < table.size(); ++i)
    axes[i % dims * vectors + i / dims] = table[i];
  codes.assign(points, -1);
  for (uint32_t code = 0; code < vectors; ++code)
    codes[point(ranks(code))] = static_cast<int32_t>(code);
}

/// Appends the vectors at the `rings` smallest distances from a point. They are
/// counted by distance first, so that they come out in order.
void VectorGrid::addNeighbours(uint32_t point, unsigned rings,
                               std::vector<uint32_t> &distances) {
  const size_t vectors = distances.size();
  std::ranges::fill(distances, 0);
  for (unsigned axis = 0; axis < dims; ++axis, point /= radix) {
    const int here = static_cast<int>(point % radix);
    const uint8_t *ranks = &axes[axis * vectors];
    for (size_t code = 0; code < vectors; ++code)
      distances[code] += (ranks[code] - here) * (ranks[code] - here);
  }
  std::vector<uint32_t> ends(1 + dims * (radix - 1) * (radix - 1));
  for (uint32_t distance : distances)
    ++ends[distance];
  uint32_t end = 0, limit = 0;
  for (unsigned found = 0; limit < ends.size() && found < rings; ++limit) {
    found += ends[limit] != 0;
    end += std::exchange(ends[limit], end);
  }
  const size_t first = lists.size();
  lists.resize(first + end);
  for (uint32_t code = 0; code < vectors; ++code)
    if (distances[code] < limit)
      lists[first + ends[distances[code]]++] = static_cast<uint16_t>(code);
}

void VectorGrid::findNeighbours(unsigned rings) {
  std::vector<uint32_t> distances(table.size() / dims);
  for (uint32_t point = 0; point < codes.size(); ++point) {
    starts.push_back(static_cast<uint32_t>(lists.size()));
    if (codes[point] < 0)
      addNeighbours(point, rings, distances);
  }
  starts.push_back(static_cast<uint32_t>(lists.size()));
}

/// The distinct numbers of a table of vectors; none where the cube of their
/// ranks is too large.
static std::vector<float> distinctNumbers(const Level &level) {
  constexpr size_t kMostPoints = 1 << 16;
  std::vector<float> numbers = level.number.table;
  std::ranges::sort(numbers);
  auto rest = std::ranges::unique(numbers);
  numbers.erase(rest.begin(), rest.end());
  size_t points = 1;
  for (unsigned i = 0; i < level.vector && points <= kMostPoints; ++i)
    points *= numbers.size();
  if (points > kMostPoints ||
      level.number.table.size() / level.vector > kMostPoints ||
      !std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); }))
    numbers.clear();
  return numbers;
}

std::shared_ptr<const VectorGrid> VectorGrid::get(const Level &level,
                                                  unsigned rings) {
  if (level.vector < 2 || !level.number.isTable())
    return nullptr;
  struct Entry {
    std::vector<float> table;
    unsigned vector, rings;
    std::shared_ptr<const VectorGrid> grid;
  };
  constexpr size_t kKept = 16;
  static std::mutex mutex;
  static std::vector<Entry> entries;
  std::lock_guard lock(mutex);
  for (const Entry &entry : entries)
    if (entry.vector == level.vector && entry.rings == rings &&
        entry.table == level.number.table)
      return entry.grid;
  std::vector<float> numbers = distinctNumbers(level);
  if (numbers.empty())
    return nullptr;
  std::shared_ptr<VectorGrid> grid(new VectorGrid(level, std::move(numbers)));
  grid->findNeighbours(rings);
  if (entries.size() == kKept)
    entries.erase(entries.begin());
  entries.push_back({level.number.table, level.vector, rings, grid});
  return grid;
}
