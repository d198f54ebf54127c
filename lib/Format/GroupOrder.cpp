//===- GroupOrder.cpp - which group an element is in ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupOrder.h"
#include "PlacedField.h"

using namespace grit;

/// The elements of a group; the verifier has seen to it that there is one size.
static int64_t groupSizeOf(const FormatDescription &description) {
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      if (factor.group > 0)
        return factor.group;
  return 1;
}

std::optional<Error> GroupOrder::read(std::span<const ByteSpan> planes) {
  const FormatDescription &description = spec->contract.description();
  if (!description.order || spec->numElements() == 0)
    return std::nullopt;
  Expected<PlacedField> field = PlacedField::of(*spec, orderOf(*spec));
  if (!field)
    return field.error();
  int64_t extent = spec->shape[spec->axis];
  int64_t count = extent / groupSizeOf(description);
  auto all = std::make_shared<std::vector<uint32_t>>();
  all->reserve(static_cast<size_t>(extent));
  for (int64_t k = 0; k < extent; ++k) {
    all->push_back(field->read(k, planes));
    if (all->back() < count)
      continue;
    const std::string &name = description.planes[description.order->plane].name;
    unsigned slot = planeSlot(description, description.order->plane);
    return Error{Status::DigestMismatch,
                 "position " + std::to_string(k) +
                     " of the group axis is in a group that does not exist",
                 name,
                 "groups 0 to " + std::to_string(count - 1),
                 std::to_string(static_cast<int32_t>(all->back())),
                 "the plane is damaged, or belongs to another array",
                 "fetch the array again",
                 static_cast<int>(slot)};
  }
  groups = std::move(all);
  return std::nullopt;
}
