//===- LayoutTest.cpp - texts, words and the table of layouts -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <gtest/gtest.h>
#include <thread>

using namespace grit;

static std::string repeated(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += part;
  return text;
}

/// Interleave expressions inside each other.
static std::string nested(size_t depth) {
  return repeated("Interleave(", depth - 1) + "RowMajor" +
         repeated(",1)", depth - 1);
}

/// The words that the text of the specification gives (P12, P13).
TEST(Layout, P13_WordsOfTheText) {
  std::pair<const char *, uint64_t> const words[] = {
      {"RowMajor", 0x8d9c99b44f591ca0},
      {"Tile(RowMajor,[16,16])", 0x85e1674f797c901d},
      {"Perm([0,2,4,6,1,3,5,7])", 0x8315565bded79ac8},
  };
  for (auto [text, word] : words) {
    Expected<Layout> layout = Layout::parse(text);
    ASSERT_TRUE(layout) << layout.error().str();
    EXPECT_EQ(layout->word(), Placement(word));
    EXPECT_EQ(layout->str(), text);
  }
}

TEST(Layout, P12_EveryKindPrintsAsItWasWritten) {
  for (const char *text :
       {"RowMajor", "ColMajor", "Tile(ColMajor,[0,9223372036854775807])",
        "Interleave(Pad(4),2)", "Swizzle(0,1,2)", "Perm([5,5])", "Pad(0)",
        "Compose(Tile(RowMajor,[1,2]),Compose(ColMajor,Opaque(v,)))",
        "Opaque(Vendor_1.x-y,00ff)"}) {
    Expected<Layout> layout = Layout::parse(text);
    ASSERT_TRUE(layout) << layout.error().str();
    EXPECT_EQ(layout->str(), text);
    EXPECT_EQ(*Layout::parse(layout->str()), *layout);
  }
}

namespace {
struct Refusal {
  std::string text, message, declared, found;
};
} // namespace

/// Each refusal has its own message, with the byte it is about, what may stand
/// there and what does (P12).
TEST(Layout, RefusalsOfText) {
  std::string all = "RowMajor, ColMajor, Tile, Interleave, Swizzle, Perm, Pad, "
                    "Compose or Opaque";
  std::string end = "the end";
  const Refusal refusals[] = {
      {"", "no name of a layout at byte 0", all, "the end, at byte 0"},
      {"(", "no name of a layout at byte 0", all, "'(' at byte 0"},
      {"rowmajor", "wrong case of a name at byte 0", "RowMajor",
       "'rowmajor' at byte 0"},
      {"Tiles(RowMajor,[1,1])", "unknown name of a layout at byte 0", all,
       "'Tiles(RowMajor,[1,1])' at byte 0"},
      {"RowMajor ", "white space at byte 8", "no white space", "' ' at byte 8"},
      {"Tile(RowMajor, [1,1])", "white space at byte 14", "no white space",
       "' [1,1])' at byte 14"},
      {"Pad(\x80)", "a byte that no expression has at byte 4",
       "printable ASCII characters", "'\\x80)' at byte 4"},
      {std::string("Pad(1)\0", 7), "a byte that no expression has at byte 6",
       "printable ASCII characters", "'\\x00' at byte 6"},
      {"RowMajor()", "arguments of RowMajor at byte 8", "RowMajor alone",
       "'()' at byte 8"},
      {"ColMajorx", "unknown name of a layout at byte 0", all,
       "'ColMajorx' at byte 0"},
      {"RowMajor,RowMajor", "text after the expression at byte 8", end,
       "',RowMajor' at byte 8"},
      {"Pad(1))", "text after the expression at byte 6", end, "')' at byte 6"},
      {"Pad", "missing '(' at byte 3", "'(' before the arguments of Pad",
       "the end, at byte 3"},
      {"Pad(1", "missing ')' at byte 5", "')' after the arguments of Pad",
       "the end, at byte 5"},
      {"Pad(1,2)", "too many arguments of Pad at byte 5",
       "')' after the arguments of Pad", "',2)' at byte 5"},
      {"Pad()", "no number at byte 4", "decimal digits", "')' at byte 4"},
      {"Pad(-1)", "a sign at byte 4", "decimal digits", "'-1)' at byte 4"},
      {"Pad(+1)", "a sign at byte 4", "decimal digits", "'+1)' at byte 4"},
      {"Pad(01)", "a leading zero at byte 4", "a number without leading zeros",
       "'01)' at byte 4"},
      {"Pad(9223372036854775808)", "too large a number at byte 4",
       "a number below 2^63", "'9223372036854775808)' at byte 4"},
      {"Swizzle(1,2)", "missing ',' at byte 11",
       "',' before the next argument of Swizzle", "')' at byte 11"},
      {"Compose(RowMajor)", "missing ',' at byte 16",
       "',' before the next argument of Compose", "')' at byte 16"},
      {"Tile(RowMajor,1,1)", "missing '[' at byte 14",
       "'[' before the numbers of Tile", "'1,1)' at byte 14"},
      {"Tile(RowMajor,[1])", "too few extents at byte 16", "2 extents of Tile",
       "'])' at byte 16"},
      {"Tile(RowMajor,[1,2,3])", "too many extents at byte 18",
       "']' after the 2 extents of Tile", "',3])' at byte 18"},
      {"Perm([1,0)", "missing ']' at byte 9", "']' after the numbers of Perm",
       "')' at byte 9"},
      {"Perm([])", "no number at byte 6", "decimal digits", "'])' at byte 6"},
      {"Opaque(,00)", "no vendor at byte 7", "letters, digits, '_', '.' or '-'",
       "',00)' at byte 7"},
      {"Opaque(v)", "missing ',' at byte 8", "',' between vendor and blob",
       "')' at byte 8"},
      {"Opaque(v,0F)", "an upper-case digit at byte 10",
       "lower-case hexadecimal digits", "'F)' at byte 10"},
      {"Opaque(v,000)", "half a byte at byte 9",
       "an even number of hexadecimal digits", "'000)' at byte 9"},
  };
  for (const Refusal &refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    Expected<Layout> layout = Layout::parse(refusal.text);
    ASSERT_FALSE(layout);
    const Error &error = layout.error();
    EXPECT_EQ(error.status, Status::PlacementUnknown);
    EXPECT_EQ(error.message, refusal.message + " of a layout expression");
    EXPECT_EQ(error.field, "layout");
    EXPECT_EQ(error.declared, refusal.declared);
    EXPECT_EQ(error.found, refusal.found);
  }
  EXPECT_EQ(Layout::parse("Tiles(RowMajor,[1,1])").error().fix,
            "did you mean 'Tile'?");
  EXPECT_EQ(Layout::parse("PAD(1)").error().fix, "write 'Pad'");
}

TEST(Layout, LimitsOfText) {
  EXPECT_TRUE(Layout::parse(nested(Layout::kMaxDepth)));
  Expected<Layout> deep = Layout::parse(nested(Layout::kMaxDepth + 1));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message,
            "too deep nesting at byte 704 of a layout expression");
  EXPECT_FALSE(Layout::parse(repeated("Tile(", 5000)));

  std::string zeros = repeated("0,", Layout::kMaxPermNumbers - 1);
  EXPECT_TRUE(Layout::parse("Perm([" + zeros + "0])"));
  Expected<Layout> many = Layout::parse("Perm([" + zeros + "0,0])");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().declared, "at most 4096 numbers");

  std::string blob(Layout::kMaxTextBytes - 10, '0');
  EXPECT_TRUE(Layout::parse("Opaque(v," + blob + ")"));
  Expected<Layout> large = Layout::parse("Opaque(v," + blob + "00)");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().cause, "the text has 65538 bytes");
}

/// What does not fit a matrix (P14).
TEST(Layout, P14_RefusalsOfMaps) {
  struct {
    const char *text;
    int64_t rows, columns;
    Status status;
    const char *declared;
  } const refusals[] = {
      {"Tile(RowMajor,[2,4])", 3, 4, Status::SizeMismatch,
       "a multiple of 2 x 4"},
      {"Tile(RowMajor,[2,4])", 2, 6, Status::SizeMismatch,
       "a multiple of 2 x 4"},
      {"Tile(RowMajor,[0,1])", 0, 1, Status::SizeMismatch,
       "a multiple of 0 x 1"},
      {"Tile(Pad(1),[1,1])", 2, 2, Status::SizeMismatch,
       "an order of tiles without Pad"},
      {"Tile(Compose(RowMajor,Interleave(Pad(2),1)),[1,1])", 2, 2,
       Status::SizeMismatch, "an order of tiles without Pad"},
      {"Interleave(RowMajor,4)", 2, 3, Status::SizeMismatch,
       "a multiple of 4 slots"},
      {"Interleave(RowMajor,0)", 2, 3, Status::SizeMismatch,
       "a multiple of 0 slots"},
      {"Swizzle(0,0,1)", 4, 4, Status::SizeMismatch,
       "at least 1 bit and a shift of 1"},
      {"Swizzle(1,0,0)", 4, 4, Status::SizeMismatch,
       "at least 1 bit and a shift of 1"},
      {"Swizzle(2,1,2)", 4, 4, Status::SizeMismatch,
       "a multiple of 2^(2 + 1 + 2) items"},
      {"Swizzle(9223372036854775807,9223372036854775807,2)", 4, 4,
       Status::SizeMismatch,
       "a multiple of 2^(9223372036854775807 + 9223372036854775807 + 2) items"},
      {"Perm([0,1,1])", 3, 1, Status::SizeMismatch,
       "each of the numbers 0 to 2 once"},
      {"Perm([0,3,1])", 3, 1, Status::SizeMismatch,
       "each of the numbers 0 to 2 once"},
      {"Perm([1,0])", 3, 3, Status::SizeMismatch, "a multiple of 2 items"},
      {"Pad(0)", 3, 3, Status::SizeMismatch, "a multiple of at least 1"},
      {"Pad(9223372036854775807)", 2, 3, Status::SizeMismatch,
       "fewer than 2^63 slots"},
      {"Compose(Pad(9223372036854775807),Pad(4611686018427387904))", 1, 1,
       Status::Ok, ""},
      {"Compose(Pad(6),Pad(9223372036854775807))", 1, 1, Status::SizeMismatch,
       "fewer than 2^63 slots"},
      {"Opaque(v,00)", 4, 4, Status::PlacementUnknown, ""},
      {"Interleave(Opaque(v,00),0)", 4, 4, Status::PlacementUnknown, ""},
      {"RowMajor", -1, 4, Status::SizeMismatch,
       "extents >= 0 whose product fits 63 bits"},
      {"RowMajor", INT64_MAX, 2, Status::SizeMismatch,
       "extents >= 0 whose product fits 63 bits"},
  };
  for (const auto &refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    Expected<Layout> layout = Layout::parse(refusal.text);
    ASSERT_TRUE(layout) << layout.error().str();
    Expected<LayoutMap> map = layout->map(refusal.rows, refusal.columns);
    ASSERT_EQ(map.has_value(), refusal.status == Status::Ok);
    if (map)
      continue;
    EXPECT_EQ(map.error().status, refusal.status);
    EXPECT_EQ(map.error().declared, refusal.declared);
    EXPECT_FALSE(map.error().message.empty());
  }
}

TEST(Layout, MapsOfNothing) {
  for (const char *text :
       {"RowMajor", "ColMajor", "Tile(ColMajor,[3,5])",
        "Interleave(RowMajor,7)", "Swizzle(60,60,60)", "Perm([2,0,1])",
        "Pad(4)", "Compose(Perm([1,0]),Tile(Swizzle(1,0,1),[9,9]))"})
    for (auto [rows, columns] :
         {std::pair(0, 0), std::pair(0, 45), std::pair(45, 0)}) {
      Expected<LayoutMap> map = Layout::parse(text)->map(rows, columns);
      ASSERT_TRUE(map) << map.error().str();
      EXPECT_EQ(map->domain(), 0);
      EXPECT_EQ(map->range(), 0);
      EXPECT_TRUE(map->isIdentity());
    }
}

TEST(Layout, MultiplesOfTiles) {
  auto multiplesOf = [](const char *text) {
    Layout::Multiples m = Layout::parse(text)->multiples();
    return std::pair(m.rows, m.columns);
  };
  EXPECT_EQ(multiplesOf("RowMajor"), std::pair(int64_t(1), int64_t(1)));
  EXPECT_EQ(multiplesOf("Tile(Tile(RowMajor,[2,3]),[4,5])"),
            std::pair(int64_t(8), int64_t(15)));
  EXPECT_EQ(multiplesOf("Compose(Tile(RowMajor,[4,1]),Tile(ColMajor,[6,5]))"),
            std::pair(int64_t(12), int64_t(5)));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(LayoutTable, P18_TextsAndTheirWords) {
  LayoutTable table;
  Layout tile = *Layout::parse("Tile(ColMajor,[2,2])");
  EXPECT_EQ(table.find(tile.word()), nullptr);
  EXPECT_EQ(*table.add(tile.word(), "Tile(ColMajor,[2,2])"), tile.word());
  EXPECT_EQ(*table.add(tile), tile.word());
  EXPECT_EQ(table.size(), 1u);
  ASSERT_NE(table.find(tile.word()), nullptr);
  EXPECT_EQ(*table.find(tile.word()), tile);

  auto wrong = table.add(tile.word(), "Tile(ColMajor,[2,4])");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "the text is not that of the placement word");
  EXPECT_FALSE(table.add(tile.word(), "Tile(ColMajor,[2,2]"));
  EXPECT_EQ(table.size(), 1u);
}

TEST(LayoutTable, RefusesToGrowWithoutEnd) {
  LayoutTable table;
  std::string blob(Layout::kMaxTextBytes - 32, '0');
  size_t added = 0;
  Expected<Placement> last = Placement();
  for (int i = 0; i < 1000 && last; ++i) {
    std::string text = "Opaque(v" + std::to_string(i) + "," + blob + ")";
    last = table.add(*Layout::parse(text));
    added += last.has_value();
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().message, "the table of layout expressions is full");
  EXPECT_EQ(added, LayoutTable::kMaxTotalBytes / Layout::kMaxTextBytes);
  EXPECT_EQ(table.size(), added);
}

TEST(LayoutTable, ManyThreads) {
  LayoutTable table;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 1; i <= 200; ++i) {
        Layout pad = *Layout::parse("Pad(" + std::to_string(i) + ")");
        ASSERT_TRUE(table.add(pad));
        ASSERT_EQ(*table.find(pad.word()), pad);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(table.size(), 200u);
}
