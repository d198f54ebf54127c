//===- GradeFuzzer.cpp - any text as a grade and as a contract -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Contract.h"
#include <cstdlib>

using namespace grit;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<Grade> grade = Grade::parse(text);
  if (grade) {
    // The canonical string is a fixed point, and the projection is no grade.
    Expected<Grade> again = Grade::parse(grade->canonical());
    require(again && *again == *grade);
    require(again->canonical() == grade->canonical());
    require(!Grade::parse(grade->decodeProjection()));
  } else {
    require(!grade.error().message.empty() && !grade.error().str().empty());
  }

  Expected<Contract> contract = Contract::parse(text);
  if (!contract) {
    require(!contract.error().message.empty());
    return 0;
  }
  require(!validate(contract->description()));
  Expected<Contract> again = Contract::parse(contract->name());
  require(again && again->id() == contract->id());
  int64_t extent = contract->description().axisMultiple;
  if (Expected<ArraySpec> spec = ArraySpec::get(*contract, {extent}))
    (void)spec->planeSizes();
  return 0;
}
