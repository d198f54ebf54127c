//===- KernelCasesTest.cpp - the results that benchmarks time ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The benchmarks refuse to time a kernel with a wrong result. Here every one of
// them is asked for that, on a small matrix and without a clock.
//
//===----------------------------------------------------------------------===//

#include "KernelCases.h"
#include "grit/Format/Contract.h"
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::bench;

static void expectRight(const Expected<KernelCase> &kernel) {
  EXPECT_TRUE(kernel.has_value()) << (kernel ? "" : kernel.error().str());
}

class BenchmarkCases : public testing::TestWithParam<std::string> {};

TEST_P(BenchmarkCases, AreRight) {
  constexpr Extents extents = {128, 512};
  expectRight(decodeCase(GetParam(), extents, 1));
  expectRight(matmulCase(GetParam(), extents, 1, 1));
  expectRight(matmulCase(GetParam(), extents, 9, 2));
}

INSTANTIATE_TEST_SUITE_P(All, BenchmarkCases,
                         testing::ValuesIn(registeredContractNames()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (c == '.')
                               c = '_';
                           return name;
                         });

TEST(BenchmarkRelayout, ComesBack) {
  for (const char *contract : {"mxfp4", "nvf4"})
    expectRight(relayoutCase(contract, {256, 512}));
}
