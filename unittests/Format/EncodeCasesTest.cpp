//===- EncodeCasesTest.cpp - what single encoders do ----------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeInputs.h"
#include "FormatTestUtils.h"
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

using namespace grit;
using namespace grit::test;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Some contracts
//===----------------------------------------------------------------------===//

TEST(Encode, DecodedValuesEncodeToThemselves) {
  for (const char *name :
       {"mxfp4", "i8s24", "gguf.q4_0", "gguf.q8_0", "gguf.mxfp4", "hurray.nf4"})
    for (const char *kind : {"bell", "uniform", "outlier", "ties"}) {
      ArraySpec spec = specOf(name, {8, 256});
      std::vector<float> once = decodeAll(
          spec, encodeAll(spec, encodeInputs(kind, 21, spec.numElements())));
      expectSameBits(decodeAll(spec, encodeAll(spec, once)), once,
                     std::string(name) + " " + kind);
    }
}

// A grade says what becomes of an overflow; other formats have no answer.
TEST(Encode, FiniteNumbersStayFiniteOrAreRefused) {
  unsigned refused = 0;
  for (const std::string &name : encodableNames())
    for (float scale : {1e4f, 1e7f, 1e20f, 3e38f}) {
      ArraySpec spec = specOf(name, {4, 256});
      if (spec.contract.isGrade())
        continue;
      std::vector<float> x = encodeInputs("uniform", 5, spec.numElements());
      float most = 0;
      for (float v : x)
        most = std::max(most, std::fabs(v));
      for (float &v : x)
        v = v / most * scale;
      auto planes = encode(spec, x, neededImportance(spec));
      if (!planes) {
        ++refused;
        EXPECT_THAT(planes.error().message, HasSubstr("overflows"));
        EXPECT_THAT(planes.error().field, HasSubstr("values["));
        continue;
      }
      for (float v : decodeAll(spec, *planes))
        ASSERT_TRUE(std::isfinite(v)) << name << " " << scale;
    }
  EXPECT_GT(refused, 0u);
}

TEST(Encode, TheLowestSignedCodeIsNotWritten) {
  for (const char *name : {"i8s24", "gguf.q8_0"}) {
    ArraySpec spec = specOf(name, {4, 256});
    const BitField &field = spec.contract.description().codes;
    auto planes =
        encodeAll(spec, encodeInputs("negative", 8, spec.numElements()));
    std::vector<ByteSpan> spans(planes.begin(), planes.end());
    int64_t stored = spec.contract.description().sparsity ? 512 : 1024;
    for (int64_t i = 0; i < stored; ++i)
      ASSERT_NE(readField(field, i, spans), 0x80u) << name << " " << i;
  }
}

// (B9)
TEST(Encode, ContainerAndBitOrderDoNotChangeValues) {
  const std::string base = "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs";
  std::vector<float> x = encodeInputs("bell", 6, 1024), expected;
  for (const char *rest : {")", ",ct=pad8)", ",po=msb)"}) {
    ArraySpec spec = specOf(base + rest, {4, 256});
    std::vector<float> decoded = decodeAll(spec, encodeAll(spec, x));
    if (expected.empty())
      expected = decoded;
    expectSameBits(decoded, expected, base + rest);
  }
}

TEST(Encode, BlocksAlongAnOuterAxis) {
  // [2, 128, 3] along axis 1 against its transposition [2, 3, 128].
  std::vector<float> x = encodeInputs("scales", 31, 768), turned(768);
  for (int o = 0; o < 2; ++o)
    for (int a = 0; a < 128; ++a)
      for (int i = 0; i < 3; ++i)
        turned[(o * 3 + i) * 128 + a] = x[(o * 128 + a) * 3 + i];
  ArraySpec spec = specOf("hurray.nf4", {2, 128, 3}, 1);
  ArraySpec other = specOf("hurray.nf4", {2, 3, 128});
  auto planes = encodeAll(spec, x), otherPlanes = encodeAll(other, turned);
  EXPECT_EQ(planes[1], otherPlanes[1]); // scales are in the order of blocks
  std::vector<float> decoded = decodeAll(spec, planes), back(768);
  std::vector<float> otherDecoded = decodeAll(other, otherPlanes);
  for (int o = 0; o < 2; ++o)
    for (int a = 0; a < 128; ++a)
      for (int i = 0; i < 3; ++i)
        back[(o * 128 + a) * 3 + i] = otherDecoded[(o * 3 + i) * 128 + a];
  expectSameBits(decoded, back, "axis 1");
}

TEST(Encode, Nf4CodesChangeAboveTheMidpoints) {
  // f32 of the mean of neighbouring levels, as bitsandbytes compares.
  const uint32_t midpoints[] = {0xBF591CD8, 0xBF1C5270, 0xBEEB8480, 0xBEADEA76,
                                0xBE703CEC, 0xBE0D38BC, 0xBD3A7871, 0x3D22FAFF,
                                0x3DF64862, 0x3E5067E0, 0x3E9582D4, 0x3EC753F9,
                                0x3F006D04, 0x3F248DAF, 0x3F5C89DA};
  ArraySpec spec = specOf("hurray.nf4", {64});
  const BitField &field = spec.contract.description().codes;
  std::vector<float> x(64);
  x[0] = 1; // the scale, so that a value is its own quotient
  for (int i = 0; i < 15; ++i) {
    x[1 + 2 * i] = value(midpoints[i]);
    x[2 + 2 * i] = std::nextafter(value(midpoints[i]), INFINITY);
  }
  auto planes = encodeAll(spec, x);
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(readField(field, 1 + 2 * i, spans), uint32_t(i));
    EXPECT_EQ(readField(field, 2 + 2 * i, spans), uint32_t(i + 1));
  }
}

// (E15, E16)
TEST(Encode, RoundingOfTheSharedExponent) {
  // The square root of two lies between the two significands.
  struct Case {
    uint32_t amax;
    uint8_t floor, ceil, rne;
  };
  const Case cases[] = {
      {0x3F800000, 125, 125, 125}, {0x3FB504F3, 125, 126, 125},
      {0x3FB504F4, 125, 126, 126}, {0x3FFFFFFF, 125, 126, 126},
      {0x00000001, 0, 0, 0},       {0x7F7FFFFF, 252, 253, 253}};
  auto scaleOf = [](const char *rule, uint32_t amax) {
    ArraySpec spec = specOf("grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2" +
                                std::string(rule) + "maxabs)",
                            {32});
    std::vector<float> x(32);
    x[7] = value(amax);
    return encodeAll(spec, x)[1][0];
  };
  for (const Case &c : cases) {
    EXPECT_EQ(scaleOf("floor", c.amax), c.floor) << std::hex << c.amax;
    EXPECT_EQ(scaleOf("ceil", c.amax), c.ceil) << std::hex << c.amax;
    EXPECT_EQ(scaleOf("rne", c.amax), c.rne) << std::hex << c.amax;
  }
}

// A group along the array in which half of the survivors of a run lie in the
// next group (E14): k0 = 2 and 6 under runs of 4.
TEST(Encode, RunsOverTheEndsOfGroups) {
  for (int k0 : {1, 2, 6, 12}) {
    ArraySpec spec = specOf("grit1(e=s8,k0=" + std::to_string(k0) +
                                ",s0=binary32,sp=2:4:u4:asclsb,esr=ratio)",
                            {3, 48});
    std::vector<float> x = encodeInputs("bell", 3, 144);
    std::vector<float> decoded = decodeAll(spec, encodeAll(spec, x));
    for (int first = 0; first < 144; first += 4) {
      // What is kept is near its value, and no larger one is dropped.
      float dropped = 0, kept = 100;
      for (int i = first; i < first + 4; ++i)
        if (decoded[i] == 0)
          dropped = std::max(dropped, std::fabs(x[i]));
        else
          kept = std::min(kept, std::fabs(x[i]));
      EXPECT_LE(dropped, kept + 0.02f) << k0 << " " << first;
    }
    size_t i = 0;
    for (float v : decoded) {
      if (v != 0) {
        EXPECT_NEAR(v, x[i], 0.02f) << k0 << " " << i;
      }
      ++i;
    }
  }
}

// (E11, E13)
TEST(Encode, GradesThatCanOnlyBeDecoded) {
  struct Case {
    const char *grade, *field;
  };
  const Case cases[] = {
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:mine)", "encode rule"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs,esn=ftz)", "esn"},
      {"grit1(e=e2m1,k0=16,s0=e4m3,k1=4,s1=binary32,esr=ratiomaxabs)", "k1"},
      {"grit1(e=s4,k0=32,s0=binary16,zp=u4,esr=affineminmax)", "e"},
      {"grit1(e=u4,k0=32,s0=binary16,zp=s4,esr=affineminmax)", "zp"},
      {"grit1(e=u4,k0=32,s0=binary16,esr=affineminmax)", "zps"},
      {"grit1(e=u4,k0=32,s0=u6,k1=2,s1=binary16,zp=u6,esr=affineminmax)",
       "zps"},
      {"grit1(e=s4,k0=32,s0=binary16,zp=s4,esr=ratiomaxabs)", "offset"},
      {"grit1(e=s4,k0=32,s0=u6,k1=8,s1=binary16,zp=u6,zps=l1,"
       "esr=affineminmax)",
       "e"},
      {"grit1(e=u4,k0=32,s0=u6,k1=8,s1=binary16,zp=u6,zps=l1,er=rtz,"
       "esr=affineminmax)",
       "er, es"},
  };
  for (const Case &c : cases) {
    auto planes = encode(specOf(c.grade, {256}), std::vector<float>(256));
    ASSERT_FALSE(planes) << c.grade;
    EXPECT_EQ(planes.error().field, c.field) << c.grade;
    EXPECT_FALSE(planes.error().declared.empty()) << c.grade;
  }
}

// (E6)
TEST(Encode, ScalesWithoutANaNRefuseWhatIsNotFinite) {
  ArraySpec spec = specOf("grit1(e=s4,k0=32,s0=u8,esr=ratiomaxabs)", {64});
  std::vector<float> x(64, 1);
  x[40] = NAN;
  auto planes = encode(spec, x);
  ASSERT_FALSE(planes);
  EXPECT_EQ(planes.error().field, "values[40]");
}

TEST(Encode, SearchesThatOverflowAreRefused) {
  ArraySpec spec = specOf("gguf.iq4_nl", {64});
  std::vector<float> x(64, 1);
  x[40] = 1e15f;
  x[41] = -3e13f; // its nearest level is positive: inf - inf
  auto planes = encode(spec, x);
  ASSERT_FALSE(planes);
  EXPECT_EQ(planes.error().field, "values[32] and after");
}

// A rule that meets a description it has no use for names what it needs.
TEST(Encode, RulesOfGgmlRefuseOtherStructures) {
  struct Case {
    const char *rule, *level, *scales, *rest, *field;
  };
  const char *kOne = "(binary16,lin/32,p0:16@256+i*336)";
  const char *kTwo = "(binary16,lin/32,p0:16@256+i*336),"
                     "(s8,lin/8,p0:8@272+i/4*336+i%4*8)";
  const Case cases[] = {
      {"ggml_signed_max", "u4", kOne, "", "level"},
      {"ggml_abs_max", "u4*2-15", kOne, "", "level"},
      {"ggml_abs_max_clamped", "s8", kOne, "", "level"},
      {"ggml_reciprocal_max", "u4-8", kOne, "", "level"},
      {"ggml_min_max", "u4", kOne, "", "offset"},
      {"ggml_mean_sign", "[-2,2]", kOne, "", "level"},
      {"ggml_half_up", "[0,1]", kOne, "", "scale"},
      {"ggml_affine_search_16", "u4", kTwo, "", "offset"},
      {"ggml_symmetric_refine", "u4-8", kTwo, "", "scales"},
      {"ggml_symmetric_search", "u4-7", kTwo, "", "level"},
      {"ggml_symmetric_search", "u4-8", kOne, "", "scales"},
      {"ggml_table_search", "[-1,1]", kTwo, "", "scales"},
      {"ggml_grid_search", "u4", kTwo, "", "level"},
      {"ggml_grid_split", "u4", kTwo, "", "level"},
      {"ggml_symmetric_search", "u4-8", kTwo,
       ",derived=[sum x=(u8,lin/64,p0:8@304+i*672)]", "x"},
  };
  for (const Case &c : cases) {
    // A table has an entry for each code.
    const char *width = std::string_view(c.level).starts_with("[") ? "1" : "4";
    if (std::string_view(c.level) == "s8")
      width = "8";
    std::string text = "gritfmt1(encode=" + std::string(c.rule) +
                       ",planes=[336/32@0],codes=p0:" + width +
                       "@0+i/32*336+i%32*8,level=" + c.level + ",scales=[" +
                       c.scales + "]" + c.rest + ",axis=64)";
    SCOPED_TRACE(text);
    ArraySpec spec = take(ArraySpec::get(contract(text), {64}));
    auto planes = encode(spec, std::vector<float>(64, 1.0f));
    ASSERT_FALSE(planes);
    EXPECT_EQ(planes.error().field, c.field);
  }
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// A format that nobody else has: 16 elements, a code of one bit for four.
static const char kVectors[] =
    "gritfmt1(encode=ggml_grid_search_31,planes=[48/16@0],"
    "codes=p0:1@24+i/4*48+i%4*1,level=v4:s8[01010101 03010103],"
    "signs=4:each:p0:4@28+i/4*48+i%4*4,"
    "scales=[d=(binary16,lin/16,p0:16@0+i*48),"
    "sc=(u4*2+1,lin/8,p0:4@16+i/2*48+i%2*4)],axis=16)";

static std::string replaced(std::string text, std::string_view from,
                            std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(EncodeVectorsOfLevels, AnyGridIsSearched) {
  ArraySpec spec = take(ArraySpec::get(contract(kVectors), {64, 16}));
  std::vector<float> x = encodeInputs("bell", 3, spec.numElements());
  // Of the two vectors, the one that is meant; then its value comes back.
  for (size_t i = 0; i < x.size(); ++i) {
    bool isLarge = i / 4 % 2 && (i % 4 == 0 || i % 4 == 3);
    x[i] = std::copysign(isLarge ? 3.0f : 1.0f, x[i]) *
           static_cast<float>(1 + i / 16);
  }
  std::vector<float> decoded = decodeAll(spec, encodeAll(spec, x));
  for (size_t i = 0; i < x.size(); ++i)
    // The factor is stretched by 1.0125.
    ASSERT_NEAR(decoded[i] / x[i], 1.0125, 0.002) << i;
}

TEST(EncodeVectorsOfLevels, WhatIsNoGridIsRefused) {
  const std::pair<std::string, const char *> cases[] = {
      {replaced(kVectors, "u4*2+1", "u4"), "scales"},
      {replaced(kVectors, "signs=4:each:p0:4@28+i/4*48+i%4*4,", ""), "signs"},
      {replaced(kVectors, "01010101", "00010101"), "level"},
      {replaced(kVectors, "01010101", "01010301"), "level"},
      {replaced(kVectors, "_search_31", "_split"), "signs"},
      {replaced(replaced(kVectors, "_search_31", "_split"),
                "signs=4:each:p0:4@28+i/4*48+i%4*4,", ""),
       "offset"},
      {replaced(kVectors, "ggml_grid_search_31", "ggml_table_search"), "level"},
  };
  for (const auto &[text, field] : cases) {
    SCOPED_TRACE(text);
    ArraySpec spec = take(ArraySpec::get(contract(text), {1, 16}));
    auto planes = encode(spec, std::vector<float>(16, 1.0f));
    ASSERT_FALSE(planes);
    EXPECT_EQ(planes.error().field, field) << planes.error().str();
  }
}
