//===- Audit.cpp - placements that are assumed, and verified --------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Audit.h"
#include "ArrayFields.h"
#include "Ledger.h"
#include "Registry.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Note.h"
#include "grit/Format/Text.h"
#include <chrono>

using namespace grit;

std::string_view grit::roleName(PlaneRole role) {
  switch (role) {
  case PlaneRole::Data:
    return "data";
  case PlaneRole::Scale:
    return "scale";
  case PlaneRole::Meta:
    return "meta";
  }
  return "unknown role";
}

Expected<PlaneRole> grit::parseRole(std::string_view name) {
  if (name == "data")
    return PlaneRole::Data;
  if (name == "scale" || name == "scale0" || name == "scale1")
    return PlaneRole::Scale;
  if (name == "meta" || name == "aux")
    return PlaneRole::Meta;
  return makeError(Status::PlacementUnknown, "no plane has this role", "role",
                   "data, scale (scale0, scale1) or meta (aux)",
                   quoteText(name), {}, "name one of these roles");
}

static bool hasAux(const Descriptor &d) {
  return d.flags & (Descriptor::HasZp | Descriptor::Sparse);
}

Assumptions Assumptions::of(const Descriptor &descriptor) {
  Assumptions result;
  if (!Note::read(descriptor.note).assumed)
    return result;
  result.add(PlaneRole::Data);
  result.add(PlaneRole::Scale);
  if (hasAux(descriptor))
    result.add(PlaneRole::Meta);
  return result;
}

Assumptions Assumptions::fromBits(uint8_t bits) {
  Assumptions result;
  result.roles = bits & 7;
  return result;
}

Expected<AssumptionReason> AssumptionReason::check(std::string_view text) {
  if (isBlank(text))
    return makeError(Status::PlacementUnknown, "an assumption needs a reason",
                     "reason", "a sentence", quoteText(text), {},
                     "say why the bytes lie there");
  return AssumptionReason(text, Checked());
}

//===----------------------------------------------------------------------===//
// Assume
//===----------------------------------------------------------------------===//

static Placement &wordOf(Descriptor &d, PlaneRole role) {
  return role == PlaneRole::Data    ? d.placements.data
         : role == PlaneRole::Scale ? d.placements.scale
                                    : d.placements.meta;
}

static void setAssumed(Descriptor &d, bool assumed) {
  Note note = Note::read(d.note);
  note.assumed = assumed;
  d.note = note.write();
}

/// The identity of an array whose grade is known.
static std::optional<std::array<uint8_t, 16>>
gidOf(const Descriptor &d, std::span<const int64_t> shape) {
  const Contract *contract = registry::findId(d.gradeId);
  if (!contract || !contract->isGrade())
    return std::nullopt;
  return ArraySpec{
      *contract, {shape.begin(), shape.end()}, d.groupAxis, d.placements}
      .gid();
}

static std::optional<Error> checkAssumption(const Descriptor &d, PlaneRole role,
                                            Placement word) {
  auto refuse = [&](std::string message, std::string declared,
                    std::string fix) {
    return Error{Status::PlacementUnknown,
                 std::move(message),
                 "placement_" + std::string(roleName(role)),
                 std::move(declared),
                 word.specName() + " (" + hexWord(word.raw(), 16) + ")",
                 {},
                 std::move(fix),
                 -1};
  };
  if (!word.isAcceptable())
    return refuse("this is no placement",
                  "UNSPECIFIED (0), a registered word (class 1), a layout hash "
                  "(class 8) or opaque (class 15)",
                  "name the placement, e.g. ROW_MAJOR (0x1000000000000001)");
  if (role != PlaneRole::Meta)
    return std::nullopt;
  if (!hasAux(d))
    return refuse("the array has no aux plane whose placement could be assumed",
                  "a role that has a plane", "assume the role data or scale");
  if (word.isUnspecified())
    return refuse("an aux plane has a placement other than 0",
                  "e.g. LINEAR_META (0x1000000000000011)",
                  "name the placement");
  return std::nullopt;
}

Expected<void> grit::assumePlacement(Descriptor &descriptor,
                                     std::span<const int64_t> shape,
                                     Assumptions &assumed, PlaneRole role,
                                     Placement word, AssumptionReason reason,
                                     std::string where) {
  if (auto error = checkAssumption(descriptor, role, word))
    return tl::unexpected(std::move(*error));
  Descriptor changed = descriptor;
  wordOf(changed, role) = word;
  setAssumed(changed, true);
  std::chrono::duration<double> now =
      std::chrono::system_clock::now().time_since_epoch();
  Expected<void> recorded =
      audit::append({gidOf(descriptor, shape), gidOf(changed, shape),
                     wordOf(descriptor, role), word, role,
                     std::string(reason.str()), std::move(where), now.count()});
  if (!recorded)
    return recorded;
  descriptor = changed;
  assumed.add(role);
  return {};
}

Expected<void> grit::assumePlacement(Descriptor &descriptor,
                                     std::span<const int64_t> shape,
                                     Assumptions &assumed, PlaneRole role,
                                     Placement word, AssumptionReason reason,
                                     std::source_location where) {
  return assumePlacement(descriptor, shape, assumed, role, word, reason,
                         std::string(where.file_name()) + ":" +
                             std::to_string(where.line()));
}

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

namespace {

/// Values of one kind in a plane of the role.
struct RoleField {
  const BitField *bits;
  PlacedField placed;
};

} // namespace

/// Where the values of a role lie. Refuses words without a map.
static Expected<std::vector<RoleField>> fieldsOfRole(const ArraySpec &spec,
                                                     PlaneRole role) {
  const FormatDescription &description = spec.contract.description();
  std::vector<RoleField> fields;
  for (const ArrayField &field : fieldsOf(spec)) {
    if (description.planes[field.bits->plane].placement !=
        static_cast<unsigned>(role))
      continue;
    Expected<PlacedField> placed = PlacedField::of(spec, field);
    if (!placed)
      return tl::unexpected(placed.error());
    fields.push_back({field.bits, *placed});
  }
  return fields;
}

static Error differs(const PlacedArray &claimed, PlaneRole role,
                     const RoleField &a, const RoleField &b, int64_t index,
                     uint32_t found, uint32_t expected) {
  const FormatDescription &description = claimed.spec.contract.description();
  return {Status::DigestMismatch,
          "the bytes do not lie in the placement that is claimed",
          "placement_" + std::string(roleName(role)),
          "item " + std::to_string(index) + " is " + hexWord(expected, 2) +
              " in slot " + std::to_string(b.placed.slot(index)) +
              " of the reference",
          hexWord(found, 2) + " in slot " +
              std::to_string(a.placed.slot(index)),
          "the placement was assumed wrongly, or the arrays are not the same",
          "find out where the bytes lie, and declare that",
          static_cast<int>(planeSlot(description, a.bits->plane))};
}

Expected<void> grit::comparePlacements(const PlacedArray &claimed,
                                       const PlacedArray &reference,
                                       PlaneRole role) {
  if (!(claimed.spec.contract == reference.spec.contract) ||
      claimed.spec.shape != reference.spec.shape ||
      claimed.spec.axis != reference.spec.axis)
    return makeError(Status::SizeMismatch, "the reference is another array",
                     "reference",
                     claimed.spec.contract.displayName() + " " +
                         shapeText(claimed.spec.shape),
                     reference.spec.contract.displayName() + " " +
                         shapeText(reference.spec.shape),
                     {}, "compare with the same array in another placement");
  for (const PlacedArray *array : {&claimed, &reference})
    if (auto error = checkArray(array->spec, array->planes))
      return tl::unexpected(std::move(*error));
  auto mine = fieldsOfRole(claimed.spec, role);
  auto theirs = fieldsOfRole(reference.spec, role);
  if (!mine || !theirs)
    return tl::unexpected(mine ? theirs.error() : mine.error());
  for (size_t f = 0; f < mine->size(); ++f) {
    const RoleField &a = (*mine)[f], &b = (*theirs)[f];
    for (int64_t i = 0; i < a.placed.size(); ++i) {
      uint32_t found = a.placed.read(i, claimed.planes);
      uint32_t expected = b.placed.read(i, reference.planes);
      if (found != expected)
        return tl::unexpected(differs(claimed, role, a, b, i, found, expected));
    }
  }
  return {};
}

/// The claim is about the descriptor's own word and an existing plane.
static Expected<void> checkClaim(Descriptor &d, PlaneRole role,
                                 const PlacedArray &claimed) {
  Descriptor asClaimed = d;
  asClaimed.placements = claimed.spec.placements;
  Placement stated = wordOf(d, role), claim = wordOf(asClaimed, role);
  if (stated != claim)
    return makeError(Status::PlacementUnknown,
                     "the claim is about another placement than the descriptor",
                     "placement_" + std::string(roleName(role)),
                     stated.specName(), claim.specName(), {},
                     "verify the array as its descriptor describes it");
  if (role == PlaneRole::Meta && !hasAux(d))
    return makeError(Status::PlacementUnknown,
                     "the array has no aux plane to verify", "role",
                     "data or scale", "meta", {}, "verify another role");
  return {};
}

static void confirm(Descriptor &d, Assumptions &assumed, PlaneRole role) {
  assumed.remove(role);
  if (assumed.empty())
    setAssumed(d, false);
}

Expected<void> grit::verifyPlacement(Descriptor &descriptor,
                                     Assumptions &assumed, PlaneRole role,
                                     const PlacedArray &claimed,
                                     const PlacedArray &reference) {
  if (auto ok = checkClaim(descriptor, role, claimed); !ok)
    return ok;
  if (auto ok = comparePlacements(claimed, reference, role); !ok)
    return ok;
  confirm(descriptor, assumed, role);
  return {};
}

Expected<void> grit::verifyPlacement(Descriptor &descriptor,
                                     Assumptions &assumed, PlaneRole role,
                                     const PlacedArray &claimed,
                                     const std::array<uint8_t, 16> &expected) {
  if (auto ok = checkClaim(descriptor, role, claimed); !ok)
    return ok;
  if (auto error = checkArray(claimed.spec, claimed.planes))
    return tl::unexpected(std::move(*error));
  if (auto fields = fieldsOfRole(claimed.spec, role); !fields)
    return tl::unexpected(fields.error());
  std::array<ByteSpan, 4> slots;
  for (unsigned i = 0; i < claimed.planes.size(); ++i)
    slots[planeSlot(claimed.spec.contract.description(), i)] =
        claimed.planes[i];
  std::array<uint8_t, 16> found = digest(slots);
  if (found != expected)
    return makeError(Status::DigestMismatch,
                     "the bytes are not those of the digest", "digest",
                     toHex(expected), toHex(found),
                     "the bytes lie in another placement, or were changed",
                     "find out where the bytes lie, and declare that");
  confirm(descriptor, assumed, role);
  return {};
}
