//===- RecodeTest.cpp - the same values under another contract ------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeArrays.h"
#include "RecodeSearch.h"
#include <algorithm>

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// The search finds what the array already has
//===----------------------------------------------------------------------===//

/// Numbers of many sizes.
static std::vector<float> someValues(size_t count, Random &random) {
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(int64_t(random.next()) >> 32) * 0x1p-28f;
  return values;
}

TEST(Recode, SearchFindsEveryContractAgain) {
  size_t searched = 0;
  for (const std::string &name : registeredContractNames()) {
    // Blocks of whole rows are runs only where the rows fill them.
    const std::vector<Factor> &scales = contract(name).description().scales;
    const bool hasWideBlocks = std::ranges::any_of(
        scales, [](const Factor &f) { return f.rows && f.group > 1024; });
    const int64_t rows = hasWideBlocks ? 128 : 48;
    ArraySpec spec = specOf(name, {rows, 1024});
    if (checkRecodeTarget(spec.contract))
      continue;
    ++searched;
    Random random(searched);
    std::vector<PlaneBytes> arrays = {legalPlanes(spec, random)};
    if (spec.contract.description().encoding.rule != EncodeRule::None)
      arrays.push_back(encodeAll(spec, someValues(rows * 1024, random)));
    for (const PlaneBytes &planes : arrays) {
      auto again = recodeBySearch(spec, spansOf(planes), spec);
      if (!again) {
        ADD_FAILURE() << name << ": " << again.error().str();
        continue;
      }
      expectSameBits(decodeAll(spec, *again), decodeAll(spec, planes), name);
    }
  }
  EXPECT_GE(searched, 70u);
}

//===----------------------------------------------------------------------===//
// Integers with zero points and minima
//===----------------------------------------------------------------------===//

/// Random codes and zero points under scales that are not 0.
static PlaneBytes gptqPlanes(const ArraySpec &spec, Random &random) {
  PlaneBytes planes = randomPlanes(spec, random);
  for (size_t i = 0; i < planes[1].size(); i += 2) {
    uint32_t scale = 0x2000 | (random.next() & 0x0FFF);
    planes[1][i] = static_cast<uint8_t>(scale);
    planes[1][i + 1] = static_cast<uint8_t>(scale >> 8);
  }
  return planes;
}

TEST(Recode, GptqIntoOtherConventionsOfTheZeroPoint) {
  Random random(7);
  ArraySpec source = specOf("gptq.q4(group=64)", {8, 512});
  for (const char *name :
       {"hqq.q4(group=64)", "hqq.q4(group=32)", "hqq.q4(group=16)"}) {
    PlaneBytes planes = gptqPlanes(source, random);
    expectRecodes(source, planes, specOf(name, {8, 512}), name);
  }
  // Stored zero points are one too low: 16 is beyond four plain bits.
  ArraySpec plain = specOf("gptq.q4_v2(group=64)", {8, 512});
  PlaneBytes planes = gptqPlanes(source, random);
  for (uint8_t &byte : planes[2])
    byte &= 0x77;
  PlaneBytes other = expectRecodes(source, planes, plain, "v2");
  ASSERT_EQ(other.size(), 3u);
  EXPECT_EQ(other[0], planes[0]);
  EXPECT_EQ(other[1], planes[1]);
  for (size_t i = 0; i < planes[2].size(); ++i)
    EXPECT_EQ(other[2][i], planes[2][i] + 0x11);
  EXPECT_EQ(expectRecodes(plain, other, source, "from v2"), planes);
  planes[2][0] = 0x0F;
  for (int i = 0; i < 32; ++i)
    planes[0][i] = static_cast<uint8_t>(i * 17);
  auto refused = recodeTo(source, planes, plain);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause.find("factor z"), std::string::npos)
      << refused.error().str();
}

TEST(Recode, ZeroPointOfEightIsSymmetric) {
  Random random(8);
  ArraySpec source = specOf("gptq.q4(group=32)", {4, 256});
  PlaneBytes planes = gptqPlanes(source, random);
  for (uint8_t &byte : planes[2])
    byte = 0x77;
  PlaneBytes other =
      expectRecodes(source, planes, specOf("gguf.q4_0", {4, 256}), "q4_0");
  expectRecodes(specOf("gguf.q4_0", {4, 256}), other, source, "and back");
  // A minimum is the product of scale and zero point: here a power of two.
  expectRecodes(source, planes, specOf("mlx.q4_f16(group=32)", {4, 256}),
                "mlx.q4_f16");
  planes[2][0] = 0x76;
  planes[0][0] = 0x0F;
  EXPECT_FALSE(recodeTo(source, planes, specOf("gguf.q4_0", {4, 256})));
}

TEST(Recode, GroupsThatJoinAndSplit) {
  Random random(9);
  ArraySpec small = specOf("ct.int4_f16(group=32)", {4, 256});
  ArraySpec large = specOf("ct.int4_f16(group=128)", {4, 256});
  PlaneBytes planes = randomPlanes(large, random);
  for (size_t i = 1; i < planes[1].size(); i += 2)
    planes[1][i] = 0x30;
  PlaneBytes split = expectRecodes(large, planes, small, "split");
  EXPECT_EQ(expectRecodes(small, split, large, "join"), planes);
  // 1 + 1/1024 beside 1: no scale serves both.
  split[1][2] ^= 1;
  auto refused = recodeTo(small, split, large);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause.find("several scales"), std::string::npos)
      << refused.error().str();
}

TEST(Recode, WiderCodes) {
  Random random(10);
  ArraySpec source = specOf("gguf.q4_0", {4, 256});
  PlaneBytes planes = encodeAll(source, someValues(4 * 256, random));
  for (const char *name : {"gguf.q8_0", "gguf.q8_1", "gguf.f32", "gguf.q5_0"})
    expectRecodes(source, planes, specOf(name, {4, 256}), name);
}

/// Pairs of which one has all numbers of the other: nested scales, digits that
/// share bits, tables, minima, lines and blocks.
TEST(Recode, ContractsThatHoldOthers) {
  static constexpr const char *kPairs[][2] = {
      {"gguf.q4_k", "gguf.q5_k"},
      {"gguf.q4_k", "q4ks"},
      {"q4ks", "gguf.q4_k"},
      {"gguf.q3_k", "gguf.q6_k"},
      {"gguf.tq1_0", "gguf.tq2_0"},
      {"gguf.tq2_0", "gguf.tq1_0"},
      {"gguf.iq4_nl", "gguf.q8_0"},
      {"gguf.q4_1", "gguf.q5_1"},
      {"gguf.q4_1", "mlx.q4_f16(group=32)"},
      {"hurray.nf4", "bnb.nf4"},
      {"gguf.mxfp4", "gguf.nvfp4"},
      {"gguf.mxfp4", "mxint8"},
      {"i8s24", "gguf.q8_0"},
      {"gguf.iq3_s", "gguf.f32"},
      {"bnb.nf4_double", "bnb.nf4"},
      {"deepseek.fp8_bf16", "deepseek.fp8"}};
  Random random(14);
  for (auto [from, to] : kPairs) {
    ArraySpec source = specOf(from, {48, 1024});
    const auto rule = source.contract.description().encoding.rule;
    PlaneBytes planes = rule == EncodeRule::None
                            ? randomPlanes(source, random)
                            : encodeAll(source, someValues(48 * 1024, random));
    expectRecodes(source, planes, specOf(to, {48, 1024}),
                  std::string(from) + " to " + to);
  }
}

/// ggml's dot products need the sums that decode does not read.
TEST(Recode, DerivedFieldsAreWritten) {
  ArraySpec source = rowOf("gguf.q8_0", 32), target = rowOf("gguf.q8_1", 32);
  PlaneBytes planes = {Bytes(34, 3)};
  planes[0][0] = 0x00, planes[0][1] = 0x38; // 0.5
  PlaneBytes result = expectRecodes(source, planes, target, "q8_1");
  // 0.5 * 32 * 3 = 48 in binary16.
  EXPECT_EQ(result[0][2], 0x00);
  EXPECT_EQ(result[0][3], 0x52);
}

//===----------------------------------------------------------------------===//
// Blocks, lines, placements, user's formats
//===----------------------------------------------------------------------===//

TEST(Recode, BlocksOfTwoAxes) {
  Random random(11);
  ArraySpec blocks = specOf("deepseek.fp8", {200, 300});
  PlaneBytes planes = randomPlanes(blocks, random);
  for (uint8_t &byte : planes[0])
    byte = (byte & 0x7F) == 0x7F ? 0 : byte;
  for (size_t i = 0; i < planes[1].size(); i += 4) {
    planes[1][i] = planes[1][i + 1] = planes[1][i + 2] = 0;
    planes[1][i + 3] = 0x3F; // 0.5
  }
  expectRecodes(blocks, planes, specOf("ct.fp8_channel", {200, 300}), "lines");
  expectRecodes(blocks, planes, specOf("ct.fp8_tensor", {200, 300}), "one");
  PlaneBytes one = {planes[0], {0, 0, 0, 0x40}};
  expectRecodes(specOf("ct.fp8_tensor", {200, 300}), one, blocks, "blocks");
}

TEST(Recode, OtherPlacementsOfOneContract) {
  Random random(12);
  ArraySpec source = specOf("mxfp4", {64, 256});
  ArraySpec target = source;
  target.placements.data = take(Placement::parse("tile_16x16"));
  PlaneBytes planes = randomPlanes(source, random);
  PlaneBytes moved = expectRecodes(source, planes, target, "tiles");
  EXPECT_NE(moved[0], planes[0]);
  EXPECT_EQ(moved[1], planes[1]);
  EXPECT_EQ(expectRecodes(target, moved, source, "and back"), planes);
  // From tiles into another contract.
  for (uint8_t &byte : planes[0])
    byte &= 0x77;
  for (uint8_t &byte : planes[1])
    byte &= 0x7F;
  moved = expectRecodes(source, planes, target, "tiles");
  PlaneBytes blocks =
      expectRecodes(target, moved, specOf("gguf.mxfp4", {64, 256}), "blocks");
  EXPECT_EQ(expectRecodes(specOf("gguf.mxfp4", {64, 256}), blocks, target, "t"),
            moved);
}

/// A format that exists nowhere: big-endian nibbles, three factors, a minimum
/// with two.
TEST(Recode, UsersFormat) {
  Contract mine = take(registerFormat(
      "gritfmt1(name = recode.test, planes = [data = 4/1@0, s = 32/0@1,"
      " d = 16/64@1, c = 8/16@1, m = 16/16@2],"
      " codes = data:4@4+i/2*8+i%2*-4, level = u4-8,"
      " scales = [t = (binary32, all, s:32@0), d = (binary16, lin/64,"
      " d:16@0+i*16), c = (u8, lin/16, c:8@0+i*8)],"
      " min = [m = (binary16, lin/16, m:16@0+i*16)], axis = 64)"));
  Random random(13);
  ArraySpec source = specOf("gguf.q4_0", {4, 256});
  ArraySpec target = take(ArraySpec::get(mine, {4, 256}));
  PlaneBytes planes = encodeAll(source, someValues(4 * 256, random));
  // Two blocks of 32 share a factor: make their scales a small multiple of it.
  for (size_t block = 0; block < planes[0].size() / 18; ++block) {
    planes[0][block * 18] = 0;
    planes[0][block * 18 + 1] = block % 2 ? 0x30 : 0x34;
  }
  PlaneBytes there = expectRecodes(source, planes, target, "to mine");
  EXPECT_EQ(expectRecodes(target, there, source, "from mine"), planes);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Recode, RefusesShapesAndTargetsByName) {
  ArraySpec source = rowOf("gguf.mxfp4", 32);
  auto refused = recodeTo(source, {Bytes(17, 100)}, rowOf("mxfp4", 64));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "shape");
  for (const char *name : {"gguf.iq2_xxs", "gguf.iq3_s", "i8s24"}) {
    ArraySpec target = specOf(name, {1, 256});
    refused = recodeTo(rowOf("gguf.mxfp4", 256), {Bytes(8 * 17, 100)}, target);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().field, "target contract");
    EXPECT_NE(refused.error().found.find(name), std::string::npos);
  }
  refused = recodeTo(source, {Bytes(16)}, rowOf("mxfp4", 32));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::SizeMismatch);
}

TEST(Recode, ReportsTheFirstElementWhateverTheThreads) {
  ArraySpec source = specOf("mxfp4", {256, 1024});
  ArraySpec target = specOf("gguf.mxfp4", {256, 1024});
  PlaneBytes planes = {Bytes(256 * 512, 0x11), Bytes(256 * 32, 127)};
  planes[0][70000] = 0x81;
  planes[0][130000] = 0x88;
  for (int round = 0; round < 8; ++round) {
    auto refused = recodeTo(source, planes, target);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "element 140001");
  }
}
