//===- SafetensorsFuzzer.cpp - any bytes as a safetensors file -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContainerFuzzer.h"
#include "grit/Container/Safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  grit::fuzz::openAndRead<grit::SafetensorsReader>(data, size);
  return 0;
}
