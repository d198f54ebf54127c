//===- NinferTest.cpp - payloads of NInfer, byte by byte ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes and bytes written out by hand: what NInfer's documents and tests say of
// its layouts.
//
//===----------------------------------------------------------------------===//

#include "NinferTestUtils.h"
#include <map>

using namespace grit;
using namespace grit::ninfer;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST(Ninfer, RegistryHasThirtyFormats) {
  EXPECT_EQ(formats().size(), 30u);
  for (const Format &format : formats())
    EXPECT_EQ(contract(format.contract).name(), format.contract);
}

TEST(Ninfer, RowSplitSizes) {
  struct Case {
    std::vector<int64_t> shape;
    std::map<std::string, int64_t> bytes;
  };
  const Case cases[] = {
      {{1, 1},
       {{"q2_g64_fp16", 260},
        {"q4_g64_fp16", 260},
        {"q5_g64_fp16", 516},
        {"q6_g64_fp16", 516},
        {"q8_g32_fp16", 264},
        {"t2_g128_fp16", 258}}},
      {{1, 128}, {{"q4_g64_fp16", 260}, {"t2_g128_fp16", 258}}},
      {{3, 200},
       {{"q2_g64_fp16", 280},
        {"q4_g64_fp16", 536},
        {"q5_g64_fp16", 792},
        {"q6_g64_fp16", 792},
        {"q8_g32_fp16", 816},
        {"t2_g128_fp16", 268}}},
      {{70, 130},
       {{"q2_g64_fp16", 5168},
        {"q4_g64_fp16", 9520},
        {"q5_g64_fp16", 11824},
        {"q6_g64_fp16", 14128},
        {"q8_g32_fp16", 19040},
        {"t2_g128_fp16", 4888}}},
      {{1, 4304}, {{"q4_g64_fp16", 2440}, {"q8_g32_fp16", 4624}}},
      {{7168, 5120}, {{"q4_g64_fp16", 19496960}}},
      {{2, 130}, {{"q5_g64_fp16", 528}}}};
  for (const Case &each : cases)
    for (const auto &[format, bytes] : each.bytes)
      EXPECT_EQ(take(geometryOf(recordOf(format, each.shape))).bytes, bytes)
          << format;
  Geometry geometry = take(geometryOf(recordOf("q5_g64_fp16", {2, 130})));
  EXPECT_EQ(geometry.storedShape, (std::vector<int64_t>{2, 256}));
  ASSERT_EQ(geometry.sections.size(), 3u);
  EXPECT_EQ(geometry.sections[1].offset, 256);
  EXPECT_EQ(geometry.sections[1].bytes, 64);
  EXPECT_EQ(geometry.sections[2].offset, 512);
  EXPECT_EQ(geometry.sections[2].bytes, 16);
}

TEST(Ninfer, OtherSizes) {
  struct Case {
    std::string format;
    std::vector<int64_t> shape;
    int64_t divisors;
    std::vector<int64_t> offsets;
    int64_t bytes;
  };
  const Case cases[] = {{"nvfp4", {128, 64}, 1, {0, 4096, 4608}, 4612},
                        {"nvfp4", {256, 64}, 2, {0, 8192, 9216}, 9224},
                        {"nvfp4", {256, 128}, 1, {0, 16384, 18432}, 18436},
                        {"nvfp4", {384, 192}, 3, {0, 36864, 41472}, 41484},
                        {"fp8_e4m3fn_row_bf16", {2, 4}, 1, {0, 256}, 260},
                        {"fp8_e4m3fn_row_fp16", {2, 160}, 1, {0}, 324},
                        {"fp8_e4m3fn_row_fp16", {3, 160}, 1, {0}, 486},
                        {"gguf_q8_0", {2, 64}, 1, {0}, 136},
                        {"gguf_q4_k", {1, 256}, 1, {0}, 144},
                        {"gguf_q6_k", {3, 512}, 1, {0}, 1260},
                        {"bf16", {2, 2}, 1, {0}, 8},
                        {"fp32", {}, 1, {0}, 4},
                        {"int32", {1}, 1, {0}, 4},
                        {"fp32", {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 1, {0}, 128}};
  for (const Case &each : cases) {
    Record record = recordOf(each.format, each.shape, each.divisors);
    Geometry geometry = take(geometryOf(record));
    EXPECT_EQ(geometry.bytes, each.bytes) << each.format;
    ASSERT_EQ(geometry.sections.size(), each.offsets.size()) << each.format;
    for (size_t i = 0; i < each.offsets.size(); ++i)
      EXPECT_EQ(geometry.sections[i].offset, each.offsets[i]) << each.format;
    // Any planes of the array go there and back.
    Random random(7);
    ArraySpec spec = take(arrayOf(record));
    std::vector<Bytes> planes = randomPlanes(spec, random);
    std::vector<ByteSpan> spans(planes.begin(), planes.end());
    Bytes payload = take(writePayload(record, spans));
    EXPECT_EQ(static_cast<int64_t>(payload.size()), each.bytes);
    EXPECT_EQ(take(readPayload(record, payload)), planes) << each.format;
  }
}

//===----------------------------------------------------------------------===//
// Row-split planes
//===----------------------------------------------------------------------===//

TEST(Ninfer, TinyRowSplitMatrices) {
  struct Case {
    std::string format;
    std::vector<float> values;
    Bytes base, high;
    size_t scaleOffset, bytes;
  };
  const Case cases[] = {
      {"q4_g64_fp16", {1, -2, 3}, {0xE1, 0x03}, {}, 256, 260},
      {"q5_g64_fp16", {1, -2, -16}, {0xE1, 0x00}, {0x06}, 512, 516},
      {"q6_g64_fp16", {1, -2, -32}, {0xE1, 0x00}, {0x2C}, 512, 516},
      {"q8_g32_fp16", {1, -2, 3}, {0x01, 0xFE, 0x03}, {}, 256, 264},
      {"t2_g128_fp16", {1, -1, 0}, {0x0D}, {}, 256, 258},
      {"q2_g64_fp16", {1, -1, 2}, {0x72}, {}, 256, 260}};
  for (const Case &each : cases) {
    Record record = recordOf(each.format, {1, 3});
    Bytes payload(each.bytes);
    if (each.format == "q2_g64_fp16")
      std::fill_n(payload.begin(), 32, uint8_t(0x55));
    std::ranges::copy(each.base, payload.begin());
    std::ranges::copy(each.high, payload.begin() + 256);
    payload[each.scaleOffset + 1] = 0x3C;
    expectSameBits(take(decodePayload(record, payload)), each.values,
                   each.format);
    EXPECT_FALSE(checkPayload(record, payload)) << each.format;
    // Padding that is not canonical is found, whatever it holds.
    for (size_t at : {size_t(30), each.scaleOffset - 1, each.bytes - 1}) {
      Bytes damaged = payload;
      damaged[at] ^= 0x22;
      if (at == each.bytes - 1 && each.format == "t2_g128_fp16")
        continue; // its only scale
      EXPECT_TRUE(checkPayload(record, damaged)) << each.format << " " << at;
    }
  }
}

TEST(Ninfer, RowSplitVectors) {
  struct Case {
    std::string format;
    int64_t columns;
    std::vector<int> codes;
    Bytes base, high;
    size_t scaleOffset;
  };
  const Case cases[] = {
      {"q4_g64_fp16", 65, {-8, -7, -1, 0, 1, 7}, {0x98, 0x0F, 0x71}, {}, 256},
      {"q5_g64_fp16",
       130,
       {-16, -15, -1, 0, 1, 15},
       {0x10, 0x0F, 0xF1},
       {0x07},
       512},
      {"q6_g64_fp16",
       65,
       {-32, -31, -17, -16, -1, 0, 15, 31},
       {0x10, 0x0F, 0x0F, 0xFF},
       {0xEA, 0x43},
       512},
      {"q8_g32_fp16",
       33,
       {-127, -1, 0, 1, 127},
       {0x81, 0xFF, 0x00, 0x01, 0x7F},
       {},
       256},
      {"t2_g128_fp16", 130, {-1, 0, 1, 1, -1, 0, 0, 1}, {0x53, 0x43}, {}, 256}};
  for (const Case &each : cases) {
    Record record = recordOf(each.format, {1, each.columns});
    Bytes payload(static_cast<size_t>(take(geometryOf(record)).bytes));
    std::ranges::copy(each.base, payload.begin());
    std::ranges::copy(each.high, payload.begin() + 256);
    const Bytes scales = {0x00, 0x3E, 0x00, 0x34};
    std::ranges::copy(scales,
                      payload.begin() + static_cast<int64_t>(each.scaleOffset));
    std::vector<float> expected(static_cast<size_t>(each.columns));
    for (size_t i = 0; i < each.codes.size(); ++i)
      expected[i] = 1.5f * static_cast<float>(each.codes[i]);
    expectSameBits(take(decodePayload(record, payload)), expected, each.format);
    std::vector<Bytes> planes = take(readPayload(record, payload));
    std::vector<ByteSpan> spans(planes.begin(), planes.end());
    EXPECT_EQ(take(writePayload(record, spans)), payload) << each.format;
  }
}

TEST(Ninfer, Q2KeepsItsScales) {
  Record record = recordOf("q2_g64_fp16", {2, 128});
  Bytes payload(64, 0xE4);
  payload.resize(256);
  for (uint8_t byte : {0x00, 0x38, 0x00, 0xBC, 0x01, 0x00, 0x00, 0x80})
    payload.push_back(byte);
  EXPECT_FALSE(checkPayload(record, payload));
  std::vector<float> values = take(decodePayload(record, payload));
  EXPECT_EQ(values[0], -0.5f);
  EXPECT_EQ(values[3], 1.0f);
  EXPECT_EQ(values[66], -1.0f);
  EXPECT_EQ(values[131], 0x1p-23f);
  // A scale of -0: code -1 gives +0, the others -0.
  EXPECT_EQ(bits(values[192]), 0u);
  for (size_t i : {193, 194, 195})
    EXPECT_EQ(bits(values[i]), 0x80000000u);
  payload[257] = 0x7C; // an infinite scale
  EXPECT_EQ(checkPayload(record, payload)->code, ErrorCode::IllegalFactor);
}

//===----------------------------------------------------------------------===//
// Rows and blocks under scales
//===----------------------------------------------------------------------===//

static const std::vector<float> kRowValues = {0, -0.0f, 0.5f, -0.5f,
                                              4, -4,    896,  -896};

TEST(Ninfer, RowScaleMatrix) {
  Record record = recordOf("fp8_e4m3fn_row_bf16", {2, 4});
  Bytes payload = {0x00, 0x80, 0x38, 0xB8, 0x40, 0xC0, 0x7E, 0xFE};
  payload.resize(256);
  for (uint8_t byte : {0x00, 0x3F, 0x00, 0x40})
    payload.push_back(byte);
  expectSameBits(take(decodePayload(record, payload)), kRowValues, "bf16");
  EXPECT_FALSE(checkPayload(record, payload));
  auto expect = [&](size_t at, uint8_t byte, ErrorCode code) {
    Bytes damaged = payload;
    damaged[at] = byte;
    auto error = checkPayload(record, damaged);
    ASSERT_TRUE(error) << at;
    EXPECT_EQ(error->code, code) << error->str();
  };
  expect(3, 0x7F, ErrorCode::IllegalCode);
  expect(5, 0xFF, ErrorCode::IllegalCode);
  expect(257, 0x80, ErrorCode::IllegalFactor); // -0
  expect(257, 0xBF, ErrorCode::IllegalFactor); // -0.5
  expect(259, 0x00, ErrorCode::CodeUnderZeroScale);
  expect(100, 1, ErrorCode::Other); // the gap
}

TEST(Ninfer, RowInterleavedMatrix) {
  Record record = recordOf("fp8_e4m3fn_row_fp16", {2, 4});
  const Bytes payload = {0x00, 0x80, 0x38, 0xB8, 0x00, 0x38,
                         0x40, 0xC0, 0x7E, 0xFE, 0x00, 0x40};
  expectSameBits(take(decodePayload(record, payload)), kRowValues, "fp16");
  EXPECT_FALSE(checkPayload(record, payload));
  Record one = recordOf("fp8_e4m3fn_row_fp16", {1, 1});
  EXPECT_EQ(checkPayload(one, Bytes{0x38, 0x00, 0x00})->code,
            ErrorCode::CodeUnderZeroScale);
  EXPECT_FALSE(checkPayload(one, Bytes{0x80, 0x00, 0x00}));
  for (uint8_t high : {0x80, 0xBC, 0x7C, 0x7E})
    EXPECT_EQ(checkPayload(one, Bytes{0x00, 0x00, high})->code,
              ErrorCode::IllegalFactor);
  for (uint8_t code : {0x7F, 0xFF})
    EXPECT_EQ(checkPayload(one, Bytes{code, 0x00, 0x3C})->code,
              ErrorCode::IllegalCode);
  EXPECT_EQ(checkPayload(one, Bytes{0x38, 0x00})->status, Status::SizeMismatch);
  // Where a scale lies: (3, 160), rows of 162 bytes.
  Record wide = recordOf("fp8_e4m3fn_row_fp16", {3, 160});
  Bytes bytes(486);
  bytes[322] = 0xCD;
  bytes[485] = 0xAB;
  std::vector<Bytes> planes = take(readPayload(wide, bytes));
  EXPECT_EQ(planes[1], (Bytes{0, 0, 0xCD, 0, 0, 0xAB}));
}

TEST(Ninfer, BlockScaleSwizzle) {
  struct Spot {
    int64_t rows, columns, row, group, offset;
  };
  const Spot spots[] = {{128, 64, 0, 0, 0},       {128, 64, 31, 0, 496},
                        {128, 64, 31, 3, 499},    {128, 64, 32, 0, 4},
                        {128, 64, 127, 3, 511},   {256, 128, 0, 3, 3},
                        {256, 128, 0, 4, 512},    {256, 128, 1, 0, 16},
                        {256, 128, 64, 0, 8},     {256, 128, 96, 0, 12},
                        {256, 128, 128, 0, 1024}, {256, 128, 255, 7, 2047}};
  for (const Spot &spot : spots) {
    Record record = recordOf("nvfp4", {spot.rows, spot.columns});
    Geometry geometry = take(geometryOf(record));
    Bytes payload(static_cast<size_t>(geometry.bytes));
    const size_t element =
        static_cast<size_t>(spot.row * spot.columns + spot.group * 16);
    payload[element / 2] = 0x10; // the second of the pair is code 1
    payload[static_cast<size_t>(geometry.sections[1].offset + spot.offset)] =
        0x38;
    const Bytes divisor = {0x00, 0x00, 0x20, 0x40}; // 2.5
    std::ranges::copy(divisor, payload.end() - 4);
    std::vector<float> values = take(decodePayload(record, payload));
    EXPECT_EQ(values[element + 1], 0.2f);
    EXPECT_EQ(std::ranges::count(values, 0.0f),
              static_cast<int64_t>(values.size()) - 1);
    EXPECT_FALSE(checkPayload(record, payload));
  }
}

TEST(Ninfer, BlockScaleLegality) {
  Record record = recordOf("nvfp4", {128, 64});
  Bytes payload(4612);
  EXPECT_EQ(checkPayload(record, payload)->code, ErrorCode::IllegalFactor);
  for (uint32_t word :
       {0x00000000u, 0x80000000u, 0xBF800000u, 0x7F800000u, 0x7FC00000u}) {
    std::memcpy(payload.data() + 4608, &word, 4);
    EXPECT_EQ(checkPayload(record, payload)->field, "d[0]") << word;
  }
  const uint32_t least = 1;
  std::memcpy(payload.data() + 4608, &least, 4);
  EXPECT_FALSE(checkPayload(record, payload));
  for (int scale = 0; scale < 256; ++scale) {
    payload[4096 + 17] = static_cast<uint8_t>(scale);
    EXPECT_EQ(checkPayload(record, payload).has_value(), scale > 0x7E) << scale;
  }
}

TEST(Ninfer, StackedDivisors) {
  Record record = recordOf("nvfp4", {384, 64}, 3);
  Bytes payload(static_cast<size_t>(take(geometryOf(record)).bytes));
  std::fill_n(payload.begin(), 384 * 32, uint8_t(0x22));
  std::fill_n(payload.begin() + 384 * 32, 384 * 4, uint8_t(0x38));
  const float divisors[] = {1, 2, 4};
  std::memcpy(payload.data() + payload.size() - 12, divisors, 12);
  std::vector<float> values = take(decodePayload(record, payload));
  for (size_t row : {0, 127, 128, 255, 256, 383})
    EXPECT_EQ(values[row * 64 + 5], 1 / divisors[row / 128]) << row;
  EXPECT_FALSE(checkPayload(record, payload));
  // Two matrices of 384 rows: a number of rows that is no power of two.
  Record wide = recordOf("nvfp4", {768, 64}, 2);
  EXPECT_EQ(take(arrayOf(wide)).contract.description().scales[1].rows, 384);
}

//===----------------------------------------------------------------------===//
// Direct words
//===----------------------------------------------------------------------===//

TEST(Ninfer, DirectWords) {
  const Bytes bf16 = {0x80, 0x3F, 0x00, 0xC0, 0x00, 0x3F, 0x00, 0x80};
  expectSameBits(take(decodePayload(recordOf("bf16", {2, 2}), bf16)),
                 {1, -2, 0.5f, -0.0f}, "bf16");
  expectSameBits(
      take(decodePayload(recordOf("fp32", {}), Bytes{0, 0, 0x80, 0x3F})), {1},
      "fp32");
  expectSameBits(take(decodePayload(recordOf("int32", {1}),
                                    Bytes{0xFE, 0xFF, 0xFF, 0xFF})),
                 {-2}, "int32");
  // NaNs and their payloads are words like others.
  const Bytes nan = {0x34, 0x12, 0xC0, 0x7F};
  std::vector<Bytes> planes = take(readPayload(recordOf("fp32", {1}), nan));
  EXPECT_EQ(planes[0], nan);
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  EXPECT_EQ(take(writePayload(recordOf("fp32", {1}), spans)), nan);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Ninfer, RefusesRecords) {
  struct Case {
    Record record;
    const char *field;
  };
  const std::string split = "row_split_k128_v1";
  const Case cases[] = {
      {{"q4_g64", split, {1, 1}}, "format"},
      {{"q4_g64_fp16", "row_split", {1, 1}}, "layout"},
      {{"q4_g64_fp16", "contiguous_le_v1", {1, 1}}, "layout"},
      {{"fp8_e4m3fn_row_fp16", "row_scale_v1", {1, 1}}, "layout"},
      {{"fp8_e4m3fn_row_bf16", "row_interleaved_v1", {1, 1}}, "layout"},
      {{"q4_g64_fp16", split, {1}}, "rank"},
      {{"q4_g64_fp16", split, {1, 1, 1}}, "rank"},
      {recordOf("bf16", std::vector<int64_t>(17, 1)), "rank"},
      {{"q4_g64_fp16", split, {0, 1}}, "shape[0]"},
      {{"q4_g64_fp16", split, {1, -1}}, "shape[1]"},
      {recordOf("nvfp4", {64, 64}), "shape[0]"},
      {recordOf("nvfp4", {128, 32}), "shape[1]"},
      {recordOf("gguf_q8_0", {1, 33}), "shape[1]"},
      {recordOf("nvfp4", {256, 64}, 0), "divisors"},
      {recordOf("nvfp4", {256, 64}, 3), "divisors"},
      {recordOf("nvfp4", {128, 64}, 2), "divisors"},
      {recordOf("q8_g32_fp16", {256, 64}, 2), "divisors"},
      {recordOf("q8_g32_fp16", {INT64_MAX, 2}), "shape"},
      {recordOf("q8_g32_fp16", {1, INT64_MAX}), "shape"},
      {recordOf("fp32", {INT64_MAX / 2, 4}), "shape"}};
  for (const Case &each : cases) {
    Expected<Geometry> geometry = geometryOf(each.record);
    ASSERT_FALSE(geometry) << each.field;
    EXPECT_EQ(geometry.error().field, each.field) << geometry.error().str();
    EXPECT_FALSE(arrayOf(each.record));
    EXPECT_FALSE(readPayload(each.record, Bytes(4)));
  }
}
