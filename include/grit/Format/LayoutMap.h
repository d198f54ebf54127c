//===- LayoutMap.h - the algebra of maps from index to slot -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_LAYOUTMAP_H
#define GRIT_FORMAT_LAYOUTMAP_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace grit {

// A compiler computes slots from steps(): LayoutEmit.h turns them into any kind
// of instructions. The code that moves items from one layout to another reads
// each from the slot that relayoutMap(to, from) (Layout.h) gives for the new
// slot.

/// A digit of a mixed-radix number and what one unit of it counts in the slot.
struct LayoutDigit {
  int64_t radix = 1, stride = 1;
  friend bool operator==(const LayoutDigit &, const LayoutDigit &) = default;
};

/// Cuts the index into digits, the least significant first, and sums
/// digit * stride. Tiles, transposes, interleaving and padding are such moves.
struct DigitMove {
  std::vector<LayoutDigit> digits;
  int64_t range = 0; ///< the number of slots
  friend bool operator==(const DigitMove &, const DigitMove &) = default;
};

/// Replaces (index / base) % 2^n by a sum over GF(2) of the images of its set
/// bits, where n is the number of images. A swizzle is such a step.
struct BitMix {
  int64_t base = 1;
  std::vector<uint64_t> images;
  friend bool operator==(const BitMix &, const BitMix &) = default;
};

/// Replaces (index / base) % n by its entry of a table of n slots.
struct SlotTable {
  int64_t base = 1;
  std::vector<uint32_t> slots;
  friend bool operator==(const SlotTable &, const SlotTable &) = default;
};

using LayoutStep = std::variant<DigitMove, BitMix, SlotTable>;

/// A map from the indices 0 to domain - 1 to slots below range, as steps that
/// are applied one after the other. Steps that can be one step are, so a map
/// that is a permutation of digits has a single DigitMove, and the identity has
/// no step. Domain and range differ where a layout pads.
class LayoutMap {
public:
  LayoutMap() = default;
  static LayoutMap identity(int64_t size);

  int64_t domain() const { return numItems; }
  int64_t range() const { return numSlots; }
  std::span<const LayoutStep> steps() const { return chain; }

  /// The slot of `index`, which must be in the domain.
  int64_t operator()(int64_t index) const;

  /// Every slot is taken exactly once. Maps of expressions are one to one.
  bool isPermutation() const;
  /// No step is left.
  bool isIdentity() const { return chain.empty() && numItems == numSlots; }

  /// Applies one more step, which must be one to one on the slots so far.
  void append(LayoutStep step);
  /// This map, then `next`, whose domain must be this range.
  Expected<LayoutMap> then(const LayoutMap &next) const;
  /// The map from slots back to indices; slots that padding leaves empty have
  /// no index, and what they map to means nothing. None where padding makes
  /// several slots share an index already.
  std::optional<LayoutMap> inverse() const;
  /// The map of blocks of `size` indices that stay whole: index / size is
  /// mapped, index % size stays.
  LayoutMap ofBlocks(int64_t size) const;

  /// The same steps. Maps with different steps can still be equal.
  friend bool operator==(const LayoutMap &, const LayoutMap &) = default;

private:
  int64_t numItems = 0, numSlots = 0;
  std::vector<LayoutStep> chain;
};

/// Whether two maps give every index the same slot. The answer is exact: it
/// looks at digits that do not influence each other one by one, and at all
/// indices of a small map. A large map that has neither form is refused.
Expected<bool> equalMaps(const LayoutMap &a, const LayoutMap &b);

/// Whether the map leaves every index in place; none where only looking at all
/// indices would tell. The decision behind equalMaps.
std::optional<bool> leavesAllInPlace(const LayoutMap &map);

} // namespace grit

#endif // GRIT_FORMAT_LAYOUTMAP_H
