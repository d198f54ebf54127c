//===- RecodePlan.cpp - what recoding tries, and in which order -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeSearch.h"

#include <algorithm>
#include <cmath>

using namespace grit;

RecodePlan::RecodePlan(const ArraySpec &source,
                       std::span<const ByteSpan> planes,
                       std::span<const float> values, const ArraySpec &target)
    : source(source), target(target), planes(planes), values(values),
      from(source.contract.description()), into(target.contract.description()),
      finder(into) {
  for (bool isAfter : {false, true})
    for (size_t i = 0; i < into.scales.size(); ++i)
      if (into.scales[i].afterLevel == isAfter)
        order[0].push_back(i);
  for (size_t i = 0; i < into.offset.factors.size(); ++i)
    order[1].push_back(i);
  addTiers();
  addRatios();
}

//===----------------------------------------------------------------------===//
// Tiers
//===----------------------------------------------------------------------===//

static bool haveSameGroups(const Factor &a, const Factor &b) {
  return a.group == b.group && a.order == b.order && a.rows == b.rows;
}

/// Blocks of whole rows are runs of elements.
static Factor asRuns(Factor factor, const ArraySpec &spec) {
  const size_t rank = spec.shape.size();
  const int64_t columns = spec.shape[rank - 1];
  const int64_t rows = rank > 1 ? spec.shape[rank - 2] : 1;
  if (factor.order != ElementOrder::Block || factor.group < columns ||
      rows % factor.rows != 0)
    return factor;
  factor.group = factor.rows * columns;
  factor.order = ElementOrder::RowMajor;
  factor.rows = 0;
  return factor;
}

void RecodePlan::addTiers() {
  for (size_t i = 0; i < into.scales.size(); ++i)
    slots.emplace_back(into.scales[i], false, i);
  for (size_t i = 0; i < into.offset.factors.size(); ++i)
    slots.emplace_back(into.offset.factors[i], true, i);
  auto sizeOf = [&](const RecodeSlot &slot) {
    return slot.factor->group ? groupSize(*slot.factor, target)
                              : std::numeric_limits<int64_t>::max();
  };
  // Scales before offsets, and both in their order, where sizes are equal.
  std::vector<size_t> order(slots.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    int64_t x = sizeOf(slots[a]), y = sizeOf(slots[b]);
    return x != y ? x > y : a < b;
  });
  std::vector<RecodeSlot> sorted;
  for (size_t i : order)
    sorted.push_back(slots[i]);
  slots = std::move(sorted);

  for (bool isOffset : {false, true})
    for (size_t i = slots.size(); i-- > 0;)
      if (slots[i].isOffset == isOffset) {
        slots[i].isSolved = true;
        break;
      }
  for (size_t i = 0; i < slots.size(); ++i) {
    const Factor factor = asRuns(*slots[i].factor, target);
    if (factor.group == 0) {
      rootSlots.push_back(i);
      continue;
    }
    if (tiers.empty() || !haveSameGroups(tiers.back().groups, factor))
      tiers.push_back({factor,
                       groupSize(factor, target),
                       unitCount(target, factor.group, factor.rows),
                       {}});
    tiers.back().slots.push_back(i);
  }
  if (!tiers.empty())
    return;
  // No groups: runs of elements are searched on their own.
  constexpr int64_t kRun = 1 << 12;
  Factor run;
  run.group = kRun;
  tiers.push_back({run, kRun, (target.numElements() + kRun - 1) / kRun, {}});
}

//===----------------------------------------------------------------------===//
// Ratios
//===----------------------------------------------------------------------===//

/// Longer lists of levels are not compared.
static constexpr size_t kMaxLevels = 256;

static double maxMagnitude(const std::vector<NearestCode::Entry> &levels) {
  double result = 0;
  for (const NearestCode::Entry &level : levels)
    if (std::isfinite(level.value))
      result = std::max(result, std::fabs(double(level.value)));
  return result;
}

/// True when every level of `from`, divided by the ratio, is one of `into`.
static bool covers(double ratio, const std::vector<NearestCode::Entry> &from,
                   const std::vector<NearestCode::Entry> &into) {
  if (from.size() > kMaxLevels || into.size() > kMaxLevels)
    return false;
  return std::ranges::all_of(from, [&](const NearestCode::Entry &level) {
    return std::ranges::any_of(into, [&](const NearestCode::Entry &other) {
      return other.value * ratio == level.value;
    });
  });
}

void RecodePlan::addRatios() {
  const NearestCode source(from.level.number, from.codes);
  const auto &theirs = source.entries(), &ours = finder.numbers().entries();
  shifts = {0};
  std::vector<double> all = {1};
  if (!theirs.empty() && !ours.empty() && from.level.vector == 1) {
    double ratio = maxMagnitude(theirs) / maxMagnitude(ours);
    if (ratio > 0 && std::isfinite(ratio))
      all.push_back(ratio);
    for (double shift : {ours.front().value - theirs.front().value,
                         ours.back().value - theirs.back().value})
      if (std::isfinite(shift) && shift != shifts.back())
        shifts.push_back(shift);
  }
  for (int power = 1; power <= 8; ++power) {
    all.push_back(std::ldexp(1, power));
    all.push_back(std::ldexp(1, -power));
  }
  for (bool isCovering : {true, false}) {
    for (double ratio : all)
      if (covers(ratio, theirs, ours) == isCovering &&
          std::ranges::find(ratios, ratio) == ratios.end())
        ratios.push_back(ratio);
    if (isCovering)
      numCovering = ratios.size();
  }
}
