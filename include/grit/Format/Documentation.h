//===- Documentation.h - tables from the descriptions -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_DOCUMENTATION_H
#define GRIT_FORMAT_DOCUMENTATION_H

#include <string>

namespace grit {

/// A Markdown table of the registered contracts: name, bits per element,
/// planes, groups, levels, scales, offset and id, each read off the
/// description. docs/Formats.md holds it, and a test compares the two.
std::string documentationTable();

} // namespace grit

#endif // GRIT_FORMAT_DOCUMENTATION_H
