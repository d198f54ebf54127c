//===- EncodeGgmlAffine.cpp - the search of ggml for scale and minimum ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte for byte what ggml writes for its 4-bit super-blocks. Each group gets a
// weighted least-squares line for every one of a row of guesses, the best of
// them kept; the lines are then quantized under a common pair of factors.
//
// All sums run in the order of the elements and every product is rounded, as in
// the reference: the result depends on it.
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>
#include <bit>

using namespace grit;

static constexpr std::string_view kName = "ggml affine search";

/// The nearest integer, ties to even, by adding 1.5 * 2^23: meant for small
/// arguments, and for others whatever is left in the low bits.
static inline int nearestInt(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x + 12582912.0f);
  return static_cast<int>(bits & 0x007FFFFF) - 0x00400000;
}

static inline int clampedInt(float x, int most) {
  return std::max(0, std::min(most, nearestInt(x)));
}

//===----------------------------------------------------------------------===//
// The line of one group
//===----------------------------------------------------------------------===//

namespace {
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

/// The search for the best line of one group.
class LineSearch {
public:
  LineSearch(std::span<const float> x, std::span<const float> weights,
             int maxCode, std::span<uint8_t> codes, std::span<uint8_t> trial)
      : x(x), weights(weights), maxCode(maxCode), codes(codes), trial(trial) {}

  Line run(const Guesses &guesses);

private:
  void sumValues();
  void tryGuess(float codesPerUnit);
  float errorOf(float scale, float min, std::span<const uint8_t> codes) const;

  std::span<const float> x, weights;
  int maxCode;
  std::span<uint8_t> codes, trial;
  float min = 0, max = 0, sumW = 0, sumX = 0;
  float scale = 0, bestError = 0;
};
} // namespace

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
    error += weights[i] * (difference * difference);
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
// The factors of a super-block, with importance
//===----------------------------------------------------------------------===//

namespace {
/// Quantizes numbers under one scale. They are not negative, but for groups
/// that rounding or weights of zero have spoilt: the reference lets the codes
/// of these wrap into their neighbours' bits; here they become 0.
struct FactorSearch {
  std::span<const float> x, weights;
  int most;
  std::span<uint32_t> codes;

  float run();

private:
  float bestReciprocal(float max) const;
  bool refine(float &sumLX, float &sumLL);
};
} // namespace

/// The best of nine guesses by weighted squared error.
float FactorSearch::bestReciprocal(float max) const {
  const float most = static_cast<float>(this->most);
  float best = most / max, leastError = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    float code = static_cast<float>(clampedInt(best * x[i], this->most));
    float difference = x[i] - 1 / best * code;
    leastError += weights[i] * difference * difference;
  }
  for (int guess = -4; guess <= 4; ++guess) {
    if (guess == 0)
      continue;
    float reciprocal = (0.1f * static_cast<float>(guess) + most) / max;
    float scale = 1 / reciprocal, error = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      float code =
          static_cast<float>(clampedInt(reciprocal * x[i], this->most));
      float difference = x[i] - scale * code;
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
    uint32_t code = clampedInt(x[i] * ll / lx, most);
    if (code == codes[i])
      continue;
    float moved = static_cast<float>(code);
    lx += w * x[i] * moved;
    ll += w * moved * moved;
    if (lx * lx * sumLL > sumLX * sumLX * ll) {
      codes[i] = code;
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
  if (max < 1e-15f) {
    std::ranges::fill(codes, 0);
    return 0;
  }
  float reciprocal = bestReciprocal(max), sumLX = 0, sumLL = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    codes[i] = clampedInt(reciprocal * x[i], most);
    float l = static_cast<float>(codes[i]);
    sumLX += weights[i] * x[i] * l;
    sumLL += weights[i] * l * l;
  }
  for (int round = 0; round < 5; ++round)
    if (!refine(sumLX, sumLL))
      break;
  return sumLL > 0 ? sumLX / sumLL : 0;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
class AffineSearchRule : public Rule {
public:
  explicit AffineSearchRule(const FormatDescription &format)
      : outerScale(format.scales[0].number),
        outerMin(format.offset.factors[0].number),
        group(format.scales[1].group),
        maxCode(static_cast<int>(maxFinite(format.level.number.word))),
        maxFactor(static_cast<int>(maxFinite(format.scales[1].number.word))) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  /// Per group: its line under one scale and one minimum, and its weight.
  struct Groups {
    std::vector<float> scales, offsets, weights;
  };
  Groups fitGroups(EncodeUnit &unit) const;
  void recode(EncodeUnit &unit) const;

  Number outerScale, outerMin;
  int64_t group;
  int maxCode, maxFactor;
};
} // namespace

static float sumOfSquares(std::span<const float> x) {
  float sum = 0;
  for (float v : x)
    sum += v * v;
  return sum;
}

AffineSearchRule::Groups AffineSearchRule::fitGroups(EncodeUnit &unit) const {
  constexpr Guesses kPlain{-1.0f, 0.1f, 20}, kWeighted{-0.9f, 0.05f, 36};
  const bool weighted = !unit.importance.empty();
  const float sigma2 =
      weighted ? 2 * sumOfSquares(unit.values) / float(unit.values.size()) : 0;
  Groups groups;
  std::vector<float> weights(group);
  std::vector<uint8_t> trial(group);
  for (size_t first = 0; first < unit.values.size(); first += group) {
    auto x = unit.values.subspan(first, group);
    const float rms =
        weighted ? 0 : std::sqrt(sumOfSquares(x) / static_cast<float>(group));
    float sum = 0;
    for (int64_t i = 0; i < group; ++i) {
      weights[i] = weighted ? unit.importance[first + i] *
                                  std::sqrt(sigma2 + x[i] * x[i])
                            : rms + std::fabs(x[i]);
      sum += weights[i];
    }
    Line line =
        LineSearch(x, weights, maxCode, unit.codes.subspan(first, group), trial)
            .run(weighted ? kWeighted : kPlain);
    groups.scales.push_back(line.scale);
    groups.offsets.push_back(line.offset);
    groups.weights.push_back(sum);
  }
  return groups;
}

/// Rounds `x` to codes under the scale max(x) / most, which is returned.
static float roundToMax(std::span<const float> x, int most,
                        std::span<uint32_t> codes) {
  float max = 0;
  for (float v : x)
    max = v > max ? v : max;
  const float reciprocal = max > 0 ? static_cast<float>(most) / max : 0;
  for (size_t i = 0; i < x.size(); ++i)
    codes[i] = std::min<uint32_t>(most, uint8_t(nearestInt(reciprocal * x[i])));
  return max / static_cast<float>(most);
}

void AffineSearchRule::recode(EncodeUnit &unit) const {
  const float d = outerScale.decode(unit.scales[0][0]);
  const float dmin = outerMin.decode(unit.offsets[0][0]);
  for (size_t g = 0; g < unit.scales[1].size(); ++g) {
    const float S = d * static_cast<float>(unit.scales[1][g]);
    if (S == 0)
      continue; // The codes of the search stay.
    const float Z = dmin * static_cast<float>(unit.offsets[1][g]);
    for (size_t i = g * group; i < (g + 1) * group; ++i)
      unit.codes[i] =
          static_cast<uint8_t>(clampedInt((unit.values[i] + Z) / S, maxCode));
  }
}

std::optional<Error> AffineSearchRule::encode(EncodeUnit &unit) const {
  Groups groups = fitGroups(unit);
  auto factor = [&](std::span<const float> x, std::span<uint32_t> codes) {
    return unit.importance.empty()
               ? roundToMax(x, maxFactor, codes)
               : FactorSearch{x, groups.weights, maxFactor, codes}.run();
  };
  float d = factor(groups.scales, unit.scales[1]);
  float dmin = factor(groups.offsets, unit.offsets[1]);
  if (std::isnan(d) || std::isnan(dmin))
    return searchOverflow(unit);
  unit.scales[0][0] = wordCode(outerScale, d, kIeee);
  unit.offsets[0][0] = wordCode(outerMin, dmin, kIeee);
  recode(unit);
  return std::nullopt;
}

/// True for unsigned integers of at most 8 bits: their codes are their values.
static bool isByteInteger(const Number &number) {
  return number.word.isInteger() && number.word.isUnsigned() &&
         number.word.width() <= 8 && number.exp2 == 0;
}

Expected<RulePtr>
grit::makeGgmlAffineSearchRule(const FormatDescription &format) {
  const std::vector<Factor> &scales = format.scales;
  const std::vector<Factor> &mins = format.offset.factors;
  if (format.offset.kind != Offset::Kind::Minimum || scales.size() != 2 ||
      mins.size() != 2)
    return refuseRule(kName, "offset", "a scale and a minimum of two levels",
                      "another structure of scales and offsets");
  if (scales[0].group <= 0 || scales[0].group != mins[0].group ||
      scales[1].group <= 0 || scales[1].group != mins[1].group)
    return refuseRule(kName, "scales",
                      "groups of a fixed size, shared by scales and minima",
                      "others");
  if (!isByteInteger(scales[1].number) ||
      scales[1].number.word != mins[1].number.word)
    return refuseRule(kName, "scales", "unsigned integers of at most 8 bits",
                      scales[1].number.word.str() + ", " +
                          mins[1].number.word.str());
  if (!format.level.number.isPlain() || !isByteInteger(format.level.number))
    return refuseRule(kName, "level", "an unsigned integer of at most 8 bits",
                      format.level.number.word.str());
  return std::make_unique<AffineSearchRule>(format);
}
