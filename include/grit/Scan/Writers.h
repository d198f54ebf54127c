//===- Writers.h - reports as text, JSON, SARIF and HTML -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_SCAN_WRITERS_H
#define GRIT_SCAN_WRITERS_H

#include "grit/Scan/Scan.h"

namespace grit::scan {

/// For a terminal: a line per file that could not be read, the findings with
/// cause and fix, a summary.
std::string writeText(const Report &report);
/// A name for the list of findings where it has no address.
inline constexpr std::string_view kFindingsUrn = "urn:grit:findings";
/// The version of the object that writeJson makes.
inline constexpr int kJsonVersion = 1;
/// `simple` says which of the two exit codes is in force, `mildest` what counts
/// in them.
std::string writeJson(const Report &report, bool simple,
                      Severity mildest = Severity::Warning);
/// SARIF 2.1.0. `documentation` is the address of the list of findings, to
/// which "#" and an id are added.
std::string writeSarif(const Report &report, std::string_view toolVersion,
                       std::string_view documentation = kFindingsUrn);
/// One page without outside parts; readable without scripts.
std::string writeHtml(const Report &report, std::string_view toolVersion);

} // namespace grit::scan

#endif // GRIT_SCAN_WRITERS_H
