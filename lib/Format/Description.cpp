//===- Description.cpp - what follows from a description alone -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Description.h"
#include <algorithm>
#include <bit>
#include <cmath>

using namespace grit;

unsigned Radix::digit(uint64_t bits, unsigned width, int64_t index) const {
  int64_t t = 0;
  for (const Digit &digit : place)
    t += digit.at(index);
  uint64_t mask = (uint64_t(1) << width) - 1;
  for (; t > 0; --t)
    bits = bits * base & mask;
  return static_cast<unsigned>(bits * base >> width);
}

unsigned BitField::storedWidth() const {
  if (isMsbStream())
    return msbStreamWidth;
  unsigned width = 0;
  for (const BitSlice &slice : slices)
    width += slice.width;
  return width;
}

unsigned BitField::width() const {
  return radix ? static_cast<unsigned>(std::bit_width(radix->base - 1))
               : storedWidth();
}

float Number::decode(uint32_t code) const {
  if (isTable())
    return table[code];
  if (isPlain())
    return decodeWord(word, code, exp2);
  if (word.isInteger()) {
    // Exact: the verifier has seen to it.
    float value = decodeWord(word, code) * static_cast<float>(times);
    return std::ldexp(value + static_cast<float>(plus), exp2);
  }
  float value = decodeWord(word, code, exp2);
  value = times == -1 ? -value : value;
  return plus ? value + static_cast<float>(plus) : value;
}

bool FormatDescription::isIllegal(uint32_t code) const {
  return std::ranges::binary_search(illegalCodes, code);
}

bool Signs::isNegative(uint32_t value, unsigned position) const {
  if (parity && position == group - 1)
    return std::popcount(value) & 1;
  return value >> position & 1;
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

/// A magnitude, or infinity where binary32 has no room for it: half an ulp
/// above the largest number rounds to infinity.
static double bounded(double magnitude) {
  return magnitude < 0x1.ffffffp127 ? magnitude : HUGE_VAL;
}

/// The largest magnitude of a number, as a real, or infinity when it can be
/// infinite or not a number.
static double maxMagnitude(const Number &number) {
  if (number.isTable()) {
    double largest = 0;
    for (float value : number.table)
      largest = std::isfinite(value) ? std::fmax(largest, std::fabs(value))
                                     : HUGE_VAL;
    return largest;
  }
  if (number.word.hasInf() || number.word.nanEncoding() != 0)
    return HUGE_VAL;
  double largest = maxFinite(number.word);
  // Two's complement reaches one further below zero than above.
  if (number.word.isInteger() && !number.word.isUnsigned())
    largest += 1;
  largest = largest * std::abs(static_cast<double>(number.times)) +
            std::abs(static_cast<double>(number.plus));
  return bounded(std::ldexp(largest, number.exp2));
}

/// `value`, joined by the factors that are (not) applied after the level.
static double joinMagnitudes(double value, const std::vector<Factor> &factors,
                             bool afterLevel) {
  for (const Factor &factor : factors) {
    if (factor.afterLevel != afterLevel)
      continue;
    double other = maxMagnitude(factor.number);
    switch (factor.op) {
    case FactorOp::Multiply:
      value = bounded(std::isinf(other) ? other : value * other);
      break;
    case FactorOp::Divide:
      return HUGE_VAL; // it may be zero, or next to it
    case FactorOp::Add:
      value = bounded(value + other);
      break;
    }
  }
  return value;
}

bool FormatDescription::canBeNonFinite() const {
  if (!projection.isIdentity() && !projection.format.hasInf() &&
      projection.format.nanEncoding() == 0)
    return false;
  double scale = joinMagnitudes(1, scales, false);
  double element = maxMagnitude(level.number);
  double away = joinMagnitudes(1, offset.factors, false);
  if (std::isinf(scale) || std::isinf(element) || std::isinf(away))
    return true; // whatever it is multiplied by
  if (offset.kind == Offset::Kind::ZeroPoint)
    element += away;
  double bound = joinMagnitudes(bounded(scale * element), scales, true);
  if (offset.kind == Offset::Kind::Minimum)
    bound = bounded(bound + away);
  return std::isinf(bound);
}

double FormatDescription::bitsPerElement() const {
  double bits = 0;
  for (const PlaneInfo &plane : planes)
    if (plane.elements > 0)
      bits += static_cast<double>(plane.bits) /
              (static_cast<double>(plane.elements) *
               static_cast<double>(plane.rows ? plane.rows : 1));
  return bits;
}

unsigned grit::planeSlot(const FormatDescription &description, unsigned plane) {
  static constexpr std::string_view names[] = {"data", "scale0", "scale1",
                                               "aux"};
  auto slotOf = [&](const PlaneInfo &info) {
    return std::ranges::find(names, info.name) - std::begin(names);
  };
  // One plane by its name and another by its index could meet in one slot.
  bool areNamed =
      std::ranges::all_of(description.planes, [&](const PlaneInfo &info) {
        return slotOf(info) < 4;
      });
  return areNamed ? static_cast<unsigned>(slotOf(description.planes[plane]))
                  : plane;
}
