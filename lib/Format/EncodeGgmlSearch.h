//===- EncodeGgmlSearch.h - the searches for scales of ggml -*- C++ -*-====//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml finds. All sums run in the order of the elements and
// every product is rounded, as in the reference: the result depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEGGMLSEARCH_H
#define GRIT_LIB_FORMAT_ENCODEGGMLSEARCH_H

#include "EncodeRules.h"

#include <algorithm>
#include <bit>

namespace grit {

/// Groups that are smaller than this everywhere become zero.
inline constexpr float kLeastMax = 1e-15f;

/// The nearest integer, ties to even, by adding 1.5 * 2^23: meant for small
/// arguments, and for others whatever is left in the low bits.
inline int nearestInt(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x + 12582912.0f);
  return static_cast<int>(bits & 0x007FFFFF) - 0x00400000;
}

inline int clampedInt(float x, int most) {
  return std::max(0, std::min(most, nearestInt(x)));
}

/// The value of largest magnitude, the first of equals; 0 for zeros.
float signedMax(std::span<const float> values);

float sumOfSquares(std::span<const float> x);

/// True for integers of at most 8 bits whose values are symmetric, but for the
/// lowest.
bool isSymmetricInteger(const Number &number);

/// importance[i] * sqrt(meanSquare + x[i]^2).
std::vector<float> importanceWeights(std::span<const float> importance,
                                     std::span<const float> x,
                                     float meanSquare);

//===----------------------------------------------------------------------===//
// The line of one group
//===----------------------------------------------------------------------===//

/// value = scale * code - offset.
struct Line {
  float scale = 0, offset = 0;
};

/// The guesses for codes per unit of value: (first + step * i + maxCode) /
/// range for i = 0 .. last.
struct Guesses {
  float first, step;
  int last;
};

/// Those of every search under importance.
inline constexpr Guesses kWeightedGuesses{-0.9f, 0.05f, 36};

/// The search for the best line of one group: by weighted squares, or by
/// weighted distances.
class LineSearch {
public:
  LineSearch(std::span<const float> x, std::span<const float> weights,
             int maxCode, std::span<uint8_t> codes, std::span<uint8_t> trial,
             bool byDistance = false)
      : x(x), weights(weights), maxCode(maxCode), codes(codes), trial(trial),
        byDistance(byDistance) {}

  Line run(const Guesses &guesses);

private:
  void sumValues();
  void tryGuess(float codesPerUnit);
  float errorOf(float scale, float min, std::span<const uint8_t> codes) const;

  std::span<const float> x, weights;
  int maxCode;
  std::span<uint8_t> codes, trial;
  bool byDistance;
  float min = 0, max = 0, sumW = 0, sumX = 0;
  float scale = 0, bestError = 0;
};

//===----------------------------------------------------------------------===//
// One scale
//===----------------------------------------------------------------------===//

/// The best scale for codes 0 to `most` of numbers that are not negative.
float searchPositive(std::span<const float> x, std::span<const float> weights,
                     int most, std::span<uint32_t> codes);

/// The same for numbers of which a few may be negative, and codes that wrap in
/// a byte: the scale alone.
float searchWrapping(std::span<const float> x, std::span<const float> weights,
                     int most);

/// The best scale for integers -half to half - 1, whose codes are `half` more;
/// all codes are 0 where x is. No weights: the squares.
float searchSymmetric(std::span<const float> x, std::span<const float> weights,
                      int half, std::span<uint8_t> codes);

/// The same from a single guess, by moving one code after the other while that
/// fits the squares better.
float refineSymmetric(std::span<const float> x, int half,
                      std::span<uint8_t> codes);

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEGGMLSEARCH_H
