//===- LayoutRowsTest.cpp - maps as code, and of any number of rows -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutOracle.h"
#include "grit/Format/Layout.h"
#include "grit/Format/LayoutEmit.h"
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::test;

namespace {

/// Operations on plain numbers that count how many there are.
struct Numbers {
  using Value = int64_t;
  int count = 0;

  int64_t checked(int64_t value) {
    ++count;
    return value;
  }
  int64_t constant(int64_t value) { return value; }
  int64_t add(int64_t a, int64_t b) { return checked(a + b); }
  int64_t subtract(int64_t a, int64_t b) { return checked(a - b); }
  int64_t multiply(int64_t a, int64_t b) { return checked(a * b); }
  int64_t divide(int64_t a, int64_t b) { return checked(a / b); }
  int64_t remainder(int64_t a, int64_t b) { return checked(a % b); }
  int64_t bitAnd(int64_t a, int64_t b) { return checked(a & b); }
  int64_t bitXor(int64_t a, int64_t b) { return checked(a ^ b); }
  int64_t shiftLeft(int64_t a, unsigned b) { return checked(a << b); }
  int64_t shiftRight(int64_t a, unsigned b) { return checked(a >> b); }
  int64_t lookup(std::span<const uint32_t> table, int64_t index) {
    return checked(table[static_cast<size_t>(index)]);
  }
};

Placement wordOf(const std::string &text) {
  Expected<Placement> word = Placement::parse("layout(" + text + ")");
  EXPECT_TRUE(word) << text;
  return *word;
}

} // namespace

TEST(LayoutRows, CodeGivesTheSlots) {
  LayoutSampler sampler(31);
  for (int round = 0; round < 2000; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample sample =
        sampler.pick(rows, columns, round % 5, round % 4 == 0);
    LayoutMap map = *Layout::parse(sample.text)->map(rows, columns);
    Numbers numbers;
    for (int64_t index = 0; index < map.domain(); ++index)
      ASSERT_EQ(emitSlot(map, numbers, index), sample.slots[index])
          << sample.text;
  }
}

/// A swizzle of many bits is one shift, not one per bit.
TEST(LayoutRows, CodeIsShort) {
  LayoutMap map = *Layout::parse("Swizzle(3,4,3)")->map(64, 64);
  Numbers numbers;
  EXPECT_EQ(emitSlot(map, numbers, 4095), map(4095));
  EXPECT_LE(numbers.count, 8);
  numbers.count = 0;
  emitSlot(LayoutMap::identity(7), numbers, 3);
  EXPECT_EQ(numbers.count, 0);
}

/// Where there is a map of any rows, it is the map of each number of them that
/// fits, and a number that fits is a multiple.
TEST(LayoutRows, ServeEveryNumberOfRows) {
  LayoutSampler sampler(32);
  int served = 0, dependent = 0, multiples = 0;
  for (int round = 0; round < 1500; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample sample = sampler.pick(rows, columns, round % 4, false);
    SCOPED_TRACE(sample.text + " of " + std::to_string(columns));
    Placement word = wordOf(sample.text);
    Expected<MapOfAnyRows> any = mapOfAnyRows(word, columns);
    if (!any) {
      ++dependent;
      ASSERT_EQ(any.error().status, Status::PlacementUnknown);
      // It really depends: with more rows, items of the first ones lie
      // elsewhere.
      LayoutMap few = *planeMap(word, 4 * rows, columns);
      LayoutMap many = *planeMap(word, 8 * rows, columns);
      bool same = true;
      for (int64_t index = 0; index < few.domain(); ++index)
        same &= few(index) == many(index);
      ASSERT_FALSE(same);
      continue;
    }
    ++served;
    multiples += any->rowMultiple > 1;
    ASSERT_EQ(rows % any->rowMultiple, 0);
    Numbers numbers;
    for (int64_t n = 1; n <= 3 * any->rowMultiple && n <= 60; ++n) {
      Expected<LayoutMap> map = planeMap(word, n, columns);
      ASSERT_EQ(map.has_value(), n % any->rowMultiple == 0) << n;
      if (!map)
        continue;
      for (int64_t index = 0; index < n * columns; ++index) {
        ASSERT_EQ(any->map(index), (*map)(index)) << n;
        ASSERT_EQ(emitSlot(any->map, numbers, index), (*map)(index)) << n;
      }
    }
  }
  EXPECT_GT(served, 500);
  EXPECT_GT(dependent, 200);
  EXPECT_GT(multiples, 100);
}

/// A relayout of any rows is that of each number of them (L2).
TEST(LayoutRows, L2_RelayoutsOfAnyRows) {
  LayoutSampler sampler(33);
  int served = 0;
  for (int round = 0; round < 1500; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    std::string a = sampler.pick(rows, columns, round % 3, false).text;
    std::string b = sampler.pick(rows, columns, round % 3, false).text;
    SCOPED_TRACE(a + " to " + b + " of " + std::to_string(columns));
    Expected<MapOfAnyRows> any =
        relayoutOfAnyRows(wordOf(a), wordOf(b), columns);
    if (!any)
      continue;
    ++served;
    for (int64_t n : {any->rowMultiple, 3 * any->rowMultiple}) {
      LayoutMap map = *relayoutMap(wordOf(a), wordOf(b), n, columns);
      for (int64_t slot = 0; slot < map.domain(); ++slot)
        ASSERT_EQ(any->map(slot), map(slot)) << n;
    }
  }
  EXPECT_GT(served, 200);
}

TEST(LayoutRows, Refusals) {
  EXPECT_EQ(mapOfAnyRows(placements::Tile16x16, 32)->rowMultiple, 16);
  EXPECT_EQ(mapOfAnyRows(placements::Swizzle128x4B, 8)->rowMultiple, 128);
  EXPECT_EQ(mapOfAnyRows(placements::RowMajor, 5)->rowMultiple, 1);
  Expected<MapOfAnyRows> columns = mapOfAnyRows(placements::ColMajor, 5);
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().status, Status::PlacementUnknown);
  EXPECT_NE(columns.error().str().find("COL_MAJOR"), std::string::npos);
  EXPECT_EQ(mapOfAnyRows(placements::Tile16x16, 33).error().status,
            Status::SizeMismatch);
  EXPECT_EQ(mapOfAnyRows(placements::BlockAos, 32).error().status,
            Status::PlacementUnknown);
  EXPECT_EQ(relayoutOfAnyRows(placements::RowMajor, placements::Unspecified, 4)
                .error()
                .status,
            Status::PlacementUnknown);
}
