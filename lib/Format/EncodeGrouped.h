//===- EncodeGrouped.h - signed integers under one scale -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEGROUPED_H
#define GRIT_LIB_FORMAT_ENCODEGROUPED_H

#include "EncodeRules.h"

namespace grit {

/// Groups of signed integers in two's complement, each group under one float.
struct SignedGroups {
  Number scale;
  int least = 0, most = 0; ///< the legal integers
  uint32_t codeMask = 0;

  /// Refuses other formats.
  static Expected<SignedGroups> get(const FormatDescription &format,
                                    std::string_view rule);

  /// The integers of `values` under the scale word `word`: x times the
  /// reciprocal of the scale, ties to even, clamped.
  void choose(std::span<const float> values, uint32_t word,
              std::span<int8_t> integers) const;
  /// Stores a scale word and the codes of its integers.
  void store(uint32_t word, std::span<const int8_t> integers,
             EncodeUnit &unit) const;
  /// The word of amax / most, never that of zero. Infinite on overflow.
  uint32_t absMaxWord(float amax) const;
};

/// The word of least weighted squared error among the candidates of the search,
/// in their order; `integers` become those under it. `amax` is not 0.
uint32_t searchScale(const SignedGroups &groups, std::span<const float> values,
                     std::span<const float> importance, float amax,
                     bool negativeScales, std::span<int8_t> integers);

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEGROUPED_H
