//===- Grade.h - the grit1(...) contract: fields, grammar, canonical form -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_GRADE_H
#define GRIT_FORMAT_GRADE_H

#include "grit/Format/Description.h"
#include "grit/Format/FormatWord.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace grit {

/// A grade in fields, one per key of GRIT v1, section 4.2, in canonical order.
/// Values are canonical tokens; an absent optional key is empty or nullopt.
struct Grade {
  // Representation (keys 1-11).
  FormatWord e;
  uint64_t k0 = 0;
  FormatWord s0;
  std::optional<uint64_t> k1;
  FormatWord s1;
  FormatWord zp;
  bool zpMinusOne = false; ///< zpc = minus1
  bool zpLevel1 = false;   ///< zps = l1
  unsigned spN = 0, spM = 0;
  unsigned spMetaBits = 0; ///< 2 (u2) or 4 (u4)
  bool spAscending = false;
  bool pad8 = false;     ///< ct = pad8
  bool msbFirst = false; ///< po = msb
  // Encode projection (keys 12-15).
  Rounding er = Rounding::RNE;
  Saturation es = Saturation::SatFinite;
  std::string esr;              ///< canonical scale rule, or "custom:NAME"
  std::string esn = "preserve"; ///< preserve, ftz, any
  // Decode projection (keys 16-18).
  Rounding dr = Rounding::RNE;
  Saturation ds = Saturation::SatFinite;
  FormatWord dt = words::Binary32;
  // Accumulation (keys 19-23).
  std::string ao = "unspec"; ///< seq, pairwiseK, tree, unspec
  FormatWord ap = words::Binary32, ab = words::Binary32, ai = words::Binary32;
  std::string an = "any";

  bool hasLevel1() const { return k1.has_value(); }
  bool isSparse() const { return spM != 0; }
  bool hasZeroPoint() const { return !zp.isAbsent(); }

  /// Parses any accepted spelling (aliases, any order and case, whitespace).
  static Expected<Grade> parse(std::string_view text);

  /// The one canonical string, `grit1(...)`.
  std::string canonical() const;
  /// `gritdec1(...)`: the fields that decide decode, defaults written out.
  std::string decodeProjection() const;
  /// FNV-1a-64 of the canonical string.
  uint64_t id() const;

  friend bool operator==(const Grade &, const Grade &) = default;
};

/// The format description that a grade spells (any grade; one mechanism).
/// Refuses by name what the grammar admits but no array can hold (k0 = 0, a
/// sub-byte scale1, indices that sp's width cannot hold, ...).
Expected<FormatDescription> describe(const Grade &grade);

} // namespace grit

#endif // GRIT_FORMAT_GRADE_H
