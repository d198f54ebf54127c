//===- NinferImportTest.cpp - words of other tools, unchanged -------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NinferTestUtils.h"

using namespace grit;
using namespace grit::ninfer;
using namespace grit::test;

static Expected<Bytes> import(const ArraySpec &source,
                              const std::vector<Bytes> &planes,
                              const Record &record) {
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  return importEncoded(source, spans, record);
}

/// A block of Q8_0 with this scale, its first code, and zeros.
static Bytes q8Block(uint16_t scale, uint8_t code) {
  Bytes block = {static_cast<uint8_t>(scale), static_cast<uint8_t>(scale >> 8),
                 code};
  block.resize(34);
  return block;
}

TEST(NinferImport, Q8FromBlocks) {
  // Two rows of two blocks; the record's rows are padded to 128.
  Bytes blocks;
  for (uint16_t i = 0; i < 4; ++i) {
    Bytes block = q8Block(static_cast<uint16_t>(0x3C00 + i), uint8_t(0x81 + i));
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  ArraySpec source = specOf("gguf.q8_0", {2, 64});
  Record record = recordOf("q8_g32_fp16", {2, 64});
  Bytes payload = take(import(source, {blocks}, record));
  EXPECT_FALSE(checkPayload(record, payload));
  expectSameBits(take(decodePayload(record, payload)),
                 decodeAll(source, {blocks}), "q8");
  EXPECT_EQ(payload[0], 0x81);
  EXPECT_EQ(payload[32], 0x82);
  EXPECT_EQ(payload[128], 0x83);
  EXPECT_EQ(payload[256], 0x00);
  EXPECT_EQ(payload[258], 0x01);
  EXPECT_EQ(payload[260], 0x00); // a group of padding
}

TEST(NinferImport, Q8Refusals) {
  ArraySpec source = specOf("gguf.q8_0", {1, 32});
  Record record = recordOf("q8_g32_fp16", {1, 32});
  struct Case {
    uint16_t scale;
    uint8_t code;
    ErrorCode expected;
  };
  for (const Case &each : {Case{0x8000, 0, ErrorCode::IllegalFactor},
                           Case{0x0000, 1, ErrorCode::CodeUnderZeroScale},
                           Case{0x7C00, 0, ErrorCode::IllegalFactor},
                           Case{0x7E00, 0, ErrorCode::IllegalFactor},
                           Case{0x3800, 0x80, ErrorCode::IllegalCode}}) {
    Expected<Bytes> payload =
        import(source, {q8Block(each.scale, each.code)}, record);
    ASSERT_FALSE(payload);
    EXPECT_EQ(payload.error().code, each.expected) << payload.error().str();
  }
  EXPECT_TRUE(import(source, {q8Block(0xB800, 0x81)}, record));
}

TEST(NinferImport, Q2AndTernaryBlocks) {
  Random random(11);
  // The scale of every block is a finite number, -0 among them.
  ArraySpec q2 = specOf("gguf.q2_0", {3, 192});
  std::vector<Bytes> blocks = randomPlanes(q2, random);
  for (size_t at = 0; at < blocks[0].size(); at += 18)
    blocks[0][at + 1] = at == 36 ? 0x80 : 0x34;
  blocks[0][36] = 0;
  Record record = recordOf("q2_g64_fp16", {3, 192});
  Bytes payload = take(import(q2, blocks, record));
  EXPECT_FALSE(checkPayload(record, payload));
  expectSameBits(take(decodePayload(record, payload)), decodeAll(q2, blocks),
                 "q2");
  EXPECT_EQ(payload[63], 0x55); // padding of the first row

  ArraySpec ternary = specOf("ninfer.pq2_0", {2, 128});
  std::vector<Bytes> codes = {Bytes(68, 0x86)}; // 2, 1, 0, 2
  for (size_t at : {0, 34}) {
    codes[0][at] = 0x00;
    codes[0][at + 1] = 0x3C;
  }
  Record t2 = recordOf("t2_g128_fp16", {2, 128});
  expectSameBits(take(decodePayload(t2, take(import(ternary, codes, t2)))),
                 decodeAll(ternary, codes), "t2");
  codes[0][50] = 0x03;
  Expected<Bytes> refused = import(ternary, codes, t2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::IllegalCode);
}

TEST(NinferImport, BlocksStayAsTheyAre) {
  Random random(5);
  ArraySpec source = specOf("gguf.q4_k", {3, 512});
  std::vector<Bytes> planes = randomPlanes(source, random);
  EXPECT_EQ(take(import(source, planes, recordOf("gguf_q4_k", {3, 512}))),
            planes[0]);
}

TEST(NinferImport, Fp8RowsOfCheckpoints) {
  const Bytes codes = {0x38, 0xB8, 0x40, 0x7E};
  // 1 + 2^-8 is halfway between two bfloat16 numbers; the even one is 1.
  const Bytes scales = {0x00, 0x80, 0x80, 0x3F, 0x00, 0x00, 0x00, 0x40};
  Record record = recordOf("fp8_e4m3fn_row_bf16", {2, 2});
  Bytes payload =
      take(import(specOf("ct.fp8_channel", {2, 2}), {codes, scales}, record));
  EXPECT_EQ(Bytes(payload.begin(), payload.begin() + 4), codes);
  EXPECT_EQ(Bytes(payload.begin() + 256, payload.end()),
            (Bytes{0x80, 0x3F, 0x00, 0x40}));
  // One scale for the tensor goes to every row.
  Bytes one = take(import(specOf("ct.fp8_tensor", {2, 2}),
                          {codes, {0x00, 0x00, 0x00, 0x40}}, record));
  EXPECT_EQ(Bytes(one.begin() + 256, one.end()),
            (Bytes{0x00, 0x40, 0x00, 0x40}));
  EXPECT_FALSE(import(specOf("ct.fp8_tensor", {2, 2}),
                      {codes, {0x00, 0x00, 0x00, 0xC0}}, record));
}

TEST(NinferImport, Nvfp4Divisors) {
  Random random(3);
  Bytes codes = random.bytes(128 * 32), scales(128 * 4, 0x38);
  scales[4] = 0x39; // row 1, group 0: byte 16 of the swizzle
  const Bytes divisor = {0x00, 0x00, 0x20, 0x40};
  Record record = recordOf("nvfp4", {128, 64});
  Bytes payload = take(
      import(specOf("ct.nvfp4", {128, 64}), {codes, scales, divisor}, record));
  EXPECT_TRUE(std::equal(codes.begin(), codes.end(), payload.begin()));
  EXPECT_EQ(payload[4096 + 16], 0x39);
  EXPECT_EQ(Bytes(payload.end() - 4, payload.end()), divisor);
  // A multiplier becomes its reciprocal: 1 / 2.5 as binary32.
  ArraySpec grade = specOf("nvf4", {128, 64});
  Bytes inverted = take(import(grade, {codes, scales, divisor}, record));
  EXPECT_EQ(Bytes(inverted.end() - 4, inverted.end()),
            (Bytes{0xCD, 0xCC, 0xCC, 0x3E}));
}

TEST(NinferImport, StacksOfMatrices) {
  Record record = recordOf("nvfp4", {128, 64});
  auto matrix = [&](uint8_t byte, float divisor) {
    Tensor tensor{record, Bytes(4096, byte)};
    tensor.payload.resize(4608, 0x38);
    tensor.payload.resize(4612);
    std::memcpy(tensor.payload.data() + 4608, &divisor, 4);
    return tensor;
  };
  const std::vector<Tensor> parts = {matrix(0x22, 2), matrix(0x44, 4)};
  Tensor stack = take(stackMatrices(parts));
  EXPECT_EQ(stack.record.divisors, 2);
  EXPECT_EQ(stack.record.shape, (std::vector<int64_t>{256, 64}));
  EXPECT_FALSE(checkPayload(stack.record, stack.payload));
  std::vector<float> values = take(decodePayload(stack.record, stack.payload));
  EXPECT_EQ(values.front(), 0.5f);
  EXPECT_EQ(values.back(), 0.5f);
  const std::vector<Tensor> equal = {matrix(0x22, 2), matrix(0x44, 2)};
  EXPECT_EQ(take(stackMatrices(equal)).record.divisors, 1);
  const std::vector<float> divisors = {1, 2};
  const std::vector<int64_t> rows = {128, 256};
  EXPECT_FALSE(divisorsOfStack(divisors, rows));
  EXPECT_FALSE(divisorsOfStack(std::vector<float>{1, 0}, rows));
}

TEST(NinferImport, RefusesOtherPairs) {
  Random random(1);
  ArraySpec source = specOf("gguf.q4_0", {1, 128});
  EXPECT_FALSE(import(source, randomPlanes(source, random),
                      recordOf("q4_g64_fp16", {1, 128})));
  ArraySpec rows = specOf("ct.fp8_channel_bf16", {1, 4});
  EXPECT_FALSE(import(rows, randomPlanes(rows, random),
                      recordOf("fp8_e4m3fn_row_fp16", {1, 4})));
}
