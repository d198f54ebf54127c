//===- Audit.h - placements that are assumed, and the record of it -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GRIT v1, section 12. That bytes lie in a placement is known because they were
// written in it or moved there; everything else is an assumption, which has a
// reason, leaves a mark in the note, and is recorded.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_AUDIT_H
#define GRIT_FORMAT_AUDIT_H

#include "grit/Format/Codec.h"
#include "grit/Format/Descriptor.h"
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// What a placement word is about.
enum class PlaneRole : uint8_t {
  Data,
  Scale, ///< both scale planes
  Meta,  ///< zero points, minima or indices
};

/// "data", "scale" or "meta".
std::string_view roleName(PlaneRole role);
/// One of these names, or scale0, scale1, aux.
Expected<PlaneRole> parseRole(std::string_view name);

/// The roles of one array whose placement was assumed and not verified since.
class Assumptions {
public:
  Assumptions() = default;
  /// Those of an array that comes with this descriptor and nothing else: where
  /// the note says that a placement was assumed, it may have been any of them.
  static Assumptions of(const Descriptor &descriptor);

  void add(PlaneRole role) { roles |= bit(role); }
  void remove(PlaneRole role) { roles &= static_cast<uint8_t>(~bit(role)); }
  bool contains(PlaneRole role) const { return roles & bit(role); }
  bool empty() const { return roles == 0; }
  /// Bit r stands for role r.
  uint8_t bits() const { return roles; }
  static Assumptions fromBits(uint8_t bits);

  friend bool operator==(const Assumptions &, const Assumptions &) = default;

private:
  static constexpr uint8_t bit(PlaneRole role) {
    return static_cast<uint8_t>(1u << static_cast<unsigned>(role));
  }
  uint8_t roles = 0;
};

/// Why a placement is assumed: a literal that says something, checked when the
/// program is compiled.
class AssumptionReason {
public:
  template <size_t N>
  consteval AssumptionReason(const char (&literal)[N]) : text(literal, N - 1) {
    if (isBlank(text))
      throw "the reason of an assumption is blank";
  }
  /// For languages that have no literals at compile time. `text` must outlive
  /// the reason.
  static Expected<AssumptionReason> check(std::string_view text);

  std::string_view str() const { return text; }

private:
  struct Checked {};
  constexpr AssumptionReason(std::string_view text, Checked) : text(text) {}
  static constexpr bool isBlank(std::string_view text) {
    // Controls are as blank as spaces.
    for (char c : text)
      if (static_cast<unsigned char>(c) > ' ' && c != '\x7f')
        return false;
    return true;
  }
  std::string_view text;
};

/// One assumption. Records are never changed or removed.
struct AssumptionRecord {
  /// The identities before and after; none where the grade is not known.
  std::optional<std::array<uint8_t, 16>> gidBefore, gidAfter;
  Placement from, to;
  PlaneRole role = PlaneRole::Data;
  std::string reason;
  std::string sourceLocation; ///< "file:line"
  double timestamp = 0;       ///< seconds since 1970

  /// One line of JSON without its end, keys sorted.
  std::string json() const;
};

/// Declares that the bytes of `role` lie in `word`, although nobody has shown
/// it. Reads no plane: changes the word and the note, adds the role to
/// `assumed` and a record to the ledger. Refuses a word that no boundary
/// accepts, a role without a plane, and an assumption beyond the ceiling.
Expected<void>
assumePlacement(Descriptor &descriptor, std::span<const int64_t> shape,
                Assumptions &assumed, PlaneRole role, Placement word,
                AssumptionReason reason,
                std::source_location where = std::source_location::current());
/// The same for a caller in another language, who gives "file:line".
Expected<void> assumePlacement(Descriptor &descriptor,
                               std::span<const int64_t> shape,
                               Assumptions &assumed, PlaneRole role,
                               Placement word, AssumptionReason reason,
                               std::string where);

/// An array with its bytes, in the order of the contract's planes.
struct PlacedArray {
  const ArraySpec &spec;
  std::span<const ByteSpan> planes;
};

/// Compares all values of `role` in two arrays of one contract and shape, slot
/// by slot, each under its own placement. DigestMismatch names the first that
/// differs; PlacementUnknown a word that has no map.
Expected<void> comparePlacements(const PlacedArray &claimed,
                                 const PlacedArray &reference, PlaneRole role);

/// comparePlacements with an array whose placement is established; then `role`
/// is no assumption any more, and the note loses its mark when none is left.
Expected<void> verifyPlacement(Descriptor &descriptor, Assumptions &assumed,
                               PlaneRole role, const PlacedArray &claimed,
                               const PlacedArray &reference);
/// The same with the digest that the array's planes have in the claimed
/// placements.
Expected<void> verifyPlacement(Descriptor &descriptor, Assumptions &assumed,
                               PlaneRole role, const PlacedArray &claimed,
                               const std::array<uint8_t, 16> &digest);

//===----------------------------------------------------------------------===//
// The ledger of the process
//===----------------------------------------------------------------------===//

namespace audit {

/// Called for each new record, with its line; nothing else is recorded
/// meanwhile. It must not assume a placement itself.
using Sink =
    std::function<void(const AssumptionRecord &record, std::string_view line)>;

/// All records so far.
std::vector<AssumptionRecord> records();
size_t numRecords();

/// Replaces the sink; null takes it away.
void setSink(Sink sink);
/// Makes the sink a file of JSON lines, which is created or appended to. The
/// records so far are not written again.
Expected<void> openLedger(const std::string &path);

/// The number of calls of check() with a descriptor.
uint64_t crossings();
/// Counts one.
void countCrossing();

/// Records by crossings; 0 without records, and no crossing counts as one.
double rate();

} // namespace audit
} // namespace grit

#endif // GRIT_FORMAT_AUDIT_H
