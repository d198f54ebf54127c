//===- HurrayNf4Test.cpp - the NF4 descriptor of Hurray -------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/HurrayNf4.h"
#include "FormatTestUtils.h"
#include "grit/Format/Check.h"
#include <cmath>
#include <limits>

using namespace grit;
using namespace grit::hurray;
using namespace grit::test;

using Shape = std::vector<uint64_t>;

static Bytes bytesOf(const Nf4Descriptor &d) {
  auto written = d.write();
  EXPECT_TRUE(written);
  return Bytes(written->begin(), written->end());
}

static Fault faultOf(const Bytes &bytes) {
  Result<Nf4Descriptor> d = Nf4Descriptor::read(bytes);
  EXPECT_FALSE(d);
  EXPECT_TRUE(d.error().error.message.starts_with(faultName(d.error().fault)));
  return d.error().fault;
}

TEST(HurrayNf4, PublishedBytes) {
  struct Case {
    Nf4Descriptor descriptor;
    Bytes bytes;
  };
  const Case cases[] = {
      {{0, 64, 1}, {4, 1, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 0, 0, 0}},
      {{1, 64, 1}, {4, 1, 0, 0, 1, 0, 0, 0, 0x40, 0, 0, 0, 1, 0, 0, 0}},
      {{0, 128, 5}, {4, 1, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 5, 0, 0, 0}},
      {{2, 64, 5}, {4, 1, 0, 0, 2, 0, 0, 0, 0x40, 0, 0, 0, 5, 0, 0, 0}}};
  for (const Case &each : cases) {
    EXPECT_EQ(bytesOf(each.descriptor), each.bytes);
    Bytes longer = each.bytes;
    longer.resize(24);
    EXPECT_EQ(*Nf4Descriptor::read(each.bytes), each.descriptor);
    EXPECT_EQ(*Nf4Descriptor::read(longer), each.descriptor);
  }
}

TEST(HurrayNf4, EveryTag) {
  Bytes bytes = bytesOf({0, 64, 1});
  for (unsigned tag = 0; tag < 256; ++tag) {
    bytes[0] = static_cast<uint8_t>(tag);
    if (tag == 4) {
      EXPECT_TRUE(Nf4Descriptor::read(bytes));
      continue;
    }
    Fault expected = Fault::OtherQuantizationScheme; // 01, 02, 03 and 05
    if (tag == 0x00 || tag == 0xFF)
      expected = Fault::InvalidQuantizationSchemeTag;
    else if (tag >= 0xF0)
      expected = Fault::PrivateQuantizationSchemeTag;
    else if (tag >= 0x60)
      expected = Fault::ReservedQuantizationSchemeTag;
    else if (tag >= 0x06)
      expected = Fault::UnknownQuantizationSchemeTag;
    EXPECT_EQ(faultOf(bytes), expected) << tag;
  }
}

TEST(HurrayNf4, RefusedBytes) {
  const Bytes good = bytesOf({0, 64, 1});
  for (size_t length = 0; length < 16; ++length)
    EXPECT_EQ(faultOf(Bytes(good.begin(), good.begin() + length)),
              Fault::QuantizationDescriptorTooShort);
  auto with = [&](size_t at, uint8_t byte) {
    Bytes bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  EXPECT_TRUE(Nf4Descriptor::read(with(1, 0)));
  for (uint8_t version : {2, 128, 255})
    EXPECT_EQ(faultOf(with(1, version)), Fault::UnsupportedSchemeVersion);
  for (size_t bit = 0; bit < 16; ++bit)
    EXPECT_EQ(faultOf(with(2 + bit / 8, uint8_t(1 << bit % 8))),
              Fault::ReservedQuantizationFlagsBits);
  for (uint8_t block : {0, 1, 2, 3, 4, 12, 65})
    EXPECT_EQ(faultOf(with(8, block)), Fault::InvalidBlockSize) << int(block);
  for (uint8_t block : {8, 16, 64, 128})
    EXPECT_TRUE(Nf4Descriptor::read(with(8, block)));
  Bytes noBuffer = good;
  std::fill_n(noBuffer.begin() + 12, 4, uint8_t(0xFF));
  EXPECT_EQ(faultOf(noBuffer), Fault::InvalidQuantization);
  EXPECT_EQ((Nf4Descriptor{0, 12, 1}.write().error().fault),
            Fault::InvalidBlockSize);
}

TEST(HurrayNf4, Shapes) {
  const Nf4Descriptor d{0, 64, 1};
  for (uint64_t extent : {uint64_t(0), uint64_t(64), uint64_t(65)})
    EXPECT_FALSE(d.checkShape(Shape{extent}));
  for (uint64_t extent :
       {uint64_t(1), uint64_t(32), uint64_t(63), kDynamicExtent})
    EXPECT_EQ(d.checkShape(Shape{extent})->fault,
              Fault::QuantizationShapeMismatch);
  EXPECT_EQ(d.checkShape(Shape{})->fault, Fault::QuantizationAxisOutOfBounds);
  struct Case {
    Shape shape;
    uint32_t axis, block;
    uint64_t blocks;
  };
  for (const Case &each :
       {Case{{3, 20}, 1, 8, 9}, Case{{20, 3}, 0, 8, 9},
        Case{{2, 10, 3}, 1, 8, 12}, Case{{0, 4}, 0, 8, 0},
        Case{{128, 128}, 0, 128, 128}, Case{{1, 65}, 1, 64, 2}})
    EXPECT_EQ(*(Nf4Descriptor{each.axis, each.block, 1}.numBlocks(each.shape)),
              each.blocks);
  EXPECT_FALSE((Nf4Descriptor{0, 8, 1}.numBlocks(Shape{4, 0})));
  EXPECT_FALSE(
      (Nf4Descriptor{0, 8, 1}.numBlocks(Shape{8, UINT64_MAX, UINT64_MAX})));
}

TEST(HurrayNf4, BuffersAndStorage) {
  const Nf4Descriptor d{0, 64, 1};
  const std::vector<Buffer> buffers = {{0, 100}, {0, 16}, {3, 16}};
  EXPECT_FALSE(d.checkBuffers(buffers, 0));
  EXPECT_EQ(d.checkBuffers(buffers, 1)->fault,
            Fault::QuantizationBufferAliasesData);
  EXPECT_EQ(d.checkBuffers(std::span(buffers).first(1), 0)->fault,
            Fault::QuantizationBufferIndexOutOfRange);
  EXPECT_EQ(d.checkBuffers(buffers, 2)->fault, Fault::DeviceTagMismatch);
  for (unsigned tag = 0; tag < 256; ++tag)
    EXPECT_EQ(d.checkStorage(static_cast<uint8_t>(tag)).has_value(),
              tag != kUint4Tag);
}

TEST(HurrayNf4, Scales) {
  const Nf4Descriptor d{1, 8, 1};
  const Shape shape = {2, 16};
  auto scalesOf = [](std::vector<float> scales) {
    Bytes bytes(scales.size() * 4);
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    return bytes;
  };
  EXPECT_FALSE(d.checkScales(shape, scalesOf({0, 1, -0.0f, 0x1p-149f})));
  EXPECT_EQ(d.checkScales(shape, scalesOf({0, 1, 2}))->fault,
            Fault::ScaleBufferSizeMismatch);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float bad : {-1.0f, -0x1p-149f, NAN, infinity, -infinity}) {
    EXPECT_EQ(d.checkScales(shape, scalesOf({0, 1, bad, 1}))->fault,
              Fault::InvalidScale);
    // The contract says the same of its arrays.
    ArraySpec spec = take(d.arrayOf(shape));
    Bytes data(16), scales = scalesOf({0, 1, bad, 1});
    const std::vector<const uint8_t *> planes = {data.data(), scales.data()};
    EXPECT_TRUE(check(spec, PlaneSizes{16, 16}, 2, planes));
  }
}

TEST(HurrayNf4, Arrays) {
  const Nf4Descriptor d{0, 16, 7};
  ArraySpec spec = take(d.arrayOf(Shape{32, 3}));
  EXPECT_EQ(spec.contract.name(), "hurray.nf4(block=16)");
  EXPECT_EQ(spec.axis, 0);
  EXPECT_EQ(take(Nf4Descriptor::of(spec, 7)), d);
  EXPECT_EQ(take((Nf4Descriptor{1, 64, 1}.arrayOf(Shape{2, 64}))).contract,
            contract("hurray.nf4"));
  // A short last block is not where the documents agree.
  EXPECT_FALSE(d.arrayOf(Shape{40, 3}));
  EXPECT_FALSE(Nf4Descriptor::of(specOf("bnb.nf4", {64}), 1));
}

/// The levels, under 1, 2.5 and 0.1, and the packing of codes in bytes.
TEST(HurrayNf4, PublishedValues) {
  const uint32_t levels[] = {0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0,
                             0xBE91A24D, 0xBE3D353F, 0xBDBA7871, 0x00000000,
                             0x3DA2FAFF, 0x3E24CAE3, 0x3E7C04DD, 0x3EAD033A,
                             0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3, 0x3F800000};
  const uint32_t tenths[] = {0xBDCCCCCD, 0xBD8E948E, 0xBD5711E7, 0xBD21C21A,
                             0xBCE903AF, 0xBC975DCC, 0xBC152D27, 0x00000000,
                             0x3C026266, 0x3C83D583, 0x3CC99D7E, 0x3D0A68FB,
                             0x3D3483C7, 0x3D6672AB, 0x3D940FC3, 0x3DCCCCCD};
  ArraySpec spec = take((Nf4Descriptor{0, 16, 1}.arrayOf(Shape{16})));
  auto decoded = [&](const Bytes &data, float scale) {
    Bytes bytes(4);
    std::memcpy(bytes.data(), &scale, 4);
    return decodeAll(spec, {data, bytes});
  };
  const Bytes all = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};
  std::vector<float> one = decoded(all, 1), tenth = decoded(all, 0.1f);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(bits(one[i]), levels[i]) << i;
    EXPECT_EQ(bits(tenth[i]), tenths[i]) << i;
  }
  const uint32_t worked[] = {0xC0200000, 0xBFDEC81D, 0x00000000, 0x3E4BB9BF,
                             0x3FE758A0, 0x40200000, 0xBF7CBF48, 0x3F8D06F3};
  std::vector<float> values =
      decoded({0x10, 0x87, 0xFE, 0xC3, 0, 0, 0, 0}, 2.5f);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(bits(values[i]), worked[i]) << i;
  // A scale of 0 keeps the signs of the levels.
  std::vector<float> zeros = decoded(all, 0);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(bits(zeros[i]), i < 7 ? 0x80000000u : 0u) << i;
}

/// Which block an element is in: along the axis first, wherever that is.
TEST(HurrayNf4, BlocksAreCountedAlongTheAxis) {
  // [2, 16, 3] along axis 1: (0, band, column) are 0 2 4 and 1 3 5.
  ArraySpec spec = take((Nf4Descriptor{1, 8, 1}.arrayOf(Shape{2, 16, 3})));
  const Factor &scale = spec.contract.description().scales[0];
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t column = 0; column < 3; ++column)
        EXPECT_EQ(groupIndex(scale, (a * 16 + i) * 3 + column, spec),
                  a * 6 + column * 2 + i / 8);
}
