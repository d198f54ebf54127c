//===- FormatWord.cpp - number formats: decode and encode -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/FormatWord.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>
#include <cmath>

using namespace grit;

static constexpr uint32_t kCanonicalNaN = 0x7FC00000;

static constexpr RegisteredWord kRegistered[] = {
    {"e2m1", words::E2M1},
    {"e4m3", words::E4M3},
    {"e8m0", words::E8M0},
    {"binary16", words::Binary16},
    {"binary32", words::Binary32},
    {"u2", words::U2},
    {"u4", words::U4},
    {"u6", words::U6},
    {"u8", words::U8},
    {"s4", words::S4},
    {"s8", words::S8},
};

std::span<const RegisteredWord> grit::registeredWords() { return kRegistered; }

std::optional<FormatWord> grit::lookupWord(std::string_view token) {
  for (const RegisteredWord &entry : kRegistered)
    if (entry.token == token)
      return entry.word;
  return std::nullopt;
}

std::string_view FormatWord::token() const {
  for (const RegisteredWord &entry : kRegistered)
    if (entry.word == *this)
      return entry.token;
  return {};
}

std::string FormatWord::str() const {
  std::string_view name = token();
  return name.empty() ? hexWord(bits, 4) : std::string(name);
}

std::optional<Error> FormatWord::validate() const {
  auto refuse = [&](std::string message, std::string declared,
                    std::string found) -> std::optional<Error> {
    return Error{Status::GradeUnknown,
                 std::move(message),
                 "format word " + hexWord(bits, 4),
                 std::move(declared),
                 std::move(found),
                 "the word is corrupt or of a later version",
                 "use a word that names a format",
                 -1};
  };
  if (isAbsent())
    return refuse("the word is absent", "a format", "0x0000");
  if (width() < 2)
    return refuse("formats of one bit do not exist", "width >= 2", "width 1");
  if (overridesBias())
    return refuse("bias_ovr must be 0 in version 1", "0", "1");
  if (nanEncoding() == 3)
    return refuse("nan_enc 3 is reserved", "0, 1 or 2", "3");
  if (isFloat()) {
    if (exponentBits() == 0)
      return refuse("the fraction leaves no room for an exponent",
                    "at least one exponent bit",
                    "width " + std::to_string(width()) + ", precision " +
                        std::to_string(precision()));
    return std::nullopt;
  }
  if (hasInf())
    return refuse("only floats have infinities", "has_inf 0", "has_inf 1");
  if (isInteger() && nanEncoding() != 0)
    return refuse("integers have no NaN", "nan_enc 0",
                  "nan_enc " + std::to_string(nanEncoding()));
  if (isExponentOnly() && !isUnsigned())
    return refuse("exponent-only formats have no sign", "unsigned 1",
                  "unsigned 0");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

namespace {

/// A code, taken apart: +-significand * 2^exponent, exactly.
struct Parts {
  enum Kind { Finite, Infinite, NaN } kind = Finite;
  bool negative = false;
  uint64_t significand = 0;
  int64_t exponent = 0;
};

} // namespace

static uint32_t lowBits(unsigned count) {
  return count >= 32 ? UINT32_MAX : (uint32_t(1) << count) - 1;
}

static int64_t bias64(FormatWord word) {
  return word.exponentBits() ? (int64_t(1) << (word.exponentBits() - 1)) - 1
                             : 0;
}

static Parts takeFloatApart(FormatWord word, uint32_t code) {
  unsigned fractionBits = std::min(word.mantissaBits(), word.width());
  uint32_t fraction = code & lowBits(fractionBits);
  uint32_t exponentMask = lowBits(word.exponentBits());
  uint32_t exponent =
      fractionBits < 32 ? code >> fractionBits & exponentMask : 0;
  Parts parts;
  parts.negative = !word.isUnsigned() && code >> (word.width() - 1) & 1;
  if (exponent == exponentMask && word.exponentBits() != 0) {
    if (word.hasInf()) {
      parts.kind = fraction ? Parts::NaN : Parts::Infinite;
      return parts;
    }
    if ((word.nanEncoding() == 1 && fraction == lowBits(fractionBits)) ||
        (word.nanEncoding() == 2 && fraction != 0)) {
      parts.kind = Parts::NaN;
      return parts;
    }
  }
  uint64_t hidden = exponent ? uint64_t(1) << fractionBits : 0;
  parts.significand = hidden | fraction;
  parts.exponent = std::max<int64_t>(exponent, 1) - bias64(word) - fractionBits;
  return parts;
}

static Parts takeApart(FormatWord word, uint32_t code) {
  code &= lowBits(word.width());
  if (word.isFloat())
    return takeFloatApart(word, code);
  Parts parts;
  if (word.isExponentOnly()) {
    if (word.nanEncoding() != 0 && code == lowBits(word.width()))
      parts.kind = Parts::NaN;
    parts.significand = 1;
    parts.exponent = int64_t(code) - bias64(word);
    return parts;
  }
  parts.significand = code;
  if (!word.isUnsigned() && code >> (word.width() - 1) & 1) {
    parts.negative = true;
    parts.significand = (uint64_t(1) << word.width()) - code;
  }
  return parts;
}

float grit::decodeWord(FormatWord word, uint32_t code, int exp2) {
  Parts parts = takeApart(word, code);
  if (parts.kind == Parts::NaN)
    return std::bit_cast<float>(kCanonicalNaN);
  double magnitude = INFINITY;
  if (parts.kind == Parts::Finite) {
    // A significand has at most 32 bits, so the double is exact wherever
    // binary32 is not 0 or infinite; beyond +-4000 it is one of these.
    int64_t exponent = std::clamp<int64_t>(parts.exponent + exp2, -4000, 4000);
    magnitude = std::ldexp(static_cast<double>(parts.significand),
                           static_cast<int>(exponent));
  }
  return static_cast<float>(parts.negative ? -magnitude : magnitude);
}

//===----------------------------------------------------------------------===//
// Encode
//===----------------------------------------------------------------------===//

/// The code of the largest finite magnitude. Codes without the sign rise with
/// the magnitude, so all finite ones are 0 to this.
static uint32_t maxFiniteCode(FormatWord word) {
  if (word.isInteger())
    return lowBits(word.width() - !word.isUnsigned());
  if (word.isExponentOnly())
    return lowBits(word.width()) - (word.nanEncoding() != 0);
  unsigned fractionBits = word.mantissaBits();
  uint32_t top = lowBits(word.exponentBits() + fractionBits);
  if (word.hasInf())
    return top - lowBits(fractionBits) - 1;
  if (word.nanEncoding() == 1)
    return top - 1;
  return word.nanEncoding() == 2 ? top - lowBits(fractionBits) : top;
}

/// Whether `fraction` of a unit above the even or odd `low` goes up, for a
/// magnitude whose sign is `negative`.
static bool roundsUp(double fraction, bool oddLow, bool negative,
                     Rounding rounding) {
  switch (rounding) {
  case Rounding::RNE:
    return fraction > 0.5 || (fraction == 0.5 && oddLow);
  case Rounding::RNA:
    return fraction >= 0.5;
  case Rounding::RTZ:
    return false;
  case Rounding::RTP:
    return fraction > 0 && !negative;
  case Rounding::RTN:
    return fraction > 0 && negative;
  }
  return false;
}

/// Rounds the finite magnitude `a` to a code without its sign, as if there were
/// no largest one.
static int64_t roundMagnitude(FormatWord word, double a, bool negative,
                              Rounding rounding) {
  int64_t low = 0;
  double fraction = 0;
  if (word.isExponentOnly()) {
    if (a == 0)
      return 0;
    int exponent = std::ilogb(a);
    low = exponent + bias64(word);
    if (low < 0)
      return 0; // nothing lies below the first code
    fraction = std::ldexp(a, -exponent) - 1;
  } else if (word.isInteger()) {
    low = static_cast<int64_t>(std::min(a, 0x1p40));
    fraction = std::min(a, 0x1p40) - static_cast<double>(low);
  } else {
    int64_t firstExponent = 1 - bias64(word);
    int64_t exponent = a == 0 ? firstExponent
                              : std::max<int64_t>(std::ilogb(a), firstExponent);
    int64_t scale = int64_t(word.mantissaBits()) - exponent;
    double units = std::ldexp(
        a, static_cast<int>(std::clamp<int64_t>(scale, -4000, 4000)));
    double whole = std::floor(units);
    low = ((exponent - firstExponent) << word.mantissaBits()) +
          static_cast<int64_t>(whole);
    fraction = units - whole;
  }
  return low + roundsUp(fraction, low & 1, negative, rounding);
}

static Expected<uint32_t> encodeNaN(FormatWord word) {
  uint32_t code = lowBits(word.width() - !word.isUnsigned());
  // IEEE-like formats write the quiet NaN; the 8-bit ones all ones.
  if (word.isFloat() && word.nanEncoding() == 2 && word.width() > 8 &&
      word.mantissaBits() > 0)
    code -= lowBits(word.mantissaBits() - 1);
  if (word.nanEncoding() != 0 && takeApart(word, code).kind == Parts::NaN)
    return code;
  return makeError(Status::GradeUnknown, "a NaN has no code in " + word.str(),
                   "element", "a number", "NaN",
                   "the format " + word.str() + " cannot hold NaN",
                   "let the scale of the group carry it");
}

static uint32_t encodeInteger(FormatWord word, float x, Rounding rounding,
                              Saturation saturation) {
  bool negative = x < 0;
  int64_t magnitude = INT64_C(1) << 40; // beyond every code
  if (std::isfinite(x))
    magnitude = roundMagnitude(word, std::fabs(static_cast<double>(x)),
                               negative, rounding);
  int64_t highest = maxFiniteCode(word);
  int64_t lowest = 0;
  if (!word.isUnsigned())
    lowest = saturation == Saturation::SatFinite ? -highest : -highest - 1;
  int64_t value =
      std::clamp(negative ? -magnitude : magnitude, lowest, highest);
  return static_cast<uint32_t>(value) & lowBits(word.width());
}

/// What stands for a magnitude beyond the largest finite code.
static uint32_t overflowCode(FormatWord word, bool infinite, bool negative,
                             Rounding rounding, Saturation saturation) {
  uint32_t largest = maxFiniteCode(word);
  if (saturation != Saturation::OvfInf || !word.hasInf())
    return largest;
  bool towardZero = rounding == Rounding::RTZ ||
                    (rounding == Rounding::RTP && negative) ||
                    (rounding == Rounding::RTN && !negative);
  return infinite || !towardZero ? largest + 1 : largest;
}

Expected<uint32_t> grit::encodeWord(FormatWord word, float x, Rounding rounding,
                                    Saturation saturation) {
  if (std::optional<Error> error = word.validate())
    return tl::unexpected(*error);
  if (std::isnan(x))
    return encodeNaN(word);
  if (word.isInteger())
    return encodeInteger(word, x, rounding, saturation);
  // Formats without a sign hold the magnitude.
  bool negative = std::signbit(x) && !word.isUnsigned();
  int64_t code = INT64_MAX;
  if (!std::isinf(x))
    code = roundMagnitude(word, std::fabs(static_cast<double>(x)), negative,
                          rounding);
  if (code > maxFiniteCode(word))
    code = overflowCode(word, std::isinf(x), negative, rounding, saturation);
  uint32_t sign = negative ? uint32_t(1) << (word.width() - 1) : 0;
  return static_cast<uint32_t>(code) | sign;
}

float grit::maxFinite(FormatWord word) {
  return decodeWord(word, maxFiniteCode(word));
}

int grit::maxExponent(FormatWord word) {
  Parts parts = takeApart(word, maxFiniteCode(word));
  if (parts.significand == 0)
    return 0;
  return static_cast<int>(std::bit_width(parts.significand)) - 1 +
         static_cast<int>(parts.exponent);
}
