//===- EncodeMeanSquare.cpp - a search that lowers the squared error ------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeMeanSquareGroup.h"

#include "CheckSteps.h"

using namespace grit;

/// Guesses on either side of the scale that the rule chose, and how far apart.
static constexpr int kGuesses = 15;
static constexpr double kStep = 0.02;

/// How a number becomes the code of a scale.
static constexpr Encoding kScaleRounding{EncodeRule::None, Rounding::RNE,
                                         Saturation::SatFinite};

MeanSquareSearch::MeanSquareSearch(const FormatDescription &format)
    : format(format), nearest(format),
      scales(format.scales.back().number, format.scales.back().bits) {
  if (format.offset.kind != Offset::Kind::None)
    offsets.emplace(format.offset.factors.back().number,
                    format.offset.factors.back().bits);
}

/// Whether a legal array has this code of a factor. Under a zero that clears
/// its group nothing is gained.
static bool isLegal(const Factor &factor, uint32_t code) {
  const float number = factor.number.decode(code);
  return !check_steps::unmetDemand(factor.demands, number) &&
         !(factor.demands.has(Demand::ZeroClears) && number == 0);
}

static void keepLegal(const Factor &factor, std::vector<uint32_t> &codes) {
  if (!factor.demands.empty())
    std::erase_if(codes, [&](uint32_t code) { return !isLegal(factor, code); });
}

void MeanSquareSearch::scalesAround(float value,
                                    std::vector<uint32_t> &codes) const {
  scales.around(value, codes);
  const bool takesOpposite =
      format.offset.kind != Offset::Kind::Minimum && !nearest.isSymmetric();
  // From the middle out: a good choice early cuts poor ones short.
  for (double sign : {1, -1})
    for (int i = 0; i <= 2 * kGuesses && (sign > 0 || takesOpposite); ++i) {
      const int guess = i % 2 ? (i + 1) / 2 : -i / 2;
      if (auto code = scaleNear(sign * value * (1 + kStep * guess)))
        codes.push_back(*code);
    }
  keepLegal(format.scales.back(), codes);
}

void MeanSquareSearch::offsetsAround(double value,
                                     std::vector<uint32_t> &codes) const {
  offsets->around(value, codes);
  keepLegal(format.offset.factors.back(), codes);
}

std::optional<uint32_t> MeanSquareSearch::scaleNear(double value) const {
  // Long tables take long to search; rounding finds the same.
  const Factor &factor = format.scales.back();
  const Number &number = factor.number;
  constexpr size_t kShort = 1 << 12;
  std::optional<uint32_t> code;
  if (!number.isTable() && number.isPlain() && scales.entries().size() > kShort)
    code = wordCode(number, static_cast<float>(value), kScaleRounding);
  else if (auto entry = scales.nearest(value))
    code = entry->code;
  if (!code || !std::isfinite(number.decode(*code)) || !isLegal(factor, *code))
    return std::nullopt;
  return code;
}

void MeanSquareSearch::improve(EncodeUnit &unit) const {
  if (format.scales.back().group <= 0 || unit.values.empty() ||
      nearest.size() > NearestLevels::kMostElements)
    return;
  for (size_t group = 0; group < unit.scales.back().size(); ++group)
    GroupSearch(*this, unit, group).run();
}
