//===- EncodeUnits.cpp - the elements that encode takes at once -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeUnits.h"
#include "EncodeRules.h"

#include <algorithm>
#include <numeric>

using namespace grit;

static std::vector<const Factor *>
groupedFactors(const FormatDescription &format) {
  std::vector<const Factor *> all;
  for (const Factor &factor : format.scales)
    if (factor.group)
      all.push_back(&factor);
  for (const Factor &factor : format.offset.factors)
    if (factor.group)
      all.push_back(&factor);
  return all;
}

static tl::unexpected<Error> refuseGroup(const Factor &factor,
                                         std::string declared) {
  return refuseRule(
      "of this contract", "group of " + factor.name, std::move(declared),
      factor.order == ElementOrder::Block
          ? std::to_string(factor.rows) + " x " + std::to_string(factor.group)
      : factor.group == kWholeAxis ? "a line"
                                   : std::to_string(factor.group));
}

void UnitMap::layOutBlocks(const ArraySpec &spec, const Factor &factor) {
  const size_t rank = spec.shape.size();
  isBlock = true;
  columns = spec.shape[rank - 1];
  rows = rank > 1 ? spec.shape[rank - 2] : 1;
  blockRows = factor.rows;
  blockColumns = factor.group;
  unitSize = std::max<int64_t>(
      std::min(blockRows, rows) * std::min(blockColumns, columns), 1);
  const int64_t elements = spec.numElements();
  if (elements)
    units = elements / (rows * columns) * ((rows - 1) / blockRows + 1) *
            ((columns - 1) / blockColumns + 1);
}

Expected<UnitMap> UnitMap::of(const ArraySpec &spec) {
  const FormatDescription &format = spec.contract.description();
  const auto factors = groupedFactors(format);
  UnitMap map;
  for (const Factor *factor : factors)
    if (factor->order == ElementOrder::Block) {
      if (factors.size() != 1 || format.sparsity)
        return refuseGroup(*factor, "blocks under no other group");
      map.layOutBlocks(spec, *factor);
      return map;
    }

  const auto order =
      factors.empty() ? ElementOrder::RowMajor : factors.back()->order;
  if (order == ElementOrder::AxisFastest) {
    map.axis = spec.shape[spec.axis];
    for (size_t i = spec.axis + 1; i < spec.shape.size(); ++i)
      map.stride *= spec.shape[i];
  }
  auto lengthOf = [&](const Factor &factor) {
    return factor.group == kWholeAxis ? map.axis : factor.group;
  };
  bool hasLines = false;
  for (const Factor *factor : factors) {
    map.unitSize = std::max(map.unitSize, lengthOf(*factor));
    hasLines |= factor->group == kWholeAxis;
  }
  for (const Factor *factor : factors) {
    const int64_t length = lengthOf(*factor); // 0: lines of no elements
    if (factor->order != order || (length && map.unitSize % length))
      return refuseGroup(*factor, "a divisor of " +
                                      std::to_string(map.unitSize) +
                                      ", counted in the same order");
  }
  if (format.sparsity) {
    if (factors.size() != 1 || format.scales.size() != 1 ||
        !format.offset.factors.empty() || order == ElementOrder::AxisFastest)
      return refuseRule("of this contract", "sp",
                        "one scale per group, counted in row-major order",
                        "others");
    map.unitSize = std::lcm<int64_t>(map.unitSize, format.sparsity->m);
  }
  // Factors of the whole array alone: rows are as good as any other part.
  if (factors.empty() && spec.shape.back())
    map.unitSize = spec.shape.back();
  if (hasLines)
    map.unitSize = std::max<int64_t>(map.axis, 1);
  map.units = spec.numElements() / map.unitSize;
  return map;
}

UnitPlace UnitMap::placeOfBlock(int64_t unit) const {
  const int64_t across = (columns - 1) / blockColumns + 1;
  const int64_t down = (rows - 1) / blockRows + 1;
  const int64_t row = unit / across % down * blockRows;
  const int64_t column = unit % across * blockColumns;
  const int64_t matrix = unit / across / down;
  return {(matrix * rows + row) * columns + column,
          std::min(blockColumns, columns - column), 1,
          std::min(blockRows, rows - row), columns};
}

UnitPlace UnitMap::place(int64_t unit) const {
  if (isBlock)
    return placeOfBlock(unit);
  if (stride == 1)
    return {unit * unitSize, unitSize};
  const int64_t line = unit * unitSize / axis, along = unit * unitSize % axis;
  return {(line / stride * axis + along) * stride + line % stride, unitSize,
          stride};
}

int64_t UnitMap::groupsPerUnit(const Factor &factor) const {
  if (!factor.group)
    return 0;
  if (isBlock || factor.group == kWholeAxis)
    return 1;
  return unitSize / factor.group;
}
