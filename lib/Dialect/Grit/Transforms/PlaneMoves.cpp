//===- PlaneMoves.cpp - how a relayout moves the values of each plane -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneMoves.h"
#include "grit/Format/Fields.h"
#include <algorithm>

using namespace grit;
using namespace grit::ir;
using mlir::ShapedType;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static tl::unexpected<Error> refuse(const PlaneInfo &plane, std::string message,
                                    std::string cause, std::string fix) {
  return makeError(Status::PlacementUnknown, std::move(message),
                   placementField(plane), {}, {}, std::move(cause),
                   std::move(fix));
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// The grid of a plane, or nothing when the plane has one value only.
static Expected<std::optional<PlaneGrid>> gridOf(ArrayType type,
                                                 unsigned index) {
  const FormatDescription description =
      type.getContract().getContract().description();
  const PlaneInfo &plane = description.planes[index];
  PlaneGrid grid;
  std::vector<ArrayField> fields = fieldsOf(description);
  std::erase_if(fields, [&](const ArrayField &field) {
    return field.bits->plane != index;
  });
  for (const ArrayField &field : fields) {
    std::optional<ItemPacking> packing = packingOf(*field.bits);
    if (!packing)
      return refuse(plane,
                    "the values of plane " + plane.name + " have one layout",
                    "they do not follow one another: the format packs several "
                    "kinds of values into blocks",
                    "use the canonical placement");
    grid.packing = *packing;
  }
  const ArrayField &field = fields.front();
  if (field.unit == 0 || field.unit == kAxisPositions)
    return std::optional<PlaneGrid>();
  if (field.unit == kWholeAxis || field.order == ElementOrder::Block)
    return refuse(plane,
                  "the values of plane " + plane.name + " keep their order",
                  "there is one for each line or block, whose number depends "
                  "on the shape",
                  "use the canonical placement");
  bool alongAxis = field.order == ElementOrder::AxisFastest;
  size_t columnDim = alongAxis ? type.getAxis() : type.getRank() - 1;
  int64_t extent = type.getShape()[columnDim];
  if (extent == kDynamic)
    return refuse(plane, "a dynamic row length has no relayout",
                  "the maps of plane " + plane.name +
                      " depend on the extent of "
                      "dimension " +
                      std::to_string(columnDim),
                  "make the extent static");
  if (extent % field.unit != 0)
    return refuse(plane,
                  "the values of plane " + plane.name +
                      " do not form rows in this shape",
                  "groups run over the end of a row, so only the order of the "
                  "groups is defined",
                  "use the canonical placement");
  grid.columns = extent / field.unit * field.perUnit;
  grid.columnDim = columnDim;
  grid.rows = 1;
  for (auto [dim, other] : llvm::enumerate(type.getShape()))
    if (dim != columnDim)
      grid.rows = grid.rows == kDynamic || other == kDynamic
                      ? kDynamic
                      : grid.rows * other;
  return std::optional<PlaneGrid>(grid);
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// The slots that the values of the target's slots come from. With a dynamic
/// number of rows, the map that serves every number that fits.
static Expected<MapOfAnyRows> mapOf(Placement from, Placement to,
                                    const PlaneGrid &grid) {
  if (grid.rows == kDynamic)
    return relayoutOfAnyRows(to, from, grid.columns);
  Expected<LayoutMap> map = relayoutMap(to, from, grid.rows, grid.columns);
  if (!map)
    return tl::make_unexpected(map.error());
  return MapOfAnyRows{*map, 1};
}

/// The move of one plane, or nothing when its values stay where they are.
static Expected<std::optional<PlaneMove>> planMove(ArrayType from, ArrayType to,
                                                   unsigned index) {
  const PlaneInfo plane =
      from.getContract().getContract().description().planes[index];
  Placement source = placementOf(from.getPlacements(), plane);
  Placement target = placementOf(to.getPlacements(), plane);
  Expected<bool> stays = samePlacement(source, target);
  if (!stays)
    return tl::make_unexpected(stays.error());
  if (*stays)
    return std::optional<PlaneMove>();
  // A word without a map is refused by its own name, whatever the plane.
  for (Placement word : {source, target})
    if (Expected<Layout> layout = resolvePlacement(word); !layout)
      return tl::make_unexpected(layout.error());
  Expected<std::optional<PlaneGrid>> grid = gridOf(from, index);
  if (!grid)
    return tl::make_unexpected(grid.error());
  if (!*grid || (*grid)->columns == 0 || (*grid)->rows == 0)
    return std::optional<PlaneMove>();
  Expected<MapOfAnyRows> map = mapOf(source, target, **grid);
  if (!map)
    return tl::make_unexpected(map.error());
  if (map->map.isIdentity())
    return std::optional<PlaneMove>();
  const PlaneGrid &values = **grid;
  PlaneMove move{index, values, map->map, map->rowMultiple, 0};
  // Where the last byte ends is known for rows of whole bytes only.
  if (values.rows == kDynamic && move.rowMultiple % 8 * (values.columns % 8) *
                                     (values.packing.bits % 8) % 8)
    return refuse(plane,
                  "a dynamic number of rows that are no whole bytes has no "
                  "relayout",
                  "the last byte of plane " + plane.name +
                      " may hold values and unused bits",
                  "make the extents static");
  if (values.rows != kDynamic &&
      values.rows % 8 * (values.columns % 8) * (values.packing.bits % 8) % 8)
    move.tailedValues = values.rows * values.columns;
  return std::optional<PlaneMove>(move);
}

Expected<llvm::SmallVector<PlaneMove>> grit::ir::planMoves(ArrayType from,
                                                           ArrayType to) {
  llvm::SmallVector<PlaneMove> moves;
  size_t planes = from.getContract().getContract().description().planes.size();
  for (size_t index = 0; index < planes; ++index) {
    Expected<std::optional<PlaneMove>> move = planMove(from, to, index);
    if (!move)
      return tl::make_unexpected(move.error());
    if (*move)
      moves.push_back(**move);
  }
  return moves;
}
