//===- LayerPlanes.cpp - the planes of a layer, some of them copied -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerAttempt.h"
#include "grit/Format/Check.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Fields.h"
#include "grit/Format/FormatText.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>

using namespace grit;
using namespace grit::scan;

//===----------------------------------------------------------------------===//
// What is copied
//===----------------------------------------------------------------------===//

static std::vector<uint8_t> bytesOf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  std::vector<uint8_t> bytes(4);
  for (unsigned i = 0; i < 4; ++i)
    bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
  return bytes;
}

/// The text of a part's places with the numbers of the layer.
static std::string storedText(const FoundPart &part, const LayerSizes &sizes) {
  int64_t n = sizes.rows, k = sizes.columns, b = sizes.bits;
  auto groups = [&](Count count) { return extentOf(count, sizes).value_or(1); };
  return fillIn(part.row->stored,
                {{'K', k},
                 {'Q', k / 32},
                 {'W', 32 * n},     // bits of a row of words
                 {'C', 32 * n * b}, // ... of 32 codes of each column
                 {'G', groups(Count::Groups)},
                 {'S', 16 * sizes.padded}, // bits of a padded row of scales
                 {'Z', b * sizes.padded},
                 {'T', static_cast<int64_t>(part.info->bytes.size() / 4)}});
}

/// The values of plane number `plane`, which are of one kind.
static ArrayField fieldIn(const ArraySpec &spec, unsigned plane) {
  std::vector<ArrayField> fields = fieldsOf(spec);
  return *std::ranges::find(
      fields, plane, [](const ArrayField &field) { return field.bits->plane; });
}

std::optional<Error> LayerAttempt::addPlanes(const ArraySpec &spec) {
  Expected<PlaneSizes> sizesOfPlanes = spec.planeSizes();
  if (!sizesOfPlanes)
    return sizesOfPlanes.error();
  for (const FoundPart &part : parts) {
    if (part.row->use != Use::Plane)
      continue;
    size_t plane = layer.planes.size();
    ByteSpan bytes = part.info->bytes;
    // What fills the tensor up stands behind the groups.
    bool isFilledUp = !part.row->shape.empty() &&
                      part.row->shape.front() == Count::Padded &&
                      plane < sizesOfPlanes->size();
    if (isFilledUp)
      bytes = bytes.first(
          std::min(bytes.size(), static_cast<size_t>((*sizesOfPlanes)[plane])));
    layer.planes.push_back(bytes);
    if (part.row->stored.empty())
      continue;
    Expected<BitField> from = parseField(storedText(part, sizes));
    if (!from)
      return from.error();
    layer.copies.push_back(
        {plane, spec.contract.description().planes[plane].name, *from});
  }
  if (!stated && family.statedNumber)
    stated = family.statedNumber;
  if (stated) {
    layer.number = std::make_shared<std::vector<uint8_t>>(bytesOf(*stated));
    layer.numberName = family.stated;
    layer.planes.push_back(*layer.number);
  }
  PlaneSizes found;
  for (ByteSpan plane : layer.planes)
    found.push_back(static_cast<int64_t>(plane.size()));
  for (const LayerArray::Copy &copy : layer.copies)
    if (copy.plane < sizesOfPlanes->size())
      found[copy.plane] = (*sizesOfPlanes)[copy.plane];
  return spec.checkPlaneSizes(found);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<std::string> LayerArray::copiedPlanes() const {
  std::vector<std::string> names;
  for (const Copy &copy : copies)
    names.push_back(copy.name);
  if (number)
    names.push_back(numberName);
  return names;
}

Expected<LayerPlanes> grit::scan::readPlanes(const LayerArray &layer) {
  LayerPlanes result{layer.planes, {}};
  if (layer.copies.empty())
    return result;
  Expected<PlaneSizes> sizes = layer.array->planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  for (const LayerArray::Copy &copy : layer.copies) {
    ArrayField to = fieldIn(*layer.array, static_cast<unsigned>(copy.plane));
    int64_t count = to.perUnit;
    if (to.unit)
      count *= layer.array->numElements() / to.unit;
    auto bytes = std::make_shared<std::vector<uint8_t>>((*sizes)[copy.plane]);
    if (!copyField(copy.from, layer.planes[copy.plane], *to.bits, *bytes,
                   count))
      return makeError(
          Status::SizeMismatch,
          "the values of plane " + copy.name + " reach beyond the tensor",
          "plane " + copy.name, std::to_string(count) + " values",
          std::to_string(layer.planes[copy.plane].size()) + " bytes",
          "the tensor was cut short", "fetch the checkpoint again");
    result.spans[copy.plane] = *bytes;
    result.owned.push_back(std::move(bytes));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

static std::optional<Error> checkScales(const LayerArray &layer) {
  ByteSpan scales = layer.planes[1];
  auto byte = static_cast<uint8_t>(layer.forbiddenScale);
  auto met = std::ranges::find(scales, byte);
  if (met == scales.end())
    return std::nullopt;
  return refuseLayer(
      "a scale has a byte that the contract reads in another way",
      "tensor " + quoteText(layer.parts[1]->name),
      "no byte " + hexWord(byte, 2),
      "group " + std::to_string(met - scales.begin()),
      "a value of the layer overflowed when it was quantized",
      "quantize the layer again");
}

/// Every group exists and has its share of the columns: where one has more,
/// tools that sort columns read other scales than those that follow the plane.
static std::optional<Error> checkOrder(const LayerArray &layer) {
  const FormatDescription &description = layer.array->contract.description();
  const BitField &order = *description.order;
  auto part = std::ranges::find(
      layer.parts, layer.planes[order.plane].data(),
      [](const TensorInfo *info) { return info->bytes.data(); });
  auto refuse = [&](std::string message, std::string declared,
                    std::string found) {
    return refuseLayer(std::move(message), "tensor " + quoteText((*part)->name),
                       std::move(declared), std::move(found),
                       "the tensor is damaged, or belongs to another layer",
                       "fetch the checkpoint again");
  };
  int64_t columns = layer.array->shape.back();
  int64_t size = description.axisMultiple, groups = columns / size;
  std::vector<int64_t> counts(static_cast<size_t>(groups));
  for (int64_t k = 0; k < columns; ++k) {
    uint32_t group = readField(order, k, layer.planes);
    if (group >= groups)
      return refuse("a column is in a group that does not exist",
                    "groups 0 to " + std::to_string(groups - 1),
                    std::to_string(static_cast<int32_t>(group)) +
                        " for column " + std::to_string(k));
    ++counts[group];
  }
  auto uneven = std::ranges::find_if(
      counts, [&](int64_t count) { return count != size; });
  if (uneven == counts.end())
    return std::nullopt;
  return refuse("groups of the order have different sizes",
                std::to_string(size) + " columns in each group",
                std::to_string(*uneven) + " in group " +
                    std::to_string(uneven - counts.begin()));
}

std::optional<Error> grit::scan::checkContents(const LayerArray &layer) {
  if (!layer.array)
    return std::nullopt;
  if (layer.forbiddenScale >= 0)
    return checkScales(layer);
  return layer.array->contract.description().order ? checkOrder(layer)
                                                   : std::nullopt;
}

std::optional<Error> grit::scan::checkPlanes(const LayerArray &layer) {
  Expected<LayerPlanes> planes = readPlanes(layer);
  if (!planes)
    return planes.error();
  std::vector<const uint8_t *> pointers;
  PlaneSizes sizes;
  for (ByteSpan plane : planes->spans) {
    pointers.push_back(plane.data());
    sizes.push_back(static_cast<int64_t>(plane.size()));
  }
  return check(*layer.array, sizes, 2, pointers);
}
