//===- EncodeTable.h - codes by the midpoints of a table -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODETABLE_H
#define GRIT_LIB_FORMAT_ENCODETABLE_H

#include "EncodeRules.h"

namespace grit {

/// The code of the level that is nearest, in [-1, 1]: of the levels in
/// ascending order, equal ones by their codes, the one after the last midpoint
/// below. Equal to a midpoint keeps the lower level.
StepTable midpointSteps(std::span<const float> levels);

/// Codes of values under a scale of `m`.
void encodeByMidpoints(const StepTable &steps, std::span<const float> values,
                       float m, std::span<uint8_t> codes);

/// Nothing, or why the levels are none of at most 256, the largest magnitude 1.
std::optional<Error> checkTable(const FormatDescription &format,
                                std::string_view rule);

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODETABLE_H
