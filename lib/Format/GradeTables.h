//===- GradeTables.h - spellings of grade values -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_GRADETABLES_H
#define GRIT_LIB_FORMAT_GRADETABLES_H

#include <span>
#include <string_view>

namespace grit {

/// One accepted spelling of a token. A spelling that is refused on purpose has
/// no token and says why.
struct Spelling {
  std::string_view text, token, whyNot = {};
};

/// The values of one kind of key.
struct Domain {
  std::string_view name; ///< for messages: "rounding", ...
  std::span<const Spelling> spellings;

  const Spelling *lookup(std::string_view text) const {
    for (const Spelling &spelling : spellings)
      if (spelling.text == text)
        return &spelling;
    return nullptr;
  }
};

namespace domains {
extern const Domain Format, Rounding, Saturation, ScaleRule, Subnormal, Order,
    ZeroPointCode, ZeroPointScale, Container, PackingOrder, IndexOrder;
} // namespace domains

} // namespace grit

#endif // GRIT_LIB_FORMAT_GRADETABLES_H
