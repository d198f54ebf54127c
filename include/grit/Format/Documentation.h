//===- Documentation.h - tables from the descriptions -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_DOCUMENTATION_H
#define GRIT_FORMAT_DOCUMENTATION_H

#include "grit/Format/Contract.h"
#include <string>

namespace grit {

/// "144 B per 256", "4 B": what a plane holds.
std::string describePlane(const PlaneInfo &plane);
/// "u4 - 8", "(2 u4 + 1) x 2^-3", "table of 16".
std::string describeNumber(const Number &number);
/// "per 32", "per 64 of the axis", "whole array": the elements of a group.
std::string describeGroup(const Factor &factor);
/// "table of 256 in vectors of 8, signs": what a code stands for.
std::string describeLevel(const FormatDescription &description);

/// A Markdown table of the registered contracts: name, bits per element,
/// planes, groups, levels, scales, offset and id, each read off the
/// description. docs/Formats.md holds it, and a test compares the two.
std::string documentationTable();

} // namespace grit

#endif // GRIT_FORMAT_DOCUMENTATION_H
