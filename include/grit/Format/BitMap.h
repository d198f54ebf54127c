//===- BitMap.h - which number owns which bits of a plane -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For people: the bytes after which a plane repeats, bit by bit, as the
// description says it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_BITMAP_H
#define GRIT_FORMAT_BITMAP_H

#include "grit/Format/Description.h"
#include <cstdint>
#include <string>
#include <vector>

namespace grit {

enum class MapKind : uint8_t { Code, Scale, Offset, Sign, Entry, Position };
std::string_view mapKindName(MapKind kind);

/// What a plane holds numbers of.
struct MapField {
  MapKind kind;
  std::string name;    ///< "q", "d", "sc", ...: short, for labels
  std::string summary; ///< "scale, binary16, per 32"
  unsigned width;      ///< bits of a value
};

/// Neighbouring bits of a byte with one meaning: bits [low, high] of the byte
/// are bits [bottom, top] of a value.
struct MapSegment {
  unsigned high = 0, low = 0;
  int field = -1; ///< -1: no number is read from these bits
  /// The numbers of the value; several where values share bits as digits.
  std::vector<int64_t> values;
  unsigned top = 0, bottom = 0;

  /// Alike but for the numbers of values.
  bool isLike(const MapSegment &other) const;
};

/// A byte, most significant bits first.
using MapRow = std::vector<MapSegment>;

/// `count` groups of `rows` rows from row `first`, in each of which numbers are
/// those of the group before plus one and the same step per segment. A count of
/// 1 says nothing of what follows.
struct MapRun {
  size_t first = 0, rows = 1, count = 1;
  /// For each field that has bits here, the steps that occur, ascending.
  std::vector<std::pair<int, std::vector<int64_t>>> steps;
};

struct PlaneMap {
  std::string plane;
  std::string holds;   ///< "18 B per 32"
  int64_t bits = 0;    ///< after which the plane repeats, in whole bytes
  bool isWhole = true; ///< false: rows are the first of more
  std::vector<MapField> fields;
  std::vector<MapRow> rows;
  std::vector<MapRun> runs; ///< rows, each in one run
};

/// A map for each plane.
std::vector<PlaneMap> bitMaps(const FormatDescription &description);

/// "q16", "d0[15:8]", "unread": a segment in words.
std::string mapLabel(const PlaneMap &map, const MapSegment &segment);
/// "bytes 3 to 17: the same 15 times more, q + 1 each time", of a run that
/// repeats.
std::string mapRepeat(const PlaneMap &map, const MapRun &run);

} // namespace grit

#endif // GRIT_FORMAT_BITMAP_H
