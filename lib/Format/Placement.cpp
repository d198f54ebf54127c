//===- Placement.cpp - where the values of a plane lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Placement.h"
#include "grit/Format/Text.h"
#include <algorithm>

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

int64_t PlacementMap::slot(int64_t row, int64_t column) const {
  int64_t slot = 0;
  for (const Term &term : terms) {
    int64_t digit = (term.ofColumn ? column : row) / term.div;
    slot += (term.mod ? digit % term.mod : digit) * term.stride;
  }
  return slot;
}

static PlacementMap::Term ofRow(int64_t div, int64_t mod, int64_t stride) {
  return {false, div, mod, stride};
}
static PlacementMap::Term ofColumn(int64_t div, int64_t mod, int64_t stride) {
  return {true, div, mod, stride};
}

/// Why a word has no map, for the words that never have one.
static std::string reasonWithoutMap(Placement placement) {
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

Expected<PlacementMap> PlacementMap::get(Placement placement, int64_t rows,
                                         int64_t cols) {
  std::string extents = std::to_string(rows) + " x " + std::to_string(cols);
  int64_t slots = 0;
  if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &slots))
    return makeError(
        Status::SizeMismatch, "a plane of " + extents + " items cannot exist",
        "placement", "extents >= 0 whose product fits 63 bits", extents);
  auto needMultiples = [&](int64_t ofRows,
                           int64_t ofCols) -> tl::expected<void, Error> {
    if (rows % ofRows == 0 && cols % ofCols == 0)
      return {};
    return makeError(Status::SizeMismatch,
                     placement.specName() + " does not fit the plane",
                     "placement",
                     "a multiple of " + std::to_string(ofRows) + " x " +
                         std::to_string(ofCols) + " items",
                     extents, "padded tiles would change the plane's size",
                     "pad the array first, or use row_major");
  };
  if (placement == placements::RowMajor || placement == placements::LinearMeta)
    return PlacementMap{{ofRow(1, 0, cols), ofColumn(1, 0, 1)}};
  if (placement == placements::ColMajor)
    return PlacementMap{{ofRow(1, 0, 1), ofColumn(1, 0, rows)}};
  if (placement == placements::Swizzle128x4B) {
    // Tiles of 128 x 4 items in row-major order; in a tile, item (r, c) lies at
    // (r % 32) * 16 + (r / 32) * 4 + c.
    if (auto fits = needMultiples(128, 4); !fits)
      return tl::unexpected(fits.error());
    return PlacementMap{{ofRow(1, 32, 16), ofRow(32, 4, 4),
                         ofRow(128, 0, cols / 4 * 512), ofColumn(1, 4, 1),
                         ofColumn(4, 0, 512)}};
  }
  if (placement == placements::Tile16x16) {
    if (auto fits = needMultiples(16, 16); !fits)
      return tl::unexpected(fits.error());
    return PlacementMap{{ofRow(1, 16, 16), ofRow(16, 0, cols / 16 * 256),
                         ofColumn(1, 16, 1), ofColumn(16, 0, 256)}};
  }
  return makeError(
      Status::PlacementUnknown,
      placement.specName() + " has no map from index to slot", "placement",
      "row_major, col_major, swizzle_128x4b, tile_16x16 or "
      "linear_meta",
      placement.specName() + " (" + hexWord(placement.raw(), 16) + ")",
      reasonWithoutMap(placement),
      "relayout the array where its layout is known");
}
