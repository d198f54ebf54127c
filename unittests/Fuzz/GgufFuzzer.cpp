//===- GgufFuzzer.cpp - any bytes as a GGUF file -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContainerFuzzer.h"
#include "grit/Container/Gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  grit::fuzz::openAndRead<grit::GgufReader>(data, size);
  return 0;
}
