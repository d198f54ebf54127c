//===- ArrayGroups.h - elements that must stay together -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ARRAYGROUPS_H
#define GRIT_LIB_FORMAT_ARRAYGROUPS_H

#include "grit/Format/Contract.h"
#include <span>
#include <string>
#include <vector>

namespace grit {

/// Consecutive elements that share something, counted in `order`.
struct ArrayGroup {
  std::string name; ///< "the runs", "the groups of scale0"
  int64_t size = 1; ///< elements
  ElementOrder order = ElementOrder::RowMajor;
};

/// Every kind of group that an array has. Factors of the whole array make none.
std::vector<ArrayGroup> groupsOf(const FormatDescription &description);

/// concatOf for somebody who has shown that factors of the whole array are the
/// same in all parts.
Expected<ArraySpec> concatOfParts(std::span<const ArraySpec> parts, int axis);

} // namespace grit

#endif // GRIT_LIB_FORMAT_ARRAYGROUPS_H
