//===- FormatWordTest.cpp - number formats: decode and encode -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/FormatWord.h"
#include "Golden.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace grit;

static uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
static float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

/// Codes of a word to try: all of them up to 16 bits, else a random few.
static std::vector<uint32_t> someCodes(FormatWord word, std::mt19937 &random,
                                       unsigned limit) {
  std::vector<uint32_t> codes;
  if (word.width() <= 16 && (1u << word.width()) <= limit) {
    for (uint32_t code = 0; code < 1u << word.width(); ++code)
      codes.push_back(code);
    return codes;
  }
  for (unsigned i = 0; i < limit; ++i)
    codes.push_back(random());
  return codes;
}

// (F3)
TEST(FormatWord, GoldenDecode) {
  for (const golden::FmtDecode &table : golden::file().fmtDecode)
    for (size_t i = 0; i < table.codes.size(); ++i)
      EXPECT_EQ(bitsOf(decodeWord(FormatWord(table.word), table.codes[i])),
                table.values[i])
          << table.name << " code " << table.codes[i];
}

// (F7, F8, F9, F10, F11)
TEST(FormatWord, GoldenEncode) {
  for (const golden::FmtEncode &table : golden::file().fmtEncode) {
    FormatWord word(table.word);
    Saturation saturation = table.saturation == "satfinite"
                                ? Saturation::SatFinite
                            : table.saturation == "satmax" ? Saturation::SatMax
                                                           : Saturation::OvfInf;
    for (auto [input, code] : table.cases) {
      float x = floatOf(input);
      // The one decision that differs: spec/conformance/README.md.
      if (word == words::Binary16 && std::isinf(x) &&
          saturation != Saturation::OvfInf)
        code = x > 0 ? 0x7BFF : 0xFBFF;
      Expected<uint32_t> found = encodeWord(word, x, Rounding::RNE, saturation);
      ASSERT_EQ(found.has_value(), code.has_value())
          << word.str() << " " << x << " " << table.saturation;
      if (code) {
        EXPECT_EQ(*found, *code)
            << word.str() << " " << x << " " << table.saturation;
      }
    }
  }
}

// (F1, F13)
TEST(FormatWord, RegisteredWords) {
  // Word by word, from the formula of section 2.
  auto make = [](unsigned width, unsigned p, bool inf, unsigned nan, bool zero,
                 bool uns) {
    return FormatWord(static_cast<uint16_t>(
        (width - 1) | p << 5 | inf << 10 | nan << 11 | zero << 13 | uns << 14));
  };
  EXPECT_EQ(words::E2M1, make(4, 2, false, 0, true, false));
  EXPECT_EQ(words::E4M3, make(8, 4, false, 1, true, false));
  EXPECT_EQ(words::E8M0, make(8, 0, false, 1, false, true));
  EXPECT_EQ(words::Binary16, make(16, 11, true, 2, true, false));
  EXPECT_EQ(words::Binary32, make(32, 24, true, 2, true, false));
  EXPECT_EQ(words::U6, make(6, 31, false, 0, false, true));
  EXPECT_EQ(words::S8, make(8, 31, false, 0, false, false));
  EXPECT_EQ(registeredWords().size(), 11u);
  for (const RegisteredWord &entry : registeredWords()) {
    EXPECT_FALSE(entry.word.validate()) << entry.token;
    EXPECT_EQ(lookupWord(entry.token), entry.word);
    EXPECT_EQ(entry.word.token(), entry.token);
  }
  EXPECT_FALSE(lookupWord("E2M1"));
  EXPECT_EQ(FormatWord(0x3467).str(), "0x3467");
}

// (F13)
TEST(FormatWord, LargestValues) {
  struct {
    uint16_t word;
    float value;
    int exponent;
  } const table[] = {
      {0x2043, 6, 2},
      {0x2887, 448, 8},
      {0x4807, 0x1p127f, 127},
      {0x356F, 65504, 15},
      {0x371F, 0x1.fffffep127f, 127},
      {0x43E1, 3, 1},
      {0x43E7, 255, 7},
      {0x03E3, 7, 2},
      {0x03E7, 127, 6},
      {0x3467, 57344, 15},
      {0x2065, 28, 4},
      {0x2085, 7.5, 2},
      {0x2023, 16, 4},
      {0x2063, 3.5, 1},
      {0x3487, 240, 7},
      {0x34A7, 15.5, 3},
      {0x4887, 114688, 16},
      {0x350F, 0x1.fep127f, 127},
  };
  for (auto [word, value, exponent] : table) {
    EXPECT_EQ(maxFinite(FormatWord(word)), value) << std::hex << word;
    EXPECT_EQ(maxExponent(FormatWord(word)), exponent) << std::hex << word;
    EXPECT_FALSE(FormatWord(word).validate()) << std::hex << word;
  }
}

// (F2)
TEST(FormatWord, Refusals) {
  struct {
    uint16_t word;
    const char *message;
  } const table[] = {
      {0x0000, "absent"},    {0x2040, "one bit"}, {0x8043 | 0x2000, "bias"},
      {0x3843, "nan_enc 3"}, {0x20A3, "room"},    {0x07E7, "infinities"},
      {0x0BE7, "no NaN"},    {0x0807, "no sign"},
  };
  for (auto [word, message] : table) {
    std::optional<Error> error = FormatWord(word).validate();
    ASSERT_TRUE(error) << std::hex << word;
    EXPECT_NE(error->message.find(message), std::string::npos)
        << error->message;
    EXPECT_FALSE(encodeWord(FormatWord(word), 1.0f));
  }
}

/// Any word, any code, any power of two: a number, or the one NaN.
// (F4, F6)
TEST(FormatWord, DecodeIsTotal) {
  std::mt19937 random(1);
  for (uint32_t raw = 0; raw < 65536; ++raw) {
    FormatWord word(static_cast<uint16_t>(raw));
    for (uint32_t code : someCodes(word, random, 256)) {
      float x = decodeWord(word, code);
      if (std::isnan(x)) {
        ASSERT_EQ(bitsOf(x), 0x7FC00000u) << std::hex << raw << " " << code;
      }
      for (int exp2 : {INT32_MIN, -149, 149, INT32_MAX}) {
        float scaled = decodeWord(word, code, exp2);
        ASSERT_EQ(std::isnan(scaled), std::isnan(x)) << std::hex << raw;
        ASSERT_TRUE(std::signbit(scaled) == std::signbit(x));
      }
    }
    maxFinite(word);
    maxExponent(word);
    (void)encodeWord(word, 1.5f);
  }
}

/// The scaling by 2^exp2 is exact and there is one rounding.
// (F5)
TEST(FormatWord, ScalingRoundsOnce) {
  std::mt19937 random(2);
  for (uint16_t raw : {0x2043, 0x2887, 0x356F, 0x371F, 0x03E7, 0x43FF, 0x4807})
    for (int exp2 = -200; exp2 <= 200; ++exp2)
      for (uint32_t code : someCodes(FormatWord(raw), random, 64)) {
        FormatWord word(raw);
        long double exact = decodeWord(word, code);
        if (raw == 0x43FF) // 32-bit integers do not fit binary32
          exact = code;
        if (std::isnan(exact))
          continue;
        float expected = static_cast<float>(std::ldexp(exact, exp2));
        ASSERT_EQ(bitsOf(decodeWord(word, code, exp2)), bitsOf(expected))
            << std::hex << raw << " " << code << std::dec << " " << exp2;
      }
}

/// Between every two neighbouring codes: the midpoint goes to the even code,
/// what is nearer to one goes there, and directed roundings go their way.
static void checkLadder(FormatWord word) {
  uint32_t largest = 0;
  for (uint32_t code = 1; code < 1u << (word.width() - !word.isUnsigned());
       ++code)
    if (std::isfinite(decodeWord(word, code)) && decodeWord(word, code) > 0)
      largest = code;
  auto encode = [&](double x, Rounding rounding) {
    return *encodeWord(word, static_cast<float>(x), rounding);
  };
  for (uint32_t low = 0; low < largest; ++low) {
    double a = decodeWord(word, low), b = decodeWord(word, low + 1);
    double middle = (a + b) / 2;
    if (static_cast<float>(middle) != middle)
      continue; // not an input that binary32 can hold
    float above = std::nextafter(static_cast<float>(middle), INFINITY);
    float below = std::nextafter(static_cast<float>(middle), -INFINITY);
    ASSERT_EQ(encode(middle, Rounding::RNE), low + (low & 1)) << middle;
    ASSERT_EQ(encode(above, Rounding::RNE), low + 1) << middle;
    ASSERT_EQ(encode(below, Rounding::RNE), low) << middle;
    ASSERT_EQ(encode(middle, Rounding::RNA), low + 1) << middle;
    ASSERT_EQ(encode(below, Rounding::RNA), low) << middle;
    ASSERT_EQ(encode(above, Rounding::RTZ), low) << middle;
    ASSERT_EQ(encode(below, Rounding::RTP), low + 1) << middle;
    ASSERT_EQ(encode(above, Rounding::RTN), low) << middle;
    if (word.isUnsigned())
      continue;
    uint32_t negated = static_cast<uint32_t>(-static_cast<int64_t>(low + 1));
    uint32_t minus = word.isInteger() ? negated & ((1u << word.width()) - 1)
                                      : low + 1 + (1u << (word.width() - 1));
    ASSERT_EQ(encode(-below, Rounding::RTN), minus) << middle;
    ASSERT_EQ(encode(-above, Rounding::RNE), minus) << middle;
  }
}

// (F8)
TEST(FormatWord, EveryMidpoint) {
  for (uint16_t raw : {0x2043, 0x2887, 0x356F, 0x43E1, 0x43E3, 0x43E5, 0x43E7,
                       0x03E3, 0x03E7, 0x3467, 0x2065, 0x2085, 0x2023, 0x2063,
                       0x350F, 0x3487, 0x34A7, 0x4887, 0x03EF})
    checkLadder(FormatWord(raw));
}

/// encode(decode(code)) is the code (or an equal one) for every valid word up
/// to 16 bits, under every rounding.
// (F12)
TEST(FormatWord, DecodedValuesAreFixed) {
  std::mt19937 random(3);
  for (uint32_t raw = 0; raw < 65536; ++raw) {
    FormatWord word(static_cast<uint16_t>(raw));
    if (word.validate() || word.width() > 16)
      continue;
    for (uint32_t code : someCodes(word, random, 64)) {
      float x = decodeWord(word, code & ((1u << word.width()) - 1));
      if (!std::isfinite(x) || (x == 0 && word.isExponentOnly()) ||
          (std::fabs(x) < 0x1p-120f && x != 0))
        continue; // binary32 has no room below
      for (Rounding rounding : {Rounding::RNE, Rounding::RNA, Rounding::RTZ,
                                Rounding::RTP, Rounding::RTN}) {
        Expected<uint32_t> again =
            encodeWord(word, x, rounding, Saturation::SatMax);
        ASSERT_TRUE(again) << again.error().str();
        ASSERT_EQ(bitsOf(decodeWord(word, *again)), bitsOf(x))
            << std::hex << raw << " " << code;
      }
    }
  }
}

TEST(FormatWord, EncodeBinary32IsIdentity) {
  std::mt19937 random(4);
  for (int i = 0; i < 100000; ++i) {
    float x = floatOf(random());
    if (std::isfinite(x)) {
      EXPECT_EQ(*encodeWord(words::Binary32, x), bitsOf(x));
    }
  }
  EXPECT_EQ(*encodeWord(words::Binary32, NAN), 0x7FC00000u);
  EXPECT_EQ(
      *encodeWord(words::Binary32, INFINITY, Rounding::RNE, Saturation::OvfInf),
      0x7F800000u);
  EXPECT_EQ(*encodeWord(words::Binary32, -INFINITY), 0xFF7FFFFFu);
}

// (F8, F11)
TEST(FormatWord, OverflowFollowsRoundingAndSaturation) {
  auto half = [](float x, Rounding rounding, Saturation saturation) {
    return *encodeWord(words::Binary16, x, rounding, saturation);
  };
  for (Rounding rounding : {Rounding::RNE, Rounding::RNA, Rounding::RTZ})
    EXPECT_EQ(half(1e6f, rounding, Saturation::SatFinite), 0x7BFFu);
  EXPECT_EQ(half(65519.996f, Rounding::RNE, Saturation::OvfInf), 0x7BFFu);
  EXPECT_EQ(half(65520, Rounding::RNE, Saturation::OvfInf), 0x7C00u);
  EXPECT_EQ(half(1e6f, Rounding::RTZ, Saturation::OvfInf), 0x7BFFu);
  EXPECT_EQ(half(INFINITY, Rounding::RTZ, Saturation::OvfInf), 0x7C00u);
  EXPECT_EQ(half(-1e6f, Rounding::RTP, Saturation::OvfInf), 0xFBFFu);
  EXPECT_EQ(half(-1e6f, Rounding::RTN, Saturation::OvfInf), 0xFC00u);
  // e5m2 has infinities and eight bits.
  FormatWord e5m2(0x3467);
  EXPECT_EQ(*encodeWord(e5m2, 1e9f), 0x7Bu);
  EXPECT_EQ(*encodeWord(e5m2, 1e9f, Rounding::RNE, Saturation::OvfInf), 0x7Cu);
  EXPECT_EQ(*encodeWord(e5m2, NAN), 0x7Fu);
  EXPECT_FALSE(encodeWord(words::S8, NAN));
  EXPECT_FALSE(encodeWord(words::E2M1, NAN));
}
