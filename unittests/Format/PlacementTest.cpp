//===- PlacementTest.cpp - where the values of a plane lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Placement.h"
#include <gtest/gtest.h>
#include <set>

using namespace grit;

TEST(Placement, NamesAndWords) {
  EXPECT_EQ(registeredPlacements().size(), 9u);
  for (const RegisteredPlacement &entry : registeredPlacements()) {
    EXPECT_EQ(*Placement::parse(entry.name), entry.placement);
    EXPECT_EQ(*Placement::parse(entry.placement.specName()), entry.placement);
    EXPECT_EQ(entry.placement.str(), entry.name);
    EXPECT_TRUE(entry.placement.isAcceptable());
  }
  EXPECT_EQ(placements::Swizzle128x4B.specName(), "SWIZZLE_128x4B");
  EXPECT_EQ(*Placement::parse("0x1000000000000001"), placements::RowMajor);
  EXPECT_EQ(*Placement::parse("0xF"), Placement(15));
  Placement other(0x123456789ABCDEF0);
  EXPECT_EQ(*Placement::parse(other.str()), other);
}

TEST(Placement, SpecNamesOfOthers) {
  EXPECT_EQ(Placement(~uint64_t(0)).specName(), "OPAQUE(0xfffffffffffffff)");
  EXPECT_EQ(Placement(0x8000000000000001).specName(),
            "LOCAL_HASH(0x000000000000001)");
  EXPECT_EQ(Placement(0xC000000000000001).specName(),
            "RESERVED_CLASS_0xC(0xc000000000000001)");
  EXPECT_EQ(Placement(0x1000000000000006).specName(),
            "UNREGISTERED(0x1000000000000006)");
}

TEST(Placement, WhatACheckAccepts) {
  for (unsigned cls = 0; cls < 16; ++cls) {
    Placement word((uint64_t(cls) << 60) | 0x0ABCDEF012345678);
    EXPECT_EQ(word.isAcceptable(), cls == 8 || cls == 15) << cls;
  }
  EXPECT_TRUE(Placement(0).isAcceptable());
  EXPECT_FALSE(Placement(1).isAcceptable());
  EXPECT_TRUE(Placement(0x8000000000000000).isAcceptable());
}

TEST(Placement, RefusedTexts) {
  for (const char *text :
       {"", "row", "0x", "0x12345678123456789", "0xg", "opaque", "1000"})
    EXPECT_FALSE(Placement::parse(text)) << text;
  auto result = Placement::parse("row_mayor");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::PlacementUnknown);
  EXPECT_EQ(result.error().fix, "did you mean 'row_major'?");
}

/// Every map is a permutation of the slots of its plane.
TEST(PlacementMap, Permutations) {
  struct {
    Placement placement;
    int64_t rows, cols;
  } const cases[] = {
      {placements::RowMajor, 5, 7},         {placements::ColMajor, 5, 7},
      {placements::LinearMeta, 3, 8},       {placements::Tile16x16, 48, 32},
      {placements::Swizzle128x4B, 256, 12},
  };
  for (auto [placement, rows, cols] : cases) {
    auto map = PlacementMap::get(placement, rows, cols);
    ASSERT_TRUE(map) << map.error().str();
    std::set<int64_t> slots;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < cols; ++col)
        slots.insert(map->slot(row, col));
    EXPECT_EQ(slots.size(), static_cast<size_t>(rows * cols));
    EXPECT_EQ(*slots.begin(), 0);
    EXPECT_EQ(*slots.rbegin(), rows * cols - 1);
  }
}

TEST(PlacementMap, Formulas) {
  auto swizzle = PlacementMap::get(placements::Swizzle128x4B, 256, 8);
  auto tile = PlacementMap::get(placements::Tile16x16, 32, 48);
  auto column = PlacementMap::get(placements::ColMajor, 6, 4);
  ASSERT_TRUE(swizzle && tile && column);
  for (int64_t r = 0; r < 256; ++r)
    for (int64_t c = 0; c < 8; ++c) {
      int64_t tileIndex = r / 128 * 2 + c / 4, in = r % 128;
      EXPECT_EQ(swizzle->slot(r, c),
                tileIndex * 512 + in % 32 * 16 + in / 32 * 4 + c % 4);
    }
  for (int64_t r = 0; r < 32; ++r)
    for (int64_t c = 0; c < 48; ++c)
      EXPECT_EQ(tile->slot(r, c),
                (r / 16 * 3 + c / 16) * 256 + r % 16 * 16 + c % 16);
  EXPECT_EQ(column->slot(5, 3), 23);
  EXPECT_EQ(column->slot(1, 2), 13);
}

TEST(PlacementMap, RefusalsNameThePlacement) {
  struct {
    Placement placement;
    const char *name;
  } const cases[] = {
      {placements::Unspecified, "UNSPECIFIED"},
      {placements::BlockAos, "BLOCK_AOS"},
      {placements::MetaM16N8K32, "META_M16N8K32"},
      {placements::PackK4_12B, "PACK_K4_12B"},
      {Placement(0xF000000000000007), "OPAQUE(0x000000000000007)"},
      {Placement(0x8000000000000007), "LOCAL_HASH(0x000000000000007)"},
      {Placement(0x1000000000000007), "UNREGISTERED(0x1000000000000007)"},
  };
  for (auto [placement, name] : cases) {
    auto map = PlacementMap::get(placement, 128, 128);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().status, Status::PlacementUnknown);
    EXPECT_NE(map.error().message.find(name), std::string::npos);
    EXPECT_FALSE(map.error().cause.empty());
  }
  EXPECT_FALSE(PlacementMap::get(placements::Tile16x16, 16, 17));
  EXPECT_FALSE(PlacementMap::get(placements::Swizzle128x4B, 64, 4));
  EXPECT_FALSE(PlacementMap::get(placements::RowMajor, -1, 4));
  EXPECT_FALSE(PlacementMap::get(placements::RowMajor, INT64_MAX, 2));
  EXPECT_TRUE(PlacementMap::get(placements::Tile16x16, 0, 16));
}
