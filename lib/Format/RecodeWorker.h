//===- RecodeWorker.h - one thread's search for codes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_RECODEWORKER_H
#define GRIT_LIB_FORMAT_RECODEWORKER_H

#include "RecodeSearch.h"

namespace grit {

/// Some elements, and what candidates are made of.
struct RecodeRegion {
  std::vector<int64_t> elements; ///< of the whole array, some
  float amax = 0;                ///< of all finite values
  /// What the source says at a few of the elements, where that differs.
  std::vector<GroupValues> sources;
  std::vector<float> scales, offsets; ///< its factors at the first
};

/// One thread's search.
class RecodeWorker {
public:
  RecodeWorker(const RecodePlan &plan, RecodedArray &result,
               FactorValues source)
      : plan(plan), result(result), source(std::move(source)),
        scales(plan.into.scales.size()),
        offsets(plan.into.offset.factors.size()), regions(plan.tiers.size()) {}

  /// Lists of candidates for a factor, the likeliest first.
  static constexpr int kNumLists = 3;
  /// Adds a list of candidates that are new, given the factors that are
  /// assigned.
  void addCandidates(const RecodeSlot &slot, const RecodeRegion &region,
                     int list, std::vector<uint32_t> &codes);
  /// Reads the source at a few elements of the region.
  void readSource(RecodeRegion &region);
  void assign(const RecodeSlot &slot, int64_t group, uint32_t code);
  /// A group of the largest tier.
  bool searchTop(int64_t group);

  RecodeFailure failure;

private:
  bool searchGroup(size_t tier, int64_t group);
  bool searchSlots(size_t tier, size_t next, int64_t group);
  bool searchChildren(size_t tier, int64_t group);
  bool encode(const RecodeRegion &region);
  void fail(int64_t element, const GroupValues &group);

  std::vector<double> solved(const RecodeSlot &slot, const RecodeRegion &region,
                             int list);
  std::vector<double> wantedScales(const RecodeRegion &region, int list) const;
  std::vector<double> wantedOffsets(const RecodeRegion &region) const;
  double solve(const RecodeSlot &slot, double product) const;
  std::vector<double> guesses(const RecodeSlot &slot,
                              const RecodeRegion &region) const;

  const RecodePlan &plan;
  RecodedArray &result;
  FactorValues source;
  std::vector<float> scales, offsets; ///< of the target, as assigned
  std::vector<RecodeRegion> regions;  ///< one per tier
  std::vector<uint32_t> scratch;
  /// Of the factor that was solved for last.
  const Factor *inexact = nullptr;
  double wanted = 0;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_RECODEWORKER_H
