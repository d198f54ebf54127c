//===- RecodeSearch.h - factors and codes for given values -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The factors of the target are chosen from the largest group to the smallest.
// Each has a list of candidates; the first under which all smaller groups, and
// in the end all elements, find theirs is kept. The last factor of a product is
// solved for: its candidates make the product what the source suggests.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_RECODESEARCH_H
#define GRIT_LIB_FORMAT_RECODESEARCH_H

#include "RecodeGroup.h"
#include "grit/Format/Recode.h"
#include <limits>

namespace grit {

/// The codes of everything, before packing: as their fields address them.
struct RecodedArray {
  std::vector<uint8_t> codes;
  std::vector<uint32_t> wideCodes; ///< instead, where codes exceed 8 bits
  std::vector<std::vector<uint32_t>> scales, offsets;
};

/// An element without a code, in the first group that has one.
struct RecodeFailure {
  int64_t element = -1;
  /// The other zero has a code.
  bool hasOtherZero = false;
  /// The group of the target holds groups of the source with other factors.
  bool isMixed = false;
  /// A factor that does not represent what the source asks for, if any.
  const Factor *inexact = nullptr;
  double wanted = 0;
};

/// A factor of the target.
struct RecodeSlot {
  RecodeSlot(const Factor &factor, bool isOffset, size_t index)
      : factor(&factor), isOffset(isOffset), index(index),
        numbers(factor.number, factor.bits) {}

  const Factor *factor;
  bool isOffset;
  size_t index; ///< among the scales, or the factors of the offset
  NearestCode numbers;
  bool isSolved = false; ///< the last of its product
};

/// Factors with the same groups.
struct RecodeTier {
  Factor groups; ///< whose groups these are
  int64_t size = 0, count = 0;
  std::vector<size_t> slots;
};

/// What all threads share.
struct RecodePlan {
  RecodePlan(const ArraySpec &source, std::span<const ByteSpan> planes,
             std::span<const float> values, const ArraySpec &target);

  const ArraySpec &source, &target;
  std::span<const ByteSpan> planes;
  std::span<const float> values;
  const FormatDescription &from, &into;
  CodeFinder finder;
  std::vector<RecodeSlot> slots; ///< from the largest group to the smallest
  std::vector<size_t> rootSlots; ///< one value for the array
  std::vector<RecodeTier> tiers; ///< smaller groups, at least one tier
  /// What to multiply the scale of the source with: the first `numCovering`
  /// give a level of the target for each of the source.
  std::vector<double> ratios;
  size_t numCovering = 0;
  std::vector<double> shifts; ///< what to add to its zero point
  /// The scales in the order in which they are applied, and the factors of the
  /// offset in theirs.
  std::vector<size_t> order[2];

private:
  void addTiers();
  void addRatios();
};

/// Fills `result`; a failure where some element has no code.
Expected<std::optional<RecodeFailure>> searchCodes(const RecodePlan &plan,
                                                   RecodedArray &result);

/// recode() without its short cut for arrays that keep their contract.
Expected<std::vector<std::vector<uint8_t>>>
recodeBySearch(const ArraySpec &source, std::span<const ByteSpan> planes,
               const ArraySpec &target);

} // namespace grit

#endif // GRIT_LIB_FORMAT_RECODESEARCH_H
