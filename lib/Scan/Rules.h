//===- Rules.h - the tables of rules -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_RULES_H
#define GRIT_LIB_SCAN_RULES_H

#include "grit/Scan/Finding.h"

namespace grit::scan {

std::span<const Rule> rulesOfFiles();
std::span<const Rule> rulesOfModels();
std::span<const Rule> rulesOfContents();

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_RULES_H
