//===- EncodeGgmlSearch.cpp - the searches for scales of ggml -------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeGgmlSearch.h"

using namespace grit;

float grit::signedMax(std::span<const float> values) {
  float amax = 0, result = 0;
  for (float v : values)
    if (amax < std::fabs(v)) {
      amax = std::fabs(v);
      result = v;
    }
  return result;
}

float grit::sumOfSquares(std::span<const float> x) {
  float sum = 0;
  for (float v : x)
    sum += v * v;
  return sum;
}

bool grit::isSymmetricInteger(const Number &number) {
  if (number.isTable() || !number.word.isInteger() || number.times != 1 ||
      number.exp2 != 0 || number.word.width() > 8)
    return false;
  const int64_t half = int64_t(1) << (number.word.width() - 1);
  return number.plus == (number.word.isUnsigned() ? -half : 0);
}

std::vector<float> grit::importanceWeights(std::span<const float> importance,
                                           std::span<const float> x,
                                           float meanSquare) {
  std::vector<float> weights(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    weights[i] = importance[i] * std::sqrt(meanSquare + x[i] * x[i]);
  return weights;
}

//===----------------------------------------------------------------------===//
// The line of one group
//===----------------------------------------------------------------------===//

void LineSearch::sumValues() {
  min = max = x[0];
  sumW = weights[0];
  sumX = weights[0] * x[0];
  for (size_t i = 1; i < x.size(); ++i) {
    min = x[i] < min ? x[i] : min;
    max = x[i] > max ? x[i] : max;
    sumW += weights[i];
    sumX += weights[i] * x[i];
  }
  if (min > 0)
    min = 0;
}

float LineSearch::errorOf(float scale, float min,
                          std::span<const uint8_t> codes) const {
  float error = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    float difference = scale * static_cast<float>(codes[i]) + min - x[i];
    error += weights[i] *
             (byDistance ? std::fabs(difference) : difference * difference);
  }
  return error;
}

void LineSearch::tryGuess(float codesPerUnit) {
  float sumL = 0, sumLL = 0, sumXL = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    int code = clampedInt(codesPerUnit * (x[i] - min), maxCode);
    trial[i] = static_cast<uint8_t>(code);
    float l = static_cast<float>(code), weighted = weights[i] * l;
    sumL += weighted;
    sumLL += weighted * l;
    sumXL += weighted * x[i];
  }
  float determinant = sumW * sumLL - sumL * sumL;
  if (!(determinant > 0))
    return;
  float trialScale = (sumW * sumXL - sumX * sumL) / determinant;
  float trialMin = (sumLL * sumX - sumL * sumXL) / determinant;
  if (trialMin > 0) {
    trialMin = 0;
    trialScale = sumXL / sumLL;
  }
  float error = errorOf(trialScale, trialMin, trial);
  if (error < bestError) {
    std::ranges::copy(trial, codes.begin());
    bestError = error;
    scale = trialScale;
    min = trialMin;
  }
}

Line LineSearch::run(const Guesses &guesses) {
  sumValues();
  if (max <= min) {
    std::ranges::fill(codes, 0);
    return {0, -min};
  }
  const float most = static_cast<float>(maxCode);
  const float codesPerUnit = most / (max - min);
  scale = 1 / codesPerUnit;
  for (size_t i = 0; i < x.size(); ++i)
    codes[i] =
        static_cast<uint8_t>(clampedInt(codesPerUnit * (x[i] - min), maxCode));
  bestError = errorOf(scale, min, codes);
  // The minimum of the best line so far shifts the guesses that follow.
  for (int i = 0; i <= guesses.last; ++i)
    tryGuess((guesses.first + guesses.step * static_cast<float>(i) + most) /
             (max - min));
  return {scale, -min};
}

//===----------------------------------------------------------------------===//
// One scale, no signs
//===----------------------------------------------------------------------===//

namespace {
/// Quantizes numbers under one scale. Where they may be negative, codes are the
/// reference's bytes, which wrap. Elsewhere negative numbers come from groups
/// that rounding or weights of zero have spoilt: the reference lets their codes
/// wrap into their neighbours' bits; here they become 0.
struct FactorSearch {
  std::span<const float> x, weights;
  int most;
  std::span<uint32_t> codes;
  bool wraps = false;

  float run();

private:
  /// The integer of a quotient, and the code that is kept of it.
  int rounded(float quotient) const {
    int integer = std::min(most, nearestInt(quotient));
    return wraps ? integer : std::max(0, integer);
  }
  static uint32_t kept(int integer) { return static_cast<uint8_t>(integer); }
  float bestReciprocal(float max) const;
  bool refine(float &sumLX, float &sumLL);
};
} // namespace

/// The best of nine guesses by weighted squared error.
float FactorSearch::bestReciprocal(float max) const {
  const float most = static_cast<float>(this->most);
  float best = most / max, leastError = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    float code = static_cast<float>(kept(rounded(best * x[i])));
    float difference = x[i] - 1 / best * code;
    leastError += weights[i] * difference * difference;
  }
  for (int guess = -4; guess <= 4; ++guess) {
    if (guess == 0)
      continue;
    float reciprocal = (0.1f * static_cast<float>(guess) + most) / max;
    float scale = 1 / reciprocal, error = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      float difference =
          x[i] - scale * static_cast<float>(rounded(reciprocal * x[i]));
      error += weights[i] * difference * difference;
    }
    if (error < leastError) {
      leastError = error;
      best = reciprocal;
    }
  }
  return best;
}

/// Moves single codes where that fits better. True when one has moved.
bool FactorSearch::refine(float &sumLX, float &sumLL) {
  bool changed = false;
  for (size_t i = 0; i < x.size(); ++i) {
    float w = weights[i], l = static_cast<float>(codes[i]);
    float lx = sumLX - w * x[i] * l, ll = sumLL - w * l * l;
    if (!(lx > 0 && ll > 0))
      continue;
    int code = rounded(x[i] * ll / lx);
    if (code == static_cast<int>(codes[i]))
      continue;
    float moved = static_cast<float>(code);
    lx += w * x[i] * moved;
    ll += w * moved * moved;
    if (lx * lx * sumLL > sumLX * sumLX * ll) {
      codes[i] = kept(code);
      sumLX = lx;
      sumLL = ll;
      changed = true;
    }
  }
  return changed;
}

float FactorSearch::run() {
  float max = 0;
  for (float v : x)
    max = max > v ? max : v;
  if (max < kLeastMax) {
    std::ranges::fill(codes, 0);
    return 0;
  }
  float reciprocal = bestReciprocal(max), sumLX = 0, sumLL = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    int code = rounded(reciprocal * x[i]);
    codes[i] = kept(code);
    float l = static_cast<float>(code);
    sumLX += weights[i] * x[i] * l;
    sumLL += weights[i] * l * l;
  }
  for (int round = 0; round < 5; ++round)
    if (!refine(sumLX, sumLL))
      break;
  return sumLL > 0 ? sumLX / sumLL : 0;
}

float grit::searchPositive(std::span<const float> x,
                           std::span<const float> weights, int most,
                           std::span<uint32_t> codes) {
  return FactorSearch{x, weights, most, codes}.run();
}

float grit::searchWrapping(std::span<const float> x,
                           std::span<const float> weights, int most) {
  std::vector<uint32_t> codes(x.size());
  return FactorSearch{x, weights, most, codes, true}.run();
}

//===----------------------------------------------------------------------===//
// One scale, both signs
//===----------------------------------------------------------------------===//

namespace {
/// Sums over a group of weight * integer * (value, integer).
struct Sums {
  float lx = 0, ll = 0;
};

struct SymmetricSearch {
  std::span<const float> x, weights;
  int half;
  std::span<uint8_t> codes;

  float search();
  float refine();

private:
  float weightOf(size_t i) const {
    return weights.empty() ? x[i] * x[i] : weights[i];
  }
  int rounded(float y) const {
    return std::max(-half, std::min(half - 1, nearestInt(y)));
  }
  void store(float reciprocal) {
    for (size_t i = 0; i < x.size(); ++i)
      codes[i] = static_cast<uint8_t>(rounded(reciprocal * x[i]) + half);
  }
  Sums sumsOf(float reciprocal) const;
  bool moveCodes(Sums &sums);
};
} // namespace

Sums SymmetricSearch::sumsOf(float reciprocal) const {
  Sums sums;
  for (size_t i = 0; i < x.size(); ++i) {
    float l = static_cast<float>(rounded(reciprocal * x[i]));
    float w = weightOf(i);
    sums.lx += w * x[i] * l;
    sums.ll += w * l * l;
  }
  return sums;
}

float SymmetricSearch::search() {
  const float max = signedMax(x), most = static_cast<float>(half);
  if (std::fabs(max) < kLeastMax) {
    std::ranges::fill(codes, 0);
    return 0;
  }
  float reciprocal = -most / max;
  Sums sums = sumsOf(reciprocal);
  store(reciprocal);
  float scale = sums.ll != 0 ? sums.lx / sums.ll : 0;
  float best = scale * sums.lx;
  for (int guess = -9; guess <= 9; ++guess) {
    if (guess == 0)
      continue;
    reciprocal = -(most + 0.1f * static_cast<float>(guess)) / max;
    sums = sumsOf(reciprocal);
    if (sums.ll > 0 && sums.lx * sums.lx > best * sums.ll) {
      store(reciprocal);
      scale = sums.lx / sums.ll;
      best = scale * sums.lx;
    }
  }
  return scale;
}

/// Moves single codes where that fits better. True when one has moved.
bool SymmetricSearch::moveCodes(Sums &sums) {
  bool changed = false;
  for (size_t i = 0; i < x.size(); ++i) {
    float w = x[i] * x[i], l = static_cast<float>(codes[i] - half);
    float lx = sums.lx - w * x[i] * l;
    if (!(lx > 0))
      continue;
    float ll = sums.ll - w * l * l;
    int code = rounded(x[i] * ll / lx) + half;
    if (code == codes[i])
      continue;
    float moved = static_cast<float>(code - half);
    lx += w * x[i] * moved;
    ll += w * moved * moved;
    if (ll > 0 && lx * lx * sums.ll > sums.lx * sums.lx * ll) {
      codes[i] = static_cast<uint8_t>(code);
      sums = {lx, ll};
      changed = true;
    }
  }
  return changed;
}

float SymmetricSearch::refine() {
  const float max = signedMax(x);
  if (std::fabs(max) < kLeastMax) {
    std::ranges::fill(codes, 0);
    return 0;
  }
  const float reciprocal = static_cast<float>(-half) / max;
  Sums sums = sumsOf(reciprocal);
  store(reciprocal);
  for (int round = 0; round < 5; ++round)
    if (!moveCodes(sums))
      break;
  return sums.ll > 0 ? sums.lx / sums.ll : 0;
}

float grit::searchSymmetric(std::span<const float> x,
                            std::span<const float> weights, int half,
                            std::span<uint8_t> codes) {
  return SymmetricSearch{x, weights, half, codes}.search();
}

float grit::refineSymmetric(std::span<const float> x, int half,
                            std::span<uint8_t> codes) {
  return SymmetricSearch{x, {}, half, codes}.refine();
}
