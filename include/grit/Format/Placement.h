//===- Placement.h - where the values of a plane lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_PLACEMENT_H
#define GRIT_FORMAT_PLACEMENT_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// A 64-bit placement word (GRIT v1, section 5): class in bits 63..60.
class Placement {
public:
  constexpr Placement() = default;
  constexpr explicit Placement(uint64_t word) : word(word) {}
  constexpr uint64_t raw() const { return word; }
  constexpr bool isUnspecified() const { return word == 0; }
  constexpr bool isOpaque() const { return word >> 60 == 0xF; }
  constexpr bool isExpression() const { return word >> 60 == 0x8; }

  /// Acceptable to step 3 of grit_check.
  bool isAcceptable() const;
  /// "row_major", "unspecified", ...; "layout(...)" for a hash whose text is
  /// known to LayoutTable::global(); "0x%016x" for a word without a name.
  std::string str() const;
  /// As the specification spells it: "ROW_MAJOR", "OPAQUE(0x...)", ...
  std::string specName() const;
  /// A registered name in any case, a 0x word, or "layout(...)" around a layout
  /// expression, which is then known to LayoutTable::global().
  static Expected<Placement> parse(std::string_view text);

  friend constexpr bool operator==(Placement, Placement) = default;

private:
  uint64_t word = 0;
};

namespace placements {
inline constexpr Placement Unspecified{0}, RowMajor{0x1000000000000001},
    ColMajor{0x1000000000000002}, Swizzle128x4B{0x1000000000000003},
    Tile16x16{0x1000000000000004}, BlockAos{0x1000000000000005},
    LinearMeta{0x1000000000000011}, MetaM16N8K32{0x1000000000000012},
    PackK4_12B{0x1000000000000020};
} // namespace placements

/// The three placement words of an array: data, scale (both scale planes) and
/// meta (the aux plane; unspecified where there is none).
struct Placements {
  Placement data, scale, meta;
  friend bool operator==(const Placements &, const Placements &) = default;
};

struct RegisteredPlacement {
  std::string_view name; ///< lower case
  Placement placement;
};
std::span<const RegisteredPlacement> registeredPlacements();

} // namespace grit

#endif // GRIT_FORMAT_PLACEMENT_H
