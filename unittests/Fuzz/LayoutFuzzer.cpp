//===- LayoutFuzzer.cpp - any text as a layout expression -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: rows and columns as a byte each, then the text. A text that is
// accepted prints as it was; its maps are one to one, undo themselves and are
// equal to themselves.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include <cstdlib>

using namespace grit;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

static void checkMap(const Layout &layout, int64_t rows, int64_t columns) {
  Expected<LayoutMap> map = layout.map(rows, columns);
  if (!map) {
    require(map.error().status == Status::SizeMismatch ||
            map.error().status == Status::PlacementUnknown);
    require(!map.error().str().empty());
    return;
  }
  require(map->domain() == rows * columns && map->range() >= map->domain());
  // Padding can ask for more slots than anybody could mark.
  if (map->range() <= 1 << 20) {
    std::vector<bool> taken(static_cast<size_t>(map->range()));
    for (int64_t index = 0; index < map->domain(); ++index) {
      int64_t slot = (*map)(index);
      require(slot >= 0 && slot < map->range());
      require(!taken[static_cast<size_t>(slot)]);
      taken[static_cast<size_t>(slot)] = true;
    }
  }
  if (std::optional<LayoutMap> inverse = map->inverse())
    for (int64_t index = 0; index < map->domain(); ++index)
      require((*inverse)((*map)(index)) == index);
  else
    require(!map->isPermutation());
  require(equalMaps(*map, *map).value());
  if (!map->isPermutation())
    return;
  require(map->then(*map->inverse())->isIdentity());
  // As a map of any number of rows, where there is one.
  LayoutTable table;
  Expected<Placement> word = table.add(layout);
  require(word.has_value());
  Expected<MapOfAnyRows> any = mapOfAnyRows(*word, columns, table);
  if (!any)
    return;
  require(rows % any->rowMultiple == 0);
  for (int64_t index = 0; index < map->domain(); ++index)
    require(any->map(index) == (*map)(index));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  std::string_view text(reinterpret_cast<const char *>(data + 2), size - 2);
  Expected<Layout> layout = Layout::parse(text);
  if (!layout) {
    require(layout.error().status == Status::PlacementUnknown);
    require(!layout.error().message.empty() && !layout.error().str().empty());
    return 0;
  }
  require(layout->str() == text);
  require(layout->word().isExpression());
  require(Layout::parse(layout->str())->word() == layout->word());
  // The table may be full after many inputs; the word must be the same.
  if (Expected<Placement> word =
          Placement::parse("layout(" + std::string(text) + ")"))
    require(*word == layout->word());
  checkMap(*layout, data[0], data[1]);
  // A matrix that fits whatever the tiles are, and extents near 2^31.
  checkMap(*layout, 0, data[1]);
  if (Expected<LayoutMap> large =
          layout->map(int64_t(data[0]) << 23, int64_t(data[1]) << 23);
      large && large->domain() > 0)
    require((*large)(large->domain() - 1) < large->range());
  return 0;
}
