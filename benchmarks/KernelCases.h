//===- KernelCases.h - compiled kernels whose results are right -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a kernel with its operands, compiled in this process and run once:
// decode must be exact, matmul near sums in binary64, and a relayout must come
// back. What is timed, and what a test runs, is such a case.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_BENCHMARKS_KERNELCASES_H
#define GRIT_BENCHMARKS_KERNELCASES_H

#include "grit-c/grit.h"
#include "grit/Format/Status.h"
#include <functional>
#include <string>

namespace grit::bench {

struct Extents {
  int64_t rows, columns;
};

struct KernelCase {
  std::function<grit_status_t()> call;
  int threads;
  double bytes; ///< that a call reads and writes
  double flops; ///< 0 where no products are made
};

/// The array to binary32.
Expected<KernelCase> decodeCase(const std::string &contract, Extents extents,
                                int threads);

/// y += x w^T with `n` rows of x in binary32.
Expected<KernelCase> matmulCase(const std::string &contract, Extents extents,
                                int64_t n, int threads);

/// To tiles and swizzled scales, on one thread.
Expected<KernelCase> relayoutCase(const std::string &contract, Extents extents);

} // namespace grit::bench

#endif // GRIT_BENCHMARKS_KERNELCASES_H
