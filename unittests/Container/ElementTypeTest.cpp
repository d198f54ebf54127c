//===- ElementTypeTest.cpp - plain number types -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/ElementType.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

using namespace grit;

static int64_t sizeOf(const char *token, std::vector<int64_t> shape) {
  Expected<int64_t> size = byteSize(*lookupElementType(token), shape);
  return size ? *size : -1;
}

TEST(ElementType, Sizes) {
  EXPECT_EQ(sizeOf("F32", {2, 3}), 24);
  EXPECT_EQ(sizeOf("F64", {}), 8);
  EXPECT_EQ(sizeOf("C64", {3}), 24);
  EXPECT_EQ(sizeOf("BOOL", {0, 5}), 0);
  EXPECT_EQ(sizeOf("F4", {2, 8}), 8);
  EXPECT_EQ(sizeOf("F6_E2M3", {3, 4}), 9);
  EXPECT_EQ(sizeOf("F8_E8M0", {3}), 3);
}

TEST(ElementType, RefusesPartBytes) {
  EXPECT_EQ(sizeOf("F4", {3, 7}), -1);
  EXPECT_EQ(sizeOf("F4", {}), -1);
  EXPECT_EQ(sizeOf("F6_E3M2", {3, 2}), -1);
  EXPECT_EQ(sizeOf("F6_E2M3", {2}), -1);
  // Rows may end within a byte.
  EXPECT_EQ(sizeOf("F4", {2, 7}), 7);
  EXPECT_EQ(sizeOf("F6_E3M2", {4, 2}), 6);
}

TEST(ElementType, RefusesSizesThatOverflow) {
  int64_t large = int64_t(1) << 62;
  EXPECT_EQ(sizeOf("F4", {large, 4}), -1);
  EXPECT_EQ(sizeOf("U8", {large, 2}), -1);
  EXPECT_EQ(sizeOf("U8", {0, large, 4}), -1);
  EXPECT_EQ(sizeOf("F32", {-1}), -1);
  EXPECT_EQ(lookupElementType("f32"), std::nullopt);
}

template <typename T>
static std::vector<float> convert(const char *token, std::vector<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::vector<float> out(values.size());
  EXPECT_TRUE(toFloat32(*lookupElementType(token), bytes, out));
  return out;
}

/// Every binary16 code against the definition.
TEST(ElementType, ConvertsEveryHalf) {
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint16_t>(i);
  std::vector<float> values = convert("F16", codes);
  for (uint32_t code = 0; code < 65536; ++code) {
    int exponent = static_cast<int>(code >> 10 & 31);
    int fraction = static_cast<int>(code & 1023);
    double magnitude = exponent == 31 ? INFINITY
                       : exponent ? std::ldexp(1024 + fraction, exponent - 25)
                                  : std::ldexp(fraction, -24);
    if (exponent == 31 && fraction) {
      ASSERT_TRUE(std::isnan(values[code]));
      continue;
    }
    double value = code >> 15 ? -magnitude : magnitude;
    ASSERT_EQ(std::bit_cast<uint32_t>(values[code]),
              std::bit_cast<uint32_t>(static_cast<float>(value)))
        << code;
  }
}

TEST(ElementType, ConvertsTheOthers) {
  EXPECT_EQ(convert<uint16_t>("BF16", {0x3F80, 0xC000}),
            (std::vector<float>{1.0f, -2.0f}));
  EXPECT_EQ(convert<float>("F32", {1.5f, -0.25f}),
            (std::vector<float>{1.5f, -0.25f}));
  // A double halfway between two floats goes to the even one; one beyond the
  // largest float becomes infinite.
  EXPECT_EQ(convert<double>("F64", {1.0 + 0x1p-24, 1e300}),
            (std::vector<float>{1.0f, INFINITY}));
}

TEST(ElementType, RefusesOtherTypesAndSizes) {
  uint8_t bytes[8] = {};
  float out[2];
  EXPECT_FALSE(toFloat32(*lookupElementType("I32"), bytes, out));
  EXPECT_FALSE(toFloat32(*lookupElementType("F16"), bytes, out));
  EXPECT_FALSE(toFloat32(*lookupElementType("F32"),
                         std::span<const uint8_t>(bytes, 7), out));
}
