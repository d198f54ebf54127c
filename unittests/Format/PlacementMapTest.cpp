//===- PlacementMapTest.cpp - words, their layouts and their maps -*- C++ -*-=//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <functional>
#include <gtest/gtest.h>

using namespace grit;

static Placement parsed(std::string_view text) {
  Expected<Placement> word = Placement::parse(text);
  EXPECT_TRUE(word) << word.error().str();
  return *word;
}

/// The slot of (r, c) in a matrix of R x C by table P4.
using Formula =
    std::function<int64_t(int64_t r, int64_t c, int64_t R, int64_t C)>;

static const std::pair<Placement, Formula> kFormulas[] = {
    {placements::RowMajor,
     [](auto r, auto c, auto, auto C) { return r * C + c; }},
    {placements::LinearMeta,
     [](auto r, auto c, auto, auto C) { return r * C + c; }},
    {placements::ColMajor,
     [](auto r, auto c, auto R, auto) { return c * R + r; }},
    {placements::Swizzle128x4B,
     [](auto r, auto c, auto, auto C) {
       return (r / 128 * (C / 4) + c / 4) * 512 + r % 32 * 16 + r / 32 % 4 * 4 +
              c % 4;
     }},
    {placements::Tile16x16,
     [](auto r, auto c, auto, auto C) {
       return (r / 16 * (C / 16) + c / 16) * 256 + r % 16 * 16 + c % 16;
     }},
};

/// Registered words are names for expressions, whose maps are those of the
/// table (P3, P4, P5).
TEST(PlacementLayout, P4_RegisteredWordsAreExpressions) {
  for (const auto &[word, formula] : kFormulas) {
    const Layout *layout = registeredLayout(word);
    ASSERT_NE(layout, nullptr);
    EXPECT_EQ(*Layout::parse(layout->str()), *layout);
    Layout::Multiples tile = layout->multiples();
    for (int64_t down = 1; down <= 3; ++down)
      for (int64_t across = 1; across <= 3; ++across) {
        int64_t rows = tile.rows * down, columns = tile.columns * across;
        SCOPED_TRACE(word.str() + " over " + std::to_string(rows) + " x " +
                     std::to_string(columns));
        Expected<LayoutMap> map = planeMap(word, rows, columns);
        ASSERT_TRUE(map) << map.error().str();
        EXPECT_TRUE(map->isPermutation());
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c) {
            int64_t slot = formula(r, c, rows, columns);
            ASSERT_EQ((*map)(r * columns + c), slot);
          }
      }
    EXPECT_EQ(registeredLayout(layout->word()), nullptr);
  }
  for (Placement word : {placements::Unspecified, placements::BlockAos,
                         placements::MetaM16N8K32, placements::PackK4_12B})
    EXPECT_EQ(registeredLayout(word), nullptr);
}

TEST(PlacementLayout, LayoutsInText) {
  Placement word = parsed("layout(Tile(ColMajor,[8,32]))");
  EXPECT_TRUE(word.isExpression());
  EXPECT_EQ(word.str(), "layout(Tile(ColMajor,[8,32]))");
  EXPECT_EQ(parsed(word.str()), word);
  EXPECT_EQ(word, Layout::parse("Tile(ColMajor,[8,32])")->word());
  EXPECT_TRUE(word.isAcceptable());
  EXPECT_TRUE(word.specName().starts_with("LOCAL_HASH(0x"));
  // The hexadecimal form of the word is the same word.
  EXPECT_EQ(parsed("0x85e1674f797c901d"),
            parsed("layout(Tile(RowMajor,[16,16]))"));
  for (const char *text : {"layout()", "layout(RowMajor", "layout(rowmajor)",
                           "LAYOUT(RowMajor)", "layout( RowMajor)", "RowMajor"})
    EXPECT_FALSE(Placement::parse(text)) << text;
  EXPECT_EQ(Placement::parse("layout(Pad())").error().message,
            "no number at byte 4 of a layout expression");
}

/// Words without a map (P10), planes that a map does not fit (P6), padding
/// (P16).
TEST(PlacementLayout, P10_Refusals) {
  struct {
    Placement word;
    Status status;
    const char *message, *declared;
  } const refusals[] = {
      {placements::Unspecified, Status::PlacementUnknown,
       "UNSPECIFIED has no map from index to slot", nullptr},
      {Placement(0xF000000000000007), Status::PlacementUnknown,
       "OPAQUE(0x000000000000007) has no map from index to slot", nullptr},
      {Placement(0x8000000000000007), Status::PlacementUnknown,
       "LOCAL_HASH(0x000000000000007) has no map from index to slot", nullptr},
      {placements::BlockAos, Status::PlacementUnknown,
       "BLOCK_AOS has no map from index to slot", nullptr},
      {parsed("layout(Opaque(acme,01))"), Status::PlacementUnknown, nullptr,
       nullptr},
      {placements::Swizzle128x4B, Status::SizeMismatch,
       "SWIZZLE_128x4B does not fit the plane", "a multiple of 128 x 4 items"},
      {placements::Tile16x16, Status::SizeMismatch,
       "TILE_16x16 does not fit the plane", "a multiple of 16 x 16 items"},
      {parsed("layout(Tile(RowMajor,[7,5]))"), Status::SizeMismatch, nullptr,
       "a multiple of 7 x 5"},
      {parsed("layout(Pad(32))"), Status::SizeMismatch, nullptr,
       "as many slots as items"},
  };
  for (const auto &refusal : refusals) {
    SCOPED_TRACE(refusal.word.str());
    Expected<LayoutMap> map = planeMap(refusal.word, 6, 20);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().status, refusal.status);
    EXPECT_NE(map.error().message.find(refusal.word.specName()),
              std::string::npos);
    if (refusal.message) {
      EXPECT_EQ(map.error().message, refusal.message);
    }
    if (refusal.declared) {
      EXPECT_EQ(map.error().declared, refusal.declared);
    }
    EXPECT_FALSE(map.error().cause.empty());
  }
  // A Pad that adds nothing is no padding.
  EXPECT_TRUE(planeMap(parsed("layout(Pad(32))"), 6, 64));
}

/// There is no way out of OPAQUE, UNSPECIFIED or a hash without a text, and no
/// way in (L3, P10).
TEST(PlacementLayout, L3_NoRelayoutOutOfTheUnknown) {
  for (Placement word : {placements::Unspecified, Placement(0xF000000000000001),
                         Placement(0x8000000000000002), placements::BlockAos,
                         parsed("layout(Opaque(acme,02))")}) {
    Expected<LayoutMap> out = relayoutMap(word, placements::RowMajor, 4, 4);
    Expected<LayoutMap> in = relayoutMap(placements::RowMajor, word, 4, 4);
    ASSERT_FALSE(out || in);
    EXPECT_EQ(out.error().status, Status::PlacementUnknown);
    EXPECT_NE(out.error().message.find(word.specName()), std::string::npos);
    EXPECT_NE(in.error().message.find(word.specName()), std::string::npos);
    // Equal words need no map, hashes aside (P20).
    EXPECT_EQ(relayoutMap(word, word, 4, 4).has_value(), !word.isExpression());
  }
  EXPECT_FALSE(relayoutMap(placements::RowMajor, placements::RowMajor, -1, 4));
}

/// Any two words with a map are connected, directly as well as by way of a
/// third (L2).
TEST(PlacementLayout, L2_RegisteredWords) {
  int64_t rows = 128, columns = 48;
  std::vector<Placement> words{parsed("layout(Swizzle(3,2,3))"),
                               parsed("layout(Perm([2,0,1]))")};
  for (const auto &[word, formula] : kFormulas)
    words.push_back(word);
  for (Placement a : words)
    for (Placement b : words)
      for (Placement c : words) {
        LayoutMap there = *relayoutMap(a, b, rows, columns);
        LayoutMap onward = *relayoutMap(b, c, rows, columns);
        LayoutMap direct = *relayoutMap(a, c, rows, columns);
        Expected<bool> same = equalMaps(*there.then(onward), direct);
        ASSERT_TRUE(same && *same) << a.str() << b.str() << c.str();
        ASSERT_EQ(direct.isIdentity(), *equalMaps(*planeMap(a, rows, columns),
                                                  *planeMap(c, rows, columns)));
      }
}

/// Equal hashes prove nothing without both texts (P17).
TEST(PlacementLayout, P17_EqualHashes) {
  Placement word = Layout::parse("Tile(ColMajor,[2,16])")->word();
  LayoutTable with, without;
  ASSERT_TRUE(with.add(word, "Tile(ColMajor,[2,16])"));
  EXPECT_TRUE(*samePlacement(word, with, word, with));
  for (auto [a, b] : {std::pair(&with, &without), std::pair(&without, &with),
                      std::pair(&without, &without)}) {
    Expected<bool> answer = samePlacement(word, *a, word, *b);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().status, Status::PlacementUnknown);
    Expected<LayoutMap> map = relayoutMap(word, word, 4, 32, *a, *b);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().status, Status::PlacementUnknown);
  }
  EXPECT_TRUE(relayoutMap(word, word, 4, 32, with, with)->isIdentity());
  // Other words are compared as they are.
  EXPECT_TRUE(*samePlacement(placements::RowMajor, placements::RowMajor));
  EXPECT_FALSE(*samePlacement(placements::RowMajor, placements::LinearMeta));
  EXPECT_TRUE(*samePlacement(Placement(0), Placement(0)));
  EXPECT_FALSE(*samePlacement(word, without, Placement(0), without));
}
