//===- ImportanceFuzzer.cpp - any bytes as an importance matrix -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContainerFuzzer.h"
#include "grit/Container/Importance.h"
#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using grit::fuzz::require;
  auto read = grit::ImportanceFile::read(grit::MappedFile::ofBytes(
      std::vector<uint8_t>(data, data + size), "fuzz"));
  if (!read) {
    require(!read.error().message.empty() && !read.error().field.empty());
    return 0;
  }
  require(!read->entries().empty());
  size_t values = 0;
  for (const grit::ImportanceFile::Entry &entry : read->entries()) {
    require(read->find(entry.name) == &entry && !entry.weights.empty());
    for (float weight : entry.weights)
      require(weight >= 0 && std::isfinite(weight));
    values += entry.weights.size();
  }
  require(values * sizeof(float) <= size);
  return 0;
}
