//===- Fields.cpp - what the planes of an array hold ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Fields.h"

using namespace grit;

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

std::optional<ItemPacking> grit::packingOf(const BitField &field) {
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
