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

std::optional<Error> grit::checkArray(const ArraySpec &spec,
                                      std::span<const ByteSpan> planes) {
  if (auto error = spec.verify())
    return error;
  PlaneSizes sizes;
  for (ByteSpan plane : planes)
    sizes.push_back(static_cast<int64_t>(plane.size()));
  return spec.checkPlaneSizes(sizes);
}

Expected<PlaneItems> grit::planeItems(const ArraySpec &spec, unsigned plane) {
  const FormatDescription &description = spec.contract.description();
  std::optional<PlaneItems> items;
  for (const ArrayField &field : fieldsOf(spec)) {
    if (field.bits->plane != plane)
      continue;
    Expected<PlacedField> placed = PlacedField::of(spec, field);
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
