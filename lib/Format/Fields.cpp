//===- Fields.cpp - what the planes of an array hold ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Fields.h"

using namespace grit;

ArrayField grit::codesOf(const FormatDescription &description) {
  if (const auto &sparsity = description.sparsity)
    return {&description.codes, sparsity->m, sparsity->n};
  return {&description.codes, description.level.vector};
}

ArrayField grit::indicesOf(const Sparsity &sparsity) {
  return {&sparsity.indices, sparsity.m, sparsity.n};
}

std::vector<ArrayField> grit::fieldsOf(const FormatDescription &description) {
  std::vector<ArrayField> fields;
  if (description.sparsity)
    fields.push_back(indicesOf(*description.sparsity));
  fields.push_back(codesOf(description));
  if (const auto &signs = description.level.signs)
    fields.push_back({&signs->bits, signs->group});
  if (const auto &book = description.level.book)
    fields.push_back(
        {&*book, 0,
         (int64_t(1) << description.codes.width()) * description.level.vector});
  if (description.order)
    fields.push_back({&*description.order, kAxisPositions});
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      fields.push_back({&factor.bits, factor.group, 1, factor.order, &factor});
  return fields;
}

//===----------------------------------------------------------------------===//
// In an array
//===----------------------------------------------------------------------===//

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Blocks of `rows` x `columns` in one matrix of the shape.
static int64_t blocksPerMatrix(const ArraySpec &spec, int64_t rows,
                               int64_t columns) {
  size_t rank = spec.shape.size();
  int64_t height = rank > 1 ? spec.shape[rank - 2] : 1;
  return ceilDiv(height, rows) * ceilDiv(spec.shape[rank - 1], columns);
}

static int64_t matrixSize(const ArraySpec &spec) {
  size_t rank = spec.shape.size();
  return spec.shape[rank - 1] * (rank > 1 ? spec.shape[rank - 2] : 1);
}

int64_t grit::unitCount(const ArraySpec &spec, int64_t elements, int64_t rows) {
  int64_t all = spec.numElements();
  if (elements == 0)
    return 1;
  if (elements == kAxisPositions)
    return spec.shape[spec.axis];
  if (all == 0)
    return 0;
  if (rows)
    return all / matrixSize(spec) * blocksPerMatrix(spec, rows, elements);
  return all / (elements == kWholeAxis ? spec.shape[spec.axis] : elements);
}

/// Units that depend on the shape become numbers of elements (1 where there is
/// no element to count).
static ArrayField inArray(ArrayField field, const ArraySpec &spec) {
  bool isEmpty = spec.numElements() == 0;
  if (field.unit == kWholeAxis)
    field.unit = isEmpty ? 1 : spec.shape[spec.axis];
  if (field.unit == kAxisPositions) {
    field.unit = 0;
    field.perUnit = spec.shape[spec.axis];
  }
  if (field.order == ElementOrder::Block) {
    field.perUnit =
        isEmpty ? 1 : blocksPerMatrix(spec, field.factor->rows, field.unit);
    field.unit = isEmpty ? 1 : matrixSize(spec);
    field.order = ElementOrder::RowMajor;
  }
  return field;
}

ArrayField grit::fieldOf(const Factor &factor, const ArraySpec &spec) {
  return inArray({&factor.bits, factor.group, 1, factor.order, &factor}, spec);
}

ArrayField grit::orderOf(const ArraySpec &spec) {
  return inArray({&*spec.contract.description().order, kAxisPositions}, spec);
}

std::vector<ArrayField> grit::fieldsOf(const ArraySpec &spec) {
  std::vector<ArrayField> fields = fieldsOf(spec.contract.description());
  for (ArrayField &field : fields)
    field = inArray(field, spec);
  return fields;
}

std::string grit::wholeFieldName(const ArrayField &field,
                                 const FormatDescription &description) {
  if (field.factor)
    return field.factor->name;
  bool isOrder = description.order && field.bits == &*description.order;
  return isOrder ? "order" : "book";
}

//===----------------------------------------------------------------------===//
// One after the other
//===----------------------------------------------------------------------===//

std::optional<ItemPacking> grit::packingOf(const BitField &field) {
  if (field.isMsbStream())
    return ItemPacking{static_cast<int64_t>(field.msbStreamWidth), true};
  if (field.slices.size() != 1 || field.radix)
    return std::nullopt;
  const std::vector<Digit> &digits = field.slices.front().digits;
  // One value, and nothing beside it.
  if (digits.empty())
    return ItemPacking{static_cast<int64_t>(field.slices.front().width), false};
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

const char *grit::placementField(const PlaneInfo &plane) {
  static constexpr const char *names[] = {"placement_data", "placement_scale",
                                          "placement_meta"};
  return names[plane.placement];
}

Placement grit::placementOf(const Placements &words, const PlaneInfo &plane) {
  return plane.placement == 0   ? words.data
         : plane.placement == 1 ? words.scale
                                : words.meta;
}
