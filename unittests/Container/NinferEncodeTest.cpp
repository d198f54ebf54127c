//===- NinferEncodeTest.cpp - the encoders of NInfer's formats ------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NinferTestUtils.h"
#include <cfloat>
#include <cmath>
#include <limits>

using namespace grit;
using namespace grit::ninfer;
using namespace grit::test;

namespace {

/// The first group of a row: its scale word, and the codes as integers.
struct Group {
  uint32_t scale;
  std::vector<int> codes;
};

} // namespace

static std::vector<float> padded(std::vector<float> values, size_t columns) {
  values.resize(columns);
  return values;
}

static Expected<Group> encodeGroup(const std::string &format,
                                   std::vector<float> values, size_t show,
                                   const EncodeOptions &options = {}) {
  Record record = recordOf(format, {1, 128});
  Expected<Bytes> payload =
      encodePayload(record, padded(std::move(values), 128), options);
  if (!payload)
    return tl::unexpected(payload.error());
  EXPECT_FALSE(checkPayload(record, *payload));
  ArraySpec spec = take(arrayOf(record));
  std::vector<Bytes> planes = take(readPayload(record, *payload));
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  const FormatDescription &description = spec.contract.description();
  Group group{readField(description.scales[0].bits, 0, spans), {}};
  for (size_t i = 0; i < show; ++i)
    group.codes.push_back(static_cast<int>(description.level.decode(
        readField(description.codes, static_cast<int64_t>(i), spans))));
  return group;
}

static void expectGroup(const std::string &format, std::vector<float> values,
                        uint32_t scale, const std::vector<int> &codes,
                        const EncodeOptions &options = {}) {
  Group group =
      take(encodeGroup(format, std::move(values), codes.size(), options));
  EXPECT_EQ(group.scale, scale) << format;
  EXPECT_EQ(group.codes, codes) << format;
}

//===----------------------------------------------------------------------===//
// Grouped absmax
//===----------------------------------------------------------------------===//

TEST(NinferEncode, AbsMaxVectors) {
  const std::string q4 = "q4_g64_fp16";
  expectGroup(q4, {-7, -1, 0, 1, 7, 3.5f, -3.5f, 0.25f}, 0x3C00,
              {-7, -1, 0, 1, 7, 4, -4, 0});
  expectGroup(q4, std::vector<float>(64, value(0x36360000)), 0x0006,
              std::vector<int>(64, 7));
  expectGroup(q4, {value(0x41A0B334), value(0x417C7BFF)}, 0x41BD, {7, 6});
  expectGroup(q4, {7, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f}, 0x3C00,
              {7, 0, 2, 2, 0, -2, -2});
  expectGroup(q4, {0x1p-126f}, 0x0001, {0});
  expectGroup(q4, {65519.0f * 7}, 0x7BFF, {7});
  expectGroup(q4, {0, -0.0f}, 0x0000, {0, 0});
  const std::vector<float> mixed = {1, -1, 0.5f, 0.3f, -0.07f};
  expectGroup(q4, mixed, 0x3092, {7, -7, 4, 2, 0});
  expectGroup("q5_g64_fp16", mixed, 0x2C44, {15, -15, 8, 5, -1});
  expectGroup("q6_g64_fp16", mixed, 0x2821, {31, -31, 16, 9, -2});
  expectGroup("q8_g32_fp16", mixed, 0x2008, {127, -127, 64, 38, -9});
  expectGroup("t2_g128_fp16", {3, -2, 1, 1.75f}, 0x4200, {1, -1, 0, 1});
}

TEST(NinferEncode, AbsMaxRefusals) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float bad : {NAN, infinity, -infinity, FLT_MAX, 65520.0f * 7}) {
    EXPECT_FALSE(encodeGroup("q4_g64_fp16", {bad}, 1)) << bad;
    EncodeOptions search{.rule = EncodeRule::GroupedSearch};
    EXPECT_FALSE(encodeGroup("q4_g64_fp16", {bad}, 1, search)) << bad;
  }
  // Q2 is not quantized from numbers, and neither is NVFP4.
  for (EncodeRule rule : {EncodeRule::GroupedAbsMax, EncodeRule::GroupedSearch})
    EXPECT_FALSE(encodeGroup("q2_g64_fp16", {1}, 1, {.rule = rule}));
  EXPECT_FALSE(encodePayload(recordOf("nvfp4", {128, 64}),
                             std::vector<float>(128 * 64)));
  EXPECT_FALSE(encodeGroup("q4_g64_fp16", {1}, 1, {.negativeScales = true}));
  const std::vector<float> weights(128, 1);
  EXPECT_FALSE(encodeGroup("q4_g64_fp16", {1}, 1, {.importance = weights}));
}

/// A user's format can name the rule; a scale whose reciprocal overflows cannot
/// be divided by.
TEST(NinferEncode, RuleOfAnotherFormat) {
  auto textOf = [](const std::string &scale, const std::string &bits) {
    return "gritfmt1(encode=grouped_abs_max,planes=[8/1@0," + bits +
           "/8@1],codes=p0:8@0+i*8,level=s8,scales=[(" + scale +
           ",lin/8,p1:" + bits + "@0+i*" + bits + ")],axis=8)";
  };
  const std::vector<float> values = {254, -254, 1, 3, -5, 0, 2, 100};
  std::vector<Bytes> planes =
      encodeAll(specOf(textOf("binary16", "16"), {1, 8}), values);
  EXPECT_EQ(planes[1], (Bytes{0x00, 0x40}));
  EXPECT_EQ(planes[0], (Bytes{127, 129, 0, 2, 254, 0, 1, 50}));
  auto refused = encode(specOf(textOf("binary32", "32"), {1, 8}), values);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "s0");
}

/// W of the documents: alternating signs, several magnitudes, ragged rows.
static std::vector<float> goldenMatrix() {
  std::vector<float> values;
  for (int r = 0; r < 70; ++r)
    for (int c = 0; c < 130; ++c) {
      double sign = (r + c) % 2 ? -1 : 1;
      double w = sign * (((37 * r + 17 * c) % 211) - 105) / 37.0 +
                 ((r % 5) - 2) * 0.03125;
      values.push_back(static_cast<float>(w));
    }
  return values;
}

TEST(NinferEncode, GoldenMatrices) {
  const std::pair<const char *, const char *> goldens[] = {
      {"q4_g64_fp16",
       "f0380558ea3f9b423c559257059ce53f5da891b3dfb11e6e5d881b91349cef6a"},
      {"q5_g64_fp16",
       "bf83816a5e9a27d7be9c850fe34e509c8afdccf75505f75780eeeaa7c13fed32"},
      {"q6_g64_fp16",
       "948e5c31b1bd6b0387dc3111c1b6ba47575dd60098ead1251ceb8ff5cd02ab16"},
      {"q8_g32_fp16",
       "2f257ef5bf864fb045a8f97479bf7309a9b96dcc6e6214916fe1eac8df697367"}};
  for (const auto &[format, hash] : goldens) {
    Record record = recordOf(format, {70, 130});
    Bytes payload = take(encodePayload(record, goldenMatrix()));
    EXPECT_EQ(sha256(payload), hash) << format;
    EXPECT_FALSE(checkPayload(record, payload));
  }
}

TEST(NinferEncode, GoldenRamps) {
  std::vector<float> ramp;
  for (int k = 0; k < 128; ++k)
    ramp.push_back(static_cast<float>(k - 64));
  const std::pair<const char *, const char *> goldens[] = {
      {"q4_g64_fp16", "2ba4a91e384d5e7e82442a40cbc231d7"},
      {"q5_g64_fp16", "510d87fb636c7d28083e4f76a64c0d69"},
      {"q6_g64_fp16", "413f0c24ce18b21e778e615b1f433f6a"},
      {"q8_g32_fp16", "ee7d6e63d07cf923607de4a3f3d7aa90"}};
  for (const auto &[format, hash] : goldens) {
    Bytes payload = take(encodePayload(recordOf(format, {1, 128}), ramp));
    EXPECT_EQ(sha256(payload).substr(0, 32), hash) << format;
  }
}

//===----------------------------------------------------------------------===//
// Grouped search
//===----------------------------------------------------------------------===//

static void expectSearch(const std::string &format, std::vector<float> values,
                         bool negative, uint32_t scale,
                         const std::vector<int> &codes,
                         std::span<const float> importance = {}) {
  expectGroup(format, std::move(values), scale, codes,
              {.importance = importance,
               .rule = EncodeRule::GroupedSearch,
               .negativeScales = negative});
}

TEST(NinferEncode, SearchVectors) {
  const std::string q4 = "q4_g64_fp16";
  expectSearch(q4, {8, -3, 5, 1}, false, 0x3D43, {6, -2, 4, 1});
  expectSearch(q4, {8, -3, 5, 1}, true, 0xBC00, {-8, 3, -5, -1});
  for (bool negative : {false, true}) {
    expectSearch(q4, {-8, 3, -5, 1}, negative, 0x3C00, {-8, 3, -5, 1});
    expectSearch(q4, {1, 0.3f, -0.2f, 0.05f}, negative, 0x314F, {6, 2, -1, 0});
  }
  expectSearch(q4, {1, 0.5f, -0.25f, 0.125f}, false, 0x3066, {7, 4, -2, 1});
  expectSearch(q4, {1, 0.5f, -0.25f, 0.125f}, true, 0xB000, {-8, -4, 2, -1});
  expectSearch(q4, {3, 1, 1, 1}, false, 0x3800, {6, 2, 2, 2});
  expectSearch(q4, {15, 7, 3, 1}, false, 0x40F5, {6, 3, 1, 0});
  expectSearch(q4, {15, 7, 3, 1}, true, 0xBF4B, {-8, -4, -2, -1});
  expectSearch("q5_g64_fp16", {31, -17, 5, 1}, false, 0x40CB, {13, -7, 2, 0});
  expectSearch("q6_g64_fp16", {0x1p-126f}, true, 0x0001, {0});
  expectSearch(q4, {0, -0.0f}, true, 0x0000, {0, 0});
}

TEST(NinferEncode, SearchWithImportance) {
  const std::string q4 = "q4_g64_fp16";
  std::vector<float> values = {0.9f};
  for (int i = 0; i < 63; ++i)
    values.push_back(static_cast<float>(0.02 * ((i % 7) - 3)));
  expectSearch(q4, values, false, 0x2F0D, {7, -1, 0, 0});
  expectSearch(q4, values, true, 0xAE76, {-8, 1, 0, 0});
  std::vector<float> importance(128, 1);
  importance[0] = 0;
  expectSearch(q4, values, false, 0x27AE, {7, -2, -1, -1}, importance);
  // Nothing matters: the first candidate stays.
  const std::vector<float> none(128, 0);
  Group absMax = take(encodeGroup(q4, values, 64));
  expectSearch(q4, values, true, absMax.scale, absMax.codes, none);
  for (float bad : {-1.0f, NAN, std::numeric_limits<float>::infinity()}) {
    std::vector<float> weights(128, 1);
    weights[5] = bad;
    EXPECT_FALSE(encodeGroup(
        q4, values, 1,
        {.importance = weights, .rule = EncodeRule::GroupedSearch}));
  }
}

//===----------------------------------------------------------------------===//
// A scale per row
//===----------------------------------------------------------------------===//

static Bytes encodeRow(const std::string &format, std::vector<float> row,
                       uint32_t &scale) {
  Record record = recordOf(format, {1, static_cast<int64_t>(row.size())});
  Bytes payload = take(encodePayload(record, row));
  EXPECT_FALSE(checkPayload(record, payload));
  std::vector<Bytes> planes = take(readPayload(record, payload));
  scale = planes[1][0] | planes[1][1] << 8;
  return planes[0];
}

TEST(NinferEncode, RowVectors) {
  struct Case {
    std::vector<float> row;
    Bytes codes;
    int bf16, fp16; ///< scale words; below 0: not this format
  };
  const Case cases[] = {{{1, -1, 0.5f, 0.1f, 0, -0.0f},
                         {0x7E, 0xFE, 0x76, 0x63, 0x00, 0x80},
                         0x3B12,
                         0x1892},
                        {{448, 1.0625f, 1.1875f, -1.0625f, -1.1875f},
                         {0x7E, 0x38, 0x3A, 0xB8, 0xBA},
                         0x3F80,
                         0x3C00},
                        {{3, -2, 0.001f}, {0x7E, 0xF9, 0x22}, 0x3BDB, 0x1EDB},
                        {{0x1p-119f}, {0x7E}, 0x0025, -1},
                        {{0x1p-118f}, {0x7E}, 0x0049, -1},
                        {{0x1p-40f, 0x1p-40f}, {0x00, 0x00}, -1, 0x0001},
                        {{0, -0.0f}, {0x00, 0x00}, 0x0000, 0x0000}};
  for (const Case &each : cases) {
    uint32_t scale = 0;
    if (each.bf16 >= 0) {
      EXPECT_EQ(encodeRow("fp8_e4m3fn_row_bf16", each.row, scale), each.codes);
      EXPECT_EQ(scale, static_cast<uint32_t>(each.bf16));
    }
    if (each.fp16 >= 0) {
      EXPECT_EQ(encodeRow("fp8_e4m3fn_row_fp16", each.row, scale), each.codes);
      EXPECT_EQ(scale, static_cast<uint32_t>(each.fp16));
    }
  }
}

TEST(NinferEncode, RowRefusals) {
  auto refuses = [](const char *format, float x) {
    return !encodePayload(recordOf(format, {1, 2}), std::vector<float>{1, x}) &&
           !encodePayload(recordOf(format, {1, 2}), std::vector<float>{0, x});
  };
  for (const char *format : {"fp8_e4m3fn_row_bf16", "fp8_e4m3fn_row_fp16"})
    for (float bad : {NAN, std::numeric_limits<float>::infinity(), FLT_MAX})
      EXPECT_TRUE(refuses(format, bad)) << format << " " << bad;
  EXPECT_TRUE(refuses("fp8_e4m3fn_row_fp16", 0x1p30f));
  // Where the reciprocal of a bfloat16 scale overflows: bf16 words of the
  // largest magnitude from 0x0001 to 0x03E3.
  for (uint32_t word = 1; word < 0x0400; ++word) {
    std::vector<float> row = {value(word << 16)};
    bool encodes =
        encodePayload(recordOf("fp8_e4m3fn_row_bf16", {1, 1}), row).has_value();
    EXPECT_EQ(encodes, word > 0x03E3) << word;
  }
}

/// A row along another axis, and rows of several matrices.
TEST(NinferEncode, LinesOfAnyAxis) {
  ArraySpec across = specOf("ninfer.fp8_e4m3fn_row_bf16", {3, 2}, 0);
  ArraySpec along = specOf("ninfer.fp8_e4m3fn_row_bf16", {2, 3});
  std::vector<Bytes> a = encodeAll(across, {1, 8, -2, 5, 0.5f, 3});
  std::vector<Bytes> b = encodeAll(along, {1, -2, 0.5f, 8, 5, 3});
  EXPECT_EQ(a[1], b[1]);
  for (size_t row = 0; row < 3; ++row)
    for (size_t column = 0; column < 2; ++column)
      EXPECT_EQ(a[0][row * 2 + column], b[0][column * 3 + row]);
}
