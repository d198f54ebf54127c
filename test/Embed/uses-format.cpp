//===- uses-format.cpp - an outside program on Grit::GritFormat -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Contract.h"
#include <cstdio>

int main() {
  grit::Expected<grit::Contract> contract =
      grit::Contract::parse("GRADE_MXFP4");
  if (!contract) {
    std::fprintf(stderr, "%s\n", contract.error().str().c_str());
    return 1;
  }
  std::printf("%s\n", contract->canonical().c_str());
  return 0;
}
