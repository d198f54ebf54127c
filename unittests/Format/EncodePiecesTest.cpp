//===- EncodePiecesTest.cpp - the parts that encoders are made of ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"
#include "FormatTestUtils.h"
#include "Parallel.h"
#include "PlaneWriter.h"
#include "StepTable.h"
#include "VectorGrid.h"

#include <algorithm>
#include <atomic>
#include <cmath>

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// StepTable
//===----------------------------------------------------------------------===//

static constexpr Rounding kRoundings[] = {
    Rounding::RNE, Rounding::RNA, Rounding::RTZ, Rounding::RTP, Rounding::RTN};

TEST(StepTable, EqualsEncodeWordNearEveryStepAndAtRandom) {
  for (FormatWord word : {words::E2M1, words::E4M3, words::U2, words::U4,
                          words::U6, words::U8, words::S4, words::S8})
    for (Rounding rounding : kRoundings)
      for (Saturation saturation :
           {Saturation::SatFinite, Saturation::SatMax}) {
        StepTable table = take(StepTable::forWord(word, rounding, saturation));
        size_t wrong = 0;
        auto check = [&](float x) {
          if (!std::isnan(x))
            wrong += table(x) != *encodeWord(word, x, rounding, saturation);
        };
        // Every value, every midpoint and their neighbours.
        for (uint32_t code = 0; code < 1u << word.width(); ++code)
          for (float next : {1.0f, 2.0f, 0.5f})
            for (float sign : {1.0f, -1.0f}) {
              float a = decodeWord(word, code);
              float b = decodeWord(word, (code + 1) % (1u << word.width()));
              float x = sign * (next == 1 ? a : (a + b) / next);
              check(x);
              check(std::nextafter(x, INFINITY));
              check(std::nextafter(x, -INFINITY));
            }
        Random random(word.raw());
        for (int i = 0; i < 4000; ++i)
          check(value(static_cast<uint32_t>(random.next())));
        for (float x : {0.0f, -0.0f, INFINITY, -INFINITY})
          check(x);
        EXPECT_EQ(wrong, 0u) << word.str() << " " << int(rounding);
      }
}

// Exponents without a sign are tabulated by their magnitude.
TEST(StepTable, MagnitudesOfExponents) {
  for (Rounding rounding : kRoundings) {
    StepTable table =
        take(StepTable::forWord(words::E8M0, rounding, Saturation::SatFinite));
    Random random(8);
    for (int i = 0; i < 20000; ++i) {
      float x = std::fabs(value(static_cast<uint32_t>(random.next())));
      if (std::isnan(x))
        continue;
      ASSERT_EQ(table(x), *encodeWord(words::E8M0, x, rounding)) << x;
    }
    for (float x : {0.0f, 0x1p-127f, 0x1p-126f, 1.5f, 3.0f, INFINITY})
      EXPECT_EQ(table(x), *encodeWord(words::E8M0, x, rounding)) << x;
  }
}

TEST(StepTable, RefusesWideAndInvalidWords) {
  for (FormatWord word : {words::Binary16, FormatWord()}) {
    auto table = StepTable::forWord(word, Rounding::RNE, Saturation::SatFinite);
    ASSERT_FALSE(table) << word.str();
    EXPECT_EQ(table.error().field, "e");
  }
}

TEST(StepTable, NearestLevelTakesTheUpperOfTwo) {
  const float levels[] = {-4, -1, 0, 2};
  StepTable table = StepTable::nearestLevel(levels);
  EXPECT_EQ(table(-INFINITY), 0);
  EXPECT_EQ(table(-2.6f), 0);
  EXPECT_EQ(table(-2.5f), 1);
  EXPECT_EQ(table(-0.5f), 2);
  EXPECT_EQ(table(std::nextafter(1.0f, 0.0f)), 2);
  EXPECT_EQ(table(1.0f), 3);
  EXPECT_EQ(table(INFINITY), 3);
}

//===----------------------------------------------------------------------===//
// writeCodes
//===----------------------------------------------------------------------===//

static Bytes throughWriteField(const BitField &field,
                               const std::vector<uint32_t> &codes,
                               size_t bytes) {
  Bytes plane(bytes);
  std::span<uint8_t> spans[] = {plane};
  for (size_t i = 0; i < codes.size(); ++i)
    writeField(field, static_cast<int64_t>(i), codes[i], spans);
  return plane;
}

TEST(PlaneWriter, EqualsWriteField) {
  const Digit run{1, 0, 3};
  struct Case {
    BitField field;
    int64_t count, bytes;
  };
  const Case cases[] = {
      {{0, {{0, 4, 0, {{1, 0, 4}}}}}, 200000, 100000},        // dense nibbles
      {{0, {{4, 4, 0, {{2, 0, 8}, {1, 2, -4}}}}}, 1000, 500}, // high one first
      {{0, {{0, 3, 0, {run}}}}, 4096, 1536},                  // across bytes
      {{0, {{16, 4, 0, {{32, 0, 144}, {16, 2, 4}, {1, 16, 8}}}}}, 320, 180},
      {{0, {{5, 17, 0, {{1, 0, 40}}}}}, 100, 500}, // three bytes
      // Two slices of a code, and one in periods that reach into each other.
      {{0, {{0, 4, 0, {{1, 0, 8}}}, {6, 2, 4, {{1, 0, 8}}}}}, 512, 512},
      {{0, {{0, 1, 0, {{2, 0, 1}, {1, 2, 4096}}}}}, 8192, 1024},
      // No digit without a modulus: not periodic.
      {{0, {{0, 4, 0, {{1, 16, 8}, {16, 2, 4}}}}}, 32, 16},
  };
  Random random(7);
  for (const Case &c : cases) {
    std::vector<uint32_t> codes;
    Bytes narrow;
    for (int64_t i = 0; i < c.count; ++i) {
      codes.push_back(static_cast<uint32_t>(random.next()) &
                      ((uint64_t(1) << c.field.width()) - 1));
      narrow.push_back(static_cast<uint8_t>(codes.back()));
    }
    Bytes plane(c.bytes);
    writeCodes(c.field, codes, plane);
    EXPECT_EQ(plane, throughWriteField(c.field, codes, c.bytes)) << c.count;
    if (c.field.width() > 8)
      continue;
    Bytes fromNarrow(c.bytes);
    writeCodes(c.field, narrow, fromNarrow);
    EXPECT_EQ(fromNarrow, plane) << c.count;
  }
}

// Digits that share bits: every byte of five and of four is read back.
TEST(PlaneWriter, DigitsAreReadBack) {
  const BitField field = contract("gguf.tq1_0").description().codes;
  Random random(21);
  std::vector<uint8_t> codes(256 * 50);
  for (uint8_t &code : codes)
    code = static_cast<uint8_t>(random.next() % 3);
  Bytes plane(54 * 50);
  writeCodes(field, codes, plane);
  std::span<const uint8_t> spans[] = {plane};
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(readField(field, static_cast<int64_t>(i), spans), codes[i]) << i;
}

//===----------------------------------------------------------------------===//
// VectorGrid
//===----------------------------------------------------------------------===//

/// The vectors at the smallest distances from a point, found by sorting all.
static std::vector<uint16_t> sortedNeighbours(const VectorGrid &grid,
                                              std::span<const uint8_t> ranks,
                                              size_t vectors, unsigned rings) {
  std::vector<std::pair<int, uint16_t>> all;
  for (size_t code = 0; code < vectors; ++code) {
    int distance = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
      int step = int(grid.ranks(code)[i]) - ranks[i];
      distance += step * step;
    }
    all.emplace_back(distance, code);
  }
  std::ranges::sort(all);
  std::vector<uint16_t> result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].first != all[i - 1].first && --rings == 0)
      break;
    result.push_back(all[i].second);
  }
  return result;
}

TEST(VectorGrid, NeighboursAreThoseOfASortedSearch) {
  Random random(31);
  unsigned offGrid = 0;
  for (const char *name : {"gguf.iq1_s", "gguf.iq2_xxs", "gguf.iq2_s",
                           "gguf.iq3_xxs", "gguf.iq3_s"})
    for (unsigned rings : {1u, 2u, 3u}) {
      const Level &level = contract(name).description().level;
      auto grid = VectorGrid::get(level, rings);
      ASSERT_TRUE(grid) << name;
      EXPECT_EQ(grid, VectorGrid::get(level, rings));
      const size_t vectors = level.number.table.size() / level.vector;
      for (int round = 0; round < 100; ++round) {
        std::vector<uint8_t> ranks(level.vector);
        for (uint8_t &rank : ranks)
          rank = random.next() % grid->numbers().size();
        const uint32_t point = grid->point(ranks.data());
        auto found = grid->neighbours(point);
        if (int32_t code = grid->codeAt(point); code >= 0) {
          EXPECT_TRUE(std::ranges::equal(
              ranks, std::span(grid->ranks(code), ranks.size())));
          EXPECT_TRUE(found.empty());
          continue;
        }
        ++offGrid;
        EXPECT_TRUE(std::ranges::equal(
            found, sortedNeighbours(*grid, ranks, vectors, rings)))
            << name << " " << rings;
      }
    }
  EXPECT_GT(offGrid, 300u);
}

TEST(VectorGrid, OnlyTablesOfFewVectorsHaveOne) {
  Level level;
  EXPECT_FALSE(VectorGrid::get(level, 1));
  level.vector = 4;
  EXPECT_FALSE(VectorGrid::get(level, 1));
  for (int i = 0; i < 4 * 17; ++i) // 68^4 points
    level.number.table.push_back(static_cast<float>(i));
  EXPECT_FALSE(VectorGrid::get(level, 1));
  level.number.table.assign({1, 2, 1, 1, 2, 2, 2, 1});
  EXPECT_TRUE(VectorGrid::get(level, 1));
  level.number.table[3] = INFINITY;
  EXPECT_FALSE(VectorGrid::get(level, 1));
}

//===----------------------------------------------------------------------===//
// parallelFor
//===----------------------------------------------------------------------===//

TEST(ParallelFor, CoversEveryIndexOnceInWholeGrains) {
  for (int64_t count : {0, 1, 7, 64, 1000, 4097})
    for (int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> hits(count);
      std::atomic<int> misaligned = 0;
      parallelFor(count, grain, [&](int64_t begin, int64_t end) {
        misaligned += begin % grain != 0 || (end % grain && end != count);
        for (int64_t i = begin; i < end; ++i)
          ++hits[i];
      });
      EXPECT_EQ(misaligned, 0);
      for (const auto &hit : hits)
        ASSERT_EQ(hit, 1) << count << " by " << grain;
    }
}

//===----------------------------------------------------------------------===//
// WordRounder
//===----------------------------------------------------------------------===//

TEST(WordRounder, EqualsTheRoundingOfWords) {
  constexpr FormatWord kBfloat16{0x350F}, kE5M2{0x3467};
  for (FormatWord word : {words::Binary16, kBfloat16, kE5M2, words::Binary32}) {
    ASSERT_TRUE(WordRounder::isFor(word));
    WordRounder rounded(word);
    size_t wrong = 0;
    auto check = [&](uint32_t pattern) {
      float x = value(pattern);
      if (std::isnan(x))
        return;
      float expected = decodeWord(
          word, *encodeWord(word, x, Rounding::RNE, Saturation::OvfInf));
      wrong += bits(rounded(x)) != bits(expected);
    };
    Random random(word.raw());
    for (int i = 0; i < 200000; ++i) {
      uint32_t pattern = static_cast<uint32_t>(random.next());
      check(pattern);
      // Halfway, and a bit to either side.
      for (unsigned kept : {2u, 7u, 10u})
        for (int off : {-1, 0, 1})
          check(((pattern & ~0u << (23 - kept)) | 1u << (22 - kept)) + off);
    }
    for (uint32_t pattern :
         {0u, 0x80000000u, 1u, 0x7F7FFFFFu, 0x7F800000u, 0xFF800000u,
          0x477FF000u, 0x477FEFFFu, 0x33000000u})
      check(pattern);
    EXPECT_EQ(wrong, 0u) << word.str();
  }
  EXPECT_FALSE(WordRounder::isFor(words::E8M0));
  EXPECT_FALSE(WordRounder::isFor(words::S8));
}
