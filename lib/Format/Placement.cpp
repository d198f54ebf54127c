//===- Placement.cpp - where the values of a plane lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Placement.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Text.h"

using namespace grit;

static constexpr RegisteredPlacement kRegistered[] = {
    {"unspecified", placements::Unspecified},
    {"row_major", placements::RowMajor},
    {"col_major", placements::ColMajor},
    {"swizzle_128x4b", placements::Swizzle128x4B},
    {"tile_16x16", placements::Tile16x16},
    {"block_aos", placements::BlockAos},
    {"linear_meta", placements::LinearMeta},
    {"meta_m16n8k32", placements::MetaM16N8K32},
    {"pack_k4_12b", placements::PackK4_12B},
};

std::span<const RegisteredPlacement> grit::registeredPlacements() {
  return kRegistered;
}

static std::string_view registeredName(Placement placement) {
  for (const RegisteredPlacement &entry : kRegistered)
    if (entry.placement == placement)
      return entry.name;
  return {};
}

bool Placement::isAcceptable() const {
  switch (word >> 60) {
  case 0x0:
    return word == 0;
  case 0x1:
    return !registeredName(*this).empty();
  case 0x8:
  case 0xF:
    return true;
  default:
    return false;
  }
}

std::string Placement::str() const {
  if (isExpression())
    if (const Layout *layout = LayoutTable::global().find(*this))
      return "layout(" + layout->str() + ")";
  std::string_view name = registeredName(*this);
  return name.empty() ? hexWord(word, 16) : std::string(name);
}

std::string Placement::specName() const {
  std::string_view name = registeredName(*this);
  if (*this == placements::Swizzle128x4B)
    return "SWIZZLE_128x4B";
  if (*this == placements::Tile16x16)
    return "TILE_16x16";
  if (!name.empty()) {
    std::string upper(name);
    for (char &c : upper)
      if (c >= 'a' && c <= 'z')
        c = static_cast<char>(c - 'a' + 'A');
    return upper;
  }
  uint64_t payload = word & ~(uint64_t(0xF) << 60);
  if (isOpaque())
    return "OPAQUE(" + hexWord(payload, 15) + ")";
  if (isExpression())
    return "LOCAL_HASH(" + hexWord(payload, 15) + ")";
  if (word >> 60 == 1)
    return "UNREGISTERED(" + hexWord(word, 16) + ")";
  return "RESERVED_CLASS_0x" + std::string(1, "0123456789ABCDEF"[word >> 60]) +
         "(" + hexWord(word, 16) + ")";
}

/// A word written as 0x and 1 to 16 hex digits.
static std::optional<uint64_t> parseHexWord(std::string_view text) {
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 18)
    return std::nullopt;
  uint64_t word = 0;
  for (char c : text.substr(2)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a') + 10;
    else
      return std::nullopt;
    word = word << 4 | digit;
  }
  return word;
}

Expected<Placement> Placement::parse(std::string_view text) {
  constexpr std::string_view kOpen = "layout(";
  if (text.starts_with(kOpen) && text.ends_with(')')) {
    text.remove_prefix(kOpen.size());
    text.remove_suffix(1);
    return Layout::parse(text).and_then(
        [](const Layout &layout) { return LayoutTable::global().add(layout); });
  }
  std::string lower = toLower(text);
  for (const RegisteredPlacement &entry : kRegistered)
    if (entry.name == lower)
      return entry.placement;
  if (std::optional<uint64_t> word = parseHexWord(lower))
    return Placement(*word);
  std::string names;
  std::vector<std::string_view> candidates;
  for (const RegisteredPlacement &entry : kRegistered) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
    candidates.push_back(entry.name);
  }
  std::string hint = didYouMean(lower, candidates);
  return makeError(Status::PlacementUnknown,
                   "unknown placement " + quoteText(text), "placement",
                   names + ", or a 0x word", quoteText(text), {},
                   hint.empty() ? "use one of the names" : hint);
}
