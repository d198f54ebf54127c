//===- LayoutVectorsTest.cpp - placements of the vectors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecVectors.h"
#include "grit/Format/Fingerprint.h"
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

//===----------------------------------------------------------------------===//
// Relayout
//===----------------------------------------------------------------------===//

namespace {

/// The items of a plane, as rows along the last axis.
struct PlaneItems {
  int64_t count = 1, columns = 1; ///< no columns: the items form no rows
  ItemPacking packing;
};

} // namespace

static PlaneItems itemsOf(const ArraySpec &spec, unsigned index) {
  const FormatDescription &format = spec.contract.description();
  const PlaneInfo &plane = format.planes[index];
  PlaneItems items;
  items.packing.bits = plane.bits;
  if (index == format.codes.plane)
    items.packing = {format.codes.width(), format.codes.isMsbStream()};
  else if (format.sparsity && index == format.sparsity->indices.plane)
    items.packing.bits = format.sparsity->indices.width();
  if (plane.elements == 0)
    return items;
  int64_t perUnit = plane.bits / items.packing.bits;
  items.count = spec.numElements() / plane.elements * perUnit;
  int64_t last = spec.shape.back();
  items.columns =
      last % plane.elements == 0 ? last / plane.elements * perUnit : 0;
  return items;
}

/// The plane with every item in its new slot.
static Expected<Bytes> movePlane(const Bytes &plane, const PlaneItems &items,
                                 Placement from, Placement to) {
  bool isSame = from == to && !from.isExpression();
  if (plane.empty() || isSame)
    return plane;
  if (items.columns == 0)
    return makeError(Status::PlacementUnknown, "the items form no rows",
                     "placement", "rows", "none", {}, {});
  int64_t rows = items.count / items.columns;
  auto whole = relayoutMap(from, to, rows, items.columns);
  if (!whole)
    return tl::unexpected(whole.error());
  Bytes moved(plane.size());
  Expected<void> done =
      moveItems(*planeMap(placements::RowMajor, rows, items.columns), *whole,
                items.packing, plane, moved);
  if (!done)
    return tl::unexpected(done.error());
  return moved;
}

/// The planes of a vector under other placements, or the first refusal.
static Expected<std::array<Bytes, 4>> relayoutOf(dom::element inputs) {
  ArraySpec spec = take(specOf(inputs));
  std::vector<std::string> from = textsOf(inputs, "old");
  std::vector<std::string> to = textsOf(inputs, "new");
  std::vector<Bytes> planes = planesOf(spec, inputs);
  for (unsigned i = 0; i < planes.size(); ++i) {
    unsigned role = spec.contract.description().planes[i].placement;
    Expected<Bytes> moved =
        movePlane(planes[i], itemsOf(spec, i), Placement(wordOf(from.at(role))),
                  Placement(wordOf(to.at(role))));
    if (!moved)
      return tl::unexpected(moved.error());
    planes[i] = std::move(*moved);
  }
  return slotsOf(spec, planes);
}

/// Every item moves from its old slot to its new one (P20, L1, L2), and there
/// is no way out of an opaque word (L3).
TEST(SpecPlacements, P20_Relayout) {
  for (const SpecVector &vector : vectorsOf("relayout", 20)) {
    SCOPED_TRACE(vector.id);
    Expected<std::array<Bytes, 4>> moved = relayoutOf(vector.inputs);
    ASSERT_EQ(!moved, vector.refused());
    if (!moved) {
      expectRefusal(vector, moved.error());
      continue;
    }
    std::vector<std::string> planes = textsOf(vector.expected, "planes");
    for (size_t i = 0; i < moved->size(); ++i)
      EXPECT_EQ(toHex((*moved)[i]), planes.at(i)) << "plane " << i;
  }
}
