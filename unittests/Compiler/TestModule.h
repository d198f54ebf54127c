//===- TestModule.h - modules, arrays and tensors for tests -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_COMPILER_TESTMODULE_H
#define GRIT_UNITTESTS_COMPILER_TESTMODULE_H

#include "grit-c/grit.h"
#include "grit/Format/Contract.h"
#include <random>
#include <string>
#include <vector>

namespace grit::test {

/// "#grit.grade<mxfp4>" or "#grit.format<gguf.q4_k>".
std::string attributeOf(const Contract &contract);
/// "!grit.array<4x?x...>"; a negative extent is dynamic.
std::string arrayType(const Contract &contract, std::vector<int64_t> shape);
std::string tensorType(const char *element, std::vector<int64_t> shape);

/// `func.func @decode(%a, %y)` for the given (maybe dynamic) shape.
std::string decodeSource(const Contract &contract, std::vector<int64_t> shape,
                         const char *element = "f32");
/// `func.func @matmul(%x, %w, %y)` with extents M, N, K.
std::string matmulSource(const Contract &contract, int64_t m, int64_t n,
                         int64_t k);

/// An array with memory of its own.
struct Array {
  Array(const Contract &contract, std::vector<int64_t> shape);
  /// Quantizes normally distributed values.
  void quantize(std::mt19937 &random);
  /// Any bytes: every code and every scale code occurs.
  void scramble(std::mt19937 &random);
  std::vector<float> values() const;
  /// The planes of the view.
  void **planes();

  Contract contract;
  std::vector<int64_t> shape;
  grit_array_view_t view = {};
  std::vector<std::vector<uint8_t>> memory;
};

/// A tensor of binary32.
struct Tensor {
  explicit Tensor(std::vector<int64_t> shape);
  void fill(std::mt19937 &random);

  std::vector<float> values;
  grit_tensor_view_t view = {};
};

int64_t product(const std::vector<int64_t> &shape);

} // namespace grit::test

#endif // GRIT_UNITTESTS_COMPILER_TESTMODULE_H
