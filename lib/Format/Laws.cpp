//===- Laws.cpp - what may be done to an array without decoding it --------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Laws.h"
#include "ArrayFields.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Note.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <numeric>

using namespace grit;

static std::string str(int64_t value) { return std::to_string(value); }

static constexpr const char *kRequantize =
    "decode the array, do it to the values and encode them again";

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// What the values of a field have elements in common for.
static std::string groupName(const ArrayField &field) {
  return field.factor ? "the groups of " + field.factor->name : "the runs";
}

/// What must stay whole: the units of all fields, and blocks.
static std::vector<ArrayField> groupsOf(const ArraySpec &spec) {
  std::vector<ArrayField> groups = fieldsOf(spec);
  if (std::optional<ArrayField> block = blockBytes(spec))
    groups.push_back(*block);
  return groups;
}

/// The axes in the order in which elements are counted, slowest first.
static std::vector<size_t> axesInOrder(const ArraySpec &spec,
                                       ElementOrder order) {
  std::vector<size_t> axes(spec.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (order == ElementOrder::AxisFastest)
    std::rotate(axes.begin() + spec.axis, axes.begin() + spec.axis + 1,
                axes.end());
  return axes;
}

//===----------------------------------------------------------------------===//
// Placements of a result
//===----------------------------------------------------------------------===//

/// The array, unless one of its values could not be found.
static Expected<ArraySpec> withMaps(ArraySpec spec) {
  if (std::optional<Error> error = spec.verify())
    return tl::unexpected(std::move(*error));
  if (std::optional<Error> error = PlacedField::checkAll(spec))
    return tl::unexpected(std::move(*error));
  return spec;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {

/// What a slice takes of an array.
struct Box {
  std::span<const int64_t> offsets, sizes;

  bool isEmpty() const { return std::ranges::find(sizes, 0) != sizes.end(); }
  bool isWhole(const ArraySpec &spec, size_t axis) const {
    return sizes[axis] == spec.shape[axis];
  }
  std::string str() const {
    return shapeText(sizes) + " at " + shapeText(offsets);
  }
};

} // namespace

static std::optional<Error> checkBox(const ArraySpec &spec, const Box &box) {
  auto refuse = [](std::string field, std::string declared, std::string found) {
    return Error{Status::SizeMismatch,
                 "the slice is not inside the array",
                 std::move(field),
                 std::move(declared),
                 std::move(found),
                 {},
                 "correct the offsets and sizes",
                 -1};
  };
  size_t rank = spec.shape.size();
  if (box.offsets.size() != rank || box.sizes.size() != rank)
    return refuse("rank", str(rank) + " offsets and sizes",
                  str(box.offsets.size()) + " offsets, " +
                      str(box.sizes.size()) + " sizes");
  for (size_t i = 0; i < rank; ++i) {
    int64_t offset = box.offsets[i], size = box.sizes[i];
    if (offset < 0 || size < 0 || offset > spec.shape[i] ||
        size > spec.shape[i] - offset)
      return refuse("axis " + str(i), "elements 0 to " + str(spec.shape[i]),
                    str(size) + " from " + str(offset) + " on");
  }
  return std::nullopt;
}

/// L5 as the text has it: along the group axis, between groups.
static std::optional<Error> checkGroupAxis(const ArraySpec &spec,
                                           const Box &box) {
  auto axis = static_cast<size_t>(spec.axis);
  if (box.isWhole(spec, axis))
    return std::nullopt;
  if (spec.contract.description().order)
    return Error{Status::SizeMismatch,
                 "elements of a group lie anywhere along the group axis",
                 "axis " + str(spec.axis),
                 "the whole axis",
                 box.str() + " of " + shapeText(spec.shape),
                 "the contract has groups in an order that the array carries",
                 kRequantize,
                 -1};
  int64_t multiple = spec.contract.description().axisMultiple;
  int64_t start = box.offsets[axis], end = start + box.sizes[axis];
  for (int64_t place : {start, end})
    if (place % multiple != 0)
      return Error{
          Status::SizeMismatch,
          "a slice along the group axis starts and ends between groups (L5)",
          std::string(place == start ? "start" : "end") + " along axis " +
              str(spec.axis),
          "a multiple of " + str(multiple),
          str(place) + " (" + str(start) + " to " + str(end) + ")",
          "a group that is cut would lose the elements its scale was made for",
          "slice at multiples of " + str(multiple) + ", or " + kRequantize,
          -1};
  return std::nullopt;
}

/// Whether the elements of the box, in order, are whole groups. They are pieces
/// of consecutive elements, each as long as the axes after `cut` and the box
/// along `cut`.
static bool keepsWhole(const ArraySpec &spec, const Box &box,
                       const ArrayField &group) {
  std::vector<size_t> axes = axesInOrder(spec, group.order);
  std::vector<int64_t> strides(axes.size(), 1);
  for (size_t i = axes.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * spec.shape[axes[i + 1]];
  size_t cut = axes.size() - 1;
  while (cut > 0 && box.isWhole(spec, axes[cut]))
    --cut;
  int64_t start = 0;
  for (size_t i = 0; i <= cut; ++i) {
    start += box.offsets[axes[i]] * strides[i];
    if (i < cut && box.sizes[axes[i]] > 1 && strides[i] % group.unit != 0)
      return false;
  }
  int64_t length = box.sizes[axes[cut]] * strides[cut];
  return start % group.unit == 0 && length % group.unit == 0;
}

/// What stays whole, and what the box is a slice of.
static std::optional<Error> checkSlice(const ArraySpec &spec, const Box &box) {
  if (auto error = checkBox(spec, box))
    return error;
  if (auto error = checkGroupAxis(spec, box))
    return error;
  if (box.isEmpty())
    return std::nullopt;
  for (const ArrayField &group : groupsOf(spec))
    if (group.unit > 1 && !keepsWhole(spec, box, group))
      return Error{Status::SizeMismatch,
                   "the slice takes parts of groups (L5)",
                   "slice",
                   "whole multiples of " + str(group.unit) +
                       " consecutive elements (" + groupName(group) + ")",
                   box.str() + " of " + shapeText(spec.shape),
                   group.order == ElementOrder::RowMajor
                       ? "groups are runs of the row-major order, and go on "
                         "in the next row where a row does not hold whole ones"
                       : "the group is longer than the slice",
                   std::string("slice between groups, or ") + kRequantize,
                   -1};
  return std::nullopt;
}

Expected<ArraySpec> grit::sliceOf(const ArraySpec &spec,
                                  std::span<const int64_t> offsets,
                                  std::span<const int64_t> sizes) {
  Expected<ArraySpec> source = withMaps(spec);
  if (!source)
    return source;
  if (auto error = checkSlice(spec, {offsets, sizes}))
    return tl::unexpected(std::move(*error));
  ArraySpec result = spec;
  result.shape.assign(sizes.begin(), sizes.end());
  return withMaps(std::move(result));
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

static std::optional<Error>
checkPermutation(const ArraySpec &spec, std::span<const int64_t> permutation) {
  std::vector<int64_t> sorted(permutation.begin(), permutation.end());
  std::ranges::sort(sorted);
  bool valid = sorted.size() == spec.shape.size();
  for (size_t i = 0; valid && i < sorted.size(); ++i)
    valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid)
    return Error{Status::SizeMismatch,
                 "this is no permutation of the axes",
                 "permutation",
                 "each of 0 to " + str(spec.shape.size() - 1) + " once",
                 shapeText(permutation),
                 {},
                 "name every axis once",
                 -1};
  if (permutation[static_cast<size_t>(spec.axis)] != spec.axis)
    return Error{Status::SizeMismatch,
                 "a transpose that moves the group axis is no view (L4)",
                 "permutation",
                 "axis " + str(spec.axis) + " in its place",
                 shapeText(permutation),
                 "elements that share a scale would no longer be neighbours",
                 kRequantize,
                 -1};
  return std::nullopt;
}

/// The number of elements, counted in `order`, of the axes at the end that stay
/// where they are; axes of one element may go anywhere.
static int64_t elementsThatStay(const ArraySpec &spec, ElementOrder order,
                                std::span<const int64_t> permutation) {
  std::vector<size_t> before, after;
  for (size_t axis : axesInOrder(spec, order)) {
    auto moved = static_cast<size_t>(permutation[axis]);
    if (spec.shape[axis] != 1)
      before.push_back(axis);
    if (spec.shape[moved] != 1)
      after.push_back(moved);
  }
  int64_t count = 1;
  for (size_t i = before.size(); i-- > 0 && before[i] == after[i];)
    count *= spec.shape[before[i]];
  return count;
}

Expected<ArraySpec> grit::transposeOf(const ArraySpec &spec,
                                      std::span<const int64_t> permutation) {
  Expected<ArraySpec> source = withMaps(spec);
  if (!source)
    return source;
  if (auto error = checkPermutation(spec, permutation))
    return tl::unexpected(std::move(*error));
  for (const ArrayField &group : groupsOf(spec))
    if (spec.numElements() != 0 && group.unit > 1 &&
        elementsThatStay(spec, group.order, permutation) % group.unit != 0)
      return makeError(
          Status::SizeMismatch, "the transpose takes groups apart (L4)",
          "permutation",
          "the last axes in their places, as far as " + groupName(group) +
              " (" + str(group.unit) + " elements) reach",
          shapeText(permutation) + " of " + shapeText(spec.shape),
          "groups are runs of the row-major order, and go on in the next row "
          "where a row does not hold whole ones",
          kRequantize);
  ArraySpec result = spec;
  for (size_t i = 0; i < permutation.size(); ++i)
    result.shape[i] = spec.shape[static_cast<size_t>(permutation[i])];
  return withMaps(std::move(result));
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

/// What differs between two parts that must not.
static std::optional<Error> checkPair(const ArraySpec &first,
                                      const ArraySpec &part, size_t axis) {
  if (!(first.contract == part.contract))
    return Error{Status::GradeUnknown,
                 "arrays of different contracts have no concatenation",
                 "contract",
                 first.contract.displayName(),
                 part.contract.displayName(),
                 {},
                 kRequantize,
                 -1};
  std::vector<int64_t> shape = part.shape;
  if (shape.size() == first.shape.size())
    shape[axis] = first.shape[axis];
  if (shape != first.shape || part.axis != first.axis)
    return Error{Status::SizeMismatch,
                 "the parts do not fit together along axis " + str(axis),
                 "shape",
                 shapeText(first.shape) + ", group axis " + str(first.axis),
                 shapeText(part.shape) + ", group axis " + str(part.axis),
                 {},
                 "concatenate along the axis in which the shapes differ",
                 -1};
  const std::pair<Placement, Placement> words[] = {
      {first.placements.data, part.placements.data},
      {first.placements.scale, part.placements.scale},
      {first.placements.meta, part.placements.meta}};
  for (auto [one, other] : words) {
    Expected<bool> same = samePlacement(one, other);
    if (!same)
      return same.error();
    if (!*same)
      return Error{Status::PlacementUnknown,
                   "the parts lie in different placements",
                   "placement",
                   one.specName(),
                   other.specName(),
                   {},
                   "relayout the parts first",
                   -1};
  }
  return std::nullopt;
}

Expected<ArraySpec> grit::concatOfParts(std::span<const ArraySpec> parts,
                                        int axis) {
  int64_t rank = parts.empty() ? 0 : parts.front().shape.size();
  if (axis < 0 || axis >= rank)
    return makeError(Status::SizeMismatch, "the parts have no such axis",
                     "axis", rank ? "0 to " + str(rank - 1) : "a part or more",
                     str(axis), {}, "name an axis of the parts");
  auto at = static_cast<size_t>(axis);
  ArraySpec whole = parts.front();
  for (const ArraySpec &part : parts.subspan(1)) {
    if (auto error = checkPair(whole, part, at))
      return tl::unexpected(std::move(*error));
    if (__builtin_add_overflow(whole.shape[at], part.shape[at],
                               &whole.shape[at]))
      return makeError(
          Status::SizeMismatch, "the parts are too long for one axis", "axis",
          "less than 2^63 elements", "more", {}, "correct the shapes");
    whole.note =
        Note::merge(Note::read(whole.note), Note::read(part.note)).write();
  }
  Expected<ArraySpec> result = withMaps(std::move(whole));
  if (!result)
    return result;
  std::vector<int64_t> offsets(parts.front().shape.size());
  for (const ArraySpec &part : parts) {
    if (Expected<ArraySpec> placed = withMaps(part); !placed)
      return placed;
    if (auto error = checkSlice(*result, {offsets, part.shape})) {
      error->message = "a part would not be a slice of the whole: " +
                       std::move(error->message);
      return tl::unexpected(std::move(*error));
    }
    offsets[at] += part.shape[at];
  }
  return result;
}

Expected<ArraySpec> grit::concatOf(std::span<const ArraySpec> parts, int axis) {
  Expected<ArraySpec> result = concatOfParts(parts, axis);
  if (!result || parts.size() < 2)
    return result;
  for (const ArrayField &field : fieldsOf(*result))
    if (field.unit == 0)
      return makeError(
          Status::GradeUnknown,
          "each part has its own " +
              wholeFieldName(field, result->contract.description()) +
              " for the whole array, and the whole has one",
          "k1", "factors per group", "one for each array",
          "the parts were quantized one by one", kRequantize);
  return result;
}

//===----------------------------------------------------------------------===//
// Order of indices
//===----------------------------------------------------------------------===//

std::optional<Error> grit::requireAscending(const Contract &contract,
                                            std::string_view operation) {
  const std::optional<Sparsity> &sparsity = contract.description().sparsity;
  if (!sparsity || sparsity->ascending)
    return std::nullopt;
  return Error{
      Status::GradeUnknown,
      std::string(operation) + " needs indices that rise within each run (L6)",
      "sp_order",
      "1 (asclsb)",
      "0 (unord)",
      "the indices of " + contract.displayName() + " may be in any order",
      "encode into the grade with ':asclsb'",
      -1};
}
