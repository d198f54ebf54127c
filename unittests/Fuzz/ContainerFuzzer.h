//===- ContainerFuzzer.h - any bytes as a tensor file -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FUZZ_CONTAINERFUZZER_H
#define GRIT_UNITTESTS_FUZZ_CONTAINERFUZZER_H

#include "grit/Container/TensorFile.h"
#include <cstdlib>

namespace grit::fuzz {

inline void require(bool condition) {
  if (!condition)
    std::abort();
}

/// Reads every tensor of an open file.
inline void readTensors(const TensorFile &file) {
  file.metadata();
  for (const TensorInfo &tensor : file.tensors()) {
    require(file.find(tensor.name) == &tensor);
    require(tensor.bytes.size() <= file.fileBytes());
    uint64_t sum = 0;
    for (uint8_t byte : tensor.bytes)
      sum += byte;
    require(sum <= 255 * uint64_t(tensor.bytes.size()));
    if (!tensor.array)
      continue;
    size_t total = 0;
    for (ByteSpan plane : tensor.planes())
      total += plane.size();
    require(total == tensor.bytes.size());
    constexpr int64_t kMostValues = 4096;
    int64_t count = tensor.array->numElements();
    if (count > kMostValues)
      continue;
    std::vector<float> values(static_cast<size_t>(count));
    (void)decode(*tensor.array, tensor.planes(), values);
  }
}

/// Opens `bytes` with `Reader`, strictly and collecting problems.
template <typename Reader> void openAndRead(const uint8_t *data, size_t size) {
  auto file = [&] {
    return MappedFile::ofBytes(std::vector<uint8_t>(data, data + size), "fuzz");
  };
  std::vector<Error> problems;
  auto lenient = Reader::open(file(), {.level = 2, .problems = &problems});
  auto strict = Reader::open(file(), {.level = 2, .problems = nullptr});
  // A refusal explains itself, and both ways of opening agree.
  require(bool(strict) == (lenient && problems.empty()));
  if (!strict)
    require(!strict.error().message.empty() && !strict.error().field.empty());
  if (lenient)
    readTensors(**lenient);
}

} // namespace grit::fuzz

#endif // GRIT_UNITTESTS_FUZZ_CONTAINERFUZZER_H
