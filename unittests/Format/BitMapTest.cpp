//===- BitMapTest.cpp - maps of bits against the decoder ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/BitMap.h"
#include "FormatTestUtils.h"
#include <algorithm>
#include <numeric>
#include <set>

using namespace grit;
using namespace grit::test;

static std::vector<std::string> names() {
  std::vector<std::string> all = registeredContractNames();
  // Streams, units that share a byte, swaps that outlast a unit, a book.
  all.emplace_back("grit1(e=u2,k0=5,s0=e8m0,po=msb,esr=ratiomaxabs)");
  all.emplace_back("gritfmt1(planes=[100/32@0],codes=p0:2@0+i/32*100+i%32*2|"
                   "1@95+i/32*100+i%32*-1<<2,level=[0,1,2,3,4,5,6,7],scales=[("
                   "0x4003,lin/32,p0:4@96+i*100)],axis=32)");
  all.emplace_back("gritfmt1(planes=[8/2@0],codes=p0:3@0+i/4*16+i%4[3,0,2,1]*4,"
                   "level=[0,1,2,3,4,5,6,7],scales=[],axis=4)");
  all.emplace_back("gritfmt1(planes=[4/1@0,512/0@1],codes=p0:4@0+i*4,"
                   "level=binary32,book=p1:32@0+i*32,scales=[])");
  return all;
}

/// The elements whose decoded bits two sets of planes tell apart.
static std::set<int64_t> changes(const std::vector<float> &a,
                                 const std::vector<float> &b) {
  std::set<int64_t> result;
  for (size_t i = 0; i < a.size(); ++i)
    if (bits(a[i]) != bits(b[i]))
      result.insert(static_cast<int64_t>(i));
  return result;
}

/// The elements that value `number` of a field belongs to, of `count`.
static std::pair<int64_t, int64_t> elementsOf(const FormatDescription &desc,
                                              const MapField &field,
                                              int64_t number, int64_t count) {
  int64_t group = 0;
  switch (field.kind) {
  case MapKind::Code:
    if (desc.sparsity) {
      int64_t run = number / desc.sparsity->n;
      return {run * desc.sparsity->m, (run + 1) * desc.sparsity->m};
    }
    group = desc.level.vector;
    break;
  case MapKind::Position:
    // A position that comes twice moves the codes after it.
    return {number / desc.sparsity->n * desc.sparsity->m, count};
  case MapKind::Sign:
    group = desc.level.signs->group;
    break;
  case MapKind::Entry:
    break;
  case MapKind::Scale:
  case MapKind::Offset:
    for (const auto *factors : {&desc.scales, &desc.offset.factors})
      for (const Factor &factor : *factors)
        if (factor.name == field.name && !desc.order)
          group = factor.group;
  }
  // The array is one line.
  return group <= 0 ? std::pair<int64_t, int64_t>(0, count)
                    : std::pair(number * group, (number + 1) * group);
}

// A flipped bit changes what the map says it belongs to, and nothing else: of
// an unread bit nothing.
TEST(BitMap, SaysWhatTheDecoderReads) {
  for (const std::string &name : names()) {
    Contract format = contract(name);
    const FormatDescription &desc = format.description();
    std::vector<PlaneMap> maps = bitMaps(desc);
    ASSERT_EQ(maps.size(), desc.planes.size());
    int64_t count = std::lcm(desc.axisMultiple, desc.arrayMultiple);
    for (size_t p = 0; p < maps.size(); ++p)
      if (int64_t elements = desc.planes[p].elements; elements > 0)
        count = std::lcm(count, maps[p].bits / desc.planes[p].bits * elements);
    // Long units are those of shorter ones, under scales of scales.
    if (count > 4096)
      continue;
    ArraySpec spec = take(ArraySpec::get(format, {count}));
    Random random(format.id());
    std::vector<Bytes> planes = randomPlanes(spec, random);
    // No scale is a NaN, which would hide what lies under it.
    for (Bytes &plane : planes)
      for (uint8_t &byte : plane)
        byte &= 0x3B;
    // Positions 1 and 3 of every four; the one sparse format here is 2:4.
    if (desc.sparsity)
      std::ranges::fill(planes[desc.sparsity->indices.plane], 0xDD);
    std::vector<float> before = decodeAll(spec, planes);
    bool anyChange = false;
    for (size_t p = 0; p < maps.size(); ++p)
      for (size_t byte = 0; byte < maps[p].rows.size(); ++byte)
        for (const MapSegment &segment : maps[p].rows[byte]) {
          // A flipped bit of an order is a group that does not exist.
          if (byte >= planes[p].size() ||
              (desc.order && desc.order->plane == p))
            continue;
          unsigned bit =
              segment.low + random.next() % (segment.high - segment.low + 1);
          planes[p][byte] ^= static_cast<uint8_t>(1u << bit);
          std::set<int64_t> changed = changes(before, decodeAll(spec, planes));
          planes[p][byte] ^= static_cast<uint8_t>(1u << bit);
          anyChange |= !changed.empty();
          std::set<int64_t> allowed;
          for (int64_t number : segment.values) {
            auto [first, last] = elementsOf(
                desc, maps[p].fields[static_cast<size_t>(segment.field)],
                number, count);
            for (int64_t i = first; i < last; ++i)
              allowed.insert(i);
          }
          EXPECT_TRUE(std::ranges::includes(allowed, changed))
              << name << ", plane " << p << ", byte " << byte << ", bit " << bit
              << ": " << mapLabel(maps[p], segment);
        }
    EXPECT_TRUE(anyChange) << name;
  }
}

// Every bit of a byte is in one segment; runs cover the rows, and what they
// leave out follows from what they hold.
TEST(BitMap, RunsSayWhatTheyLeaveOut) {
  for (const std::string &name : names())
    for (const PlaneMap &map : bitMaps(contract(name).description())) {
      EXPECT_EQ(map.isWhole,
                static_cast<int64_t>(map.rows.size()) * 8 >= map.bits)
          << name;
      for (const MapRow &row : map.rows) {
        unsigned next = 8;
        for (const MapSegment &segment : row) {
          EXPECT_EQ(segment.high + 1, next);
          next = segment.low;
          if (segment.field >= 0) {
            EXPECT_EQ(segment.top - segment.bottom, segment.high - segment.low);
          }
        }
        EXPECT_EQ(next, 0u);
      }
      size_t covered = 0;
      for (const MapRun &run : map.runs) {
        EXPECT_EQ(run.first, covered);
        covered += run.rows * run.count;
        for (size_t i = run.first + run.rows; i < covered; ++i) {
          const MapRow &row = map.rows[i], &earlier = map.rows[i - run.rows];
          ASSERT_EQ(row.size(), earlier.size()) << name;
          for (size_t s = 0; s < row.size(); ++s) {
            ASSERT_TRUE(row[s].isLike(earlier[s])) << name;
            for (size_t v = 0; v < row[s].values.size(); ++v) {
              int64_t step = row[s].values[v] - earlier[s].values[v];
              auto known = std::ranges::find(
                  run.steps, row[s].field,
                  &std::pair<int, std::vector<int64_t>>::first);
              ASSERT_NE(known, run.steps.end());
              EXPECT_NE(std::ranges::find(known->second, step),
                        known->second.end());
            }
          }
        }
      }
      EXPECT_EQ(covered, map.rows.size()) << name;
    }
}

// What is printed of a format of the library fits on a page.
TEST(BitMap, IsShort) {
  for (const std::string &name : registeredContractNames()) {
    size_t lines = 2;
    for (const PlaneMap &map : bitMaps(contract(name).description())) {
      lines += 3 + map.fields.size();
      for (const MapRun &run : map.runs)
        lines += run.rows + (run.count > 1);
    }
    EXPECT_LT(lines, 60u) << name;
  }
}

TEST(BitMap, Words) {
  std::vector<PlaneMap> maps = bitMaps(contract("gguf.q4_0").description());
  ASSERT_EQ(maps.size(), 1u);
  ASSERT_EQ(maps[0].rows.size(), 18u);
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[0][0]), "d0[7:0]");
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[1][0]), "d0[15:8]");
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[2][0]), "q16");
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[2][1]), "q0");
  ASSERT_EQ(maps[0].runs.size(), 3u);
  EXPECT_EQ(mapRepeat(maps[0], maps[0].runs[2]),
            "bytes 3 to 17: the same 15 times more, q + 1 each time");
  // The bit that no code of ggml's ternary blocks needs is read, too.
  maps = bitMaps(contract("gguf.tq1_0").description());
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[0][0]), "q0 q32 q64 q96 q128");
  maps = bitMaps(contract("gguf.nvfp4").description());
  EXPECT_EQ(mapLabel(maps[0], maps[0].rows[0][0]), "d0");
}
