//===- CodecTest.cpp - other grades, placements, bit fields -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecodeOracle.h"
#include "FormatTestUtils.h"
#include "grit/Format/FormatText.h"
#include <cmath>

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Grades beyond the registered ones
//===----------------------------------------------------------------------===//

// (D15, D16)
TEST(DecodeGrades, ZeroPoints) {
  // S * (q - z), z stored as such or less one.
  for (bool minusOne : {false, true}) {
    ArraySpec spec = take(ArraySpec::get(
        contract(std::string("grit1(e=u4,k0=4,s0=binary16,zp=u4,") +
                 (minusOne ? "zpc=minus1," : "") + "esr=affineminmax)"),
        {2, 8}));
    Random random(5);
    std::vector<Bytes> planes = randomPlanes(spec, random);
    for (size_t i = 1; i < planes[1].size(); i += 2)
      planes[1][i] &= 0x3f; // finite scales
    std::vector<float> expected;
    for (int i = 0; i < 16; ++i) {
      int q = planes[0][i / 2] >> i % 2 * 4 & 15;
      int z = (planes[2][i / 4] & 15) + minusOne;
      expected.push_back(
          oracle::half(planes[1][i / 4 * 2] | planes[1][i / 4 * 2 + 1] << 8) *
          float(q - z));
    }
    expectSameBits(decodeAll(spec, planes), expected, "zero point");
  }
}

// (D18)
TEST(DecodeGrades, ZeroPointNaNReachesItsGroupOnly) {
  ArraySpec spec = take(ArraySpec::get(
      contract("grit1(e=u4,k0=2,s0=u8,zp=e4m3,esr=ratio)"), {4}));
  std::vector<float> out =
      decodeAll(spec, {{0x21, 0x43}, {2, 3}, {0x7f, 0x38}});
  expectSameBits(out, {NAN, NAN, 6, 9}, "zero point of NaN");
}

// (B8, B9, B10)
TEST(DecodeGrades, ContainersAndOrders) {
  Random random(6);
  auto run = [&](const char *keys, auto code) {
    ArraySpec spec = take(ArraySpec::get(
        contract("grit1(" + std::string(keys) + ",k0=8,s0=u8,esr=ratio)"),
        {2, 24}));
    std::vector<Bytes> planes = randomPlanes(spec, random);
    std::vector<float> expected;
    for (int i = 0; i < 48; ++i)
      expected.push_back(float(planes[1][i / 8]) * float(code(planes[0], i)));
    expectSameBits(decodeAll(spec, planes), expected, keys);
  };
  run("e=u4,po=msb",
      [](const Bytes &b, int i) { return b[i / 2] >> (4 - i % 2 * 4) & 15; });
  run("e=u2,po=msb",
      [](const Bytes &b, int i) { return b[i / 4] >> (6 - i % 4 * 2) & 3; });
  run("e=u2", [](const Bytes &b, int i) { return b[i / 4] >> i % 4 * 2 & 3; });
  run("e=u4,ct=pad8", [](const Bytes &b, int i) { return b[i] & 15; });
  run("e=s4,ct=pad8,po=msb",
      [](const Bytes &b, int i) { return int8_t(b[i] << 4) >> 4; });
  run("e=u6", [](const Bytes &b, int i) {
    int bit = 6 * i;
    return (b[bit / 8] | (bit / 8 + 1 < int(b.size()) ? b[bit / 8 + 1] : 0)
                             << 8) >>
               bit % 8 &
           63;
  });
}

// (B16, B17)
TEST(DecodeGrades, SparseOfOtherShapes) {
  // 1:8 with four-bit indices: index 8 and above selects nothing, and the
  // cursor does not move.
  ArraySpec spec = take(ArraySpec::get(
      contract("grit1(e=s8,k0=8,s0=e8m0,sp=1:8:u4:unord,esr=ratio)"), {24}));
  std::vector<float> out =
      decodeAll(spec, {{5, 7, 9}, {127, 128, 127}, {0x83, 0x01}});
  std::vector<float> expected(24, 0.0f);
  expected[3] = 5;
  expected[17] = 7;
  expectSameBits(out, expected, "1:8");
}

// (D12)
TEST(DecodeGrades, MaskedBeatsPoison) {
  ArraySpec spec = take(ArraySpec::get(contract("i8s24"), {32}));
  std::vector<float> out =
      decodeAll(spec, {Bytes(16, 0xff), {0x00, 0x7e}, Bytes(4, 0x44)});
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(bits(out[i]), i % 4 < 2 ? 0x7FC00000u : 0u) << i;
}

// The result is the value of a code of dt (D19), and a NaN stays one where dt
// has no code for it (D20).
TEST(DecodeGrades, Projection) {
  auto one = [](const char *tail, uint8_t scale, uint8_t code) {
    ArraySpec spec = take(ArraySpec::get(
        contract("grit1(e=s8,k0=1,s0=e8m0,esr=ratio" + std::string(tail) + ")"),
        {1}));
    return decodeAll(spec, {{code}, {scale}})[0];
  };
  EXPECT_EQ(one("", 127, 101), 101);
  EXPECT_EQ(one(",dt=e4m3", 127, 101), 104);
  EXPECT_EQ(one(",dt=e4m3,dr=rtz", 127, 101), 96);
  EXPECT_EQ(one(",dt=s8", 128, 101), 127);
  EXPECT_EQ(bits(one(",dt=binary16", 255, 1)), 0x7FC00000u);
  EXPECT_EQ(bits(one(",dt=s8", 255, 1)), 0x7FC00000u);
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

TEST(DecodePlacements, ColumnMajor) {
  using namespace placements;
  ArraySpec rows = take(ArraySpec::get(contract("mxfp4"), {6, 64}));
  ArraySpec columns = rows;
  columns.placements = {ColMajor, ColMajor, {}};
  Random random(7);
  std::vector<Bytes> a = randomPlanes(rows, random), b = a;
  auto at = [](Bytes &bytes, int64_t i) -> std::pair<uint8_t &, int> {
    return {bytes[i / 2], i % 2 * 4};
  };
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c < 64; ++c) {
      auto [from, low] = at(a[0], r * 64 + c);
      auto [to, shift] = at(b[0], c * 6 + r);
      to = (to & ~(15 << shift)) | (from >> low & 15) << shift;
    }
    for (int g = 0; g < 2; ++g)
      b[1][g * 6 + r] = a[1][r * 2 + g];
  }
  EXPECT_NE(a, b);
  expectSameBits(decodeAll(columns, b), decodeAll(rows, a), "col_major");
}

TEST(DecodePlacements, Swizzled) {
  // 128 x 4 scales, stored in the tile that tensor cores read.
  ArraySpec spec = take(ArraySpec::get(contract("nvf4"), {128, 64}));
  Random random(8);
  std::vector<Bytes> a = randomPlanes(spec, random), b = a;
  for (int r = 0; r < 128; ++r)
    for (int c = 0; c < 4; ++c)
      b[1][r % 32 * 16 + r / 32 * 4 + c] = a[1][r * 4 + c];
  ArraySpec swizzled = spec;
  swizzled.placements.scale = placements::Swizzle128x4B;
  // The tensor scale is under the same word, and one value has one order.
  EXPECT_NE(a, b);
  expectSameBits(decodeAll(swizzled, b), decodeAll(spec, a), "swizzle_128x4b");
}

TEST(DecodePlacements, RefusedByName) {
  using namespace placements;
  struct Case {
    const char *contract;
    std::vector<int64_t> shape;
    Placements placements;
    const char *field;
  };
  const Case cases[] = {
      {"mxfp4", {2, 32}, {{}, RowMajor, {}}, "placement_data"},
      {"mxfp4",
       {2, 32},
       {RowMajor, Placement(~uint64_t(0)), {}},
       "placement_scale"},
      {"mxfp4",
       {2, 32},
       {Placement(uint64_t(8) << 60), RowMajor, {}},
       "placement_data"},
      {"q4ks", {4, 384}, {RowMajor, ColMajor, RowMajor}, "placement_scale"},
      {"gguf.q4_k", {256}, {ColMajor, {}, {}}, "placement_data"},
      {"gguf.q4_k", {256}, {{}, {}, {}}, "placement_data"},
  };
  for (const Case &c : cases) {
    ArraySpec spec =
        take(ArraySpec::get(contract(c.contract), c.shape, -1, c.placements));
    std::vector<Bytes> planes;
    for (int64_t size : take(spec.planeSizes()))
      planes.emplace_back(size);
    std::vector<ByteSpan> spans(planes.begin(), planes.end());
    std::vector<float> out(spec.numElements());
    Expected<void> done = decode(spec, spans, out);
    ASSERT_FALSE(done) << c.contract;
    EXPECT_EQ(done.error().status, Status::PlacementUnknown);
    EXPECT_EQ(done.error().field, c.field) << done.error().str();
  }
}

//===----------------------------------------------------------------------===//
// Bit fields and arguments
//===----------------------------------------------------------------------===//

TEST(Fields, WriteThenRead) {
  Random random(9);
  for (const std::string &name : registeredContractNames()) {
    ArraySpec spec = take(ArraySpec::get(contract(name), {64, 256}));
    const FormatDescription &desc = spec.contract.description();
    std::vector<const BitField *> fields;
    // Digits share bits: the bits are written, and a digit is read.
    if (!desc.codes.radix)
      fields.push_back(&desc.codes);
    if (desc.level.signs)
      fields.push_back(&desc.level.signs->bits);
    for (const Factor &factor : desc.scales)
      fields.push_back(&factor.bits);
    for (const Factor &factor : desc.offset.factors)
      fields.push_back(&factor.bits);
    for (const BitField *field : fields) {
      std::vector<Bytes> planes = randomPlanes(spec, random);
      std::vector<Bytes> before = planes;
      std::vector<std::span<uint8_t>> writable(planes.begin(), planes.end());
      std::vector<ByteSpan> readable(planes.begin(), planes.end());
      uint32_t mask = field->width() == 32 ? ~0u : (1u << field->width()) - 1;
      uint32_t old = readField(*field, 0, readable);
      uint32_t value = static_cast<uint32_t>(random.next());
      writeField(*field, 0, value, writable);
      EXPECT_EQ(readField(*field, 0, readable), value & mask) << name;
      writeField(*field, 0, old, writable);
      EXPECT_EQ(planes, before) << name << ": a neighbour was touched";
    }
  }
}

// (B13)
TEST(Fields, GroupIndex) {
  ArraySpec spec =
      take(ArraySpec::get(contract("hurray.nf4(block=8)"), {2, 16, 3}, 1));
  const Factor &scale = spec.contract.description().scales[0];
  for (int64_t i = 0; i < 96; ++i)
    EXPECT_EQ(groupIndex(scale, i, spec),
              (i / 48 * 3 + i % 3) * 2 + i / 3 % 16 / 8);
  ArraySpec rows = take(ArraySpec::get(contract("nvf4"), {4, 32}));
  const auto &scales = rows.contract.description().scales;
  for (int64_t i = 0; i < 128; ++i) {
    EXPECT_EQ(groupIndex(scales[0], i, rows), 0);
    EXPECT_EQ(groupIndex(scales[1], i, rows), i / 16);
  }
}

// (B19, D9)
TEST(Decode, EmptyArraysAndWrongArguments) {
  ArraySpec empty = take(ArraySpec::get(contract("nvf4"), {0, 16}));
  EXPECT_TRUE(decodeAll(empty, {{}, {}, {0, 0, 0, 0}}).empty());
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {32}));
  Bytes data(16), scale(1);
  std::vector<float> out(32);
  std::vector<ByteSpan> planes{data, scale};
  EXPECT_TRUE(decode(spec, planes, out));
  EXPECT_EQ(decode(spec, planes, std::span(out).first(31)).error().field,
            "out");
  EXPECT_FALSE(decode(spec, std::span(planes).first(1), out));
  planes[0] = ByteSpan(data).first(15);
  EXPECT_EQ(decode(spec, planes, out).error().plane, 0);
}

/// A field as text, its values copied into another, and one that reaches beyond
/// its bytes.
TEST(Codec, CopiesFields) {
  // Three bits from the top of each byte down, into a stream from the bottom.
  BitField from = take(parseField("p0:3@5+i/2*8+i%2*-3"));
  BitField to = take(parseField("p0:3@0+i*3"));
  EXPECT_FALSE(parseField("p0:3@0+i*3)"));
  EXPECT_FALSE(parseField("p1:3@0"));
  Random random(11);
  Bytes source = random.bytes(40), target(30);
  ASSERT_TRUE(copyField(from, source, to, target, 80));
  ByteSpan in = source, out = target;
  for (int64_t i = 0; i < 80; ++i)
    EXPECT_EQ(readField(to, i, {&out, 1}),
              source[static_cast<size_t>(i / 2)] >> (i % 2 ? 2 : 5) & 7)
        << i << " of " << in.size();
  EXPECT_FALSE(copyField(from, source, to, target, 81));
  EXPECT_FALSE(copyField(from, in.first(39), to, target, 80));
  BitField below = take(parseField("p0:3@0+i*-3"));
  EXPECT_FALSE(copyField(below, source, to, target, 2));
}
