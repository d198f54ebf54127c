//===- GgufBlocksTest.cpp - GGUF block types against known values -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hashes of whole blocks were made with ggml's C code; those of the tables of
// vectors are of ggml's own tables, as bytes in order.
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include <algorithm>

using namespace grit;
using namespace grit::test;

static Bytes singles(const std::vector<float> &values) {
  Bytes bytes;
  for (float value : values)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(bits(value) >> shift));
  return bytes;
}

static std::vector<float> decodeBlock(const std::string &name, Bytes block) {
  Contract contract = test::contract(name);
  int64_t elements = contract.description().planes[0].elements;
  return decodeAll(take(ArraySpec::get(contract, {elements})),
                   {std::move(block)});
}

namespace {
/// A block whose byte i is 37 i + 11, but for some of its bytes.
struct FullBlock {
  const char *name;
  size_t bytes;
  std::vector<size_t> ones; ///< offsets of factors of binary16 that become 1
  /// y[0], y[1], y[16], y[n/2] and the last.
  std::array<float, 5> values;
  const char *hash;
};
} // namespace

static const FullBlock kFullBlocks[] = {
    {"gguf.q8_0",
     34,
     {0},
     {85, 122, -91, -91, -48},
     "1ca5b7e7309e05142988e0bdd7004e094008a99f989877abac9e6303f577b7d7"},
    {"gguf.q4_0",
     18,
     {0},
     {-3, 2, -3, -3, 0},
     "719ac4caff1179087d4915e6daf2d031da0b694e95cb7f54a19b00f8bfb552ff"},
    {"gguf.q5_0",
     22,
     {0},
     {9, -2, 14, 14, 1},
     "1b2c6393c9c607af27050a94a60968cc5512b7a8a2f6416406e06e16a8d3c755"},
    {"gguf.q2_0",
     18,
     {0},
     {0, 0, 0, 0, 1},
     "5a8bd18ced6200c15b5b21171a5f873599d9d36f1ad8d4773a21fa36deb453fc"},
    {"gguf.q2_k",
     84,
     {80, 82},
     {33, 0, -3, 6, 3},
     "41871adafaddfa112569a10ed64ccae480bcc1d04037eaaba6fd1804bff6d56f"},
    {"gguf.q3_k",
     110,
     {108},
     {81, -108, -96, 2, 42},
     "61ce1b467bea0e2ef39cf49e8d7c5fffcff59279fd4494ba083174948cfc3758"},
    {"gguf.q4_k",
     144,
     {0, 2},
     {290, -51, 290, 417, 31},
     "b57aac81a7df1a6ace81a188c7169e2b9cfb59d0493766918c9adfe4891cffd5"},
    {"gguf.q5_k",
     176,
     {0, 2},
     {786, -51, 786, 1041, 91},
     "1096c6f78a10a904a67c5501a2cd0bb2c9f73f630f7e1b762c099bc00df8823b"},
    {"gguf.q6_k",
     210,
     {208},
     {-1431, 1696, -432, -351, -60},
     "b0d4aeb36070c1e838f41aaeffefcee6df48920ec3f66544666d61bf9431314b"},
    {"gguf.iq2_xxs",
     66,
     {0},
     {-59.125f, 59.125f, 34.375f, -96.875f, -80.625f},
     "154220fd47068027284368c24d801efcef6af5e9b52359ba6aaf3ddfe71bdc0c"},
    {"gguf.iq2_xs",
     74,
     {0},
     {-11, 34.375f, -19, -19, -19},
     "8f598e062eb080aa5b7098279db7d82b3e52b7b590c5122295090f670db73f8c"},
    {"gguf.iq3_xxs",
     98,
     {0},
     {-13, 9, 7, -55, -15},
     "35aa99c61a8a85f22c5fc116e83dcc80299c6f20d820774a00f0cda44d08cdbb"},
    {"gguf.iq1_s",
     50,
     {0},
     {-2.625f, 0.375f, -2.625f, -7.875f, -4.375f},
     "ee7ef48aff8d8d16e3b9400053eba29a8482b27c34f0338c112817f3739af3b9"},
    {"gguf.iq4_nl",
     18,
     {0},
     {-35, 25, -35, -35, 1},
     "410b8f17e2a73bd17bc872b9247e5491b718fd4be490007557fd3b5686d8d2d0"},
    {"gguf.iq3_s",
     110,
     {0},
     {-81, 243, -189, -105, 225},
     "e6b8f41fe5dd4b83176b0dfc4778046eab3011a9aff1d5de3d0cf0613f82bf0f"},
    {"gguf.iq2_s",
     82,
     {0},
     {-145.125f, 84.375f, -23, -9.375f, 78.125f},
     "2d01f1334a2455d5cc979f79de2becb32e1385d15490155b6190916df6b09da9"},
    {"gguf.iq4_xs",
     136,
     {0},
     {65, -1, 65, -585, -16},
     "95dfe54ba6e4344765bb748d6d1758168691ada56e43008bd50f73b5527d64e5"},
    {"gguf.iq1_m",
     56,
     {},
     {-0.875f, 6.125f, 1.875f, 1.875f, -1.875f},
     "d0b2bfe130d7b46dc6dfc950c8e9074b4d6d6a51e0c930846534f9a71ee9a890"},
    {"gguf.q4_1",
     20,
     {0, 2},
     {16, 5, 10, 10, 13},
     "1a82f8bf5f2c05ddc66e58c96e165858ea6be6350f01b11c4f77f5f677813b89"},
    {"gguf.q5_1",
     24,
     {0, 2},
     {20, 25, 20, 20, 6},
     "ec19e23226d5c090a449edb66f6f1b1132db6847a63942bb74085321a03c46d8"},
    {"gguf.q8_1",
     36,
     {0, 2},
     {-97, -60, -17, -17, 26},
     "b7c040bee1d57cab13391da33b84a4bb3b1ab13a7ffbb4a770595d5b2c7cb5b0"},
    {"gguf.q8_k",
     292,
     {},
     {-97, -60, -17, 31, 122},
     "cd871dc25d5f1f25f22cd7cdf379e9f04ce9a0a167cc88146e292c50c72735e8"},
    {"gguf.tq1_0",
     54,
     {52},
     {-1, -1, 0, 0, -1},
     "b9b900ed871e0f51fc7d06d551ea7097bd050c73b3215827457c9e84910260b9"},
    {"gguf.tq2_0",
     66,
     {64},
     {2, -1, 2, 2, -1},
     "04100ceeb7a49781f88b325e2323280d89ac815092d1e45699b67ce4accdfc5e"},
    {"gguf.mxfp4",
     17,
     {},
     {0, 6, 3, 3, 6},
     "ef7ca08d1717c5b90891727cd7ce5984d9b62837e87ea8b9abb8e08efef79cf9"},
    {"gguf.nvfp4",
     36,
     {},
     {-0.12890625f, 0.04296875f, 3, -78, 160},
     "08108161f07c84252f074fa013c3f378248a50607d5ef39ce8f68e0b5a999ef9"},
    {"gguf.q1_0",
     18,
     {0},
     {1, -1, 1, 1, 1},
     "854026b461123ccf386a60be601652f14760095c5d6b099305f0cbaca8fd8028"},
};

TEST(GgufBlocks, FullBlocks) {
  for (const FullBlock &c : kFullBlocks) {
    Bytes block;
    for (size_t i = 0; i < c.bytes; ++i)
      block.push_back(static_cast<uint8_t>(37 * i + 11));
    for (size_t offset : c.ones) {
      block[offset] = 0x00;
      block[offset + 1] = 0x3c;
    }
    std::string name = c.name;
    if (name == "gguf.mxfp4")
      block[0] = 0x80;
    if (name == "gguf.q8_k")
      std::ranges::copy(Bytes{0, 0, 0x80, 0x3f}, block.begin());
    // The nibbles of 1.0 in the tops of four words.
    if (name == "gguf.iq1_m")
      for (int i = 0; i < 4; ++i)
        block[49 + 2 * i] = (block[49 + 2 * i] & 15) | (0x3c00 >> 4 * i & 15)
                                                           << 4;
    std::vector<float> y = decodeBlock(name, block);
    std::array<float, 5> some{y[0], y[1], y[16], y[y.size() / 2], y.back()};
    EXPECT_EQ(some, c.values) << name;
    EXPECT_EQ(sha256(singles(y)), c.hash) << name;
  }
  EXPECT_EQ(sha256({'a', 'b', 'c'}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396"
            "177a9cb410ff61f20015ad");
}

TEST(GgufBlocks, EveryBlockTypeIsThere) {
  size_t blocks = 0;
  for (const std::string &name : registeredContractNames())
    if (name.starts_with("gguf.") &&
        contract(name).description().planes[0].elements > 1) {
      ++blocks;
      EXPECT_TRUE(std::ranges::any_of(
          kFullBlocks, [&](const FullBlock &c) { return name == c.name; }))
          << name << " has no block here";
    }
  EXPECT_EQ(blocks, std::size(kFullBlocks));
}

TEST(GgufBlocks, ByHand) {
  Bytes q5(22);
  q5[1] = 0x38; // 0.5
  q5[2] = 0x01; // the fifth bits of elements 0 and 17
  q5[4] = 0x02;
  q5[7] = 0x0f;
  std::vector<float> y = decodeBlock("gguf.q5_0", q5);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[16], -8);
  EXPECT_EQ(y[1], -0.5f);
  EXPECT_EQ(y[17], 0);

  Bytes q2(18);
  q2[1] = 0x38;
  q2[2] = 0xe4;
  y = decodeBlock("gguf.q2_0", q2);
  EXPECT_EQ((std::vector<float>{y[0], y[1], y[2], y[3]}),
            (std::vector<float>{-0.5f, 0, 0.5f, 1}));

  // Zero codes under a factor of -0: the sign flips, and zero has one.
  Bytes q1(18);
  q1[1] = 0x80;
  q1[2] = 0x01;
  y = decodeBlock("gguf.q1_0", q1);
  EXPECT_EQ(bits(y[0]), 0x80000000u);
  EXPECT_EQ(bits(y[1]), 0u);

  // The sign of a scale is not read, 127 is 0, and 255 is a number.
  Bytes nvfp4(36);
  nvfp4[0] = 0xff;
  nvfp4[1] = 0x7f;
  nvfp4[2] = 0x80 | 0x38;
  nvfp4[3] = 0x01;
  for (size_t i = 4; i < 36; ++i)
    nvfp4[i] = 0x9a;
  y = decodeBlock("gguf.nvfp4", nvfp4);
  EXPECT_EQ(y[0], -480);               // -2 * 240
  EXPECT_EQ(bits(y[16]), 0x80000000u); // -2 * 0
  EXPECT_EQ(y[32], -1);                // -2 / 2
  EXPECT_EQ(y[40], -0.5f);
  EXPECT_EQ(y[48], -0x1p-9f);
}

/// Any byte is five digits to base 3, those that no writer makes as well.
TEST(GgufBlocks, EveryByteOfTernaryDigits) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    Bytes block(54, static_cast<uint8_t>(byte));
    block[52] = 0x00;
    block[53] = 0x3c;
    std::vector<float> y = decodeBlock("gguf.tq1_0", block);
    unsigned power = 1;
    for (int t = 0; t < 5; ++t, power *= 3) {
      auto digit = static_cast<float>(((byte * power & 255) * 3 >> 8));
      for (int e : {32 * t, 32 * t + 31, 160 + 16 * t, 160 + 16 * t + 15})
        EXPECT_EQ(y[e], digit - 1) << byte << " " << e;
      if (t < 4) {
        EXPECT_EQ(y[240 + 4 * t], digit - 1) << byte;
        EXPECT_EQ(y[243 + 4 * t], digit - 1) << byte;
      }
    }
  }
}

TEST(GgufBlocks, TablesOfVectors) {
  struct Case {
    const char *name;
    size_t entries;
    unsigned vector;
    const char *hash;
  };
  const Case cases[] = {
      {"gguf.iq2_xxs", 256, 8,
       "05826b5d3e472a3a78f196be62ac78acf81df0f909626e12ab9fa2a5d490dd54"},
      {"gguf.iq2_xs", 512, 8,
       "06e47aaca60b4dc1d9b5a3f34540437058a6b142b4d7a59d5ded769b4d1bf1de"},
      {"gguf.iq2_s", 1024, 8,
       "e1aa1473412b0552c2174c30ef22ab4073f6a181b85a17056e8249bd2932fd88"},
      {"gguf.iq3_xxs", 256, 4,
       "46e35f5a997efdee6c99ce57854c8a0d4f0ff8ca57e5e8a60c0793ea580acf5d"},
      {"gguf.iq3_s", 512, 4,
       "bd1af4945a1717c65610b0284e4628b9a1ba3b306fae3a06f6e5f597356e349f"},
      {"gguf.iq1_s", 2048, 8,
       "07540ffc1aeaf6ad4d97e96b0fcc765aae39671d4ae4a27bbd0e796fde167c6a"},
      {"gguf.iq1_m", 2048, 8,
       "07540ffc1aeaf6ad4d97e96b0fcc765aae39671d4ae4a27bbd0e796fde167c6a"},
  };
  for (const Case &c : cases) {
    Contract contract = test::contract(c.name);
    const Level &level = contract.description().level;
    EXPECT_EQ(level.vector, c.vector) << c.name;
    Bytes bytes;
    for (float entry : level.number.table)
      bytes.push_back(static_cast<uint8_t>(static_cast<int8_t>(entry)));
    EXPECT_EQ(bytes.size(), c.entries * c.vector) << c.name;
    EXPECT_EQ(sha256(bytes), c.hash) << c.name;
  }
}

/// Numbers without a scale are what their words say.
TEST(GgufBlocks, PlainNumbers) {
  auto decode = [](const char *name, Bytes bytes) {
    Contract contract = test::contract(name);
    int64_t width = contract.description().planes[0].bits / 8;
    int64_t count = static_cast<int64_t>(bytes.size()) / width;
    return decodeAll(take(ArraySpec::get(contract, {count})), {bytes});
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(decode("gguf.f32", {0, 0, 0x80, 0x3f, 1, 0, 0, 0x80}),
            (Floats{1, -0x1p-149f}));
  EXPECT_EQ(decode("gguf.f16", {0x00, 0x3c, 0x01, 0x80}),
            (Floats{1, -0x1p-24f}));
  EXPECT_EQ(decode("gguf.bf16", {0x80, 0x3f, 0x00, 0xc0, 0x01, 0x00}),
            (Floats{1, -2, 0x1p-133f}));
  EXPECT_EQ(decode("gguf.i8", {0x80, 0x7f}), (Floats{-128, 127}));
  EXPECT_EQ(decode("gguf.i16", {0x00, 0x80, 0xff, 0x7f}),
            (Floats{-32768, 32767}));
  // 2^31 - 1 has no place in binary32.
  EXPECT_EQ(decode("gguf.i32", {0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0x7f}),
            (Floats{-0x1p31f, 0x1p31f}));
  EXPECT_EQ(bits(decode("gguf.bf16", {0xc1, 0xff})[0]), 0x7fc00000u);
}
