//===- Relayout.cpp - moves the planes of an array to other placements ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArrayFields.h"
#include "grit/Format/Rearrange.h"
#include <algorithm>

using namespace grit;

//===----------------------------------------------------------------------===//
// Items of a plane
//===----------------------------------------------------------------------===//

std::vector<ArrayField> grit::fieldsOf(const FormatDescription &description) {
  std::vector<ArrayField> fields;
  ArrayField codes{&description.codes};
  if (description.sparsity) {
    codes.unit = description.sparsity->m;
    codes.perUnit = description.sparsity->n;
    fields.push_back(
        {&description.sparsity->indices, codes.unit, codes.perUnit});
  }
  fields.push_back(codes);
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      fields.push_back({&factor.bits, factor.group, 1, factor.order, &factor});
  return fields;
}

Expected<PlacedField> grit::placedField(const ArraySpec &spec,
                                        const ArrayField &field) {
  return field.factor ? PlacedField::ofFactor(spec, *field.factor)
                      : PlacedField::ofElements(spec, *field.bits);
}

std::optional<Error> grit::checkArray(const ArraySpec &spec,
                                      std::span<const ByteSpan> planes) {
  if (auto error = spec.verify())
    return error;
  PlaneSizes sizes;
  for (ByteSpan plane : planes)
    sizes.push_back(static_cast<int64_t>(plane.size()));
  return spec.checkPlaneSizes(sizes);
}

/// How the values of a field follow one another, or nothing when they do not.
static std::optional<ItemPacking> packingOf(const BitField &field) {
  if (field.isMsbStream())
    return ItemPacking{static_cast<int64_t>(field.msbStreamWidth), true};
  if (field.slices.size() != 1)
    return std::nullopt;
  const std::vector<Digit> &digits = field.slices.front().digits;
  if (digits.size() == 1 && digits[0].stride > 0 &&
      digits[0] == Digit{1, 0, digits[0].stride})
    return ItemPacking{digits[0].stride, false};
  if (digits.size() != 2 || digits[1].stride >= 0)
    return std::nullopt;
  int64_t bits = -digits[1].stride;
  if (8 % bits != 0 || digits[0] != Digit{8 / bits, 0, 8} ||
      digits[1] != Digit{1, 8 / bits, -bits})
    return std::nullopt;
  return ItemPacking{bits, true};
}

Expected<PlaneItems> grit::planeItems(const ArraySpec &spec, unsigned plane) {
  const FormatDescription &description = spec.contract.description();
  std::optional<PlaneItems> items;
  for (const ArrayField &field : fieldsOf(description)) {
    if (field.bits->plane != plane)
      continue;
    Expected<PlacedField> placed = placedField(spec, field);
    if (!placed)
      return tl::unexpected(placed.error());
    std::optional<ItemPacking> packing = packingOf(*field.bits);
    if (!packing || (items && (items->packing.bits != packing->bits ||
                               items->map.domain() != placed->size())))
      return makeError(Status::PlacementUnknown,
                       "the values of plane " + description.planes[plane].name +
                           " have one layout",
                       placementField(description.planes[plane]),
                       "values of one kind", "blocks",
                       "the format packs several kinds of values into blocks",
                       "use the canonical placement",
                       static_cast<int>(planeSlot(description, plane)));
    items = {*packing, placed->map()};
  }
  return *items;
}

//===----------------------------------------------------------------------===//
// Relayout
//===----------------------------------------------------------------------===//

Expected<PlaneBytes> grit::relayoutPlanes(const ArraySpec &spec,
                                          std::span<const ByteSpan> planes,
                                          const Placements &target) {
  if (auto error = checkArray(spec, planes))
    return tl::unexpected(std::move(*error));
  ArraySpec moved = spec;
  moved.placements = target;
  if (auto error = moved.verify())
    return tl::unexpected(std::move(*error));
  PlaneBytes result;
  for (unsigned i = 0; i < planes.size(); ++i) {
    const PlaneInfo &plane = spec.contract.description().planes[i];
    result.emplace_back(planes[i].begin(), planes[i].end());
    if (spec.numElements() == 0)
      continue;
    Expected<bool> same = samePlacement(placementOf(spec.placements, plane),
                                        placementOf(target, plane));
    if (!same) {
      Error error = same.error();
      error.field = placementField(plane);
      error.plane = static_cast<int>(planeSlot(spec.contract.description(), i));
      return tl::unexpected(std::move(error));
    }
    if (*same)
      continue;
    Expected<PlaneItems> from = planeItems(spec, i);
    Expected<PlaneItems> to = planeItems(moved, i);
    if (!from || !to)
      return tl::unexpected(from ? to.error() : from.error());
    if (auto done = moveItems(from->map, to->map, from->packing, planes[i],
                              result.back());
        !done)
      return tl::unexpected(done.error());
  }
  return result;
}
