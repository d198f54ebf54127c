//===- Explain.h - what tells two contracts apart -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_SCAN_EXPLAIN_H
#define GRIT_SCAN_EXPLAIN_H

#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit::scan {

/// One side of a comparison, as much of it as its spelling tells.
struct Subject {
  std::string text; ///< as it was given
  std::optional<Contract> contract;
  std::optional<DescriptorBytes> descriptor; ///< written down, not derived
  std::optional<std::array<uint8_t, 16>> gid;
  std::optional<ArraySpec> array; ///< with a shape
};

/// Reads "path::tensor", a path with one array, 128 hexadecimal digits, a
/// registered name, a grade string, a 16-digit contract id ("0x...") or a gid.
Expected<Subject> readSubject(const std::string &text);

struct FieldDifference {
  std::string field, a, b;
};

struct Explanation {
  std::vector<FieldDifference> fields; ///< what differs, in a fixed order
  /// One sentence: what the difference means for the bytes.
  std::string meaning;
  bool sameBytes = false; ///< the same bytes decode to the same numbers
};

Explanation explain(const Subject &a, const Subject &b);

} // namespace grit::scan

#endif // GRIT_SCAN_EXPLAIN_H
