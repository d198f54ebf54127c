//===- PlacedField.cpp - values in the order of a placement ---------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacedField.h"
#include "grit/Format/Layout.h"

using namespace grit;

Expected<PlacedField> PlacedField::get(const ArraySpec &spec,
                                       const BitField &field, int64_t items,
                                       int64_t columns) {
  const PlaneInfo &plane = spec.contract.description().planes[field.plane];
  Placement word = placementOf(spec.placements, plane);
  Placement canonical = placementOf(spec.contract.canonicalPlacements(), plane);
  PlacedField result;
  result.field = &field;
  result.items = items;
  if (word == canonical)
    return result;
  // One value lies the same in every known order.
  bool known =
      !word.isUnspecified() && !word.isOpaque() && !word.isExpression();
  if ((plane.elements == 0 || items == 1) && known)
    return result;
  auto refuse = [&](std::string message, std::string cause) {
    return makeError(
        Status::PlacementUnknown, std::move(message), placementField(plane),
        canonical.specName(), word.specName(), std::move(cause),
        "relayout the array to " + canonical.specName() +
            " with a tool that knows its layout",
        static_cast<int>(planeSlot(spec.contract.description(), field.plane)));
  };
  if (canonical == placements::BlockAos)
    return refuse("blocks have one layout, that of their format",
                  "another format was written into the placement");
  // Groups that run over the end of a row form no rows of their own.
  if (columns == 0)
    return refuse("the values of plane " + plane.name +
                      " do not form rows in this shape",
                  "groups run over the end of a row, so only the order of the "
                  "groups is defined");
  Expected<LayoutMap> map = planeMap(word, items / columns, columns);
  if (!map) {
    Error error = map.error();
    error.field = placementField(plane);
    error.plane =
        static_cast<int>(planeSlot(spec.contract.description(), field.plane));
    return tl::make_unexpected(std::move(error));
  }
  if (!map->isIdentity())
    result.moves = std::move(*map);
  return result;
}

Expected<PlacedField> PlacedField::of(const ArraySpec &spec,
                                      const ArrayField &field) {
  if (field.unit == 0)
    return get(spec, *field.bits, field.perUnit, field.perUnit);
  int64_t extent = field.order == ElementOrder::RowMajor
                       ? spec.shape.back()
                       : spec.shape[spec.axis];
  int64_t items = spec.numElements() / field.unit * field.perUnit;
  int64_t columns =
      extent % field.unit == 0 ? extent / field.unit * field.perUnit : 0;
  // Blocks form rows of their own.
  if (field.factor && field.factor->rows)
    columns = (extent - 1) / field.factor->group + 1;
  return get(spec, *field.bits, items, columns);
}

std::optional<Error> PlacedField::checkAll(const ArraySpec &spec) {
  if (spec.numElements() == 0)
    return std::nullopt;
  const FormatDescription &description = spec.contract.description();
  if (auto codes = of(spec, codesOf(description)); !codes)
    return codes.error();
  for (const ArrayField &field : fieldsOf(spec))
    if (auto placed = of(spec, field); !placed)
      return placed.error();
  return std::nullopt;
}
