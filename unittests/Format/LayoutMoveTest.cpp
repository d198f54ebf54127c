//===- LayoutMoveTest.cpp - items that change their slots -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutOracle.h"
#include "grit/Format/Layout.h"
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::test;

static LayoutMap mapOf(const LayoutSample &sample) {
  return *Layout::parse(sample.text)->map(sample.rows, sample.columns);
}

/// The item in a slot, bit by bit.
static uint32_t itemOf(const std::vector<uint8_t> &plane, int64_t slot,
                       ItemPacking packing) {
  uint32_t item = 0;
  for (int64_t i = 0; i < packing.bits; ++i) {
    int64_t bit = slot * packing.bits + i;
    int64_t place = packing.msbFirst ? 7 - bit % 8 : bit % 8;
    item = item << 1 | (plane[static_cast<size_t>(bit / 8)] >> place & 1u);
  }
  return item;
}

static std::vector<uint8_t> bufferFor(const LayoutMap &map, ItemPacking packing,
                                      uint8_t fill) {
  return std::vector<uint8_t>(
      static_cast<size_t>(*packing.bytesFor(map.range())), fill);
}

/// Items keep their bits whatever their width; bits of slots that nothing lies
/// in are zero in the target, and of no influence in the source (P15).
TEST(LayoutMove, P15_ItemsKeepTheirBits) {
  LayoutSampler sampler(8);
  std::mt19937 random(9);
  int padded = 0;
  for (int round = 0; round < 400; ++round) {
    static constexpr ItemPacking packings[] = {
        {1, false}, {2, false}, {4, false}, {4, true},
        {6, false}, {6, true},  {8, false}, {16, false}};
    ItemPacking packing = packings[round % std::size(packings)];
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample a = sampler.pick(rows, columns, 2, true);
    LayoutSample b = sampler.pick(rows, columns, 2, true);
    SCOPED_TRACE(a.text + " to " + b.text);
    LayoutMap from = mapOf(a), to = mapOf(b);
    std::vector<uint8_t> source = bufferFor(from, packing, 0);
    for (uint8_t &byte : source)
      byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> target = bufferFor(to, packing, 0xFF);
    ASSERT_TRUE(moveItems(from, to, packing, source, target));
    std::vector<bool> taken(static_cast<size_t>(to.range()));
    for (size_t i = 0; i < a.slots.size(); ++i) {
      ASSERT_EQ(itemOf(target, b.slots[i], packing),
                itemOf(source, a.slots[i], packing));
      taken[static_cast<size_t>(b.slots[i])] = true;
    }
    for (int64_t slot = 0; slot < to.range(); ++slot)
      if (!taken[static_cast<size_t>(slot)]) {
        ASSERT_EQ(itemOf(target, slot, packing), 0u);
        ++padded;
      }
    // What lies in empty slots is lost on the way there and back, and no more.
    std::vector<uint8_t> back = bufferFor(from, packing, 0);
    std::vector<uint8_t> again = bufferFor(to, packing, 0);
    ASSERT_TRUE(moveItems(to, from, packing, target, back));
    ASSERT_TRUE(moveItems(from, to, packing, back, again));
    ASSERT_EQ(again, target);
  }
  EXPECT_GT(padded, 1000);
}

TEST(LayoutMove, Refusals) {
  LayoutMap six = LayoutMap::identity(6), four = LayoutMap::identity(4);
  std::vector<uint8_t> three(3), two(2);
  EXPECT_TRUE(moveItems(six, six, {4}, three, three));
  EXPECT_FALSE(moveItems(six, four, {4}, three, two));
  EXPECT_FALSE(moveItems(six, six, {0}, {}, {}));
  auto small = moveItems(six, six, {4}, two, three);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().field, "source");
  EXPECT_EQ(small.error().declared, "3 bytes for 6 slots of 4 bits");
  EXPECT_EQ(small.error().found, "2 bytes");
  auto large = moveItems(six, six, {4}, three, two);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().field, "target");
  LayoutMap huge = LayoutMap::identity(INT64_MAX);
  EXPECT_FALSE(moveItems(huge, huge, {4}, three, three));
}
