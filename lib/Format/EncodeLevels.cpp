//===- EncodeLevels.cpp - the nearest codes of any level ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeLevels.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace grit;

/// Rings of neighbours around a point off the grid.
static constexpr unsigned kRings = 2;

/// Codes of elements; a grid knows its own.
static BitField codeField(const FormatDescription &format) {
  return format.level.vector > 1 ? BitField{0, {{0, 0, 0, {}}}} : format.codes;
}

NearestLevels::NearestLevels(const FormatDescription &format)
    : level(format.level), vector(level.vector),
      wide(level.number, codeField(format)) {
  if (level.number.isTable())
    table = level.number.table;
  if (vector > 1) {
    if (vector <= kMostElements)
      grid = VectorGrid::get(level, kRings);
    if (grid)
      values.assign(grid->numbers().begin(), grid->numbers().end());
  } else {
    for (const NearestCode::Entry &entry : wide.entries()) {
      table.resize(std::max<size_t>(table.size(), entry.code + 1));
      table[entry.code] = entry.value;
      if (std::isfinite(entry.value) && !format.isIllegal(entry.code) &&
          (values.empty() || entry.value != values.back())) {
        values.push_back(entry.value);
        codes.push_back(entry.code);
      }
    }
  }
  if (!values.empty() && values.size() <= 256)
    steps = StepTable::nearestLevel(values);
  for (size_t i = 0; i < values.size(); ++i) {
    most = std::max(most, std::fabs(values[i]));
    symmetric &= values[i] == -values[values.size() - 1 - i];
  }
  if (values.empty()) // A wide float.
    most = 1;
  symmetric |= level.signs.has_value();
}

uint32_t NearestLevels::nearestOfMany(float number) const {
  auto entry = wide.nearest(number);
  return entry ? entry->code : 0;
}

void NearestLevels::near(std::span<const float> numbers,
                         std::vector<uint32_t> &found) const {
  if (!grid || !steps)
    return;
  std::array<uint8_t, kMostElements> ranks;
  for (unsigned i = 0; i < vector; ++i)
    ranks[i] = (*steps)(numbers[i]);
  const uint32_t point = grid->point(ranks.data());
  if (int32_t code = grid->codeAt(point); code >= 0)
    found.push_back(code);
  else
    found.insert(found.end(), grid->neighbours(point).begin(),
                 grid->neighbours(point).end());
}
