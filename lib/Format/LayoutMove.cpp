//===- LayoutMove.cpp - moves the items of a plane -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <algorithm>
#include <cstring>

using namespace grit;

std::optional<int64_t> ItemPacking::bytesFor(int64_t items) const {
  int64_t total = 0;
  if (__builtin_mul_overflow(items, bits, &total))
    return std::nullopt;
  return total / 8 + (total % 8 != 0);
}

static tl::expected<void, Error> checkSize(std::string_view name,
                                           const LayoutMap &map,
                                           ItemPacking packing, size_t found) {
  std::optional<int64_t> bytes = packing.bytesFor(map.range());
  if (bytes && static_cast<uint64_t>(*bytes) == found)
    return {};
  std::string slots = std::to_string(map.range()) + " slots of " +
                      std::to_string(packing.bits) + " bits";
  return makeError(Status::SizeMismatch,
                   "the " + std::string(name) +
                       " buffer is not as large as its layout",
                   std::string(name),
                   bytes ? std::to_string(*bytes) + " bytes for " + slots
                         : slots + ", fewer than 2^63 bits",
                   std::to_string(found) + " bytes");
}

/// Copies an item from bit `from` of one buffer to place `to` of another
/// that holds zero bits there.
static void copyBits(const uint8_t *source, int64_t from, uint8_t *target,
                     int64_t to, ItemPacking packing) {
  auto shiftOf = [&](int64_t bit) {
    return static_cast<unsigned>(packing.msbFirst ? 7 - bit % 8 : bit % 8);
  };
  for (int64_t i = 0; i < packing.bits; ++i) {
    unsigned bit = source[(from + i) / 8] >> shiftOf(from + i) & 1;
    target[(to + i) / 8] |= static_cast<uint8_t>(bit << shiftOf(to + i));
  }
}

tl::expected<void, Error>
grit::moveItems(const LayoutMap &from, const LayoutMap &to, ItemPacking packing,
                std::span<const uint8_t> source, std::span<uint8_t> target) {
  if (packing.bits < 1 || from.domain() != to.domain())
    return makeError(Status::SizeMismatch,
                     "the two layouts are not of the same items", "layout",
                     std::to_string(from.domain()) + " items of 1 bit or more",
                     std::to_string(to.domain()) + " items of " +
                         std::to_string(packing.bits) + " bits");
  if (auto fits = checkSize("source", from, packing, source.size()); !fits)
    return fits;
  if (auto fits = checkSize("target", to, packing, target.size()); !fits)
    return fits;
  std::ranges::fill(target, uint8_t(0));
  int64_t bytes = packing.bits / 8;
  for (int64_t index = 0; index < from.domain(); ++index) {
    if (packing.bits % 8 == 0)
      std::memcpy(target.data() + to(index) * bytes,
                  source.data() + from(index) * bytes,
                  static_cast<size_t>(bytes));
    else
      copyBits(source.data(), from(index) * packing.bits, target.data(),
               to(index) * packing.bits, packing);
  }
  return {};
}
