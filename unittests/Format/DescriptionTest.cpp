//===- DescriptionTest.cpp - descriptions: addresses, faults, canonical text -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "grit/Format/Documentation.h"
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Bit addresses against the owners' equations
//===----------------------------------------------------------------------===//

/// Bit b of the value of a field: (byte, bit of the byte) in its plane.
using BitPosition = std::pair<int64_t, int>;

/// Where each bit of value `index` lies, from bit 0 of the value upwards.
static std::vector<BitPosition> positions(const BitField &field,
                                          int64_t index) {
  std::vector<BitPosition> result(field.width());
  for (const BitSlice &slice : field.slices)
    for (unsigned i = 0; i < slice.width; ++i) {
      int64_t bit = slice.at(index) + i;
      result[slice.shift + i] = {bit / 8, static_cast<int>(bit % 8)};
    }
  return result;
}

/// `width` bits from bit `low` of byte `byte`.
static std::vector<BitPosition> run(int64_t byte, int low, int width) {
  std::vector<BitPosition> result;
  for (int i = 0; i < width; ++i)
    result.push_back({byte + (low + i) / 8, (low + i) % 8});
  return result;
}

static std::vector<BitPosition> operator+(std::vector<BitPosition> a,
                                          const std::vector<BitPosition> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static constexpr int kBlocks = 5;

TEST(DescriptionAddresses, SplitNibblesOf32) {
  struct Case {
    const char *name;
    int64_t bytes, first; // of a block; of the codes in it
  };
  for (const Case &c : {Case{"gguf.q4_0", 18, 2}, Case{"gguf.iq4_nl", 18, 2},
                        Case{"gguf.mxfp4", 17, 1}}) {
    Contract contract = test::contract(c.name);
    const FormatDescription &desc = contract.description();
    for (int64_t i = 0; i < 32 * kBlocks; ++i) {
      int64_t block = i / 32, e = i % 32;
      EXPECT_EQ(positions(desc.codes, i),
                run(block * c.bytes + c.first + e % 16, e < 16 ? 0 : 4, 4))
          << c.name << " " << i;
    }
    for (int64_t block = 0; block < kBlocks; ++block)
      EXPECT_EQ(positions(desc.scales[0].bits, block),
                run(block * c.bytes, 0, 8 * c.first));
  }
}

TEST(DescriptionAddresses, Q8_0) {
  Contract contract = test::contract("gguf.q8_0");
  const FormatDescription &desc = contract.description();
  for (int64_t i = 0; i < 32 * kBlocks; ++i)
    EXPECT_EQ(positions(desc.codes, i), run(i / 32 * 34 + 2 + i % 32, 0, 8));
  for (int64_t block = 0; block < kBlocks; ++block)
    EXPECT_EQ(positions(desc.scales[0].bits, block), run(block * 34, 0, 16));
}

TEST(DescriptionAddresses, Q4_K) {
  Contract contract = test::contract("gguf.q4_k");
  const FormatDescription &desc = contract.description();
  for (int64_t i = 0; i < 256 * kBlocks; ++i) {
    int64_t block = i / 256 * 144, g = i % 256 / 32, l = i % 32;
    EXPECT_EQ(positions(desc.codes, i),
              run(block + 16 + 32 * (g / 2) + l, 4 * (g % 2), 4));
  }
  for (int64_t group = 0; group < 8 * kBlocks; ++group) {
    int64_t s = group / 8 * 144 + 4, i = group % 8;
    // i < 4: sc = s[i] & 63, m = s[i+4] & 63; else
    // sc = (s[i+4] & 15) | (s[i-4] >> 6) << 4, m = (s[i+4] >> 4) | (s[i] >> 6)
    // << 4.
    auto sc =
        i < 4 ? run(s + i, 0, 6) : run(s + i + 4, 0, 4) + run(s + i - 4, 6, 2);
    auto m =
        i < 4 ? run(s + i + 4, 0, 6) : run(s + i + 4, 4, 4) + run(s + i, 6, 2);
    EXPECT_EQ(positions(desc.scales[1].bits, group), sc) << group;
    EXPECT_EQ(positions(desc.offset.factors[1].bits, group), m) << group;
  }
  for (int64_t block = 0; block < kBlocks; ++block) {
    EXPECT_EQ(positions(desc.scales[0].bits, block), run(block * 144, 0, 16));
    EXPECT_EQ(positions(desc.offset.factors[0].bits, block),
              run(block * 144 + 2, 0, 16));
  }
}

TEST(DescriptionAddresses, DenseCodesOfGrades) {
  struct Case {
    const char *keys;
    int width;
    std::function<std::vector<BitPosition>(int64_t)> at;
  };
  const Case cases[] = {
      {"e=u4", 4, [](int64_t i) { return run(i / 2, i % 2 * 4, 4); }},
      {"e=u4,po=msb", 4,
       [](int64_t i) { return run(i / 2, 4 - i % 2 * 4, 4); }},
      {"e=u2", 2, [](int64_t i) { return run(i / 4, i % 4 * 2, 2); }},
      {"e=u2,po=msb", 2,
       [](int64_t i) { return run(i / 4, 6 - i % 4 * 2, 2); }},
      {"e=u6", 6, [](int64_t i) { return run(i * 6 / 8, i * 6 % 8, 6); }},
      {"e=u4,ct=pad8", 4, [](int64_t i) { return run(i, 0, 4); }},
      {"e=u4,ct=pad8,po=msb", 4, [](int64_t i) { return run(i, 0, 4); }},
      {"e=s8,po=msb", 8, [](int64_t i) { return run(i, 0, 8); }},
      {"e=binary16,ct=pad8", 16, [](int64_t i) { return run(2 * i, 0, 16); }},
  };
  for (const Case &c : cases) {
    Contract contract = test::contract("grit1(" + std::string(c.keys) +
                                       ",k0=8,s0=e8m0,esr=ratio)");
    EXPECT_EQ(validate(contract.description()), std::nullopt);
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_EQ(positions(contract.description().codes, i), c.at(i))
          << c.keys << " " << i;
  }
}

TEST(DescriptionAddresses, SparseIndices) {
  Contract contract = test::contract("i8s24");
  const Sparsity &sparsity = *contract.description().sparsity;
  EXPECT_TRUE(sparsity.ascending);
  for (int64_t slot = 0; slot < 64; ++slot)
    EXPECT_EQ(positions(sparsity.indices, slot),
              run(slot / 4, slot % 4 * 2, 2));
}

TEST(DescriptionAddresses, PairsOfLevel1) {
  Contract contract = test::contract("q4ks");
  const FormatDescription &desc = contract.description();
  for (int64_t g = 0; g < 9; ++g) {
    EXPECT_EQ(positions(desc.scales[0].bits, g), run(4 * g, 0, 16));
    EXPECT_EQ(positions(desc.offset.factors[0].bits, g), run(4 * g + 2, 0, 16));
    EXPECT_EQ(positions(desc.scales[1].bits, g), run(g, 0, 6));
    EXPECT_EQ(positions(desc.offset.factors[1].bits, g), run(g, 0, 6));
  }
}

//===----------------------------------------------------------------------===//
// What follows from a description
//===----------------------------------------------------------------------===//

TEST(Description, BitsPerElement) {
  const std::pair<const char *, double> cases[] = {
      {"mxfp4", 4.25},     {"nvf4", 4.5},        {"q4ks", 4.625},
      {"i8s24", 5.5},      {"gguf.q4_0", 4.5},   {"gguf.q4_k", 4.5},
      {"gguf.q8_0", 8.5},  {"gguf.mxfp4", 4.25}, {"gguf.iq4_nl", 4.5},
      {"hurray.nf4", 4.5},
  };
  for (auto [name, expected] : cases)
    EXPECT_EQ(contract(name).description().bitsPerElement(), expected) << name;
}

TEST(Description, CanBeNonFinite) {
  for (const std::string &name : registeredContractNames())
    EXPECT_EQ(contract(name).description().canBeNonFinite(),
              !name.starts_with("gguf.i8") && !name.starts_with("gguf.i16") &&
                  !name.starts_with("gguf.i32") && name != "gguf.nvfp4")
        << name;
  // Small integers under small integers never leave binary32.
  EXPECT_FALSE(contract("grit1(e=s4,k0=8,s0=u8,esr=ratio)")
                   .description()
                   .canBeNonFinite());
  EXPECT_FALSE(contract("grit1(e=s4,k0=8,s0=u8,zp=u8,esr=ratio)")
                   .description()
                   .canBeNonFinite());
  // ... and a format without infinity or NaN clamps whatever comes.
  EXPECT_FALSE(contract("grit1(e=e2m1,k0=32,s0=e8m0,esr=ratio,dt=s8)")
                   .description()
                   .canBeNonFinite());
}

TEST(Description, PlaneSlots) {
  const std::pair<const char *, std::vector<unsigned>> cases[] = {
      {"mxfp4", {0, 1}},    {"nvf4", {0, 1, 2}}, {"q4ks", {0, 1, 2, 3}},
      {"i8s24", {0, 1, 3}}, {"gguf.q4_k", {0}},  {"hurray.nf4", {0, 1}},
  };
  for (const auto &[name, expected] : cases) {
    Contract contract = test::contract(name);
    std::vector<unsigned> slots;
    for (unsigned i = 0; i < contract.description().planes.size(); ++i)
      slots.push_back(planeSlot(contract.description(), i));
    EXPECT_EQ(slots, expected) << name;
  }
}

TEST(Description, CanonicalText) {
  const char *q4_0 =
      "gritfmt1(planes=[144/32@0],codes=p0:4@16+i/32*144+i/16%2*4+i%16*8,"
      "level=u4-8,scales=[(binary16,lin/32,p0:16@0+i*144)],axis=32)";
  EXPECT_EQ(contract("gguf.q4_0").canonical(), q4_0);
  EXPECT_EQ(
      contract("gguf.q4_k").canonical(),
      "gritfmt1(planes=[1152/256@0],codes=p0:4@128+i/256*1152+i/64%4*256+"
      "i/32%2*4+i%32*8,level=u4,scales=[(binary16,lin/256,p0:16@0+i*1152),"
      "(u6,lin/32,p0:4@32+i/8*1152+i/4%2*64+i%4*8|"
      "2@36+i/8*1152+i/4%2*2+i%4*8<<4)],min=[(binary16,lin/256,"
      "p0:16@16+i*1152),(u6,lin/32,p0:4@64+i/8*1152+i/4%2*36+i%4*8|"
      "2@68+i/8*1152+i/4%2*2+i%4*8<<4)],axis=256)");
  EXPECT_EQ(
      contract("gguf.mxfp4").canonical(),
      "gritfmt1(planes=[136/32@0],codes=p0:4@8+i/32*136+i/16%2*4+i%16*8,level=["
      "00000000,3f800000,40000000,40400000,40800000,40c00000,41000000,41400000,"
      "00000000,bf800000,c0000000,c0400000,c0800000,c0c00000,c1000000,c1400000"
      "],scales=[(0x4007*2^-1,lin/32,p0:8@0+i*136)],axis=32)");
  EXPECT_EQ(
      contract("hurray.nf4").canonical().substr(0, 66),
      "gritfmt1(planes=[4/1@0,32/64@1],codes=p0:4@0+i*4,level=[bf800000,b");
  std::string nf4 = contract("hurray.nf4").canonical();
  EXPECT_EQ(nf4.substr(nf4.find("scales")),
            "scales=[(binary32,axis/64,p1:32@0+i*32,finite,not_negative)],"
            "axis=64)");
  // The parts that only grades use.
  EXPECT_EQ(canonicalText(contract("i8s24").description()),
            "gritfmt1(planes=[16/4@0,16/32@1,4/4@2],codes=p0:8@0+i*8,level=s8,"
            "scales=[(binary16,lin/32,p1:16@0+i*16)],sparse=2:4:asc:p2:2@0+i*2,"
            "axis=32)");
  EXPECT_EQ(
      canonicalText(contract("grit1(e=u4,k0=8,s0=e4m3,k1=0,s1=binary32,zp=u4,"
                             "zpc=minus1,esr=ratio,dt=binary16,dr=rtz)")
                        .description()),
      "gritfmt1(planes=[4/1@0,8/8@1,32/0@1,8/8@2],codes=p0:4@0+i*4,level=u4,"
      "scales=[(binary32,all,p2:32@0+i*32),(e4m3,lin/8,p1:8@0+i*8)],"
      "zero=(u4+1,lin/8,p3:4@0+i*8),into=binary16:rtz:satfinite,axis=8)");
}

/// Whatever decides the meaning of bytes changes the text; names and the
/// encoder do not.
TEST(Description, CanonicalTextHoldsTheMeaningOnly) {
  FormatDescription desc = contract("q4ks").description();
  std::string text = canonicalText(desc);
  FormatDescription same = desc;
  same.encoding.rule = EncodeRule::None;
  same.planes[0].name = "weights";
  same.scales[0].name = "outer";
  EXPECT_EQ(canonicalText(same), text);
  const std::function<void(FormatDescription &)> changes[] = {
      [](auto &d) { d.planes[1].bits = 16; },
      [](auto &d) { d.planes[1].elements = 16; },
      [](auto &d) { d.planes[1].placement = 2; },
      [](auto &d) { d.codes.slices[0].base = 4; },
      [](auto &d) { d.codes.plane = 1; },
      [](auto &d) { d.level.number.plus = -8; },
      [](auto &d) { d.level.number.exp2 = 1; },
      [](auto &d) { d.level.number.times = 2; },
      [](auto &d) { d.level.number = {{}, 0, 1, 0, {1, 2}}; },
      [](auto &d) { d.level.vector = 2; },
      [](auto &d) { d.level.signs = Signs{d.codes, 4, false}; },
      [](auto &d) { d.level.signs = Signs{d.codes, 5, true}; },
      [](auto &d) { d.level.book = d.codes; },
      [](auto &d) { d.codes.radix = Radix{3, {}}; },
      [](auto &d) { d.codes.slices[0].digits[0].table = {0}; },
      [](auto &d) { d.scales[1].op = FactorOp::Divide; },
      [](auto &d) { d.scales[1].op = FactorOp::Add; },
      [](auto &d) { d.scales[1].afterLevel = true; },
      [](auto &d) { d.scales[1].group = kWholeAxis; },
      [](auto &d) {
        d.scales[1].order = ElementOrder::Block;
        d.scales[1].rows = 8;
      },
      [](auto &d) { d.scales.clear(); },
      [](auto &d) { d.planes[1].rows = 8; },
      [](auto &d) { d.planes[1].elements = kWholeAxis; },
      [](auto &d) { d.scales[1].group = 16; },
      [](auto &d) { d.scales[1].order = ElementOrder::AxisFastest; },
      [](auto &d) { std::swap(d.scales[0], d.scales[1]); },
      [](auto &d) { d.offset.kind = Offset::Kind::None; },
      [](auto &d) { d.projection.format = words::Binary16; },
      [](auto &d) { d.axisMultiple = 64; },
      [](auto &d) { d.arrayMultiple = 1; },
  };
  std::set<std::string> texts{text};
  for (const auto &change : changes) {
    FormatDescription other = desc;
    change(other);
    EXPECT_TRUE(texts.insert(canonicalText(other)).second)
        << canonicalText(other);
  }
}

TEST(Description, DocumentationIsUpToDate) {
  std::ifstream file(std::string(GRIT_SOURCE_DIR) + "/docs/Formats.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(documentationTable()), std::string::npos)
      << "docs/Formats.md should hold this table:\n"
      << documentationTable();
}
