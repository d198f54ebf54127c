//===- LayoutPropertyTest.cpp - what holds of every layout -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutOracle.h"
#include "grit/Format/Layout.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace grit;
using namespace grit::test;

static constexpr int kRounds = 3000;

/// The slots of all indices.
static std::vector<int64_t> slotsOf(const LayoutMap &map) {
  std::vector<int64_t> slots;
  for (int64_t index = 0; index < map.domain(); ++index)
    slots.push_back(map(index));
  return slots;
}

static LayoutMap mapOf(const LayoutSample &sample) {
  Expected<Layout> layout = Layout::parse(sample.text);
  EXPECT_TRUE(layout) << layout.error().str();
  Expected<LayoutMap> map = layout->map(sample.rows, sample.columns);
  EXPECT_TRUE(map) << sample.text << "\n" << map.error().str();
  return *map;
}

/// The map has the slots of the table (P14), no two items share one (P5), and
/// the canonical text is a fixed point with a stable word (P12, P13).
TEST(LayoutProperty, SlotsOfTheTable) {
  LayoutSampler sampler(1);
  int permutations = 0, single = 0;
  for (int round = 0; round < kRounds; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample sample = sampler.pick(rows, columns, round % 5, true);
    SCOPED_TRACE(sample.text + " over " + std::to_string(rows) + " x " +
                 std::to_string(columns));
    LayoutMap map = mapOf(sample);
    ASSERT_EQ(slotsOf(map), sample.slots);
    ASSERT_EQ(map.range(), rows * sample.wide);
    std::vector<bool> taken(static_cast<size_t>(map.range()));
    for (int64_t slot : sample.slots) {
      ASSERT_FALSE(taken[static_cast<size_t>(slot)]);
      taken[static_cast<size_t>(slot)] = true;
    }
    ASSERT_EQ(map.isPermutation(), map.range() == map.domain());
    permutations += map.isPermutation();
    single += map.steps().size() <= 1;
    Layout layout = *Layout::parse(sample.text);
    ASSERT_EQ(layout.str(), sample.text);
    ASSERT_EQ(*Layout::parse(layout.str()), layout);
    ASSERT_EQ(layout.word(), Layout::parse(sample.text)->word());
    ASSERT_TRUE(layout.word().isExpression());
  }
  // The rounds are not all of the trivial kind.
  EXPECT_GT(permutations, kRounds / 2);
  EXPECT_GT(single, kRounds / 2);
  EXPECT_LT(single, kRounds);
}

TEST(LayoutProperty, InverseUndoes) {
  LayoutSampler sampler(2);
  int undone = 0;
  for (int round = 0; round < kRounds; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample sample =
        sampler.pick(rows, columns, round % 5, round % 3 == 0);
    SCOPED_TRACE(sample.text + " over " + std::to_string(rows) + " x " +
                 std::to_string(columns));
    LayoutMap map = mapOf(sample);
    std::optional<LayoutMap> inverse = map.inverse();
    ASSERT_TRUE(inverse);
    ++undone;
    ASSERT_EQ(inverse->domain(), map.range());
    ASSERT_EQ(inverse->range(), map.domain());
    for (int64_t index = 0; index < map.domain(); ++index)
      ASSERT_EQ((*inverse)(map(index)), index);
    // Step by step, what was done is taken back until nothing is left.
    if (map.isPermutation()) {
      ASSERT_TRUE(map.then(*inverse)->isIdentity());
      ASSERT_TRUE(inverse->then(map)->isIdentity());
      ASSERT_EQ(leavesAllInPlace(*map.then(*inverse)), true);
    }
  }
  EXPECT_EQ(undone, kRounds);
}

TEST(LayoutProperty, CompositionIsAssociative) {
  LayoutSampler sampler(3);
  for (int round = 0; round < kRounds; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutMap a = mapOf(sampler.pick(rows, columns, 2, false));
    LayoutMap b = mapOf(sampler.pick(rows, columns, 2, false));
    LayoutMap c = mapOf(sampler.pick(rows, columns, 2, false));
    LayoutMap left = *a.then(b)->then(c), right = *a.then(*b.then(c));
    for (int64_t index = 0; index < a.domain(); ++index) {
      ASSERT_EQ(left(index), c(b(a(index))));
      ASSERT_EQ(right(index), c(b(a(index))));
    }
    Expected<bool> same = equalMaps(left, right);
    ASSERT_TRUE(same && *same);
  }
}

/// relayout composes, moves each item from its old slot to its new one, and is
/// the identity from a layout to itself (L1, L2, P20).
TEST(LayoutProperty, L2_RelayoutComposes) {
  LayoutSampler sampler(4);
  for (int round = 0; round < kRounds; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample samples[3];
    std::vector<Layout> layouts;
    for (LayoutSample &sample : samples) {
      sample = sampler.pick(rows, columns, 3, round % 4 == 0);
      layouts.push_back(*Layout::parse(sample.text));
    }
    SCOPED_TRACE(samples[0].text + " to " + samples[1].text + " to " +
                 samples[2].text);
    auto direct = relayoutMap(layouts[0], layouts[2], rows, columns);
    auto there = relayoutMap(layouts[0], layouts[1], rows, columns);
    auto onward = relayoutMap(layouts[1], layouts[2], rows, columns);
    auto none = relayoutMap(layouts[0], layouts[0], rows, columns);
    ASSERT_TRUE(direct && there && onward && none);
    for (size_t i = 0; i < samples[0].slots.size(); ++i) {
      int64_t old = samples[0].slots[i];
      ASSERT_EQ((*direct)(old), samples[2].slots[i]);
      ASSERT_EQ((*onward)((*there)(old)), samples[2].slots[i]);
      ASSERT_EQ((*none)(old), old);
    }
  }
}

/// Equal slots and equal maps are the same thing.
TEST(LayoutProperty, EqualityOfMaps) {
  LayoutSampler sampler(5);
  int equal = 0, decided = 0;
  for (int round = 0; round < kRounds; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    LayoutSample a = sampler.pick(rows, columns, 2, round % 4 == 0);
    LayoutSample b = sampler.pick(rows, columns, 2, round % 4 == 0);
    LayoutMap first = mapOf(a), second = mapOf(b);
    bool same = a.slots == b.slots && a.wide == b.wide;
    Expected<bool> answer = equalMaps(first, second);
    ASSERT_TRUE(answer) << answer.error().str();
    ASSERT_EQ(*answer, same) << a.text << " and " << b.text;
    equal += same;
    // The decision without looking at all indices is never wrong.
    if (!first.isPermutation() || !second.isPermutation())
      continue;
    if (auto sure = leavesAllInPlace(*first.then(*second.inverse()))) {
      ASSERT_EQ(*sure, same) << a.text << " and " << b.text;
      ++decided;
    }
  }
  EXPECT_GT(equal, 50);
  EXPECT_GT(decided, kRounds / 2);
}

/// A relayout of real bytes and back gives the same bytes.
TEST(LayoutProperty, L2_BytesComeBack) {
  LayoutSampler sampler(6);
  for (int round = 0; round < kRounds / 3; ++round) {
    int64_t rows, columns;
    sampler.pickExtents(rows, columns);
    Layout a = *Layout::parse(sampler.pick(rows, columns, 3, false).text);
    Layout b = *Layout::parse(sampler.pick(rows, columns, 3, false).text);
    auto there = relayoutMap(a, b, rows, columns);
    auto back = relayoutMap(b, a, rows, columns);
    ASSERT_TRUE(there && back);
    std::vector<int64_t> bytes(static_cast<size_t>(rows * columns));
    std::iota(bytes.begin(), bytes.end(), 100);
    auto moved = bytes, again = bytes;
    for (size_t i = 0; i < bytes.size(); ++i)
      moved[static_cast<size_t>((*there)(static_cast<int64_t>(i)))] = bytes[i];
    for (size_t i = 0; i < bytes.size(); ++i)
      again[static_cast<size_t>((*back)(static_cast<int64_t>(i)))] = moved[i];
    ASSERT_EQ(again, bytes);
  }
}
