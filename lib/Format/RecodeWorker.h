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
};

/// One thread's search.
class RecodeWorker {
public:
  RecodeWorker(const RecodePlan &plan, RecodedArray &result,
               FactorValues source)
      : plan(plan), result(result), source(std::move(source)),
        scales(plan.into.scales.size()),
        offsets(plan.into.offset.factors.size()), regions(plan.tiers.size()) {}

  /// Candidates for a factor, given those that are assigned.
  std::vector<uint32_t> candidates(const RecodeSlot &slot,
                                   const RecodeRegion &region);
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

  void readSource(const RecodeRegion &region);
  std::vector<double> solved(const RecodeSlot &slot,
                             const RecodeRegion &region);
  std::vector<double> wantedScales(const RecodeRegion &region) const;
  std::vector<double> wantedOffsets() const;
  double solve(const RecodeSlot &slot, double product) const;
  std::vector<double> guesses(const RecodeSlot &slot,
                              const RecodeRegion &region);

  const RecodePlan &plan;
  RecodedArray &result;
  FactorValues source;
  std::vector<float> scales, offsets; ///< of the target, as assigned
  std::vector<RecodeRegion> regions;  ///< one per tier
  std::vector<GroupValues> sources;   ///< different ones in the region
  std::vector<uint32_t> scratch;
  /// Of the factor that was solved for last.
  const Factor *inexact = nullptr;
  double wanted = 0;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_RECODEWORKER_H
