//===- DescriptionAddresses.cpp - which bits fields claim -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every bit address of a plane's fields is followed over one period, after
// which all of them repeat. A bit outside the plane or claimed twice is found
// there, so that code which works from a description needs no checks of its
// own.
//
//===----------------------------------------------------------------------===//

#include "DescriptionVerifier.h"
#include <bit>
#include <numeric>

using namespace grit;
using namespace grit::verifier;

/// Bits followed per plane; a format that repeats later than that is refused.
static constexpr int64_t kMaxPeriodBits = int64_t(1) << 24;

int64_t verifier::boundedLcm(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t factor = b / std::gcd(a, b);
  return a > kMaxSize / factor ? 0 : a * factor;
}

/// The number of indices after which a digit repeats (or, without a modulus,
/// has moved on by a whole stride); 0 when it exceeds kMaxSize.
static int64_t wrapOf(const Digit &digit) {
  if (digit.mod == 0)
    return digit.div;
  return digit.mod > kMaxSize / digit.div ? 0 : digit.div * digit.mod;
}

namespace {

/// Who claims the bits of a plane: each bit has a set of the places of digits
/// that are stored in it, or all places when it is a bit of a plain value.
class PlaneProof {
public:
  PlaneProof(const FormatDescription &description, const std::vector<Use> &uses,
             unsigned plane);

  std::optional<Error> run();

private:
  std::optional<Error> verifyGroups() const;
  std::optional<Error> verifyStream(const Use &use) const;
  std::optional<Error> findPeriod();
  std::optional<Error> mark(const Use &use, int64_t values);
  Expected<uint32_t> placesOf(const Use &use, int64_t index) const;
  /// The elements of a group, where groups that depend on the shape count one.
  int64_t elementsOf(const Grouping &group) const {
    return group.dependsOnShape() ? 1 : group.elements;
  }

  const PlaneInfo &plane;
  Grouping unit;
  std::string name;
  std::vector<const Use *> uses;
  int64_t period = 1; ///< elements
  std::vector<uint32_t> claimed;
};

} // namespace

PlaneProof::PlaneProof(const FormatDescription &description,
                       const std::vector<Use> &all, unsigned index)
    : plane(description.planes[index]), unit{plane.elements, plane.rows},
      name("plane '" + plane.name + "'") {
  for (const Use &use : all)
    if (use.bits->plane == index)
      uses.push_back(&use);
}

/// A plane of constant size holds values for the whole array, one whose units
/// depend on the shape has values for these units.
std::optional<Error> PlaneProof::verifyGroups() const {
  for (const Use *use : uses) {
    if ((use->group.elements == 0) != (unit.elements == 0))
      return fault(use->name,
                   "a plane of constant size holds values for the whole array, "
                   "and no other plane does",
                   unit.elements == 0 ? "one value for the array in " + name
                                      : "values for groups in " + name,
                   use->group.elements == 0 ? "one value for the array"
                                            : "values for groups");
    bool special = unit.dependsOnShape() || use->group.dependsOnShape();
    if (special && !(use->group == unit))
      return fault(use->name,
                   "values per line or per block are in a plane of such units",
                   "the same groups as " + name, "others");
  }
  return std::nullopt;
}

/// A stream is alone in its plane and fills it.
std::optional<Error> PlaneProof::verifyStream(const Use &use) const {
  for (const Use *other : uses)
    if (other != &use)
      return fault(use.name, "its plane has values of another kind",
                   "a plane of its own", other->name);
  // As many bits per element on either side.
  __int128 bits = use.bits->width() * use.count;
  int64_t elements = elementsOf(use.group);
  if (elements == 0 || plane.elements == 0 ||
      static_cast<__int128>(plane.bits) * elements != bits * elementsOf(unit))
    return fault(use.name, "it does not fill " + name);
  return std::nullopt;
}

/// In elements: after it every digit has gone round.
std::optional<Error> PlaneProof::findPeriod() {
  if (unit.elements == 0)
    return std::nullopt;
  period = elementsOf(unit);
  for (const Use *use : uses) {
    int64_t values = use->count;
    for (const BitSlice &slice : use->bits->slices)
      for (const Digit &digit : slice.digits)
        values = boundedLcm(values, wrapOf(digit));
    if (use->bits->radix)
      for (const Digit &digit : use->bits->radix->place)
        values = boundedLcm(values, wrapOf(digit));
    int64_t groups = values / use->count, elements = elementsOf(use->group);
    if (groups == 0 || groups > kMaxSize / elements)
      return fault(use->name, "its bit addresses do not repeat within 2^40");
    period = boundedLcm(period, groups * elements);
    if (period == 0)
      return fault(name, "its bit addresses do not repeat within 2^40");
  }
  return std::nullopt;
}

/// The place of value `index` as a set, all places for a plain value.
Expected<uint32_t> PlaneProof::placesOf(const Use &use, int64_t index) const {
  if (!use.bits->radix)
    return UINT32_MAX;
  const Radix &radix = *use.bits->radix;
  int64_t place = 0;
  for (const Digit &digit : radix.place)
    place += digit.at(index);
  unsigned bits = use.bits->storedWidth();
  // Of w bits only so many digits tell 2^w values apart.
  uint64_t power = radix.base;
  for (int64_t i = 0; i < place && power <= uint64_t(1) << bits; ++i)
    power *= radix.base;
  if (place < 0 || power > uint64_t(1) << bits)
    return tl::unexpected(
        fault(use.name,
              "value " + str(index) +
                  " is a digit that its bits do "
                  "not hold",
              "a power of " + str(radix.base) + " up to 2^" + str(bits),
              "digit number " + str(place)));
  return uint32_t(1) << place;
}

/// Marks the bits of the first `values` values of one field.
std::optional<Error> PlaneProof::mark(const Use &use, int64_t values) {
  for (int64_t index = 0; index < values; ++index) {
    Expected<uint32_t> places = placesOf(use, index);
    if (!places)
      return places.error();
    for (const BitSlice &slice : use.bits->slices) {
      int64_t bit = slice.at(index);
      if (bit < 0 || bit + slice.width > static_cast<int64_t>(claimed.size()))
        return fault(use.name, "value " + str(index) + " lies outside " + name,
                     "bits 0 to " + str(claimed.size()), "bit " + str(bit));
      for (unsigned i = 0; i < slice.width; ++i) {
        if (claimed[bit + i] & *places)
          return fault(use.name,
                       "value " + str(index) + " shares bit " + str(bit + i) +
                           " of " + name + " with another value",
                       "bits of its own", "bit " + str(bit + i));
        claimed[bit + i] |= *places;
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> PlaneProof::run() {
  if (uses.empty())
    return fault(name, "it holds nothing");
  if (auto error = verifyGroups())
    return error;
  for (const Use *use : uses)
    if (use->bits->isMsbStream())
      return verifyStream(*use);
  if (auto error = findPeriod())
    return error;
  int64_t units = unit.elements ? period / elementsOf(unit) : 1;
  if (plane.bits > kMaxPeriodBits / units)
    return fault(name, "it repeats too late to be checked",
                 "within " + str(kMaxPeriodBits) + " bits",
                 str(units) + " units of " + str(plane.bits) + " bits");
  int64_t periodBits = units * plane.bits;
  claimed.assign(periodBits, 0);
  for (const Use *use : uses) {
    int64_t groups = unit.elements ? period / elementsOf(use->group) : 1;
    // Digits share bits, so that there can be more values than bits.
    int64_t most = use->bits->radix ? kMaxPeriodBits : periodBits;
    if (groups > most / use->count)
      return fault(use->name, "its values do not fit in " + name);
    int64_t values = groups * use->count;
    if (auto error = mark(*use, values))
      return error;
    // Nothing but the digits without a modulus moves on after a period.
    for (const BitSlice &slice : use->bits->slices)
      if (unit.elements && slice.at(values) - slice.at(0) != periodBits)
        return fault(use->name, "its bit addresses do not advance with " + name,
                     str(periodBits) + " bits for " + str(values) + " values",
                     str(slice.at(values) - slice.at(0)) + " bits");
  }
  return std::nullopt;
}

std::optional<Error>
verifier::verifyAddresses(const FormatDescription &description,
                          const std::vector<Use> &uses, unsigned plane) {
  return PlaneProof(description, uses, plane).run();
}
