//===- Audit.cpp - assumptions about placements from C --------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Audit.h"
#include "Views.h"
#include <cstring>

using namespace grit;
using namespace grit::capi;

static Descriptor descriptorOf(const grit_view_t &view) {
  return Descriptor::read(std::span<const uint8_t, sizeof(view.d)>(
      reinterpret_cast<const uint8_t *>(&view.d), sizeof(view.d)));
}

/// Writes a changed descriptor back. The identity of another placement is
/// another one, which nobody has computed.
static void store(const Descriptor &d, grit_view_t &view) {
  if (!(d.placements == descriptorOf(view).placements))
    std::memset(view.gid, 0, sizeof(view.gid));
  DescriptorBytes bytes = d.write();
  std::memcpy(&view.d, bytes.data(), bytes.size());
}

/// Null arguments and roles that do not exist.
static std::optional<Error> checkArguments(const grit_view_t *view,
                                           const grit_assumptions_t *assumed,
                                           int32_t role) {
  if (!view || !assumed)
    return badArgument(view ? "assumed" : "view", "an address", "null");
  if (role != GRIT_ROLE_DATA && role != GRIT_ROLE_SCALE &&
      role != GRIT_ROLE_META)
    return badArgument("role",
                       "GRIT_ROLE_DATA, GRIT_ROLE_SCALE or "
                       "GRIT_ROLE_META",
                       std::to_string(role));
  return rankError(view->rank);
}

grit_assumptions_t grit_assumptions_of(const grit_view_t *view) {
  return view ? Assumptions::of(descriptorOf(*view)).bits() : 0;
}

grit_status_t grit_assume_placement_at(grit_view_t *view,
                                       grit_assumptions_t *assumed,
                                       int32_t role, uint64_t word,
                                       const char *reason, const char *where,
                                       grit_detail_t *detail) {
  if (std::optional<Error> error = checkArguments(view, assumed, role))
    return fail(*error, detail);
  if (!reason || !where)
    return fail(badArgument(reason ? "where" : "reason", "an address", "null"),
                detail);
  return guarded(detail, [&] {
    Expected<AssumptionReason> checked = AssumptionReason::check(reason);
    if (!checked)
      return fail(checked.error(), detail);
    Descriptor d = descriptorOf(*view);
    Assumptions roles = Assumptions::fromBits(static_cast<uint8_t>(*assumed));
    Expected<void> done =
        assumePlacement(d, extents(view->rank, view->shape), roles,
                        static_cast<PlaneRole>(role), Placement(word), *checked,
                        std::string(where));
    if (!done)
      return fail(done.error(), detail);
    store(d, *view);
    *assumed = roles.bits();
    return succeed(detail);
  });
}

namespace {

/// A view that is opened for reading.
struct Opened {
  ArraySpec spec;
  std::vector<ByteSpan> planes;
};

} // namespace

static Expected<Opened> open(const grit_view_t &view) {
  Expected<ArraySpec> spec = specOf(view);
  if (!spec)
    return tl::unexpected(spec.error());
  Opened opened{std::move(*spec), {}};
  const FormatDescription &description = opened.spec.contract.description();
  PlaneSizes sizes;
  for (unsigned i = 0; i < description.planes.size(); ++i)
    sizes.push_back(view.plane_bytes[planeSlot(description, i)]);
  if (std::optional<Error> error = opened.spec.checkPlaneSizes(sizes))
    return tl::unexpected(std::move(*error));
  for (unsigned i = 0; i < description.planes.size(); ++i) {
    const void *plane = view.plane[planeSlot(description, i)];
    if (sizes[i] != 0 && !plane)
      return makeError(Status::DigestMismatch,
                       "a plane has bytes to compare and no address",
                       "plane[" + description.planes[i].name + "]",
                       std::to_string(sizes[i]) + " bytes", "null", {},
                       "set the address of the plane",
                       static_cast<int>(planeSlot(description, i)));
    opened.planes.emplace_back(static_cast<const uint8_t *>(plane),
                               static_cast<size_t>(sizes[i]));
  }
  return opened;
}

/// Runs `verify` on an opened view and stores what it changes.
template <typename Verify>
static grit_status_t verifyView(grit_view_t *view, grit_assumptions_t *assumed,
                                int32_t role, grit_detail_t *detail,
                                Verify &&verify) {
  if (std::optional<Error> error = checkArguments(view, assumed, role))
    return fail(*error, detail);
  return guarded(detail, [&] {
    Expected<Opened> claimed = open(*view);
    if (!claimed)
      return fail(claimed.error(), detail);
    Descriptor d = descriptorOf(*view);
    Assumptions roles = Assumptions::fromBits(static_cast<uint8_t>(*assumed));
    Expected<void> done = verify(d, roles, static_cast<PlaneRole>(role),
                                 PlacedArray{claimed->spec, claimed->planes});
    if (!done)
      return fail(done.error(), detail);
    store(d, *view);
    *assumed = roles.bits();
    return succeed(detail);
  });
}

grit_status_t grit_verify_placement(grit_view_t *view,
                                    grit_assumptions_t *assumed, int32_t role,
                                    const grit_view_t *reference,
                                    grit_detail_t *detail) {
  if (!reference)
    return fail(badArgument("reference", "an address", "null"), detail);
  if (reference->d.note & GRIT_NOTE_ASSUMED)
    return fail(Error{Status::PlacementUnknown,
                      "the placement of the reference is assumed itself",
                      "reference",
                      "an established placement",
                      "a note with GRIT_NOTE_ASSUMED",
                      {},
                      "verify the reference first",
                      -1},
                detail);
  return verifyView(view, assumed, role, detail,
                    [&](Descriptor &d, Assumptions &roles, PlaneRole which,
                        const PlacedArray &claimed) -> Expected<void> {
                      Expected<Opened> other = open(*reference);
                      if (!other)
                        return tl::unexpected(other.error());
                      return verifyPlacement(
                          d, roles, which, claimed,
                          PlacedArray{other->spec, other->planes});
                    });
}

grit_status_t grit_verify_placement_digest(grit_view_t *view,
                                           grit_assumptions_t *assumed,
                                           int32_t role,
                                           const uint8_t digest[16],
                                           grit_detail_t *detail) {
  if (!digest)
    return fail(badArgument("digest", "an address", "null"), detail);
  std::array<uint8_t, 16> expected;
  std::memcpy(expected.data(), digest, expected.size());
  return verifyView(view, assumed, role, detail,
                    [&](Descriptor &d, Assumptions &roles, PlaneRole which,
                        const PlacedArray &claimed) {
                      return verifyPlacement(d, roles, which, claimed,
                                             expected);
                    });
}

//===----------------------------------------------------------------------===//
// The ledger
//===----------------------------------------------------------------------===//

void grit_audit_set_sink(grit_audit_sink_t sink, void *user) {
  if (!sink)
    return audit::setSink(nullptr);
  audit::setSink([sink, user](const AssumptionRecord &, std::string_view line) {
    sink(std::string(line).c_str(), user);
  });
}

grit_status_t grit_audit_open(const char *path, grit_detail_t *detail) {
  if (!path)
    return fail(badArgument("path", "an address", "null"), detail);
  return guarded(detail, [&] {
    Expected<void> opened = audit::openLedger(path);
    return opened ? succeed(detail) : fail(opened.error(), detail);
  });
}

uint64_t grit_audit_records(void) { return audit::numRecords(); }

uint64_t grit_audit_crossings(void) { return audit::crossings(); }

double grit_audit_rate(void) { return audit::rate(); }
