//===- FormatMovesTest.cpp - moves of formats that no grade spells --------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices, transposes and joins of arrays whose groups depend on the shape,
// whose values share bits, or whose blocks hold bits that decode does not read.
//
//===----------------------------------------------------------------------===//

#include "LawArrays.h"
#include "grit/Format/Check.h"
#include "grit/Format/Laws.h"
#include "grit/Format/Rearrange.h"

using namespace grit;
using namespace grit::test;

using Shape = std::vector<int64_t>;

static const char *kLines =
    "gritfmt1(planes=[8/1@0,8/axis@1],codes=p0:8@0+i*8,level=s8,"
    "scales=[(s8,axis,p1:8@0+i*8)])";
static const char *kBlocks =
    "gritfmt1(planes=[8/1@0,8/2x4@1],codes=p0:8@0+i*8,level=s8,"
    "scales=[(s8,2x4,p1:8@0+i*8)])";
static const char *kBook =
    "gritfmt1(planes=[2/1@0,64/0@1],codes=p0:2@0+i*2,level=binary16,"
    "book=p1:16@0+i*16,scales=[])";
static const char *kVectors =
    "gritfmt1(planes=[4/2@0,4/4@1,16/8@1],codes=p0:4@0+i*4,"
    "level=v2:s8[00010203040506070809101112131415161718192021222324252627"
    "28293031],signs=4:each:p1:4@0+i*4,scales=[(binary16,lin/8,p2:16@0+i*16)],"
    "axis=8)";

/// The elements of a box of a row-major array.
static std::vector<float> boxOf(const std::vector<float> &values,
                                const Shape &shape, const Shape &offsets,
                                const Shape &sizes) {
  std::vector<float> result;
  for (int64_t a = 0; a < sizes[0]; ++a)
    for (int64_t b = 0; b < sizes[1]; ++b)
      for (int64_t c = 0; c < sizes[2]; ++c)
        result.push_back(
            values[((offsets[0] + a) * shape[1] + offsets[1] + b) * shape[2] +
                   offsets[2] + c]);
  return result;
}

TEST(FormatMoves, SlicesDecodeToTheSliceOfTheValues) {
  struct Case {
    std::string contract;
    bool rows, columns; ///< whether parts of these can be taken
  };
  const Case cases[] = {
      {"gguf.q8_1", true, true},  {"gguf.q8_k", true, true},
      {"gguf.tq1_0", true, true}, {"gguf.iq2_xxs", true, true},
      {"gguf.nvfp4", true, true}, {"gguf.bf16", true, true},
      {kLines, true, false},      {kBlocks, false, false},
      {kBook, true, true},        {kVectors, true, true},
  };
  Random random(7);
  for (const Case &c : cases) {
    ArraySpec spec = specOf(c.contract, {4, 3, 512});
    std::vector<Bytes> planes = randomPlanes(spec, random);
    std::vector<float> values = decodeAll(spec, planes);
    auto check = [&](const Shape &offsets, const Shape &sizes, bool allowed) {
      auto moved = slicePlanes(spec, spansOf(planes), offsets, sizes);
      ASSERT_EQ(moved.has_value(), allowed) << c.contract;
      if (!moved)
        return;
      ArraySpec part = take(sliceOf(spec, offsets, sizes));
      expectSameBits(decodeAll(part, *moved),
                     boxOf(values, spec.shape, offsets, sizes), c.contract);
    };
    check({1, 0, 0}, {2, 3, 512}, true);
    check({0, 1, 0}, {4, 2, 512}, c.rows);
    check({0, 0, 256}, {4, 3, 256}, c.columns);
  }
}

TEST(FormatMoves, TransposesAndJoins) {
  Random random(8);
  for (std::string text : {std::string("gguf.q8_1"), std::string("gguf.tq1_0"),
                           std::string(kLines), std::string(kVectors)}) {
    ArraySpec spec = specOf(text, {4, 3, 512});
    std::vector<Bytes> planes = randomPlanes(spec, random);
    const Shape order = {1, 0, 2};
    PlaneBytes moved = take(transposePlanes(spec, spansOf(planes), order));
    ArraySpec other = take(transposeOf(spec, order));
    PlaneBytes back = take(transposePlanes(other, spansOf(moved), order));
    EXPECT_EQ(back, planes) << text;
    // Two halves make the whole again, to the bit.
    const Shape first = {0, 0, 0}, second = {0, 1, 0}, one = {4, 1, 512},
                two = {4, 2, 512};
    PlaneBytes a = take(slicePlanes(spec, spansOf(planes), first, one));
    PlaneBytes b = take(slicePlanes(spec, spansOf(planes), second, two));
    std::vector<ByteSpan> as = spansOf(a), bs = spansOf(b);
    const PlacedArray parts[] = {{take(sliceOf(spec, first, one)), as},
                                 {take(sliceOf(spec, second, two)), bs}};
    EXPECT_EQ(take(concatPlanes(parts, 1)), planes) << text;
  }
}

/// Arrays with other books are no parts of one array.
TEST(FormatMoves, BooksMustAgree) {
  ArraySpec spec = specOf(kBook, {1, 1, 4});
  std::vector<Bytes> one = {{0xe4}, Bytes(8, 1)}, other = {{0xe4}, Bytes(8, 2)};
  std::vector<ByteSpan> a = spansOf(one), b = spansOf(other);
  const PlacedArray same[] = {{spec, a}, {spec, a}};
  EXPECT_TRUE(concatPlanes(same, 0));
  const PlacedArray different[] = {{spec, a}, {spec, b}};
  auto refused = concatPlanes(different, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "book");
  const ArraySpec specs[] = {spec, spec};
  EXPECT_FALSE(concatOf(specs, 0));
}

/// Rows go with their order, which all parts share; along the axis a group may
/// be anywhere.
TEST(FormatMoves, OrdersStayWhole) {
  const std::string text = "gptq.q4_v2_order(group=16)";
  ArraySpec spec = specOf(text, {2, 3, 64});
  Random random(9);
  std::vector<Bytes> planes = randomPlanes(spec, random);
  std::vector<float> values = decodeAll(spec, planes);
  const Shape at = {0, 1, 0}, size = {2, 2, 64};
  PlaneBytes moved = take(slicePlanes(spec, spansOf(planes), at, size));
  ArraySpec part = take(sliceOf(spec, at, size));
  expectSameBits(decodeAll(part, moved), boxOf(values, spec.shape, at, size),
                 text);
  const Shape middle = {0, 0, 16}, half = {2, 3, 32};
  auto cut = sliceOf(spec, middle, half);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().declared, "the whole axis");

  ArraySpec one = specOf(text, {1, 1, 32});
  std::vector<Bytes> a = randomPlanes(one, random),
                     b = randomPlanes(one, random);
  std::vector<ByteSpan> as = spansOf(a), bs = spansOf(b);
  const PlacedArray parts[] = {{one, as}, {one, bs}};
  PlaneBytes joined = take(concatPlanes(parts, 1));
  std::vector<float> both = decodeAll(one, a), second = decodeAll(one, b);
  both.insert(both.end(), second.begin(), second.end());
  expectSameBits(decodeAll(specOf(text, {1, 2, 32}), joined), both, text);
  EXPECT_FALSE(concatPlanes(parts, 2));
  b[3][0] ^= 1;
  auto refused = concatPlanes(parts, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "order");
}

/// A group that does not exist is refused by decode and by level 2, and by
/// nothing else.
TEST(FormatMoves, OrdersNameGroups) {
  ArraySpec spec = specOf("gptq.q4_order(group=16)", {2, 32});
  Random random(10);
  std::vector<Bytes> planes = randomPlanes(spec, random);
  for (auto [byte, value] : {std::pair(4 * 5, 2), {4 * 5 + 3, 0x80}}) {
    std::vector<Bytes> bad = planes;
    bad[3][static_cast<size_t>(byte)] = static_cast<uint8_t>(value);
    std::vector<ByteSpan> spans = spansOf(bad);
    std::vector<float> out(64);
    auto decoded = decode(spec, spans, out);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().status, Status::DigestMismatch);
    EXPECT_EQ(decoded.error().field, "order");
    EXPECT_NE(decoded.error().message.find("position 5 "), std::string::npos);
    std::vector<const uint8_t *> pointers;
    PlaneSizes sizes;
    for (ByteSpan plane : spans) {
      pointers.push_back(plane.data());
      sizes.push_back(static_cast<int64_t>(plane.size()));
    }
    EXPECT_FALSE(check(spec, sizes, 1, pointers));
    auto refused = check(spec, sizes, 2, pointers);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->message, decoded.error().message);
  }
}
