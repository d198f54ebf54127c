//===- LayoutMap.cpp - the algebra of maps from index to slot -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/LayoutMap.h"
#include "LayoutSteps.h"

using namespace grit;

LayoutMap LayoutMap::identity(int64_t size) {
  LayoutMap map;
  map.numItems = map.numSlots = size;
  return map;
}

int64_t LayoutMap::operator()(int64_t index) const {
  for (const LayoutStep &step : chain)
    index = applyStep(step, index);
  return index;
}

bool LayoutMap::isPermutation() const {
  if (numItems != numSlots)
    return false;
  // Bits and tables are one to one; digits are where their places are separate.
  for (const LayoutStep &step : chain)
    if (const auto *move = std::get_if<DigitMove>(&step);
        move && (move->range != numSlots || !areSeparate(*move)))
      return false;
  return true;
}

void LayoutMap::append(LayoutStep step) {
  int64_t before = numSlots;
  if (const auto *move = std::get_if<DigitMove>(&step))
    numSlots = move->range;
  // A map of nothing has no steps.
  if (numItems == 0)
    return;
  std::optional<LayoutStep> plain = simplifyStep(std::move(step), before);
  while (plain) {
    std::optional<LayoutStep> fused;
    if (!chain.empty())
      fused = fuseSteps(chain.back(), *plain);
    if (!fused) {
      chain.push_back(std::move(*plain));
      return;
    }
    chain.pop_back();
    plain = simplifyStep(std::move(*fused), numSlots);
  }
}

Expected<LayoutMap> LayoutMap::then(const LayoutMap &next) const {
  if (numSlots != next.numItems)
    return makeError(Status::SizeMismatch, "the maps do not follow one another",
                     "layout", std::to_string(numSlots) + " indices",
                     std::to_string(next.numItems) + " indices",
                     "the first map has another number of slots than the "
                     "second has indices",
                     "make both for the same matrix");
  LayoutMap result = *this;
  for (const LayoutStep &step : next.chain)
    result.append(step);
  result.numSlots = next.numSlots;
  return result;
}

std::optional<LayoutMap> LayoutMap::inverse() const {
  LayoutMap result = identity(numSlots);
  for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
    std::optional<LayoutStep> inverted = invertStep(*step);
    if (!inverted)
      return std::nullopt;
    result.append(std::move(*inverted));
  }
  result.numSlots = numItems;
  return result;
}

LayoutMap LayoutMap::ofBlocks(int64_t size) const {
  LayoutMap result = identity(numItems * size);
  for (const LayoutStep &step : chain)
    result.append(stepOfBlocks(step, size));
  result.numSlots = numSlots * size;
  return result;
}
