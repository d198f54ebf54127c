//===- PlacedField.h - values in the order of a placement -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_PLACEDFIELD_H
#define GRIT_LIB_FORMAT_PLACEDFIELD_H

#include "grit/Format/Codec.h"
#include "grit/Format/Fields.h"
#include "grit/Format/LayoutMap.h"
#include <optional>
#include <span>

namespace grit {

/// A bit field whose values lie in the order that a placement word gives them.
class PlacedField {
public:
  /// The values of a field of the array: all that its units hold.
  static Expected<PlacedField> of(const ArraySpec &spec,
                                  const ArrayField &field);

  /// Why one of the values of an array cannot be found, or nothing; an empty
  /// array has none.
  static std::optional<Error> checkAll(const ArraySpec &spec);

  /// The number of values.
  int64_t size() const { return items; }
  /// The place of value `index` in the plane, counted in values.
  int64_t slot(int64_t index) const { return moves ? (*moves)(index) : index; }

  /// The map from indices to slots.
  LayoutMap map() const { return moves ? *moves : LayoutMap::identity(items); }

  uint32_t read(int64_t index, std::span<const ByteSpan> planes) const {
    return readField(*field, slot(index), planes);
  }

private:
  /// `items` values, `columns` of them along the last axis.
  static Expected<PlacedField> get(const ArraySpec &spec, const BitField &field,
                                   int64_t items, int64_t columns);

  const BitField *field = nullptr;
  std::optional<LayoutMap> moves; ///< none: in order
  int64_t items = 0;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_PLACEDFIELD_H
