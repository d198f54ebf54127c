//===- DecodeOracle.cpp - the twelve formats, decoded from their equations -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecodeOracle.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace grit;
using namespace grit::oracle;

float oracle::half(uint16_t code) {
  int sign = code >> 15, exponent = code >> 10 & 31, fraction = code & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                     : exponent < 31
                         ? std::ldexp(1024 + fraction, exponent - 25)
                     : fraction ? std::nan("")
                                : HUGE_VAL;
  return static_cast<float>(sign ? -magnitude : magnitude);
}

float oracle::e4m3(uint8_t code) {
  int exponent = code >> 3 & 15, fraction = code & 7;
  double magnitude = (code & 127) == 127 ? std::nan("")
                     : exponent == 0 ? std::ldexp(fraction, -9)
                                     : std::ldexp(8 + fraction, exponent - 10);
  return static_cast<float>(code & 128 ? -magnitude : magnitude);
}

float oracle::e8m0(uint8_t code) {
  return code == 255 ? std::nanf("") : std::ldexp(1.0f, code - 127);
}

static float e2m1(int code) {
  static const float magnitudes[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code];
}

static float single(const uint8_t *p) {
  uint32_t word = p[0] | p[1] << 8 | p[2] << 16 | uint32_t(p[3]) << 24;
  float result;
  std::memcpy(&result, &word, 4);
  return result;
}

static float halfAt(const uint8_t *p) { return half(p[0] | p[1] << 8); }

/// Code j of a plane of nibbles, the first in the low half of a byte.
static int nibble(const std::vector<uint8_t> &plane, int64_t j) {
  return j % 2 ? plane[j / 2] >> 4 : plane[j / 2] & 15;
}

static std::vector<float> mxfp4(const Planes &p, int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(e8m0(p[1][i / 32]) * e2m1(nibble(p[0], i)));
  return out;
}

static std::vector<float> nvf4(const Planes &p, int64_t count) {
  std::vector<float> out;
  float tensor = single(p[2].data());
  for (int64_t i = 0; i < count; ++i) {
    volatile float scale = tensor * e4m3(p[1][i / 16]);
    out.push_back(scale * e2m1(nibble(p[0], i)));
  }
  return out;
}

static std::vector<float> q4ks(const Planes &p, int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) {
    int64_t g0 = i / 32, g1 = g0 / 8;
    float d = halfAt(&p[2][4 * g1]), dmin = halfAt(&p[2][4 * g1 + 2]);
    volatile float scale = d * float(p[1][g0] & 63);
    volatile float minimum = dmin * float(p[3][g0] & 63);
    volatile float scaled = scale * float(nibble(p[0], i));
    out.push_back(scaled - minimum);
  }
  return out;
}

static std::vector<float> i8s24(const Planes &p, int64_t count) {
  std::vector<float> out;
  int64_t cursor = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t quad = i / 4;
    int indices = nibble(p[2], quad);
    bool kept = (indices & 3) == i % 4 || indices >> 2 == i % 4;
    out.push_back(kept ? halfAt(&p[1][i / 32 * 2]) *
                             float(static_cast<int8_t>(p[0][cursor]))
                       : 0.0f);
    cursor += kept;
  }
  return out;
}

/// The code of element e in a block of 32 with split halves.
static int splitNibble(const uint8_t *codes, int64_t e) {
  return e < 16 ? codes[e] & 15 : codes[e - 16] >> 4;
}

static std::vector<float> q4_0(const Planes &p, int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *block = &p[0][i / 32 * 18];
    out.push_back(float(splitNibble(block + 2, i % 32) - 8) * halfAt(block));
  }
  return out;
}

static std::vector<float> iq4nl(const Planes &p, int64_t count) {
  static const int levels[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *block = &p[0][i / 32 * 18];
    out.push_back(halfAt(block) *
                  float(levels[splitNibble(block + 2, i % 32)]));
  }
  return out;
}

static std::vector<float> q8_0(const Planes &p, int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *block = &p[0][i / 32 * 34];
    out.push_back(float(static_cast<int8_t>(block[2 + i % 32])) *
                  halfAt(block));
  }
  return out;
}

static std::vector<float> ggufMxfp4(const Planes &p, int64_t count) {
  static const int levels[] = {0, 1,  2,  3,  4,  6,  8,  12,
                               0, -1, -2, -3, -4, -6, -8, -12};
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *block = &p[0][i / 32 * 17];
    uint32_t word = block[0] == 0   ? 0x00200000u
                    : block[0] == 1 ? 0x00400000u
                                    : uint32_t(block[0] - 1) << 23;
    float scale;
    std::memcpy(&scale, &word, 4);
    out.push_back(float(levels[splitNibble(block + 1, i % 32)]) * scale);
  }
  return out;
}

static std::vector<float> q4k(const Planes &p, int64_t count) {
  std::vector<float> out;
  for (int64_t index = 0; index < count; ++index) {
    const uint8_t *block = &p[0][index / 256 * 144], *s = block + 4;
    int64_t e = index % 256, i = e / 32, l = e % 32;
    int sc = i < 4 ? s[i] & 63 : (s[i + 4] & 15) | s[i - 4] >> 6 << 4;
    int m = i < 4 ? s[i + 4] & 63 : s[i + 4] >> 4 | s[i] >> 6 << 4;
    int q = block[16 + 32 * (i / 2) + l] >> 4 * (i % 2) & 15;
    volatile float scale = halfAt(block) * float(sc);
    volatile float scaled = scale * float(q);
    volatile float minimum = halfAt(block + 2) * float(m);
    out.push_back(scaled - minimum);
  }
  return out;
}

using Decoder = std::vector<float> (*)(const Planes &, int64_t);

static const std::map<std::string, Decoder> &decoders() {
  static const std::map<std::string, Decoder> formats = {
      {"mxfp4", mxfp4},          {"mxfp4_rne", mxfp4},  {"nvf4", nvf4},
      {"nvf4_rtz", nvf4},        {"q4ks", q4ks},        {"i8s24", i8s24},
      {"gguf.q4_0", q4_0},       {"gguf.q4_k", q4k},    {"gguf.q8_0", q8_0},
      {"gguf.mxfp4", ggufMxfp4}, {"gguf.iq4_nl", iq4nl}};
  return formats;
}

bool oracle::knows(const std::string &name) {
  return decoders().contains(name);
}

std::vector<float> oracle::decode(const std::string &name, const Planes &planes,
                                  int64_t count) {
  return decoders().at(name)(planes, count);
}

std::vector<float> oracle::decodeNf4(const Planes &p, int64_t outer,
                                     int64_t axis, int64_t inner,
                                     int64_t block) {
  static const double levels[] = {-1.0,
                                  -0.6961928009986877,
                                  -0.5250730514526367,
                                  -0.39491748809814453,
                                  -0.28444138169288635,
                                  -0.18477343022823334,
                                  -0.09105003625154495,
                                  0.0,
                                  0.07958029955625534,
                                  0.16093020141124725,
                                  0.24611230194568634,
                                  0.33791524171829224,
                                  0.44070982933044434,
                                  0.5626170039176941,
                                  0.7229568362236023,
                                  1.0};
  std::vector<float> out;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t a = 0; a < axis; ++a)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t line = o * inner + i;
        int64_t b = line * ((axis + block - 1) / block) + a / block;
        float level = static_cast<float>(
            levels[nibble(p[0], (o * axis + a) * inner + i)]);
        out.push_back(single(&p[1][4 * b]) * level);
      }
  return out;
}
