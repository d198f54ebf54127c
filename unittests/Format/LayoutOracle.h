//===- LayoutOracle.h - layouts by the table of the text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random expressions that fit a matrix, each with its slots worked out index by
// index. Nothing here knows the algebra.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_LAYOUTORACLE_H
#define GRIT_UNITTESTS_FORMAT_LAYOUTORACLE_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace grit::test {

/// An expression and the slot of every index of a rows x columns matrix.
struct LayoutSample {
  std::string text;
  int64_t rows = 0, columns = 0;
  int64_t wide = 0; ///< columns of the slots
  std::vector<int64_t> slots;
};

class LayoutSampler {
public:
  explicit LayoutSampler(uint32_t seed) : engine(seed) {}

  /// A matrix whose extents have many divisors.
  void pickExtents(int64_t &rows, int64_t &columns);
  /// An expression that fits, with at most `depth` others inside each other.
  LayoutSample pick(int64_t rows, int64_t columns, int depth, bool mayPad);

private:
  int64_t below(int64_t limit);
  int64_t divisorOf(int64_t number);
  LayoutSample simple(int64_t rows, int64_t columns, bool mayPad);
  LayoutSample colMajor(LayoutSample base);
  LayoutSample swizzle(LayoutSample base);
  LayoutSample perm(LayoutSample base);
  LayoutSample pad(LayoutSample base);
  LayoutSample tile(LayoutSample base, int depth);
  LayoutSample interleave(int64_t rows, int64_t columns, int depth,
                          bool mayPad);
  LayoutSample compose(int64_t rows, int64_t columns, int depth, bool mayPad);

  std::mt19937 engine;
};

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_LAYOUTORACLE_H
