//===- RecodeSearch.cpp - factors and codes for given values --------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeSearch.h"
#include "Parallel.h"
#include "RecodeWorker.h"

#include <algorithm>
#include <cmath>
#include <mutex>

using namespace grit;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void RecodeWorker::assign(const RecodeSlot &slot, int64_t group,
                          uint32_t code) {
  (slot.isOffset ? offsets : scales)[slot.index] = slot.numbers.decode(code);
  (slot.isOffset ? result.offsets : result.scales)[slot.index][group] = code;
}

/// The first candidates of a group are the likeliest, so their failure is the
/// one to report.
void RecodeWorker::fail(int64_t element, const GroupValues &group) {
  if (failure.element >= 0)
    return;
  float value = plan.values[element];
  bool hasOtherZero =
      value == 0 && plan.finder.find(-value, group, scratch).has_value();
  failure = {element, hasOtherZero, regions.back().sources.size() > 1, inexact,
             wanted};
}

bool RecodeWorker::encode(const RecodeRegion &region) {
  GroupValues group;
  group.set(plan.into, scales, offsets);
  for (int64_t element : region.elements) {
    auto code = plan.finder.find(plan.values[element], group, scratch);
    if (!code) {
      fail(element, group);
      return false;
    }
    if (result.wideCodes.empty())
      result.codes[element] = static_cast<uint8_t>(*code);
    else
      result.wideCodes[element] = *code;
  }
  return true;
}

bool RecodeWorker::searchChildren(size_t tier, int64_t group) {
  if (tier + 1 == plan.tiers.size())
    return encode(regions[tier]);
  const Factor &inner = plan.tiers[tier + 1].groups;
  std::vector<int64_t> children;
  for (int64_t element : regions[tier].elements) {
    int64_t child = groupIndex(inner, element, plan.target);
    if (children.empty() || children.back() != child)
      children.push_back(child);
  }
  std::ranges::sort(children);
  auto rest = std::ranges::unique(children);
  children.erase(rest.begin(), rest.end());
  return std::ranges::all_of(
      children, [&](int64_t child) { return searchGroup(tier + 1, child); });
}

bool RecodeWorker::searchSlots(size_t tier, size_t next, int64_t group) {
  const std::vector<size_t> &slots = plan.tiers[tier].slots;
  if (next == slots.size())
    return searchChildren(tier, group);
  const RecodeSlot &slot = plan.slots[slots[next]];
  std::vector<uint32_t> codes;
  size_t tried = 0;
  for (int list = 0; list < kNumLists; ++list) {
    addCandidates(slot, regions[tier], list, codes);
    for (; tried < codes.size(); ++tried) {
      assign(slot, group, codes[tried]);
      if (searchSlots(tier, next + 1, group))
        return true;
    }
  }
  return false;
}

bool RecodeWorker::searchGroup(size_t tier, int64_t group) {
  RecodeRegion &region = regions[tier];
  elementsOf(plan.tiers[tier].groups, group, plan.target, region.elements);
  region.amax = 0;
  for (int64_t element : region.elements) {
    float magnitude = std::fabs(plan.values[element]);
    if (magnitude > region.amax && std::isfinite(magnitude))
      region.amax = magnitude;
  }
  readSource(region);
  return searchSlots(tier, 0, group);
}

bool RecodeWorker::searchTop(int64_t group) {
  failure = {};
  return searchGroup(0, group);
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

namespace {
/// The factors of the whole array, and under each choice of theirs all groups,
/// on several threads.
class Search {
public:
  Search(const RecodePlan &plan, RecodedArray &result, FactorValues source)
      : plan(plan), root(plan, result, std::move(source)) {
    constexpr int64_t kSamples = 64;
    const int64_t count = plan.target.numElements();
    for (int64_t i = 0; i < std::min(kSamples, count); ++i)
      region.elements.push_back(i * (count - 1) / kSamples);
    for (float value : plan.values)
      if (std::fabs(value) > region.amax && std::isfinite(value))
        region.amax = std::fabs(value);
    root.readSource(region);
  }

  bool run(size_t next = 0);
  const RecodeFailure &failure() const { return worst; }

private:
  bool searchGroups();

  const RecodePlan &plan;
  RecodeWorker root;
  RecodeRegion region;
  RecodeFailure worst; ///< of the choice that came farthest
};
} // namespace

bool Search::searchGroups() {
  const RecodeTier &top = plan.tiers.front();
  // 2^14 elements are worth a thread.
  const int64_t grain = (1 << 14) / top.size + 1;
  std::mutex mutex;
  int64_t firstGroup = top.count;
  RecodeFailure first;
  parallelFor(top.count, grain, [&](int64_t begin, int64_t end) {
    RecodeWorker worker(root);
    for (int64_t group = begin; group < end; ++group) {
      if (worker.searchTop(group))
        continue;
      // Whichever thread is first, the first group is reported.
      std::lock_guard lock(mutex);
      if (group < firstGroup) {
        firstGroup = group;
        first = worker.failure;
      }
      return;
    }
  });
  if (firstGroup == top.count)
    return true;
  if (first.element > worst.element)
    worst = first;
  return false;
}

bool Search::run(size_t next) {
  if (next == plan.rootSlots.size())
    return searchGroups();
  const RecodeSlot &slot = plan.slots[plan.rootSlots[next]];
  std::vector<uint32_t> codes;
  for (int list = 0; list < RecodeWorker::kNumLists; ++list)
    root.addCandidates(slot, region, list, codes);
  for (uint32_t code : codes) {
    root.assign(slot, 0, code);
    if (run(next + 1))
      return true;
  }
  return false;
}

Expected<std::optional<RecodeFailure>> grit::searchCodes(const RecodePlan &plan,
                                                         RecodedArray &result) {
  Expected<FactorValues> source = FactorValues::get(plan.source, plan.planes);
  if (!source)
    return tl::unexpected(source.error());
  const int64_t count = plan.target.numElements();
  if (plan.into.codes.width() > 8)
    result.wideCodes.resize(count);
  else
    result.codes.resize(count);
  auto addGroups = [&](const std::vector<Factor> &factors, auto &groups) {
    for (const Factor &factor : factors)
      groups.emplace_back(unitCount(plan.target, factor.group, factor.rows));
  };
  addGroups(plan.into.scales, result.scales);
  addGroups(plan.into.offset.factors, result.offsets);
  Search search(plan, result, std::move(*source));
  if (search.run())
    return std::nullopt;
  return search.failure();
}
