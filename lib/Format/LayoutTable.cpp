//===- LayoutTable.cpp - from placement words to layouts -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include "grit/Format/Text.h"
#include <mutex>

using namespace grit;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

LayoutTable &LayoutTable::global() {
  static LayoutTable table;
  return table;
}

Expected<Placement> LayoutTable::add(const Layout &layout) {
  Placement word = layout.word();
  std::string text = layout.str();
  std::unique_lock lock(mutex);
  auto found = layouts.find(word.raw());
  if (found != layouts.end()) {
    if (*found->second == layout)
      return word;
    return makeError(Status::PlacementUnknown,
                     "two layout expressions have the word " +
                         hexWord(word.raw(), 16),
                     "layout", quoteText(found->second->str()), quoteText(text),
                     "60 bits of a hash can agree by accident or on purpose",
                     "spell one of the layouts in another way");
  }
  if (totalBytes + text.size() > kMaxTotalBytes)
    return makeError(
        Status::PlacementUnknown, "the table of layout expressions is full",
        "layout",
        "at most " + std::to_string(kMaxTotalBytes) + " bytes of text",
        quoteText(text), "too many files with layouts of their own");
  totalBytes += text.size();
  layouts.emplace(word.raw(), std::make_unique<const Layout>(layout));
  return word;
}

Expected<Placement> LayoutTable::add(Placement word, std::string_view text) {
  Expected<Layout> layout = Layout::parse(text);
  if (!layout)
    return tl::unexpected(layout.error());
  if (layout->word() != word)
    return makeError(
        Status::PlacementUnknown, "the text is not that of the placement word",
        "layout", hexWord(word.raw(), 16),
        hexWord(layout->word().raw(), 16) + " for " + quoteText(text),
        "word and text come from different arrays",
        "store the text that the word was made from");
  return add(*layout);
}

const Layout *LayoutTable::find(Placement word) const {
  std::shared_lock lock(mutex);
  auto found = layouts.find(word.raw());
  return found == layouts.end() ? nullptr : found->second.get();
}

size_t LayoutTable::size() const {
  std::shared_lock lock(mutex);
  return layouts.size();
}

//===----------------------------------------------------------------------===//
// Registered words
//===----------------------------------------------------------------------===//

/// Tiles of 128 rows and 4 columns in row-major order. Inside, the four columns
/// of a row stay together, and row 32 * a + b is the (4 * b + a)-th.
static std::string swizzle128x4Text() {
  std::string rows;
  for (int b = 0; b < 32; ++b)
    for (int a = 0; a < 4; ++a)
      rows += (rows.empty() ? "" : ",") + std::to_string(32 * a + b);
  return "Tile(Compose(Perm([" + rows + "]),Tile(RowMajor,[128,1])),[1,4])";
}

const Layout *grit::registeredLayout(Placement word) {
  static const std::unordered_map<uint64_t, Layout> layouts = [] {
    std::unordered_map<uint64_t, Layout> result;
    std::pair<Placement, std::string> texts[] = {
        {placements::RowMajor, "RowMajor"},
        {placements::ColMajor, "ColMajor"},
        {placements::Swizzle128x4B, swizzle128x4Text()},
        {placements::Tile16x16, "Tile(RowMajor,[16,16])"},
        {placements::LinearMeta, "RowMajor"},
    };
    for (const auto &[placement, text] : texts)
      result.emplace(placement.raw(), *Layout::parse(text));
    return result;
  }();
  auto found = layouts.find(word.raw());
  return found == layouts.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Resolution
//===----------------------------------------------------------------------===//

/// Why a word has no layout, for the words that have none.
static std::string reasonWithoutLayout(Placement placement) {
  if (placement.isUnspecified())
    return "nobody has said where the values lie";
  if (placement.isOpaque())
    return "an opaque placement never says where the values lie";
  if (placement.isExpression())
    return "the word is the hash of a layout expression, which is not at hand";
  if (placement == placements::BlockAos)
    return "the planes are interleaved in block structures of a foreign format";
  if (placement == placements::MetaM16N8K32)
    return "the fragment order of mma.sp is not a sum of digits of row and "
           "column";
  if (placement == placements::PackK4_12B)
    return "scales and minima are packed together in 12 bytes per super-block";
  return "the word is not registered";
}

static tl::unexpected<Error> withoutMap(Placement word, std::string cause) {
  return makeError(
      Status::PlacementUnknown,
      word.specName() + " has no map from index to slot", "placement",
      "row_major, col_major, swizzle_128x4b, tile_16x16 or "
      "linear_meta",
      word.specName() + " (" + hexWord(word.raw(), 16) + ")", std::move(cause),
      "relayout the array where its layout is known");
}

Expected<Layout> grit::resolvePlacement(Placement word,
                                        const LayoutTable &table) {
  if (const Layout *layout = registeredLayout(word))
    return *layout;
  if (word.isExpression())
    if (const Layout *layout = table.find(word))
      return *layout;
  return withoutMap(word, reasonWithoutLayout(word));
}

Expected<bool> grit::samePlacement(Placement a, const LayoutTable &textsOfA,
                                   Placement b, const LayoutTable &textsOfB) {
  if (a != b || !a.isExpression())
    return a == b;
  Expected<Layout> first = resolvePlacement(a, textsOfA);
  if (!first)
    return tl::unexpected(first.error());
  Expected<Layout> second = resolvePlacement(b, textsOfB);
  if (!second)
    return tl::unexpected(second.error());
  return *first == *second;
}

Expected<bool> grit::samePlacement(Placement a, Placement b) {
  return samePlacement(a, LayoutTable::global(), b, LayoutTable::global());
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static tl::unexpected<Error> doesNotFit(Placement word, std::string declared,
                                        std::string extents,
                                        std::string cause) {
  return makeError(Status::SizeMismatch,
                   word.specName() + " does not fit the plane", "placement",
                   std::move(declared), std::move(extents), std::move(cause),
                   "pad the array first, or use row_major");
}

Expected<LayoutMap> grit::planeMap(Placement word, int64_t rows,
                                   int64_t columns, const LayoutTable &table) {
  std::string extents = std::to_string(rows) + " x " + std::to_string(columns);
  int64_t items = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &items))
    return makeError(
        Status::SizeMismatch, "a plane of " + extents + " items cannot exist",
        "placement", "extents >= 0 whose product fits 63 bits", extents);
  Expected<Layout> layout = resolvePlacement(word, table);
  if (!layout)
    return tl::unexpected(layout.error());
  Expected<LayoutMap> map = layout->map(rows, columns);
  if (!map) {
    if (map.error().status == Status::PlacementUnknown)
      return withoutMap(word, map.error().cause);
    if (word.isExpression())
      return doesNotFit(word, map.error().declared, extents,
                        map.error().message);
    Layout::Multiples tile = layout->multiples();
    return doesNotFit(word,
                      "a multiple of " + std::to_string(tile.rows) + " x " +
                          std::to_string(tile.columns) + " items",
                      extents, "padded tiles would change the plane's size");
  }
  if (map->range() != map->domain())
    return doesNotFit(word, "as many slots as items",
                      std::to_string(map->range()) + " slots for " +
                          std::to_string(items) + " items",
                      "planes are never padded");
  return map;
}

/// From the slots of one map to those of another over the same indices.
static Expected<LayoutMap> moveBetween(const LayoutMap &from,
                                       const LayoutMap &to) {
  std::optional<LayoutMap> back = from.inverse();
  if (!back)
    return makeError(Status::SizeMismatch,
                     "the layout cannot be undone digit by digit", "layout", {},
                     {}, "it pads more than once",
                     "read the buffer item by item");
  return back->then(to);
}

Expected<LayoutMap> grit::relayoutMap(const Layout &from, const Layout &to,
                                      int64_t rows, int64_t columns) {
  Expected<LayoutMap> source = from.map(rows, columns);
  if (!source)
    return source;
  Expected<LayoutMap> target = to.map(rows, columns);
  if (!target)
    return target;
  return moveBetween(*source, *target);
}

Expected<LayoutMap> grit::relayoutMap(Placement from, Placement to,
                                      int64_t rows, int64_t columns,
                                      const LayoutTable &fromTexts,
                                      const LayoutTable &toTexts) {
  // A row-major map refuses extents that cannot exist.
  Expected<LayoutMap> whole = planeMap(placements::RowMajor, rows, columns);
  if (!whole || (from == to && !from.isExpression()))
    return whole;
  Expected<LayoutMap> source = planeMap(from, rows, columns, fromTexts);
  if (!source)
    return source;
  Expected<LayoutMap> target = planeMap(to, rows, columns, toTexts);
  if (!target)
    return target;
  return moveBetween(*source, *target);
}
