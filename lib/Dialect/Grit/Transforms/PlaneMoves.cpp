//===- PlaneMoves.cpp - how a relayout moves the values of each plane -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneMoves.h"
#include <algorithm>
#include <numeric>

using namespace grit;
using namespace grit::ir;
using mlir::AffineExpr;
using mlir::ShapedType;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static tl::unexpected<Error> refuse(const PlaneInfo &plane, std::string message,
                                    std::string cause, std::string fix) {
  static constexpr const char *fields[] = {"placement_data", "placement_scale",
                                           "placement_meta"};
  return makeError(Status::PlacementUnknown, std::move(message),
                   fields[plane.placement], {}, {}, std::move(cause),
                   std::move(fix));
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

namespace {
/// A field of the description with the elements that one value stands for.
struct GridField {
  const BitField *bits;
  int64_t unit = 1, perUnit = 1;
  ElementOrder order = ElementOrder::RowMajor;
};
} // namespace

/// Every field of `plane`.
static llvm::SmallVector<GridField>
fieldsOf(const FormatDescription &description, unsigned plane) {
  llvm::SmallVector<GridField> fields;
  auto add = [&](GridField field) {
    if (field.bits->plane == plane)
      fields.push_back(field);
  };
  GridField stored{&description.codes};
  if (description.sparsity) {
    stored.unit = description.sparsity->m;
    stored.perUnit = description.sparsity->n;
    add({&description.sparsity->indices, stored.unit, stored.perUnit});
  }
  add(stored);
  for (const Factor &factor : description.scales)
    add({&factor.bits, factor.group, 1, factor.order});
  for (const Factor &factor : description.offset.factors)
    add({&factor.bits, factor.group, 1, factor.order});
  return fields;
}

/// Reads step and order of values off a bit address; false when the values do
/// not follow one another.
static bool readStep(const BitField &field, PlaneGrid &grid) {
  if (field.slices.size() != 1)
    return false;
  llvm::ArrayRef<Digit> digits = field.slices.front().digits;
  if (digits.size() == 1 && digits[0] == Digit{1, 0, digits[0].stride} &&
      digits[0].stride > 0) {
    grid.step = digits[0].stride;
    return true;
  }
  if (digits.size() != 2 || digits[1].stride >= 0)
    return false;
  int64_t step = -digits[1].stride;
  grid.step = step;
  grid.msbFirst = true;
  return 8 % step == 0 && digits[0] == Digit{8 / step, 0, 8} &&
         digits[1] == Digit{1, 8 / step, -step};
}

/// The grid of a plane, or nothing when the plane has one value only.
static Expected<std::optional<PlaneGrid>> gridOf(ArrayType type,
                                                 unsigned index) {
  const FormatDescription description =
      type.getContract().getContract().description();
  const PlaneInfo &plane = description.planes[index];
  PlaneGrid grid;
  llvm::SmallVector<GridField> fields = fieldsOf(description, index);
  for (const GridField &field : fields)
    if (!readStep(*field.bits, grid))
      return refuse(plane,
                    "the values of plane " + plane.name + " have one layout",
                    "they do not follow one another: the format packs several "
                    "kinds of values into blocks",
                    "use the canonical placement");
  const GridField &field = fields.front();
  if (field.unit == 0)
    return std::optional<PlaneGrid>();
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

static bool sameTerms(const PlacementMap &a, const PlacementMap &b) {
  auto key = [](const PlacementMap::Term &t) {
    return std::tuple(t.ofColumn, t.div, t.mod, t.stride);
  };
  return std::ranges::equal(a.terms, b.terms, {}, key, key);
}

/// The map of a placement over the grid. With a dynamic number of rows, the one
/// map that serves every number that fits, and what it must be a multiple of.
static Expected<PlacementMap> mapOf(Placement placement, const PlaneGrid &grid,
                                    const PlaneInfo &plane,
                                    int64_t &rowMultiple) {
  if (grid.rows != kDynamic)
    return PlacementMap::get(placement, grid.rows, grid.columns);
  // Tiles have powers of two as extents; the smallest that fits is the tile's.
  constexpr int64_t kLargestTile = 1024;
  int64_t multiple = 1;
  Expected<PlacementMap> map =
      PlacementMap::get(placement, multiple, grid.columns);
  while (!map && multiple < kLargestTile) {
    multiple *= 2;
    map = PlacementMap::get(placement, multiple, grid.columns);
  }
  if (!map)
    return map;
  Expected<PlacementMap> larger =
      PlacementMap::get(placement, 2 * multiple, grid.columns);
  if (!larger || !sameTerms(*map, *larger))
    return refuse(plane,
                  placement.specName() +
                      " has no map for a dynamic number of rows",
                  "the addresses of plane " + plane.name +
                      " depend on the number "
                      "of rows",
                  "make the extents static, or use row_major");
  rowMultiple = std::lcm(rowMultiple, multiple);
  return map;
}

/// The row (or column) of slot d0: digit by digit, where a term's stride is the
/// product of the extents of all terms below it. Null when the terms are no
/// such system, so that the map is no permutation.
static AffineExpr invert(const PlacementMap &map, const PlaneGrid &grid,
                         bool ofColumn, mlir::MLIRContext *context) {
  llvm::SmallVector<PlacementMap::Term> terms(map.terms.begin(),
                                              map.terms.end());
  auto extentOf = [&](const PlacementMap::Term &term) {
    int64_t whole = term.ofColumn ? grid.columns : grid.rows;
    if (term.mod != 0)
      return term.mod;
    return whole == kDynamic ? kDynamic : (whole + term.div - 1) / term.div;
  };
  llvm::erase_if(terms, [&](const auto &term) { return extentOf(term) == 1; });
  llvm::stable_sort(
      terms, [](const auto &a, const auto &b) { return a.stride < b.stride; });
  AffineExpr slot = mlir::getAffineDimExpr(0, context);
  AffineExpr coordinate = mlir::getAffineConstantExpr(0, context);
  int64_t product = 1;
  for (const PlacementMap::Term &term : terms) {
    if (product == kDynamic || term.stride != product)
      return {};
    int64_t extent = extentOf(term);
    AffineExpr digit = slot.floorDiv(term.stride);
    if (&term != &terms.back())
      digit = digit % extent;
    if (term.ofColumn == ofColumn)
      coordinate = coordinate + digit * term.div;
    product = extent == kDynamic ? kDynamic : product * extent;
  }
  return coordinate;
}

/// The slot of (row, column) under `map`.
static AffineExpr apply(const PlacementMap &map, AffineExpr row,
                        AffineExpr column) {
  AffineExpr slot = mlir::getAffineConstantExpr(0, row.getContext());
  for (const PlacementMap::Term &term : map.terms) {
    AffineExpr digit = (term.ofColumn ? column : row).floorDiv(term.div);
    if (term.mod)
      digit = digit % term.mod;
    slot = slot + digit * term.stride;
  }
  return slot;
}

/// The move of one plane, or nothing when its values stay where they are.
static Expected<std::optional<PlaneMove>> planMove(ArrayType from, ArrayType to,
                                                   unsigned index) {
  const PlaneInfo plane =
      from.getContract().getContract().description().planes[index];
  auto wordOf = [&](const Placements &words) {
    return plane.placement == 0   ? words.data
           : plane.placement == 1 ? words.scale
                                  : words.meta;
  };
  Placement source = wordOf(from.getPlacements());
  Placement target = wordOf(to.getPlacements());
  if (source == target)
    return std::optional<PlaneMove>();
  // A word without a map is refused by its own name, whatever the plane.
  for (Placement word : {source, target})
    if (Expected<PlacementMap> map = PlacementMap::get(word, 0, 0); !map)
      return tl::make_unexpected(map.error());
  Expected<std::optional<PlaneGrid>> grid = gridOf(from, index);
  if (!grid)
    return tl::make_unexpected(grid.error());
  if (!*grid)
    return std::optional<PlaneMove>();
  PlaneMove move{index, **grid, {}, 1, 0};
  Expected<PlacementMap> sourceMap =
      mapOf(source, move.grid, plane, move.rowMultiple);
  if (!sourceMap)
    return tl::make_unexpected(sourceMap.error());
  Expected<PlacementMap> targetMap =
      mapOf(target, move.grid, plane, move.rowMultiple);
  if (!targetMap)
    return tl::make_unexpected(targetMap.error());
  if (sameTerms(*sourceMap, *targetMap) || move.grid.columns == 0 ||
      move.grid.rows == 0)
    return std::optional<PlaneMove>();
  mlir::MLIRContext *context = from.getContext();
  AffineExpr row = invert(*targetMap, move.grid, false, context);
  AffineExpr column = invert(*targetMap, move.grid, true, context);
  if (!row || !column)
    return refuse(plane,
                  target.specName() + " is not a permutation of the plane",
                  "its digits overlap", "use another placement");
  move.source = apply(*sourceMap, row, column);
  // A dynamic number of rows comes with tiles, whose values fill bytes.
  if (move.grid.rows != kDynamic &&
      move.grid.rows % 8 * (move.grid.columns % 8) * (move.grid.step % 8) % 8)
    move.tailedValues = move.grid.rows * move.grid.columns;
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
