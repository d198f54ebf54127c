//===- LayoutMapEqual.cpp - equality of layout maps -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index is cut into digits ("wires") that are followed through the steps.
// A bit mix or a table ties the wires it reads together into a group. In the
// end the slot is a sum with one summand for every free wire and every group,
// so looking at each of them alone, all others 0, decides for all indices.
//
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include <algorithm>
#include <bit>

using namespace grit;

namespace {

/// A digit of the index: its weight there, and how many values it has.
struct IndexDigit {
  int64_t place, radix;
};

/// Digits of the index that a bit mix or a table has made depend on each other.
struct Group {
  std::vector<IndexDigit> digits;
  bool linear = true; ///< over GF(2): only bit mixes
};

/// A digit on its way through the steps.
struct Wire {
  int64_t radix = 1, stride = 1;
  int64_t place = 1; ///< in the index; of no meaning in a group
  int group = -1;
};

class Wires {
public:
  explicit Wires(int64_t size) : wires{{size, 1, 1, -1}} {}

  /// Follows one step; false when it cuts a digit unevenly.
  bool follow(const LayoutStep &step);
  /// None when a group is too large to look at.
  std::optional<bool> areInPlace(const LayoutMap &map) const;

private:
  bool cut(int64_t at);
  bool move(const DigitMove &step);
  bool tie(int64_t base, int64_t count, bool linear);
  void join(Group &into, const Wire &wire);
  bool areDisjoint() const;

  std::vector<Wire> wires;
  std::vector<Group> groups;
};

} // namespace

/// No wire lies on both sides of the place `at` of the slot.
bool Wires::cut(int64_t at) {
  for (size_t i = 0; i < wires.size(); ++i) {
    Wire &wire = wires[i];
    if (wire.radix == 1 || wire.stride >= at || at / wire.stride >= wire.radix)
      continue;
    int64_t low = at / wire.stride;
    if (at % wire.stride != 0 || wire.radix % low != 0)
      return false;
    Wire high = wire;
    high.radix /= low;
    high.stride = at;
    high.place *= low;
    wire.radix = low;
    wires.push_back(high);
  }
  return true;
}

bool Wires::move(const DigitMove &step) {
  int64_t place = 1;
  std::vector<int64_t> places;
  for (const LayoutDigit &digit : step.digits) {
    places.push_back(place);
    if (place > 1 && !cut(place))
      return false;
    place *= digit.radix;
  }
  for (Wire &wire : wires) {
    if (wire.radix == 1)
      continue;
    size_t at = places.size() - 1;
    while (places[at] > wire.stride)
      --at;
    if (wire.stride % places[at] != 0)
      return false;
    wire.stride = wire.stride / places[at] * step.digits[at].stride;
  }
  return areDisjoint();
}

/// Sums of the wires never carry from one into the next.
bool Wires::areDisjoint() const {
  std::vector<Wire> sorted;
  for (const Wire &wire : wires)
    if (wire.radix > 1)
      sorted.push_back(wire);
  std::ranges::sort(sorted, {}, &Wire::stride);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i].stride < 1 ||
        (i + 1 < sorted.size() &&
         sorted[i + 1].stride / sorted[i].stride < sorted[i].radix))
      return false;
  return true;
}

void Wires::join(Group &into, const Wire &wire) {
  if (wire.group < 0) {
    into.digits.push_back({wire.place, wire.radix});
    return;
  }
  Group &old = groups[static_cast<size_t>(wire.group)];
  into.digits.insert(into.digits.end(), old.digits.begin(), old.digits.end());
  into.linear &= old.linear;
  old.digits.clear();
}

bool Wires::tie(int64_t base, int64_t count, bool linear) {
  if (!cut(base) || !cut(base * count))
    return false;
  auto isRead = [&](const Wire &wire) {
    return wire.radix > 1 && wire.stride >= base && wire.stride / base < count;
  };
  Group group;
  group.linear = linear;
  for (const Wire &wire : wires)
    if (isRead(wire)) {
      if (wire.stride % base != 0)
        return false;
      join(group, wire);
    }
  // Other wires of the groups that were read now belong to the new one.
  int index = static_cast<int>(groups.size());
  for (Wire &wire : wires)
    if (wire.group >= 0 &&
        groups[static_cast<size_t>(wire.group)].digits.empty())
      wire.group = index;
  std::erase_if(wires, isRead);
  wires.push_back({count, base, 1, index});
  groups.push_back(std::move(group));
  return true;
}

bool Wires::follow(const LayoutStep &step) {
  if (const auto *digits = std::get_if<DigitMove>(&step))
    return move(*digits);
  if (const auto *bits = std::get_if<BitMix>(&step))
    return tie(bits->base, int64_t(1) << bits->images.size(), true);
  const auto &table = std::get<SlotTable>(step);
  return tie(table.base, static_cast<int64_t>(table.slots.size()), false);
}

/// Looks at every set of two bits: if those are in place, the images of the
/// bits do not overlap, and all sums of them are in place.
static bool isLinearGroupInPlace(const Group &group, const LayoutMap &map) {
  std::vector<int64_t> bits{0};
  for (auto [place, radix] : group.digits)
    for (int64_t bit = 1; bit < radix; bit *= 2)
      bits.push_back(place * bit);
  for (size_t i = 0; i < bits.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (map(bits[i] + bits[j]) != bits[i] + bits[j])
        return false;
  return true;
}

/// The number of indices that are looked at one by one.
static constexpr int64_t kMaxIndices = int64_t(1) << 22;

static std::optional<bool> isGroupInPlace(const Group &group,
                                          const LayoutMap &map) {
  if (group.linear && std::ranges::all_of(group.digits, [](IndexDigit digit) {
        return std::has_single_bit(static_cast<uint64_t>(digit.radix));
      }))
    return isLinearGroupInPlace(group, map);
  int64_t count = 1;
  for (const IndexDigit &digit : group.digits)
    if (__builtin_mul_overflow(count, digit.radix, &count) ||
        count > kMaxIndices)
      return std::nullopt;
  for (int64_t value = 0; value < count; ++value) {
    int64_t index = 0, rest = value;
    for (auto [place, radix] : group.digits) {
      index += rest % radix * place;
      rest /= radix;
    }
    if (map(index) != index)
      return false;
  }
  return true;
}

std::optional<bool> Wires::areInPlace(const LayoutMap &map) const {
  for (const Wire &wire : wires)
    if (wire.group < 0 && wire.radix > 1 && wire.stride != wire.place)
      return false;
  for (const Group &group : groups)
    if (std::optional<bool> inPlace = isGroupInPlace(group, map);
        !inPlace || !*inPlace)
      return inPlace;
  return true;
}

std::optional<bool> grit::leavesAllInPlace(const LayoutMap &map) {
  if (map.steps().empty())
    return true;
  Wires wires(map.domain());
  for (const LayoutStep &step : map.steps())
    if (!wires.follow(step))
      return std::nullopt;
  return wires.areInPlace(map);
}

static bool agreeOnAll(const LayoutMap &a, const LayoutMap &b) {
  for (int64_t index = 0; index < a.domain(); ++index)
    if (a(index) != b(index))
      return false;
  return true;
}

/// Compares indices that no regular spacing prefers.
static bool agreeOnSamples(const LayoutMap &a, const LayoutMap &b) {
  auto state = static_cast<uint64_t>(a.domain());
  for (int i = 0; i < 4096; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto index = static_cast<int64_t>((static_cast<unsigned __int128>(state) *
                                       static_cast<uint64_t>(a.domain())) >>
                                      64);
    if (a(index) != b(index))
      return false;
  }
  return true;
}

Expected<bool> grit::equalMaps(const LayoutMap &a, const LayoutMap &b) {
  if (a.domain() != b.domain() || a.range() != b.range())
    return false;
  if (a == b || a.domain() == 0)
    return true;
  if (a.isPermutation() && b.isPermutation())
    if (std::optional<LayoutMap> back = b.inverse())
      if (std::optional<bool> same = leavesAllInPlace(*a.then(*back)))
        return *same;
  if (a.domain() <= kMaxIndices)
    return agreeOnAll(a, b);
  if (!agreeOnSamples(a, b))
    return false;
  return makeError(
      Status::PlacementUnknown, "two layout maps cannot be compared", "layout",
      {}, {},
      "they cut the index into digits that do not divide each other, and " +
          std::to_string(a.domain()) + " indices are too many to look at",
      "compare the texts of the expressions");
}
