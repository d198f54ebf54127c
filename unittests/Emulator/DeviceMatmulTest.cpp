//===- DeviceMatmulTest.cpp - matmul on the emulated device -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"
#include <cmath>

using namespace grit;
using namespace grit::emulator;
using namespace grit::test;

namespace {
/// A matmul with its operands and what is known of its result.
struct MatmulData {
  MatmulData(const std::string &contractName, MatmulCase test, uint64_t seed);
  /// y as the device computes it.
  std::vector<float> runOnDevice(uint64_t schedule) const;
  void checkWithinBound(const std::vector<float> &found) const;

  MatmulCase test;
  int64_t rows = 1;
  ArraySpec weight;
  std::vector<Bytes> planes;
  std::vector<float> x, w, y;
};
} // namespace

MatmulData::MatmulData(const std::string &contractName, MatmulCase testCase,
                       uint64_t seed)
    : test(std::move(testCase)),
      weight(take(
          ArraySpec::get(contract(contractName), {test.columns, test.k}))) {
  Random random(seed);
  for (int64_t extent : test.rows)
    rows *= extent;
  // Encoded, so that all values are ordinary ones.
  planes = take(encode(weight, randomFloats(test.columns * test.k, random)));
  w = decodeAll(weight, planes);
  auto rounded = [&](size_t count, const std::string &element) {
    Bytes bytes = stored(randomFloats(count, random), element);
    return loaded(DeviceMemory("", bytes.data(), bytes.size()), count, element);
  };
  x = rounded(rows * test.k, test.x);
  y = rounded(rows * test.columns, test.y);
}

std::vector<float> MatmulData::runOnDevice(uint64_t schedule) const {
  std::unique_ptr<Program> program = compiled(matmulText(test, weight));
  Bytes xBytes = stored(x, test.x), yBytes = stored(y, test.y);
  std::vector<DeviceMemory> memories;
  memories.emplace_back("x", xBytes.data(), xBytes.size());
  for (DeviceMemory &plane : upload(weight, planes))
    memories.push_back(std::move(plane));
  memories.emplace_back("y", yBytes.data(), yBytes.size());
  std::vector<Buffer> arguments = buffersOf(memories);
  EXPECT_EQ(llvm::toString(program->run("f", arguments, schedule)), "");
  return loaded(memories.back(), y.size(), test.y);
}

void MatmulData::checkWithinBound(const std::vector<float> &found) const {
  // Half an ulp of the destination, for its one rounding.
  double ulp = test.y == "bf16" ? 0x1p-9 : test.y == "f16" ? 0x1p-12 : 0x1p-25;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < test.columns; ++n) {
      int64_t at = m * test.columns + n;
      double sum = y[at], magnitude = std::fabs(y[at]);
      for (int64_t k = 0; k < test.k; ++k) {
        double product = double(x[m * test.k + k]) * w[n * test.k + k];
        sum += product;
        magnitude += std::fabs(product);
      }
      double bound = test.k * 0x1p-24 * magnitude + 2 * ulp * std::fabs(sum);
      double error = std::fabs(found[at] - sum);
      // A NaN fails as well.
      EXPECT_TRUE(error <= bound)
          << "y[" << m << ", " << n << "] = " << found[at] << ", expected "
          << sum << " +- " << bound;
    }
}

TEST_P(DeviceKernels, MatmulWithinItsBound) {
  const MatmulCase cases[] = {{{1}, 1, 256},
                              {{1}, 37, 512},
                              {{5}, 3, 768},
                              {{2, 3}, 129, 256},
                              {{3}, 7, 512, "bf16", "f32"},
                              {{3}, 7, 512, "f16", "bf16"},
                              {{3}, 7, 512, "bf16", "f16"}};
  uint64_t seed = 0;
  for (const MatmulCase &test : cases) {
    MatmulData data(GetParam(), test, ++seed);
    std::vector<float> first = data.runOnDevice(kSeeds[0]);
    data.checkWithinBound(first);
    if (seed > 2)
      continue;
    // A schedule must not show.
    for (uint64_t schedule : kSeeds)
      expectSameBits(data.runOnDevice(schedule), first, GetParam());
  }
}

/// `ao = seq` leaves nothing open: the sums are those of a plain loop, in which
/// each product is rounded before it is added (G20).
TEST_P(DeviceKernels, MatmulInSequenceIsExact) {
  MatmulData data(GetParam(),
                  {{2}, 5, 256, "f32", "f32", "accum = #grit.accum<ao = seq>"},
                  7);
  std::vector<float> expected = data.y;
  for (int64_t m = 0; m < 2; ++m)
    for (int64_t n = 0; n < 5; ++n)
      for (int64_t k = 0; k < 256; ++k) {
        float product = data.x[m * 256 + k] * data.w[n * 256 + k];
        expected[m * 5 + n] += product;
      }
  expectSameBits(data.runOnDevice(1), expected, GetParam());
}
