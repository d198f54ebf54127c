//===- LayerFamilies.h - how checkpoints store layers, as a table -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_LAYERFAMILIES_H
#define GRIT_LIB_SCAN_LAYERFAMILIES_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit::scan {

/// What an extent of a stored tensor counts. The layer has N rows, K columns,
/// codes of b bits and groups of G elements.
enum class Count : uint8_t {
  One,
  Rows,         ///< N
  Columns,      ///< K
  RowWords,     ///< N b / 32
  ColumnWords,  ///< K b / 32
  ColumnBytes,  ///< K b / 8
  RowQuads,     ///< N b / 16
  Groups,       ///< K / G
  GroupWords,   ///< K b / 32 G
  GroupBytes,   ///< G b / 8
  Group,        ///< G
  Padded,       ///< P: K / G or more
  PaddedWords,  ///< P b / 32
  LineGroups,   ///< N K / G
  TenthGroups,  ///< N K / 10 G, rounded up
  TenthGroup,   ///< G / 10, rounded up
  RowBlocks,    ///< N / R, rounded up; R is 128, or declared
  ColumnBlocks, ///< K / C, rounded up; C is 128, or declared
  Levels,       ///< 2^b
  ScaleLevels,  ///< 256
  Any,          ///< whatever the file says
  // Of the product of all extents, whatever the shape.
  AllBytes,  ///< N K b / 8
  AllGroups, ///< N K / G
  AllNested, ///< N K / G / 256
};

/// What a tensor of a layer is for.
enum class Use : uint8_t {
  Plane,       ///< the next plane of the contract
  Order,       ///< the group of each column, which is k / G
  LooseOrder,  ///< the same; unset where a column has -1
  Shape,       ///< the shape of the layer
  Bits,        ///< b
  GroupSize,   ///< G
  Constant,    ///< a number that the row gives
  Packing,     ///< a word that names the packing: "4bit_u8"
  State,       ///< bitsandbytes' record: shape, block size, offset
  Levels,      ///< the contract's levels
  ScaleLevels, ///< the contract's numbers for codes of scales
  Aside,       ///< nothing that decoding needs
};

enum class Presence : uint8_t {
  Mark,     ///< where all marks are, the layer is tried as this family
  Required, ///< refused without it
  Optional,
  Absent, ///< refused with it
};

struct PartRow {
  std::string_view suffix; ///< of the tensor's name, behind the module
  Use use;
  Presence presence;
  std::string_view types; ///< of safetensors, separated by spaces
  std::vector<Count> shape;
  /// Of a constant: what it is.
  int64_t constant = 0;
  /// Where value i of the plane lies in the tensor, as a field of
  /// spec/gritfmt1.md: "1@0+i*2". The plane is then a copy. With numbers for
  /// what `storedNumbers` replaces. Of a packing: its word.
  std::string_view stored = {};
};

/// The contract where the scales have one of `types` and the configuration's
/// checkpoint_format is `version` ("": any). "{b}", "{g}", "{r}" and "{c}" (the
/// extents of a block) are replaced.
struct Spelling {
  std::string_view types, version, contract;
};

enum class Symmetry : uint8_t { Any, Symmetric, Asymmetric };

/// One way in which a tool stores a layer.
struct FamilyRow {
  std::string_view name;
  std::string_view title; ///< for tables
  std::string_view methods =
      {}; ///< quant_method is one of these; "": any, or none
  std::string_view formats =
      {};                   ///< `version` or checkpoint_format, where declared
  bool needsFormat = false; ///< one of `formats` has to be declared
  std::string_view modes = {}; ///< `mode` is one of these; "": any, or none
  Symmetry symmetry = Symmetry::Any;
  std::string_view bits;      ///< the possible b
  int64_t group = 0;          ///< G where it is fixed
  bool declaresGroup = false; ///< G is the declared one
  bool anyBlock = false;      ///< blocks have the declared extents
  bool stacked = false;       ///< leading axes (experts) may precede [N, K]
  std::vector<PartRow> parts = {};
  std::vector<Spelling> spellings = {};
  /// Placements of data, scale and meta; "{w}" is the codes per word, "{p}"
  /// those per byte; "": the contract's own.
  std::string_view data = {}, scale = {}, meta = {};
  /// The module's name is the name of what it decodes to: no ".weight".
  bool isTensorName = false;
  /// The extents of the array, where they are not those of the layer, and its
  /// group axis then.
  std::vector<Count> arrayShape = {};
  int axis = -1;
  /// The name of a plane that is a number: of the state, or this one.
  std::string_view stated = {};
  std::optional<float> statedNumber = std::nullopt;
  /// A byte that no scale may be: the contract reads it in another way.
  int forbiddenScale = -1;
};

/// All rows. Where several fit a layer, they decode to the same numbers, and
/// the first counts.
const std::vector<FamilyRow> &layerFamilies();

// The rows by kind.
std::vector<FamilyRow> rowsOfWords();
std::vector<FamilyRow> rowsOfFloats();
std::vector<FamilyRow> rowsOfBytes();
std::vector<FamilyRow> rowsOfOthers();

/// True when `list`, words separated by spaces, has `word`.
bool listHas(std::string_view list, std::string_view word);

/// "K / G".
std::string_view countText(Count count);

/// Whether the extents of a part are those of the whole layer as one.
bool isProduct(Count count);

/// `text` with "{key}" replaced.
std::string
fillIn(std::string_view text,
       std::initializer_list<std::pair<char, int64_t>> replacements);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_LAYERFAMILIES_H
