//===- DecodeTest.cpp - decode against equations and published vectors -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Covering.h"
#include "DecodeOracle.h"
#include "FormatTestUtils.h"
#include "Golden.h"
#include <cmath>
#include <functional>

using namespace grit;
using namespace grit::test;

static void compare(const std::string &name, const std::vector<Bytes> &planes,
                    std::vector<int64_t> shape) {
  ArraySpec spec = take(ArraySpec::get(contract(name), std::move(shape)));
  expectSameBits(decodeAll(spec, planes),
                 oracle::decode(name, planes, spec.numElements()), name);
}

//===----------------------------------------------------------------------===//
// Every code under every scale
//===----------------------------------------------------------------------===//

// (D1, D2, D3, D4, D11)
TEST(Decode, Mxfp4EveryCodeEveryScale) {
  std::vector<Bytes> planes(2);
  for (int scale = 0; scale < 256; ++scale) {
    planes[1].push_back(scale);
    for (int half = 0; half < 2; ++half)
      for (int pair = 0; pair < 8; ++pair)
        planes[0].push_back(2 * pair | (2 * pair + 1) << 4);
  }
  compare("mxfp4", planes, {256, 32});
  compare("mxfp4_rne", planes, {256 * 32});
}

// (D6, D8, D10)
TEST(Decode, Nvf4EveryCodeEveryScale) {
  const uint32_t tensorScales[] = {
      0x3f800000, 0x3a2ecdfa, 0x00000001, 0x007fffff, 0x80000000, 0xbf800001,
      0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xffffffff, 0x00000000};
  for (uint32_t tensor : tensorScales) {
    std::vector<Bytes> planes(3);
    for (int scale = 0; scale < 256; ++scale) {
      planes[1].push_back(scale);
      for (int pair = 0; pair < 8; ++pair)
        planes[0].push_back(2 * pair | (2 * pair + 1) << 4);
    }
    for (int shift = 0; shift < 32; shift += 8)
      planes[2].push_back(tensor >> shift);
    compare("nvf4", planes, {256, 16});
    compare("nvf4_rtz", planes, {16, 256});
  }
}

/// binary16 words that matter: both zeros, subnormals, ordinary ones, the
/// largest, infinities and NaNs.
static const std::vector<uint16_t> kHalves = {
    0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x13f8, 0x2e16, 0x3555,
    0x3c00, 0xbc01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfdff};

// (D17)
TEST(Decode, Q4ksEveryCodeEveryScaleEveryMinimum) {
  for (uint16_t d : kHalves)
    for (uint16_t dmin : {0x0000, 0x8000, 0x3c01, 0x2abc, 0x7c00, 0xfe01}) {
      std::vector<Bytes> planes(4);
      for (int pair = 0; pair < 64 * 64; ++pair) {
        planes[1].push_back(pair % 64);
        planes[3].push_back(pair / 64);
        for (int i = 0; i < 16; ++i)
          planes[0].push_back((i % 8 * 2) | (i % 8 * 2 + 1) << 4);
      }
      for (int group = 0; group < 64 * 64 / 8; ++group)
        for (uint16_t word : {d, dmin}) {
          planes[2].push_back(word & 255);
          planes[2].push_back(word >> 8);
        }
      compare("q4ks", planes, {64, 64 * 32});
    }
}

// (B5, B6)
TEST(Decode, Q4ksPadBitsAreIgnored) {
  ArraySpec spec = take(ArraySpec::get(contract("q4ks"), {256}));
  Random random(4);
  std::vector<Bytes> planes = randomPlanes(spec, random), masked = planes;
  for (size_t i = 0; i < 8; ++i) {
    masked[1][i] &= 63;
    masked[3][i] &= 63;
  }
  EXPECT_NE(planes, masked);
  expectSameBits(decodeAll(spec, planes), decodeAll(spec, masked), "q4ks");
}

// (D13, D14)
TEST(Decode, I8s24EveryCodeEveryPairOfIndices) {
  // Per scale: 16 index nibbles x 256 codes, two survivors per quad. Nibbles
  // with a duplicated index consume one code only; the oracle says which.
  for (uint16_t scale : kHalves) {
    std::vector<Bytes> planes(3);
    for (int nibble = 0; nibble < 16; ++nibble)
      for (int code = 0; code < 256; code += 2) {
        planes[0].push_back(code);
        planes[0].push_back(code + 1);
        if (code % 4 == 0)
          planes[2].push_back(nibble | nibble << 4);
      }
    int64_t elements = 16 * 128 * 4;
    for (int64_t group = 0; group < elements / 32; ++group) {
      planes[1].push_back(scale & 255);
      planes[1].push_back(scale >> 8);
    }
    compare("i8s24", planes, {16, elements / 16});
  }
}

/// Blocks of 32 with a binary16 scale, each under each of 65536 scales.
static void everyHalf(const std::string &name, int codeBytes,
                      const std::function<uint8_t(int, int)> &code) {
  constexpr int kChunk = 4096;
  for (int base = 0; base < 65536; base += kChunk) {
    std::vector<Bytes> planes(1);
    for (int scale = base; scale < base + kChunk; ++scale) {
      planes[0].push_back(scale & 255);
      planes[0].push_back(scale >> 8);
      for (int i = 0; i < codeBytes; ++i)
        planes[0].push_back(code(scale, i));
    }
    compare(name, planes, {kChunk, 32});
  }
}

/// Each of the 16 codes in both halves of a block.
static uint8_t splitCode(int, int i) { return i | (15 - i) << 4; }

TEST(Decode, Q4_0EveryCodeEveryScale) { everyHalf("gguf.q4_0", 16, splitCode); }

TEST(Decode, Iq4NlEveryCodeEveryScale) {
  everyHalf("gguf.iq4_nl", 16, splitCode);
}

TEST(Decode, Q8_0EveryCode) {
  // Eight neighbouring scales share the 256 codes between them.
  everyHalf("gguf.q8_0", 32,
            [](int scale, int i) { return scale % 8 * 32 + i; });
  // ... and every code under the scales that matter.
  for (uint16_t scale : kHalves) {
    std::vector<Bytes> planes(1);
    for (int block = 0; block < 8; ++block) {
      planes[0].push_back(scale & 255);
      planes[0].push_back(scale >> 8);
      for (int i = 0; i < 32; ++i)
        planes[0].push_back(block * 32 + i);
    }
    compare("gguf.q8_0", planes, {8, 32});
  }
}

TEST(Decode, GgufMxfp4EveryCodeEveryScale) {
  std::vector<Bytes> planes(1);
  for (int scale = 0; scale < 256; ++scale) {
    planes[0].push_back(scale);
    for (int i = 0; i < 16; ++i)
      planes[0].push_back(splitCode(scale, i));
  }
  compare("gguf.mxfp4", planes, {256, 32});
}

TEST(Decode, GgufMxfp4IsNotTheGrade) {
  // Code 8 is +0, and scale byte 255 is a number.
  ArraySpec spec = take(ArraySpec::get(contract("gguf.mxfp4"), {32}));
  Bytes block(17, 0x18);
  block[0] = 255;
  std::vector<float> out = decodeAll(spec, {block});
  EXPECT_EQ(bits(out[0]), 0u);
  EXPECT_EQ(bits(out[16]), 0x7f000000u); // 1 x 2^127
}

TEST(Decode, Q4_KEveryCodeEveryScaleEveryMinimum) {
  // Group i of a block takes pair (sc, m) number 8 * block + i.
  Bytes blocks;
  for (int block = 0; block < 64 * 64 / 8; ++block) {
    uint16_t d = kHalves[block % 13], dmin = kHalves[(block / 13) % 13];
    for (int byte : {d & 255, d >> 8, dmin & 255, dmin >> 8})
      blocks.push_back(byte);
    uint8_t packed[12] = {};
    for (int i = 0; i < 8; ++i) {
      int pair = 8 * block + i, sc = pair % 64, m = (pair / 64 + 9 * i) % 64;
      if (i < 4) {
        packed[i] |= sc;
        packed[i + 4] |= m;
      } else {
        packed[i + 4] |= (sc & 15) | (m & 15) << 4;
        packed[i - 4] |= sc >> 4 << 6;
        packed[i] |= m >> 4 << 6;
      }
    }
    blocks.insert(blocks.end(), packed, packed + 12);
    for (int i = 0; i < 128; ++i)
      blocks.push_back(i % 16 | (i + i / 16) % 16 << 4);
  }
  compare("gguf.q4_k", {blocks}, {64 * 64 / 8, 256});
}

/// The arrays that compiled kernels are tried on hold what they are to hold.
TEST(Covering, HoldsEveryCodeUnderEveryScale) {
  Random random(5);
  unsigned covered = 0;
  for (const std::string &name : registeredContractNames()) {
    Contract contract = test::contract(name);
    const FormatDescription &desc = contract.description();
    // Codes of one element each, of at most 8 bits.
    if (desc.level.vector > 1 || desc.codes.radix || desc.codes.width() > 8)
      continue;
    ++covered;
    ArraySpec spec = coveringSpec(contract);
    EXPECT_EQ(countCovered(spec, coveringPlanes(spec, random)),
              countCombinations(desc))
        << name;
  }
  EXPECT_GE(covered, 25u);
}

TEST(Decode, RandomBytes) {
  Random random(1);
  for (const std::string &name : registeredContractNames()) {
    if (!oracle::knows(name))
      continue;
    ArraySpec spec = take(ArraySpec::get(contract(name), {3, 40, 512}));
    std::vector<Bytes> planes = randomPlanes(spec, random);
    expectSameBits(decodeAll(spec, planes),
                   oracle::decode(name, planes, spec.numElements()), name);
  }
}

/// Groups of level 1 that run over the end of a row.
// (B15)
TEST(Decode, Q4ksStraddlesRows) {
  ArraySpec spec = take(ArraySpec::get(contract("q4ks"), {4, 384}));
  Random random(2);
  std::vector<Bytes> planes = randomPlanes(spec, random);
  ASSERT_EQ(planes[2].size(), 24u);
  expectSameBits(decodeAll(spec, planes), oracle::decode("q4ks", planes, 1536),
                 "q4ks [4, 384]");
}

//===----------------------------------------------------------------------===//
// NF4
//===----------------------------------------------------------------------===//

static Bytes singles(const std::vector<uint32_t> &words) {
  Bytes bytes;
  for (uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(word >> shift);
  return bytes;
}

TEST(DecodeNf4, WorkedExamples) {
  ArraySpec eight = take(ArraySpec::get(contract("hurray.nf4(block=8)"), {8}));
  const std::vector<uint32_t> expected = {0xC0200000, 0xBFDEC81D, 0x00000000,
                                          0x3E4BB9BF, 0x3FE758A0, 0x40200000,
                                          0xBF7CBF48, 0x3F8D06F3};
  std::vector<float> out =
      decodeAll(eight, {{0x10, 0x87, 0xfe, 0xc3}, singles({bits(2.5f)})});
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(bits(out[i]), expected[i]);

  const std::vector<uint32_t> tenths = {
      0xBDCCCCCD, 0xBD8E948E, 0xBD5711E7, 0xBD21C21A, 0xBCE903AF, 0xBC975DCC,
      0xBC152D27, 0x00000000, 0x3C026266, 0x3C83D583, 0x3CC99D7E, 0x3D0A68FB,
      0x3D3483C7, 0x3D6672AB, 0x3D940FC3, 0x3DCCCCCD};
  ArraySpec sixteen =
      take(ArraySpec::get(contract("hurray.nf4(block=16)"), {16}));
  out = decodeAll(sixteen, {{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe},
                            singles({bits(0.1f)})});
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(bits(out[i]), tenths[i]);
}

TEST(DecodeNf4, BlockNumbers) {
  // With all codes 15 (level 1.0) an element is the scale of its block.
  auto numbers = [](std::vector<int64_t> shape, int axis, int64_t block) {
    ArraySpec spec = take(ArraySpec::get(
        contract("hurray.nf4(block=" + std::to_string(block) + ")"),
        std::move(shape), axis));
    PlaneSizes sizes = take(spec.planeSizes());
    std::vector<uint32_t> scales;
    for (int64_t b = 0; b < sizes[1] / 4; ++b)
      scales.push_back(bits(static_cast<float>(b)));
    return decodeAll(spec, {Bytes(sizes[0], 0xff), singles(scales)});
  };
  std::vector<float> out = numbers({2, 16, 3}, 1, 8);
  const int expected[2][2][3] = {{{0, 2, 4}, {1, 3, 5}},
                                 {{6, 8, 10}, {7, 9, 11}}};
  for (int a = 0; a < 2; ++a)
    for (int row = 0; row < 16; ++row)
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(out[(a * 16 + row) * 3 + c], expected[a][row / 8][c]);
  out = numbers({128, 128}, 0, 128);
  for (int i = 0; i < 128 * 128; ++i)
    EXPECT_EQ(out[i], i % 128);
  out = numbers({3, 16}, 1, 8);
  for (int i = 0; i < 48; ++i)
    EXPECT_EQ(out[i], i / 8);
}

TEST(DecodeNf4, EveryCodeManyScalesEveryAxis) {
  Random random(3);
  struct Case {
    std::vector<int64_t> shape;
    int axis;
    int64_t outer, length, inner;
  };
  for (const Case &c :
       {Case{{256, 64}, 1, 256, 64, 1}, Case{{64, 96}, 0, 1, 64, 96},
        Case{{3, 128, 5}, 1, 3, 128, 5}, Case{{2, 3, 64, 7}, 2, 6, 64, 7}}) {
    ArraySpec spec =
        take(ArraySpec::get(contract("hurray.nf4"), c.shape, c.axis));
    std::vector<Bytes> planes = randomPlanes(spec, random);
    // Zeros, subnormals, infinities and NaNs among the random scales.
    Bytes special = singles(
        {0, 0x80000000, 1, 0x7f800000, 0xff800000, 0x7f800001, 0x7f7fffff});
    std::copy(special.begin(), special.end(), planes[1].begin());
    expectSameBits(decodeAll(spec, planes),
                   oracle::decodeNf4(planes, c.outer, c.length, c.inner, 64),
                   "nf4");
  }
}

//===----------------------------------------------------------------------===//
// Published vectors
//===----------------------------------------------------------------------===//

/// The planes that a contract has, of the four of a golden vector.
static std::vector<Bytes> describedPlanes(const Contract &contract,
                                          const golden::Planes &planes) {
  std::vector<Bytes> result;
  const FormatDescription &desc = contract.description();
  for (unsigned i = 0; i < desc.planes.size(); ++i)
    result.push_back(planes[planeSlot(desc, i)]);
  return result;
}

TEST(DecodeGolden, GradeVectors) {
  unsigned values = 0;
  auto run = [&](const golden::Vector &vector, const golden::Planes &planes,
                 const golden::Bits &expected) {
    ArraySpec spec = take(ArraySpec::get(contract(vector.grade), vector.shape));
    expectSameBits(decodeAll(spec, describedPlanes(spec.contract, planes)),
                   golden::toFloats(expected), vector.name);
    for (uint32_t word : expected)
      EXPECT_TRUE(word == canonicalBits(value(word)));
    values += expected.size();
  };
  for (const golden::Vector &vector : golden::file().vectors) {
    run(vector, vector.planes, vector.decoded);
    if (!vector.encodeNormative)
      run(vector, vector.rtzPlanes, vector.rtzDecoded);
  }
  for (const golden::Vector &vector : golden::file().decodeOnly)
    run(vector, vector.planes, vector.decoded);
  EXPECT_GT(values, 3000u);
}
