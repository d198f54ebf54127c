//===- SharedContracts.h - one set of user contracts -*- C++ -*- ===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_COMPILER_SHAREDCONTRACTS_H
#define GRIT_LIB_COMPILER_SHAREDCONTRACTS_H

#include <string>

namespace grit {

/// The format library is in this process twice: in libgrit.so, which compiled
/// functions call, and in the compiler. Registers in each what the other was
/// given; false, and why in `errors`, when a name means two things.
bool shareContracts(std::string &errors);

} // namespace grit

#endif // GRIT_LIB_COMPILER_SHAREDCONTRACTS_H
