//===- Probes.cpp - what the planes of one layer show -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace grit;
using namespace grit::scan;

using Histogram = std::array<uint64_t, 256>;

/// Four tables, so that equal neighbours do not wait for each other.
static Histogram countBytes(ByteSpan bytes) {
  std::array<Histogram, 4> counts{};
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4)
    for (size_t j = 0; j < 4; ++j)
      ++counts[j][bytes[i + j]];
  for (; i < bytes.size(); ++i)
    ++counts[0][bytes[i]];
  Histogram sum{};
  for (const Histogram &part : counts)
    for (size_t code = 0; code < sum.size(); ++code)
      sum[code] += part[code];
  return sum;
}

//===----------------------------------------------------------------------===//
// A first look
//===----------------------------------------------------------------------===//

namespace {
/// The least and the greatest code of a plane, its sign left out.
struct Extremes {
  uint8_t least = 255, most = 0;
  uint8_t sign = 0; ///< the bit that was left out, or 0

  /// True when no code between them, of either sign, is NaN or infinite.
  bool areFinite(FormatWord word) const {
    for (uint32_t code = 0; code < (1U << word.width()); ++code)
      if (uint32_t size = code & ~uint32_t(sign); size >= least && size <= most)
        if (!std::isfinite(decodeWord(word, code)))
          return false;
    return true;
  }
};
} // namespace

static uint8_t signBit(FormatWord word) {
  return word.isUnsigned() ? 0 : static_cast<uint8_t>(1U << (word.width() - 1));
}

/// Many times faster than counting codes, and most planes show nothing.
static Extremes extremesOfBytes(ByteSpan bytes, uint8_t sign) {
  const uint8_t mask = static_cast<uint8_t>(~sign);
  uint8_t least = 255, most = 0;
  for (uint8_t byte : bytes) {
    uint8_t size = byte & mask;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return {least, most, sign};
}

static Extremes extremesOfNibbles(ByteSpan bytes, uint8_t sign) {
  const auto mask = static_cast<uint8_t>(15 & ~sign);
  uint8_t least = 15, most = 0;
  for (uint8_t byte : bytes) {
    uint8_t low = byte & mask, high = (byte >> 4) & mask;
    least = std::min(least, std::min(low, high));
    most = std::max(most, std::max(low, high));
  }
  return {least, most, sign};
}

static std::string ofText(uint64_t count, uint64_t total) {
  return std::to_string(count) + " of " + std::to_string(total);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

std::optional<ScalePlane> grit::scan::scalePlaneOf(const TensorInfo &tensor) {
  ScalePlane plane{tensor.bytes, ScaleType::Word, words::E8M0};
  if (tensor.dtype == "F32")
    plane.type = ScaleType::Float32;
  else if (tensor.dtype == "F16")
    plane.type = ScaleType::Float16;
  else if (tensor.dtype == "BF16")
    plane.type = ScaleType::BFloat16;
  else if (tensor.dtype == "F8_E4M3")
    plane.word = words::E4M3;
  else if (tensor.dtype != "U8" && tensor.dtype != "F8_E8M0")
    return std::nullopt;
  return plane;
}

namespace {
struct ScaleCounts {
  uint64_t total = 0, nonFinite = 0, zero = 0;
};
} // namespace

static ScaleCounts countWide(const ScalePlane &plane) {
  ScaleCounts counts;
  size_t width = plane.type == ScaleType::Float32 ? 4 : 2;
  uint32_t exponent = plane.type == ScaleType::Float32   ? 0x7F800000
                      : plane.type == ScaleType::Float16 ? 0x7C00
                                                         : 0x7F80;
  uint32_t magnitude = width == 4 ? 0x7FFFFFFF : 0x7FFF;
  for (size_t i = 0; i + width <= plane.bytes.size(); i += width) {
    uint32_t bits = 0;
    std::memcpy(&bits, &plane.bytes[i], width);
    ++counts.total;
    counts.nonFinite += (bits & exponent) == exponent;
    counts.zero += (bits & magnitude) == 0;
  }
  return counts;
}

void grit::scan::probeScales(const ScalePlane &plane, ProbeResults &results) {
  ScaleCounts counts;
  uint64_t smallest = 0;
  if (plane.type == ScaleType::Word) {
    Extremes extremes = extremesOfBytes(plane.bytes, signBit(plane.word));
    if (extremes.areFinite(plane.word) && extremes.least > 0)
      return;
    Histogram histogram = countBytes(plane.bytes);
    for (uint32_t code = 0; code < 256; ++code) {
      float value = decodeWord(plane.word, code);
      counts.total += histogram[code];
      if (!std::isfinite(value))
        counts.nonFinite += histogram[code];
      else if (value == 0.0F)
        counts.zero += histogram[code];
    }
    if (plane.word.isExponentOnly())
      smallest = histogram[0];
  } else {
    counts = countWide(plane);
  }
  if (counts.nonFinite)
    results.push_back({Id::ScaleNaN, "scales that are NaN or infinite",
                       "finite scales",
                       ofText(counts.nonFinite, counts.total)});
  bool allZero =
      counts.total && (counts.zero == counts.total || smallest == counts.total);
  if (allZero)
    results.push_back({Id::ZeroScale, "every scale has the code 0",
                       "scales that were written",
                       ofText(counts.total, counts.total)});
  else if (smallest)
    results.push_back({Id::ExtremeScale, "scales with the code 0, 2^-127",
                       "codes from 1", ofText(smallest, counts.total)});
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

void grit::scan::probeCodes(ByteSpan bytes, FormatWord word,
                            ProbeResults &results) {
  // Fewer codes say nothing about the scale.
  constexpr uint64_t kFewCodes = 256;
  Extremes extremes = word.width() == 4
                          ? extremesOfNibbles(bytes, signBit(word))
                          : extremesOfBytes(bytes, signBit(word));
  // One of the two signs of the greatest code is there.
  float greatest =
      std::min(std::fabs(decodeWord(word, extremes.most)),
               std::fabs(decodeWord(word, extremes.most | extremes.sign)));
  if (extremes.areFinite(word) && greatest > maxFinite(word) / 2)
    return;
  Histogram histogram = countBytes(bytes);
  if (word.width() == 4) {
    Histogram nibbles{};
    for (size_t code = 0; code < 256; ++code) {
      nibbles[code & 15] += histogram[code];
      nibbles[code >> 4] += histogram[code];
    }
    histogram = nibbles;
  }
  uint64_t total = 0, nans = 0;
  float largest = 0;
  for (uint32_t code = 0; code < (1U << word.width()); ++code) {
    total += histogram[code];
    float value = decodeWord(word, code);
    if (!std::isfinite(value))
      nans += histogram[code];
    else if (histogram[code])
      largest = std::max(largest, std::fabs(value));
  }
  if (nans)
    results.push_back(
        {Id::ElementNaN, "codes that are NaN", "numbers", ofText(nans, total)});
  if (total >= kFewCodes && largest > 0 && largest <= maxFinite(word) / 2)
    results.push_back({Id::UnusedCodes,
                       "inferred: no group uses the upper half of its codes",
                       "codes up to " + std::to_string(maxFinite(word)),
                       "up to " + std::to_string(largest)});
}

//===----------------------------------------------------------------------===//
// Zero points and orders
//===----------------------------------------------------------------------===//

void grit::scan::probeZeroPoints(ByteSpan bytes, unsigned bits,
                                 ProbeResults &results) {
  if (bits < 1 || bits >= 8)
    return;
  int limit = 1 << (bits - 1);
  uint64_t outside = 0;
  int lowest = 0, highest = 0;
  for (uint8_t byte : bytes) {
    int value = static_cast<int8_t>(byte);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    outside += value < -limit || value >= limit;
  }
  if (outside)
    results.push_back(
        {Id::ZeroPointRange, "zero points outside the codes",
         std::to_string(-limit) + " to " + std::to_string(limit - 1),
         ofText(outside, bytes.size()) + ", from " + std::to_string(lowest) +
             " to " + std::to_string(highest)});
}

void grit::scan::probeGptqZeros(ByteSpan bytes, unsigned bits, bool isVersion2,
                                ProbeResults &results) {
  if ((bits != 4 && bits != 8) || bytes.empty())
    return;
  uint8_t middle = bits == 4 ? 0x88 : 0x80, less = bits == 4 ? 0x77 : 0x7F;
  uint8_t wrong = isVersion2 ? less : middle;
  if (!std::ranges::all_of(bytes, [&](uint8_t b) { return b == wrong; }))
    return;
  unsigned stored = bits == 4 ? wrong & 15U : wrong;
  results.push_back(
      {Id::ZeroPointOffByOne,
       "inferred: zero points of symmetric codes follow the other convention",
       isVersion2 ? "gptq_v2: stored as they are" : "gptq: stored minus one",
       "all " + std::to_string(stored) + ", zero point " +
           std::to_string(stored + !isVersion2)});
}

void grit::scan::probeOrder(ByteSpan bytes, int64_t group,
                            ProbeResults &results) {
  bool isZero = true, isRuns = group > 0;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    int32_t value;
    std::memcpy(&value, &bytes[i], sizeof(value));
    isZero &= value == 0;
    isRuns &= group > 0 && value == static_cast<int64_t>(i / 4) / group;
  }
  // An index of zeros is a placeholder that loaders replace.
  if (!isZero && !isRuns)
    results.push_back({Id::ActOrder,
                       "not expressible: rows belong to groups by g_idx",
                       "runs of rows", "another order"});
}

//===----------------------------------------------------------------------===//
// Declared arrays
//===----------------------------------------------------------------------===//

/// The bytes of the planes that a factor reads, where each is one number of a
/// byte or a binary float.
static std::optional<ScalePlane> planeOf(const Factor &factor,
                                         const std::vector<ByteSpan> &planes,
                                         const FormatDescription &description) {
  const FormatWord word = factor.number.word;
  if (factor.bits.slices.size() != 1 ||
      description.planes[factor.bits.plane].name == "blocks" ||
      factor.bits.plane >= planes.size())
    return std::nullopt;
  ScalePlane plane{planes[factor.bits.plane], ScaleType::Word, word};
  if (word == words::Binary32)
    plane.type = ScaleType::Float32;
  else if (word == words::Binary16)
    plane.type = ScaleType::Float16;
  else if (word.width() != 8 || !(word.isExponentOnly() || word.isFloat()))
    return std::nullopt;
  return plane;
}

void grit::scan::probeArray(const TensorInfo &tensor, ProbeResults &results) {
  const FormatDescription &description = tensor.array->contract.description();
  std::vector<ByteSpan> planes = tensor.planes();
  for (const Factor &factor : description.scales)
    if (auto plane = planeOf(factor, planes, description))
      probeScales(*plane, results);
  const Grade *grade = tensor.array->contract.grade();
  if (grade && !grade->pad8 && grade->e.isFloat() &&
      (grade->e.width() == 4 || grade->e.width() == 8))
    probeCodes(planes.front(), grade->e, results);
}
