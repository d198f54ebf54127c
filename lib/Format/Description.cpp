//===- Description.cpp - what follows from a description alone -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Description.h"
#include <cmath>

using namespace grit;

unsigned BitField::width() const {
  if (isMsbStream())
    return msbStreamWidth;
  unsigned width = 0;
  for (const BitSlice &slice : slices)
    width += slice.width;
  return width;
}

float Level::decode(uint32_t code) const {
  if (kind == Kind::Table)
    return table[code & (table.size() - 1)];
  // The bias is for integer words, whose values and differences are exact.
  float value = number.decode(code);
  return bias ? value - static_cast<float>(bias) : value;
}

static bool hasNonFinite(const Number &number) {
  return number.word.hasInf() || number.word.nanEncoding() != 0;
}

/// The largest magnitude of a number, as a real.
static double maxMagnitude(const Number &number) {
  double largest = maxFinite(number.word);
  // Two's complement reaches one further below zero than above.
  if (number.word.isInteger() && !number.word.isUnsigned())
    largest += 1;
  return std::ldexp(largest, number.exp2);
}

/// The largest magnitude of a product of factors, or infinity when one of them
/// can be infinite or not a number by itself.
static double maxMagnitude(const std::vector<Factor> &factors) {
  double product = 1;
  for (const Factor &factor : factors) {
    if (hasNonFinite(factor.number))
      return HUGE_VAL;
    product *= maxMagnitude(factor.number);
  }
  return product;
}

static double maxMagnitude(const Level &level) {
  if (level.kind == Level::Kind::Number)
    return hasNonFinite(level.number)
               ? HUGE_VAL
               : maxMagnitude(level.number) +
                     std::abs(static_cast<double>(level.bias));
  double largest = 0;
  for (float value : level.table) {
    if (!std::isfinite(value))
      return HUGE_VAL;
    largest = std::fmax(largest, std::fabs(value));
  }
  return largest;
}

bool FormatDescription::canBeNonFinite() const {
  if (!projection.isIdentity() && !projection.format.hasInf() &&
      projection.format.nanEncoding() == 0)
    return false;
  double scale = maxMagnitude(scales), element = maxMagnitude(level);
  double away = maxMagnitude(offset.factors);
  double bound = 0;
  switch (offset.kind) {
  case Offset::Kind::None:
    bound = scale * element;
    break;
  case Offset::Kind::ZeroPoint:
    bound = scale * (element + away + std::abs(double(offset.addend)));
    break;
  case Offset::Kind::Minimum:
    bound = scale * element + away;
    break;
  }
  // A factor of zero beside an infinite one would give a NaN here: "can be".
  // Half an ulp above the largest binary32 rounds to infinity.
  return !(bound < 0x1.ffffffp127);
}

double FormatDescription::bitsPerElement() const {
  double bits = 0;
  for (const PlaneInfo &plane : planes)
    if (plane.elements)
      bits += static_cast<double>(plane.bits) / plane.elements;
  return bits;
}

unsigned grit::planeSlot(const FormatDescription &description, unsigned plane) {
  static constexpr std::string_view names[] = {"data", "scale0", "scale1",
                                               "aux"};
  for (unsigned slot = 0; slot < 4; ++slot)
    if (description.planes[plane].name == names[slot])
      return slot;
  return plane;
}
