//===- LayoutMapTest.cpp - the algebra on chosen maps -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <gtest/gtest.h>

using namespace grit;

static LayoutMap mapOf(std::string_view text, int64_t rows, int64_t columns) {
  Expected<Layout> layout = Layout::parse(text);
  EXPECT_TRUE(layout) << layout.error().str();
  Expected<LayoutMap> map = layout->map(rows, columns);
  EXPECT_TRUE(map) << map.error().str();
  return *map;
}

static Expected<bool> same(std::string_view a, std::string_view b, int64_t rows,
                           int64_t columns) {
  return equalMaps(mapOf(a, rows, columns), mapOf(b, rows, columns));
}

/// Tiles, transposes and interleaving become one step of digits.
TEST(LayoutMap, DigitsAreOneStep) {
  LayoutMap tile = mapOf("Tile(ColMajor,[4,8])", 16, 32);
  ASSERT_EQ(tile.steps().size(), 1u);
  EXPECT_EQ(tile.steps()[0],
            LayoutStep(DigitMove{{{8, 1}, {4, 128}, {16, 8}}, 512}));
  LayoutMap there =
      mapOf("Compose(Interleave(RowMajor,4),Tile(ColMajor,[4,8]))", 16, 32);
  EXPECT_EQ(there.steps().size(), 1u);
  // The order of nibbles in AWQ files is a permutation of digits as well.
  LayoutMap awq = mapOf("Perm([0,2,4,6,1,3,5,7])", 4, 8);
  ASSERT_EQ(awq.steps().size(), 1u);
  EXPECT_EQ(awq.steps()[0],
            LayoutStep(DigitMove{{{2, 4}, {4, 1}, {4, 8}}, 32}));
}

TEST(LayoutMap, WhatIsUndoneLeavesNothing) {
  EXPECT_TRUE(mapOf("Compose(Perm([1,2,0]),Perm([2,0,1]))", 3, 4).isIdentity());
  EXPECT_TRUE(
      mapOf("Compose(Swizzle(2,1,3),Swizzle(2,1,3))", 8, 8).isIdentity());
  EXPECT_TRUE(
      mapOf("Compose(Interleave(RowMajor,3),Interleave(RowMajor,4))", 3, 4)
          .isIdentity());
  EXPECT_TRUE(mapOf("Pad(4)", 3, 8).isIdentity());
  // Bits that overlap do not undo themselves.
  LayoutMap gray = mapOf("Swizzle(3,0,1)", 4, 4);
  EXPECT_FALSE(gray.then(gray)->isIdentity());
  EXPECT_TRUE(gray.then(*gray.inverse())->isIdentity());
}

TEST(LayoutMap, TablesTakeBitsIn) {
  // Perm([0,1,3,2]) is linear, Perm([1,0,2,3]) is not.
  LayoutMap linear = mapOf("Compose(Perm([0,1,3,2]),Swizzle(1,0,1))", 4, 4);
  EXPECT_LE(linear.steps().size(), 1u);
  LayoutMap table = mapOf("Compose(Perm([1,0,2,3]),Swizzle(1,0,1))", 4, 4);
  ASSERT_EQ(table.steps().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<SlotTable>(table.steps()[0]));
}

TEST(LayoutMap, P16_PaddedMaps) {
  LayoutMap pad = mapOf("Pad(4)", 2, 3);
  EXPECT_EQ(pad.domain(), 6);
  EXPECT_EQ(pad.range(), 8);
  EXPECT_FALSE(pad.isPermutation());
  EXPECT_FALSE(pad.isIdentity());
  // One row only: no item moves, and still there are more slots.
  LayoutMap row = mapOf("Pad(4)", 1, 3);
  EXPECT_TRUE(row.steps().empty());
  EXPECT_FALSE(row.isIdentity());
  EXPECT_FALSE(*equalMaps(row, LayoutMap::identity(3)));
  // There is no way back from the way back: slots share an index.
  EXPECT_FALSE(pad.inverse()->inverse());
  Expected<LayoutMap> wrong = pad.then(pad);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().status, Status::SizeMismatch);
}

/// Two spellings of one map, in matrices that nobody can enumerate.
TEST(LayoutMap, EqualityOfLargeMaps) {
  int64_t rows = int64_t(1) << 30, columns = int64_t(1) << 20;
  struct {
    const char *a, *b;
    bool equal;
  } const cases[] = {
      {"Tile(Tile(RowMajor,[4,4]),[8,8])",
       "Compose(Tile(RowMajor,[32,32]),RowMajor)", false},
      {"Tile(RowMajor,[1073741824,1])", "ColMajor", true},
      {"Compose(ColMajor,RowMajor)", "ColMajor", true},
      // A swizzle of whole blocks, as tiles of one row and as higher bits.
      {"Tile(Swizzle(2,0,3),[1,16])", "Swizzle(2,4,3)", true},
      {"Tile(Swizzle(2,0,3),[1,16])", "Swizzle(2,4,4)", false},
      {"Compose(Swizzle(1,3,5),Swizzle(1,2,5))", "Swizzle(2,2,5)", true},
      // The same bits, before and after they change places.
      {"Compose(ColMajor,Swizzle(3,0,5))", "Compose(Swizzle(3,30,5),ColMajor)",
       true},
      {"Compose(ColMajor,Swizzle(3,0,5))", "Compose(Swizzle(3,31,5),ColMajor)",
       false},
      {"Compose(ColMajor,Tile(Perm([1,2,0]),[4,4]))",
       "Compose(ColMajor,Tile(Perm([1,2,0]),[4,4]))", true},
  };
  for (const auto &[a, b, equal] : cases) {
    SCOPED_TRACE(std::string(a) + " and " + b);
    bool divides = std::string_view(a).find("Perm") == std::string_view::npos;
    Expected<bool> answer =
        same(a, b, divides ? rows : 3 << 20, divides ? columns : 1 << 20);
    ASSERT_TRUE(answer) << answer.error().str();
    EXPECT_EQ(*answer, equal);
  }
}

/// Where neither digits nor looking at all indices decide, nobody guesses.
TEST(LayoutMap, EqualityThatIsRefused) {
  // Interleave(P, 2) doubles the slot modulo R * C - 1, here (2^28 - 1) / 3,
  // and cuts the index at an odd place, so no two of them are one step.
  int64_t columns = ((int64_t(1) << 28) - 1) / 3 + 1;
  std::string text = "RowMajor";
  for (int i = 1; i <= 28; ++i) {
    text = "Interleave(" + text + ",2)";
    if (i == 28)
      break;
    EXPECT_FALSE(*same(text, "RowMajor", 1, columns)) << i;
  }
  Expected<bool> answer = same(text, "RowMajor", 1, columns);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().status, Status::PlacementUnknown);
  EXPECT_EQ(answer.error().message, "two layout maps cannot be compared");
  // Few indices are looked at: 2^12 is 1 modulo (2^12 - 1) / 3.
  text = "RowMajor";
  for (int i = 1; i <= 12; ++i)
    text = "Interleave(" + text + ",2)";
  EXPECT_TRUE(*same(text, "RowMajor", 1, 1366));
}
