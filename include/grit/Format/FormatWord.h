//===- FormatWord.h - 16-bit words of number formats -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_FORMATWORD_H
#define GRIT_FORMAT_FORMATWORD_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// How a value between two representable ones is rounded (grade keys er, dr).
enum class Rounding : uint8_t { RNE, RNA, RTZ, RTP, RTN };

/// What happens beyond the largest value (grade keys es, ds).
enum class Saturation : uint8_t { SatFinite, SatMax, OvfInf };

/// A format word (GRIT v1, section 2): width, kind and precision, infinities,
/// NaN encoding, signed zero, signedness, bias override. All 2^16 values can be
/// held; `validate` says which of them name a format.
class FormatWord {
public:
  constexpr FormatWord() = default;
  constexpr explicit FormatWord(uint16_t bits) : bits(bits) {}

  constexpr uint16_t raw() const { return bits; }
  constexpr bool isAbsent() const { return bits == 0; }
  /// Width in bits, 1 to 32.
  constexpr unsigned width() const { return (bits & 31) + 1; }
  /// The kind-and-precision field: 0 exponent-only, 1..30 float, 31 integer.
  constexpr unsigned precision() const { return (bits >> 5) & 31; }
  constexpr bool isExponentOnly() const { return precision() == 0; }
  constexpr bool isInteger() const { return precision() == 31; }
  constexpr bool isFloat() const { return !isExponentOnly() && !isInteger(); }
  constexpr bool hasInf() const { return bits >> 10 & 1; }
  constexpr unsigned nanEncoding() const { return bits >> 11 & 3; }
  constexpr bool hasSignedZero() const { return bits >> 13 & 1; }
  constexpr bool isUnsigned() const { return bits >> 14 & 1; }
  constexpr bool overridesBias() const { return bits >> 15 & 1; }

  /// Fraction bits of a float (precision less the hidden bit).
  constexpr unsigned mantissaBits() const { return precision() - 1; }
  /// Exponent bits of a float (0 where the fraction leaves none: such a word is
  /// not valid) or of an exponent-only format.
  constexpr unsigned exponentBits() const {
    if (isExponentOnly())
      return width();
    unsigned others = mantissaBits() + !isUnsigned();
    return width() > others ? width() - others : 0;
  }
  constexpr int bias() const {
    return exponentBits()
               ? static_cast<int>((int64_t(1) << (exponentBits() - 1)) - 1)
               : 0;
  }

  /// Says why the word names no format (F constraints), or nothing.
  std::optional<Error> validate() const;

  /// The grade token ("e2m1", "binary16", ...) of a registered word, or "".
  std::string_view token() const;
  /// The token, or "0x%04x" for a word without one.
  std::string str() const;

  friend constexpr bool operator==(FormatWord, FormatWord) = default;

private:
  uint16_t bits = 0;
};

/// The eleven registered words of GRIT v1, section 2.6.
namespace words {
inline constexpr FormatWord E2M1{0x2043}, E4M3{0x2887}, E8M0{0x4807},
    Binary16{0x356F}, Binary32{0x371F}, U2{0x43E1}, U4{0x43E3}, U6{0x43E5},
    U8{0x43E7}, S4{0x03E3}, S8{0x03E7};
} // namespace words

/// A registered word with its grade token.
struct RegisteredWord {
  std::string_view token;
  FormatWord word;
};
std::span<const RegisteredWord> registeredWords();

/// The registered word with exactly this (canonical) token.
std::optional<FormatWord> lookupWord(std::string_view token);

/// The value of `code` (masked to the width) times 2^exp2, rounded once to
/// binary32 (nearest, ties to even; every registered word is exact for
/// exp2 = 0). NaN is 0x7FC00000. Total: any word, any code.
float decodeWord(FormatWord word, uint32_t code, int exp2 = 0);

/// The code nearest to `x` under the given rounding and saturation
/// (fmt_encode_rne of GRIT v1, section 2.5, and its directed siblings).
/// Fails for a NaN when the format has no NaN code, and for absent words.
Expected<uint32_t> encodeWord(FormatWord word, float x,
                              Rounding rounding = Rounding::RNE,
                              Saturation saturation = Saturation::SatFinite);

/// The largest finite magnitude of the format (6 for e2m1, 127 for s8, ...).
float maxFinite(FormatWord word);
/// floor(log2(maxFinite(word))): 2 for e2m1, 8 for e4m3.
int maxExponent(FormatWord word);

} // namespace grit

#endif // GRIT_FORMAT_FORMATWORD_H
