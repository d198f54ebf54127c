//===- ByteOrder.cpp - which bytes of a plane form words ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/ByteOrder.h"
#include <algorithm>
#include <cassert>

using namespace grit;

void ByteOrder::add(Word word) {
  assert(word.offset >= 0 && word.bytes > 1 &&
         word.offset + word.bytes <= unit && "a word outside of its unit");
  auto place = std::ranges::lower_bound(list, word);
  if (place == list.end() || *place != word)
    list.insert(place, word);
}

void ByteOrder::swap(std::span<uint8_t> bytes) const {
  assert(bytes.size() % static_cast<size_t>(unit) == 0 && "part of a unit");
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(unit))
    for (const Word &word : list) {
      auto begin = bytes.begin() + static_cast<ptrdiff_t>(at) + word.offset;
      std::reverse(begin, begin + word.bytes);
    }
}

/// Adds the words of a field with `count` values per unit.
static void addField(ByteOrder &order, const BitField &field, int64_t count) {
  const unsigned width = field.width();
  if (field.slices.size() != 1 || field.isMsbStream() || field.radix ||
      (width != 16 && width != 32 && width != 64))
    return;
  for (int64_t i = 0; i < count; ++i)
    if (int64_t bit = field.slices[0].at(i); bit % 8 == 0)
      order.add({bit / 8, width / 8});
}

ByteOrder ByteOrder::of(const FormatDescription &format, unsigned plane) {
  const PlaneInfo &info = format.planes[plane];
  // A unit of elements may end within a byte.
  int64_t perUnit = std::max<int64_t>(info.elements, 1), units = 1;
  while (info.bits * units % 8 != 0)
    ++units;
  ByteOrder order(info.bits * units / 8);
  auto add = [&](const BitField &field, int64_t group) {
    if (field.plane == plane)
      addField(
          order, field,
          std::max<int64_t>(units * perUnit / std::max<int64_t>(group, 1), 1));
  };
  add(format.codes, format.level.vector);
  for (const Factor &factor : format.scales)
    add(factor.bits, factor.group);
  for (const Factor &factor : format.offset.factors)
    add(factor.bits, factor.group);
  for (const Derived &derived : format.derived)
    add(derived.field.bits, derived.field.group);
  return order;
}
