//===- LayoutVectorsTest.cpp - placements of the vectors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecVectors.h"
#include "grit/Format/Layout.h"

using namespace grit;
using namespace grit::test;

/// The map gives every index the slot that the vector lists.
static void expectSlots(const LayoutMap &map, const SpecVector &vector) {
  std::vector<int64_t> slots;
  for (int64_t index = 0; index < map.domain(); ++index)
    slots.push_back(map(index));
  EXPECT_EQ(slots, numbersOf(vector.expected, "slots"));
}

static void expectRefusal(const SpecVector &vector, const Error &error) {
  EXPECT_EQ(textOf(vector.expected, "refused"), statusName(error.status));
}

/// Acceptable words and their names (P1, P3).
TEST(SpecPlacements, P1_Words) {
  for (const SpecVector &vector : vectorsOf("placement", 20)) {
    SCOPED_TRACE(vector.id);
    Placement word(wordOf(textOf(vector.inputs, "word")));
    EXPECT_EQ(word.isAcceptable(), bool(vector.expected["acceptable"]));
    if (SpecVector::has(vector.expected, "name") &&
        vector.expected["name"].is_string()) {
      EXPECT_EQ(word.specName(), textOf(vector.expected, "name"));
    }
  }
}

/// The maps of registered words (P4, P6, P10).
TEST(SpecPlacements, P4_Maps) {
  for (const SpecVector &vector : vectorsOf("placement_map", 15)) {
    SCOPED_TRACE(vector.id);
    Placement word(wordOf(textOf(vector.inputs, "word")));
    Expected<LayoutMap> map =
        planeMap(word, numberOf(vector.inputs, "rows", -1),
                 numberOf(vector.inputs, "cols", -1));
    ASSERT_EQ(!map, vector.refused());
    if (map)
      expectSlots(*map, vector);
    else
      expectRefusal(vector, map.error());
  }
}

/// Canonical texts, their words, and texts that are refused (P12, P13).
TEST(SpecPlacements, P12_Texts) {
  for (const SpecVector &vector : vectorsOf("layout", 25)) {
    SCOPED_TRACE(vector.id);
    std::string text = textOf(vector.inputs, "text");
    Expected<Layout> layout = Layout::parse(text);
    ASSERT_EQ(!layout, vector.refused());
    if (!layout)
      continue;
    EXPECT_EQ(layout->word(),
              Placement(wordOf(textOf(vector.expected, "word"))));
    EXPECT_EQ(layout->str(), text);
  }
}

/// The maps of expressions (P14).
TEST(SpecPlacements, P14_MapsOfExpressions) {
  for (const SpecVector &vector : vectorsOf("layout_map", 25)) {
    SCOPED_TRACE(vector.id);
    int64_t rows = numberOf(vector.inputs, "rows", -1);
    Expected<Layout> layout = Layout::parse(textOf(vector.inputs, "text"));
    ASSERT_TRUE(layout) << layout.error().str();
    Expected<LayoutMap> map =
        layout->map(rows, numberOf(vector.inputs, "cols", -1));
    ASSERT_EQ(!map, vector.refused());
    if (!map) {
      expectRefusal(vector, map.error());
      continue;
    }
    expectSlots(*map, vector);
    EXPECT_EQ(map->range(), rows * numberOf(vector.expected, "columns", -1));
  }
}
