//===- Fields.h - what the planes of an array hold -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plane seen as the values in it, for whoever moves values without reading
// them: which fields it holds, how their values follow one another, and which
// placement word governs it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_FIELDS_H
#define GRIT_FORMAT_FIELDS_H

#include "grit/Format/Contract.h"
#include "grit/Format/Description.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Placement.h"
#include <optional>
#include <vector>

namespace grit {

/// A bit field and the elements that its values belong to: `perUnit` values for
/// every `unit` elements in `order`, or for the array where `unit` is 0.
struct ArrayField {
  const BitField *bits;
  int64_t unit = 1, perUnit = 1;
  ElementOrder order = ElementOrder::RowMajor;
  const Factor *factor = nullptr; ///< none for codes and indices
};

/// All fields of a description, which must outlive them. Units that depend on
/// the shape are those of the factors (kWholeAxis, and blocks) and of an order
/// (kAxisPositions).
std::vector<ArrayField> fieldsOf(const FormatDescription &description);

/// All fields of an array, their units in elements: a line is as long as the
/// group axis, blocks count for their matrix, and an order for the array.
std::vector<ArrayField> fieldsOf(const ArraySpec &spec);

// The fields that are no factors.
ArrayField codesOf(const FormatDescription &description);
ArrayField indicesOf(const Sparsity &sparsity);

/// A factor's field in an array.
ArrayField fieldOf(const Factor &factor, const ArraySpec &spec);
/// The order of groups of a contract that has one.
ArrayField orderOf(const ArraySpec &spec);

/// Of a field that the whole array has one of: the factor, "book" or "order".
std::string wholeFieldName(const ArrayField &field,
                           const FormatDescription &description);

/// Groups of a factor, or units of a plane, in an array of the shape.
int64_t unitCount(const ArraySpec &spec, int64_t elements, int64_t rows);

/// How the values of a field follow one another, or nothing when they do not.
std::optional<ItemPacking> packingOf(const BitField &field);

/// "placement_data", ...: the field of the descriptor that governs a plane.
const char *placementField(const PlaneInfo &plane);

/// The word that governs a plane.
Placement placementOf(const Placements &words, const PlaneInfo &plane);

} // namespace grit

#endif // GRIT_FORMAT_FIELDS_H
