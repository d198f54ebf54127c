//===- EncodeInputs.cpp - inputs made of integers, for encode tests -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeInputs.h"
#include "FormatTestUtils.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
/// x' = 1664525 x + 1013904223 mod 2^32; a draw is its upper 24 bits.
struct Lcg {
  uint32_t state;
  uint32_t draw() {
    state = state * 1664525 + 1013904223;
    return state >> 8;
  }
};

struct Inputs {
  Lcg lcg;
  float held = 0;
  int heldExponent = 0;

  float bell() {
    int64_t total = -(int64_t(1) << 25);
    for (int i = 0; i < 4; ++i)
      total += lcg.draw();
    return static_cast<float>(total) * 0x1p-23f;
  }
  float withExponent(uint32_t lowest, uint32_t count) {
    uint32_t low = lcg.draw(), exponent = lowest + lcg.draw() % count;
    return std::bit_cast<float>(low >> 23 << 31 | exponent << 23 |
                                (low & 0x7FFFFF));
  }
  float element(std::string_view kind, int64_t i);
};
} // namespace

float Inputs::element(std::string_view kind, int64_t i) {
  if (kind == "bell")
    return bell();
  if (kind == "uniform")
    return static_cast<float>(int32_t(lcg.draw()) - (1 << 23)) * 0x1p-23f;
  if (kind == "outlier")
    return bell() * (i % 31 == 0 ? 64 : 1);
  if (kind == "ties")
    return static_cast<float>(lcg.draw() % 65) / 8 - 4;
  if (kind == "constant")
    return held = i % 32 == 0 ? bell() : held;
  if (kind == "zero")
    return i % 3 == 0 ? -0.0f : 0.0f;
  if (kind == "positive")
    return std::fabs(bell());
  if (kind == "negative")
    return -std::fabs(bell());
  if (kind == "subnormal") {
    uint32_t low = lcg.draw();
    return std::bit_cast<float>(low >> 23 << 31 | (low & 0x7FFFFF));
  }
  if (kind == "wide")
    return withExponent(96, 40);
  if (kind == "extreme")
    return withExponent(1, 253);
  if (kind == "sparse") {
    float value = bell();
    return lcg.draw() % 8 == 0 ? value : 0;
  }
  if (kind == "scales") {
    if (i % 32 == 0)
      heldExponent = static_cast<int>(lcg.draw() % 60) - 40;
    return std::ldexp(bell(), heldExponent);
  }
  if (kind == "poison") {
    float value = bell();
    if (i % 97 == 5)
      return NAN;
    if (i % 89 == 5)
      return INFINITY;
    return i % 83 == 5 ? -INFINITY : value;
  }
  std::fprintf(stderr, "no inputs of this kind: %s\n",
               std::string(kind).c_str());
  std::exit(1);
}

std::vector<float> grit::test::encodeInputs(std::string_view kind,
                                            uint32_t seed, int64_t count) {
  Inputs inputs{{seed}};
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(inputs.element(kind, i));
  return values;
}

std::vector<float> grit::test::importanceInputs(uint32_t seed, int64_t count) {
  Lcg lcg{seed};
  std::vector<float> weights;
  for (int64_t i = 0; i < count; ++i)
    weights.push_back(static_cast<float>(lcg.draw() + 1) * 0x1p-24f);
  return weights;
}

grit::ArraySpec grit::test::rowsOf(const std::string &name, int64_t rows) {
  const int64_t multiple = contract(name).description().arrayMultiple;
  return specOf(name, {std::max(rows, multiple / 256), 256});
}
