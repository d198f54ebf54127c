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
  Groups,       ///< K / G
  GroupBytes,   ///< G b / 8
  RowBlocks,    ///< N / 128, rounded up
  ColumnBlocks, ///< K / 128, rounded up
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
  Order,       ///< the group of each column
  LooseOrder,  ///< the same; unset where a column has -1
  Shape,       ///< the shape of the layer
  Bits,        ///< b
  GroupSize,   ///< G
  Axis,        ///< along which groups lie: 1
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
};

/// The contract where the scales have one of `types` and the configuration's
/// checkpoint_format is `version` ("": any). "{b}" and "{g}" are replaced.
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
      {}; ///< `version` or checkpoint_format, where declared
  Symmetry symmetry = Symmetry::Any;
  std::string_view bits; ///< the possible b
  int64_t group = 0;     ///< G where it is fixed
  bool stacked = false;  ///< leading axes (experts) may precede [N, K]
  std::vector<PartRow> parts = {};
  std::vector<Spelling> spellings = {};
  /// Placements of data, scale and meta; "{w}" is the codes per word, "{p}"
  /// those per byte; "": the contract's own.
  std::string_view data = {}, scale = {}, meta = {};
  /// The module's name is the name of what it decodes to: no ".weight".
  bool isTensorName = false;
  /// The name of a plane that the state holds as a number, not as bytes.
  std::string_view stated = {};
  /// A byte that no scale may be: the contract reads it in another way.
  int forbiddenScale = -1;
};

/// All rows. Where several fit a layer, they decode to the same numbers, and
/// the first counts.
const std::vector<FamilyRow> &layerFamilies();

/// True when `list`, words separated by spaces, has `word`.
bool listHas(std::string_view list, std::string_view word);

/// "K / G".
std::string_view countText(Count count);

/// `text` with "{key}" replaced.
std::string
fillIn(std::string_view text,
       std::initializer_list<std::pair<char, int64_t>> replacements);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_LAYERFAMILIES_H
