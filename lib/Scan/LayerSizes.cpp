//===- LayerSizes.cpp - the sizes of a layer from its tensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerArrays.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::scan;

using Extents = std::span<const int64_t>;

static constexpr int64_t kLargest = int64_t(1) << 40, kNested = 256;

std::vector<int64_t> LayerSizes::full() const {
  if (!shape.empty() && lead.empty())
    return shape;
  if (!rows || !columns)
    return {};
  std::vector<int64_t> all = lead;
  all.insert(all.end(), {rows, columns});
  return all;
}

static int64_t product(Extents extents) {
  int64_t total = 1;
  for (int64_t extent : extents)
    if (extent <= 0 || __builtin_mul_overflow(total, extent, &total) ||
        total > kLargest)
      return 0;
  return total;
}

int64_t LayerSizes::total() const {
  std::vector<int64_t> extents = full();
  return extents.empty() ? 0 : product(extents);
}

/// `value * times / by` where that is whole.
static std::optional<int64_t> ratio(int64_t value, int64_t times, int64_t by) {
  int64_t whole = 0;
  if (value <= 0 || times <= 0 || by <= 0 ||
      __builtin_mul_overflow(value, times, &whole) || whole % by != 0)
    return std::nullopt;
  return whole / by;
}

/// Rounded up.
static std::optional<int64_t> partsOf(int64_t extent, int64_t size) {
  if (extent <= 0 || size <= 0)
    return std::nullopt;
  return extent / size + (extent % size != 0);
}

/// Of what nothing says so far, 0.
static int64_t known(std::optional<int64_t> value) { return value.value_or(0); }

std::optional<int64_t> grit::scan::extentOf(Count count,
                                            const LayerSizes &sizes) {
  switch (count) {
  case Count::One:
    return 1;
  case Count::Rows:
    return ratio(sizes.rows, 1, 1);
  case Count::Columns:
    return ratio(sizes.columns, 1, 1);
  case Count::RowWords:
    return ratio(sizes.rows, sizes.bits, 32);
  case Count::ColumnWords:
    return ratio(sizes.columns, sizes.bits, 32);
  case Count::ColumnBytes:
    return ratio(sizes.columns, sizes.bits, 8);
  case Count::RowQuads:
    return ratio(sizes.rows, sizes.bits, 16);
  case Count::Groups:
    return ratio(sizes.columns, 1, sizes.group);
  case Count::GroupWords:
    return ratio(known(extentOf(Count::Groups, sizes)), sizes.bits, 32);
  case Count::GroupBytes:
    return ratio(sizes.group, sizes.bits, 8);
  case Count::Group:
    return ratio(sizes.group, 1, 1);
  case Count::Padded:
    // Below the groups it fits nothing.
    return sizes.padded >= known(extentOf(Count::Groups, sizes))
               ? ratio(sizes.padded, 1, 1)
               : std::nullopt;
  case Count::PaddedWords:
    return ratio(sizes.padded, sizes.bits, 32);
  case Count::LineGroups:
    return ratio(sizes.total(), 1, sizes.group);
  case Count::TenthGroups:
    return partsOf(known(extentOf(Count::LineGroups, sizes)), 10);
  case Count::TenthGroup:
    return partsOf(sizes.group, 10);
  case Count::RowBlocks:
    return partsOf(sizes.rows, sizes.blockRows);
  case Count::ColumnBlocks:
    return partsOf(sizes.columns, sizes.blockColumns);
  case Count::Levels:
    return sizes.bits <= 8 ? std::optional(int64_t(1) << sizes.bits)
                           : std::nullopt;
  case Count::ScaleLevels:
    return 256;
  case Count::AllBytes:
    return ratio(sizes.total(), sizes.bits, 8);
  case Count::AllGroups:
    return ratio(sizes.total(), 1, sizes.group);
  case Count::AllNested:
    return ratio(sizes.total(), 1, sizes.group * kNested);
  case Count::Any:
    break;
  }
  return std::nullopt;
}

/// Takes `extent` for what `count` says, where that settles a size.
static void learn(Count count, int64_t extent, LayerSizes &sizes) {
  auto set = [](int64_t &size, std::optional<int64_t> value) {
    if (!size && value)
      size = *value;
  };
  switch (count) {
  case Count::Rows:
    return set(sizes.rows, ratio(extent, 1, 1));
  case Count::Columns:
    return set(sizes.columns, ratio(extent, 1, 1));
  case Count::RowWords:
    set(sizes.rows, ratio(extent, 32, sizes.bits));
    return set(sizes.bits, ratio(extent, 32, sizes.rows));
  case Count::ColumnWords:
    set(sizes.columns, ratio(extent, 32, sizes.bits));
    return set(sizes.bits, ratio(extent, 32, sizes.columns));
  case Count::ColumnBytes:
    return set(sizes.columns, ratio(extent, 8, sizes.bits));
  case Count::RowQuads:
    return set(sizes.rows, ratio(extent, 16, sizes.bits));
  case Count::Padded:
    return set(sizes.padded, ratio(extent, 1, 1));
  case Count::Groups:
    set(sizes.group, ratio(sizes.columns, 1, extent));
    return set(sizes.columns, ratio(extent, sizes.group, 1));
  case Count::AllGroups:
  case Count::LineGroups:
    return set(sizes.group, ratio(sizes.total(), 1, extent));
  default:
    return;
  }
}

static bool isFlat(const PartRow &row) {
  return row.shape.size() == 1 && isProduct(row.shape[0]);
}

/// The extents of a part without its leading axes; those of one element at the
/// end may be left out.
static std::optional<Extents> innerOf(const FoundPart &part, size_t lead,
                                      std::span<const Count> &counts) {
  Extents found = part.info->shape;
  counts = part.row->shape;
  if (counts.back() == Count::One)
    counts = counts.first(counts.size() - 1);
  if (counts.empty())
    lead = 0;
  while (found.size() > lead + counts.size() && found.back() == 1)
    found = found.first(found.size() - 1);
  if (found.size() != lead + counts.size())
    return std::nullopt;
  return found.subspan(lead);
}

static Error shapeError(const FoundPart &part, const LayerSizes &sizes) {
  std::string declared;
  for (Count count : part.row->shape) {
    std::optional<int64_t> extent = extentOf(count, sizes);
    declared +=
        (declared.empty() ? "" : ", ") + std::string(countText(count)) +
        (extent && count != Count::One ? " = " + std::to_string(*extent) : "");
  }
  std::string found = part.info->dtype + " " + shapeText(part.info->shape);
  std::vector<int64_t> shape = sizes.full();
  if (!shape.empty())
    found += " for a layer of shape " + shapeText(shape);
  if (sizes.bits)
    found += ", " + std::to_string(sizes.bits) + " bits";
  if (sizes.group)
    found += ", groups of " + std::to_string(sizes.group);
  return makeError(Status::SizeMismatch,
                   "the shapes of the layer's tensors do not fit each other",
                   std::string(part.row->suffix), "[" + declared + "]",
                   std::move(found),
                   "the tensor was cut short, or the configuration states "
                   "another width or group size",
                   "fetch the checkpoint again, with its configuration")
      .value();
}

std::optional<Error> grit::scan::solveSizes(const FamilyRow &family,
                                            const std::vector<FoundPart> &parts,
                                            LayerSizes &sizes) {
  if (family.group)
    sizes.group = family.group;
  if (sizes.shape.size() >= 2) {
    sizes.columns = sizes.shape.back();
    sizes.rows = sizes.shape[sizes.shape.size() - 2];
  }
  // The codes come first, and have all axes.
  const FoundPart &codes = parts.front();
  size_t rank = codes.row->shape.size();
  if (family.stacked && codes.info->shape.size() > rank)
    sizes.lead.assign(codes.info->shape.begin(),
                      codes.info->shape.end() - static_cast<ptrdiff_t>(rank));
  for (int pass = 0; pass < 2; ++pass)
    for (const FoundPart &part : parts) {
      std::span<const Count> counts;
      if (isFlat(*part.row)) {
        learn(part.row->shape[0], product(part.info->shape), sizes);
      } else if (auto inner = innerOf(part, sizes.lead.size(), counts)) {
        for (size_t i = 0; i < counts.size(); ++i)
          learn(counts[i], (*inner)[i], sizes);
      }
    }
  for (const FoundPart &part : parts) {
    std::span<const Count> counts;
    if (part.row->shape == std::vector{Count::Any})
      continue;
    if (isFlat(*part.row)) {
      if (product(part.info->shape) != extentOf(part.row->shape[0], sizes))
        return shapeError(part, sizes);
      continue;
    }
    // A tensor beside the planes belongs to all matrices of the layer.
    bool isStacked = part.row->use == Use::Plane;
    auto inner = innerOf(part, isStacked ? sizes.lead.size() : 0, counts);
    bool fits = inner.has_value();
    if (fits && isStacked && !counts.empty())
      fits = std::equal(sizes.lead.begin(), sizes.lead.end(),
                        part.info->shape.begin());
    for (size_t i = 0; fits && i < counts.size(); ++i)
      fits =
          counts[i] == Count::Any || (*inner)[i] == extentOf(counts[i], sizes);
    if (!fits)
      return shapeError(part, sizes);
  }
  return std::nullopt;
}
