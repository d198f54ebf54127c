//===- DescriptionVerifier.h - parts of the proof of a description -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A description is proved well-formed part by part: its parts by themselves
// (DescriptionVerifier.cpp), its fields and numbers (DescriptionFields.cpp) and
// the bits that fields claim of their planes (DescriptionAddresses.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_DESCRIPTIONVERIFIER_H
#define GRIT_LIB_FORMAT_DESCRIPTIONVERIFIER_H

#include "grit/Format/Description.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace grit::verifier {

/// Keeps every product of two sizes within int64.
inline constexpr int64_t kMaxSize = int64_t(1) << 40;
inline constexpr unsigned kMaxTableBits = 16;

Error fault(std::string field, std::string message, std::string declared = {},
            std::string found = {});

inline std::string str(int64_t value) { return std::to_string(value); }
inline bool exceeds(int64_t value, int64_t limit) {
  return value < -limit || value > limit;
}

/// Least common multiple, 0 when it exceeds kMaxSize.
int64_t boundedLcm(int64_t a, int64_t b);

/// The elements that share what a field or a plane holds.
struct Grouping {
  int64_t elements = 1; ///< 0: the whole array; kWholeAxis: a line;
                        ///< kAxisPositions: a position of every line
  int64_t rows = 0;     ///< above 0: of a block

  /// Whether their number depends on the shape and not on the elements alone.
  bool dependsOnShape() const { return elements < 0 || rows != 0; }
  friend bool operator==(const Grouping &, const Grouping &) = default;
};

/// A field and the elements that its values belong to: `count` values for each
/// group of elements.
struct Use {
  std::string name;
  const BitField *bits;
  Grouping group;
  int64_t count;
};

/// What can be said of a field without its plane's other fields.
std::optional<Error> verifyField(const FormatDescription &description,
                                 const Use &use);

/// A number whose codes have `width` bits, of which one in `vector` entries is
/// meant.
std::optional<Error> verifyNumber(const std::string &name, const Number &number,
                                  unsigned width, unsigned vector = 1);

/// What a factor demands of its numbers: no demand that another implies, and
/// none that says something about elements which are not stored.
std::optional<Error> verifyDemands(const FormatDescription &description,
                                   const std::string &name,
                                   const Factor &factor, bool isScale);
/// Illegal codes: ascending, codes of the field, and not all of them.
std::optional<Error> verifyIllegalCodes(const FormatDescription &description);

/// The bits that the fields of plane number `plane` claim: inside it, and no
/// two values the same.
std::optional<Error> verifyAddresses(const FormatDescription &description,
                                     const std::vector<Use> &uses,
                                     unsigned plane);

} // namespace grit::verifier

#endif // GRIT_LIB_FORMAT_DESCRIPTIONVERIFIER_H
