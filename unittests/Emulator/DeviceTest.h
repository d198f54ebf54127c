//===- DeviceTest.h - device kernels in memory, on numbers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_DEVICETEST_H
#define GRIT_UNITTESTS_EMULATOR_DEVICETEST_H

#include "FormatTestUtils.h"
#include "Program.h"

namespace grit::emulator {

/// Schedules to try.
inline constexpr uint64_t kSeeds[] = {0, 1, 2, 3};

/// Memory that starts, as a device allocation does, at a multiple of 16.
class DeviceMemory {
public:
  DeviceMemory(std::string name, const void *data, size_t bytes)
      : name(std::move(name)), words((bytes + 15) / 16), bytes(bytes) {
    std::memcpy(words.data(), data, bytes);
  }
  Buffer buffer() {
    return {std::as_writable_bytes(std::span(words)).first(bytes), name};
  }
  const void *data() const { return words.data(); }

private:
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  std::string name;
  std::vector<Word> words;
  size_t bytes;
};

/// The planes of an array in device memory.
std::vector<DeviceMemory> upload(const ArraySpec &spec,
                                 const std::vector<test::Bytes> &planes);
std::vector<Buffer> buffersOf(std::vector<DeviceMemory> &memories);

/// @f(%a, %init): what decode makes of an array.
std::string decodeText(const ArraySpec &spec, const std::string &element);

struct MatmulCase {
  std::vector<int64_t> rows; ///< leading extents of the activations
  int64_t columns = 1, k = 1;
  std::string x = "f32", y = "f32", accum = "";
};

/// @f(%x, %w, %y).
std::string matmulText(const MatmulCase &test, const ArraySpec &weight);

/// The program of a text; ends the process when it is refused.
std::unique_ptr<Program> compiled(const std::string &text);

/// Size of "f32", "bf16" or "f16".
size_t bytesOf(const std::string &element);

/// Numbers in memory as "f32", "bf16" or "f16", each rounded to nearest even.
test::Bytes stored(const std::vector<float> &values,
                   const std::string &element);
std::vector<float> loaded(const DeviceMemory &memory, size_t count,
                          const std::string &element);

/// Numbers between -1 and 1.
std::vector<float> randomFloats(size_t count, test::Random &random);

/// One instance for each registered contract.
class DeviceKernels : public testing::TestWithParam<std::string> {};
std::string instanceName(const testing::TestParamInfo<std::string> &info);

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_DEVICETEST_H
