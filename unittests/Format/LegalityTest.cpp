//===- LegalityTest.cpp - codes and factors that a contract forbids -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "grit/Format/Check.h"
#include "grit/Format/FormatText.h"
#include "grit/Format/Recode.h"
#include "grit/Format/Transport.h"
#include <cmath>

using namespace grit;
using namespace grit::test;

static std::optional<Error> checkPlanes(const ArraySpec &spec,
                                        const std::vector<Bytes> &planes,
                                        int level = 2) {
  PlaneSizes sizes;
  std::vector<const uint8_t *> addresses;
  for (const Bytes &plane : planes) {
    sizes.push_back(static_cast<int64_t>(plane.size()));
    addresses.push_back(plane.data());
  }
  return check(spec, sizes, level, addresses);
}

/// Bytes under an E4M3 scale per four, with this said of both.
static std::string textOf(const std::string &demands,
                          const std::string &illegal = "") {
  return "gritfmt1(planes=[8/1@0,8/4@1],codes=p0:8@0+i*8,level=s8,scales=[("
         "e4m3,lin/4,p1:8@0+i*8" +
         demands + ")],axis=4" + illegal + ")";
}

TEST(Legality, CanonicalText) {
  for (const std::string &text :
       {textOf(""), textOf(",finite"), textOf(",finite,unsigned,zero_clears"),
        textOf(",not_negative,plus_zero"), textOf(",positive"),
        textOf("", ",illegal=[128]"), textOf(",finite", ",illegal=[0,7,255]")})
    EXPECT_EQ(contract(text).canonical(), text);
  // The order that people write is not part of it.
  EXPECT_EQ(contract(textOf(", zero_clears, finite")).canonical(),
            textOf(",finite,zero_clears"));
  EXPECT_FALSE(contract(textOf(",finite")) == contract(textOf("")));
}

TEST(Legality, TextsThatAreRefused) {
  const std::pair<std::string, const char *> cases[] = {
      {textOf(",infinite"), "finite, unsigned"},
      {textOf(",finite,finite"), "once"},
      {textOf(",positive,unsigned"), "follows from another"},
      {textOf(",positive,not_negative"), "follows from another"},
      {textOf(",unsigned,plus_zero"), "follows from another"},
      {textOf(",positive,zero_clears"), "no level to clear"},
      {textOf("", ",illegal=[7,7]"), "ascend"},
      {textOf("", ",illegal=[9,7]"), "ascend"},
      {textOf("", ",illegal=[256]"), "no such code"},
      {textOf("", ",illegal=[]"), "integer"},
      {"gritfmt1(planes=[1/1@0],codes=p0:1@0+i*1,level=[0,1],scales=[],"
       "illegal=[0,1])",
       "no code is legal"},
      {"gritfmt1(planes=[32/1@0],codes=p0:32@0+i*32,level=binary32,scales=[],"
       "illegal=[0])",
       "too wide"},
      {"gritfmt1(planes=[8/1@0,16/4@1],codes=p0:8@0+i*8,level=u8,scales=[("
       "e4m3,lin/4,p1:8@0+i*16)],min=[(e4m3,lin/4,p1:8@8+i*16,zero_clears)],"
       "axis=4)",
       "no level to clear"}};
  for (const auto &[text, words] : cases) {
    Expected<Contract> parsed = Contract::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().str().find(words), std::string::npos)
        << parsed.error().str();
  }
}

/// Whether a number meets a demand, said in another way than the library does.
static bool meets(Demand demand, float x) {
  const bool isNegative = bits(x) >> 31;
  switch (demand) {
  case Demand::Finite:
    return x - x == 0;
  case Demand::Unsigned:
    return !isNegative;
  case Demand::NotNegative:
    return x == 0 || (x == x && !isNegative);
  case Demand::Positive:
    return x == x && x != 0 && !isNegative;
  case Demand::PlusZero:
    return bits(x) != 0x80000000;
  case Demand::ZeroClears:
    return true;
  }
  return false;
}

TEST(Legality, EveryScaleWordOfEveryDemand) {
  for (size_t i = 0; i < std::size(kDemandNames); ++i) {
    ArraySpec spec = specOf(textOf("," + std::string(kDemandNames[i])), {2, 8});
    for (int word = 0; word < 256; ++word) {
      std::vector<Bytes> planes = {Bytes(16), Bytes(4, 0x38)};
      planes[1][2] = static_cast<uint8_t>(word);
      float x = decodeWord(words::E4M3, static_cast<uint32_t>(word));
      auto error = checkPlanes(spec, planes);
      EXPECT_EQ(!error, meets(static_cast<Demand>(i), x))
          << kDemandNames[i] << " " << word;
      EXPECT_FALSE(checkPlanes(spec, planes, 1));
      if (!error)
        continue;
      EXPECT_EQ(error->code, ErrorCode::IllegalFactor);
      EXPECT_EQ(error->status, Status::DigestMismatch);
      EXPECT_EQ(error->field, "s0[2]");
      EXPECT_EQ(error->plane, 1);
    }
  }
}

TEST(Legality, RandomArraysAgainstTheRule) {
  Random random(17);
  // Two-bit codes, of which 2 is illegal, under a scale per line of axis 0.
  ArraySpec spec = specOf(
      "gritfmt1(planes=[2/1@0,8/axis@1],codes=p0:2@0+i*2,level=0x03e1,scales=["
      "(e4m3,axis,p1:8@0+i*8,finite,zero_clears)],illegal=[2])",
      {4, 4}, 0);
  unsigned legal = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Bytes> planes = randomPlanes(spec, random);
    // Few faults in each, so that both outcomes are frequent.
    for (int column = 0; column < 4; ++column) {
      const bool isZero = random.next() % 4 == 0;
      if (isZero)
        planes[1][column] &= 0x80;
      for (uint8_t &row : planes[0]) {
        const auto mask = static_cast<uint8_t>(3 << 2 * column);
        const bool isIllegal = (row & mask) == 2 << 2 * column;
        if ((isZero || isIllegal) && random.next() % 16)
          row &= static_cast<uint8_t>(~mask);
      }
    }
    bool expected = true;
    for (int column = 0; column < 4; ++column) {
      uint8_t scale = planes[1][column] & 0x7F;
      expected &= scale != 0x7F;
      for (int row = 0; row < 4; ++row) {
        unsigned code = planes[0][row] >> 2 * column & 3;
        expected &= code != 2 && (scale != 0 || code == 0);
      }
    }
    legal += expected;
    EXPECT_EQ(!checkPlanes(spec, planes), expected) << round;
  }
  EXPECT_GT(legal, 100u);
  EXPECT_LT(legal, 2900u);
}

TEST(Legality, OffsetsAndPlacements) {
  ArraySpec spec = specOf(
      "gritfmt1(planes=[8/1@0,16/4@1,16/4@2],codes=p0:8@0+i*8,level=u8,scales=["
      "(binary16,lin/4,p1:16@0+i*16)],min=[m=(binary16,lin/4,p2:16@0+i*16,"
      "finite)],axis=4)",
      {2, 8});
  std::vector<Bytes> planes = {Bytes(16), Bytes(8), Bytes(8)};
  EXPECT_FALSE(checkPlanes(spec, planes));
  planes[2][7] = 0x7C;
  EXPECT_EQ(checkPlanes(spec, planes)->field, "m[3]");
  // Column-major scales: the word at slot 1 is that of group 2.
  ArraySpec placed = specOf(textOf(",positive"), {2, 8});
  placed.placements.scale = placements::ColMajor;
  std::vector<Bytes> bytes = {Bytes(16), Bytes(4, 0x38)};
  bytes[1][1] = 0;
  EXPECT_EQ(checkPlanes(placed, bytes)->field, "s0[2]");
  // Nothing can be found in a placement without a map.
  placed.placements.scale = Placement(0xF000000000000001);
  EXPECT_FALSE(checkPlanes(placed, bytes));
}

TEST(Legality, EmptyArrays) {
  EXPECT_FALSE(checkPlanes(specOf("ninfer.q4_g64_fp16", {0, 128}), {{}, {}}));
  // The divisor of an empty tensor is there.
  ArraySpec spec = specOf("ninfer.nvfp4", {0, 64});
  EXPECT_TRUE(checkPlanes(spec, {{}, {}, Bytes(4)}));
  EXPECT_FALSE(checkPlanes(spec, {{}, {}, {0, 0, 0x80, 0x3F}}));
}

/// What is written is legal, or refused.
TEST(Legality, WritersRefuse) {
  const std::string text = textOf(",finite", ",illegal=[0]");
  ArraySpec spec = specOf("gritfmt1(encode=ratio," + text.substr(9), {1, 4});
  auto zeros = encode(spec, std::vector<float>(4));
  ASSERT_FALSE(zeros);
  EXPECT_EQ(zeros.error().code, ErrorCode::IllegalCode);
  EXPECT_FALSE(checkPlanes(spec, encodeAll(spec, {1, -2, 3, -4})));

  ArraySpec blocks = specOf("gguf.q8_0", {1, 128});
  ArraySpec target = specOf("ninfer.q8_g32_fp16", {1, 128});
  Bytes bytes(136);
  for (size_t block = 0; block < 4; ++block) {
    bytes[block * 34 + 1] = 0x3C;
    bytes[block * 34 + 2] = 1;
    bytes[block * 34 + 3] = 0x7F;
  }
  auto recodes = [&] {
    std::vector<ByteSpan> spans = {bytes};
    return recode(blocks, spans, target);
  };
  Expected<PlaneBytes> recoded = recodes();
  ASSERT_TRUE(recoded) << recoded.error().str();
  EXPECT_FALSE(checkPlanes(target, *recoded));
  bytes[3] = 0x80; // -128 beside 1 needs the code that is illegal
  EXPECT_FALSE(recodes());
  bytes[2] = 2; // beside 2, half of both are codes under a scale of 2
  Expected<PlaneBytes> halved = recodes();
  ASSERT_TRUE(halved) << halved.error().str();
  EXPECT_FALSE(checkPlanes(target, *halved));
}
