//===- PlacementTest.cpp - where the values of a plane lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <gtest/gtest.h>

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

TEST(Placement, RefusalsNameThePlacement) {
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
    auto map = planeMap(placement, 128, 128);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().status, Status::PlacementUnknown);
    EXPECT_NE(map.error().message.find(name), std::string::npos);
    EXPECT_FALSE(map.error().cause.empty());
  }
  EXPECT_FALSE(planeMap(placements::Tile16x16, 16, 17));
  EXPECT_FALSE(planeMap(placements::Swizzle128x4B, 64, 4));
  EXPECT_FALSE(planeMap(placements::RowMajor, -1, 4));
  EXPECT_FALSE(planeMap(placements::RowMajor, INT64_MAX, 2));
  EXPECT_TRUE(planeMap(placements::Tile16x16, 0, 16));
}
