//===- Weights.h - arrays to run kernels on -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_BENCHMARKS_WEIGHTS_H
#define GRIT_BENCHMARKS_WEIGHTS_H

#include "grit-c/grit.h"
#include "grit/Format/Contract.h"
#include <cstdint>
#include <string>
#include <vector>

namespace grit::bench {

/// Numbers between -1 and 1 that look random and are the same everywhere.
std::vector<float> numbers(int64_t count, uint32_t seed);

/// A matrix under a contract, with its planes.
struct Weights {
  grit_array_view_t view;
  std::vector<std::vector<uint8_t>> planes;
  std::vector<float> decoded;
  int64_t numBytes = 0;
};

/// A matrix with planes of zeros, not decoded.
Expected<Weights> emptyWeights(const std::string &contract, int64_t rows,
                               int64_t columns);

/// A matrix of finite numbers: encoded, or, under a contract without an
/// encoder, random codes under random scales of ordinary size.
Expected<Weights> makeWeights(const std::string &contract, int64_t rows,
                              int64_t columns);

} // namespace grit::bench

#endif // GRIT_BENCHMARKS_WEIGHTS_H
