//===- NearestCode.h - the codes around a number -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_NEARESTCODE_H
#define GRIT_LIB_FORMAT_NEARESTCODE_H

#include "grit/Format/Description.h"
#include <cstdint>
#include <vector>

namespace grit {

/// The codes of a number format ordered by what they decode to, for those who
/// look for the code of a number.
class NearestCode {
public:
  struct Entry {
    float value;
    uint32_t code;
  };

  /// Of codes that fit in `field`, but for those that are illegal.
  NearestCode(const Number &number, const BitField &field,
              const std::vector<uint32_t> &illegal = {});

  float decode(uint32_t code) const { return number.decode(code); }

  /// Adds codes to `codes`: the nearest to `x`, which must not be NaN, then
  /// those next to it on either side; of codes that decode to the same bits,
  /// the first. Both zeros where they are among these.
  void around(double x, std::vector<uint32_t> &codes) const;
  /// Adds a code of NaN where there is one.
  void notANumber(std::vector<uint32_t> &codes) const;
  /// Adds the codes of the least and of the greatest number.
  void extremes(std::vector<uint32_t> &codes) const;

  /// The one code of around() that is nearest to `x`, or that of NaN; nothing
  /// where there is no code.
  std::optional<Entry> nearest(double x) const;

  /// Ascending, -0 before +0; empty for codes of more than 16 bits, whose
  /// order is that of their word.
  const std::vector<Entry> &entries() const { return sorted; }

private:
  size_t position(double x) const;
  void aroundOfWord(double x, std::vector<uint32_t> &codes) const;

  const Number &number;
  std::vector<Entry> sorted;
  std::vector<double> keys; ///< the values of `sorted`
  std::vector<uint32_t> nans;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_NEARESTCODE_H
