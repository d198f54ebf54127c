//===- Layout.h - layout expressions and what they resolve to -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_LAYOUT_H
#define GRIT_FORMAT_LAYOUT_H

#include "grit/Format/LayoutMap.h"
#include "grit/Format/Placement.h"
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace grit {

/// A layout expression (GRIT v1, section 5.3): where the items of a matrix lie,
/// as a text that travels with the bytes. Two layouts are the same exactly when
/// their texts are.
class Layout {
public:
  enum class Kind : uint8_t {
    RowMajor,
    ColMajor,
    Tile,
    Interleave,
    Swizzle,
    Perm,
    Pad,
    Compose,
    Opaque,
  };

  /// Larger expressions are refused, whatever they say.
  static constexpr size_t kMaxTextBytes = size_t(1) << 16;
  static constexpr size_t kMaxPermNumbers = 4096;
  static constexpr unsigned kMaxDepth = 64;

  /// Reads the canonical text; no other spelling is accepted (P12). A refusal
  /// names the byte it is about, what may stand there and what does.
  static Expected<Layout> parse(std::string_view text);

  Kind kind() const { return which; }
  /// The canonical text.
  std::string str() const;
  /// The word of class 0x8 that stands for the text (P13).
  Placement word() const;

  /// Where the items of a rows x columns matrix lie (P14); the slots form a
  /// matrix of as many rows, which a Pad makes wider. Refuses a matrix that
  /// does not fit with SizeMismatch, and Opaque with PlacementUnknown.
  Expected<LayoutMap> map(int64_t rows, int64_t columns) const;

  /// What rows and columns must be multiples of because of tiles.
  struct Multiples {
    int64_t rows = 1, columns = 1;
  };
  Multiples multiples() const;
  /// What the number of rows must be a multiple of over so many columns, for
  /// whatever reason, where the columns fit; none where no number of 63 bits
  /// is. Sets `columns` to those of the slots.
  std::optional<int64_t> rowMultiple(int64_t &columns) const;

  friend bool operator==(const Layout &, const Layout &) = default;

private:
  friend class LayoutParser;
  friend class LayoutMapper;

  Kind which = Kind::RowMajor;
  std::vector<Layout> parts;
  std::vector<int64_t> numbers;
  std::string vendor, blob;
};

/// "Tile".
std::string_view layoutKindName(Layout::Kind kind);

/// The texts behind words of class 0x8. A word is never given a second text,
/// and entries stay as long as the table does. Safe to use from any thread.
class LayoutTable {
public:
  /// More is refused, so that files cannot fill the memory.
  static constexpr size_t kMaxTotalBytes = size_t(1) << 24;

  /// The table that texts of files and of `layout(...)` go to.
  static LayoutTable &global();

  /// Adds a layout, if it is new. Refuses another text of the same word.
  Expected<Placement> add(const Layout &layout);
  /// Adds the text that something gives for `word`; refuses one that has
  /// another hash (P18).
  Expected<Placement> add(Placement word, std::string_view text);

  /// The layout of a word, or null.
  const Layout *find(Placement word) const;
  size_t size() const;

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<uint64_t, std::unique_ptr<const Layout>> layouts;
  size_t totalBytes = 0;
};

/// The layout that a registered word is a name for, or null for one that has no
/// map and for other words.
const Layout *registeredLayout(Placement word);

/// The layout of a word: what it is a registered name for, or what the table
/// has for its hash. Refuses, by name, words that have none (P10).
Expected<Layout>
resolvePlacement(Placement word,
                 const LayoutTable &table = LayoutTable::global());

/// Whether arrays with these words lie in the same way, so that nothing need
/// move. Equal hashes are not enough: both texts are fetched and compared, and
/// where one cannot be had the answer is refused (P17).
Expected<bool> samePlacement(Placement a, const LayoutTable &textsOfA,
                             Placement b, const LayoutTable &textsOfB);
Expected<bool> samePlacement(Placement a, Placement b);

/// Where the items of a plane lie: the map of its word over rows x columns
/// items. Refuses what has no map, does not fit, or pads (P16).
Expected<LayoutMap> planeMap(Placement word, int64_t rows, int64_t columns,
                             const LayoutTable &table = LayoutTable::global());

/// The relayout between two layouts as one map, from old slots to new ones.
Expected<LayoutMap> relayoutMap(const Layout &from, const Layout &to,
                                int64_t rows, int64_t columns);
/// The relayout of a plane. Equal words that are no hashes need no map (P20).
Expected<LayoutMap>
relayoutMap(Placement from, Placement to, int64_t rows, int64_t columns,
            const LayoutTable &fromTexts = LayoutTable::global(),
            const LayoutTable &toTexts = LayoutTable::global());

/// A map over any number of rows that is a multiple of `rowMultiple`. It was
/// made for some such number: its domain and range, and the radix of the last
/// digit of a step, are not those of others, and need not be known to apply it
/// (LayoutEmit.h).
struct MapOfAnyRows {
  LayoutMap map;
  int64_t rowMultiple = 1;
};

/// The map of a word over rows of `columns` items, for code that learns the
/// number of rows when it runs. Refuses what planeMap refuses for every number
/// of rows, and with PlacementUnknown a word whose map depends on the number,
/// such as COL_MAJOR.
Expected<MapOfAnyRows>
mapOfAnyRows(Placement word, int64_t columns,
             const LayoutTable &table = LayoutTable::global());
/// The relayout between two words. Both must have a map of any rows.
Expected<MapOfAnyRows>
relayoutOfAnyRows(Placement from, Placement to, int64_t columns,
                  const LayoutTable &fromTexts = LayoutTable::global(),
                  const LayoutTable &toTexts = LayoutTable::global());

/// How the items of a plane follow one another in bytes: each takes `bits`
/// bits, the first of a byte its low ones unless `msbFirst`.
struct ItemPacking {
  int64_t bits = 8;
  bool msbFirst = false;

  /// The bytes that so many items take; none when that is no 63-bit number.
  std::optional<int64_t> bytesFor(int64_t items) const;
};

/// Writes the items that lie in `source` as `from` says to where `to` says.
/// Slots that padding leaves empty become zero bits and are never read (P15).
/// Refuses maps of different matrices and buffers of another size.
tl::expected<void, Error> moveItems(const LayoutMap &from, const LayoutMap &to,
                                    ItemPacking packing,
                                    std::span<const uint8_t> source,
                                    std::span<uint8_t> target);

} // namespace grit

#endif // GRIT_FORMAT_LAYOUT_H
