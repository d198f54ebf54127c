//===- DescriptionVerifierTest.cpp - what a description must be -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include <functional>

using namespace grit;
using namespace grit::test;

TEST(DescriptionVerifier, RegisteredContractsAreWellFormed) {
  for (const std::string &name : registeredContractNames())
    if (auto error = validate(contract(name).description()))
      ADD_FAILURE() << name << ": " << error->str();
  for (int64_t block = 8; block <= int64_t(1) << 31; block *= 2) {
    std::string name = "hurray.nf4(block=" + std::to_string(block) + ")";
    if (auto error = validate(contract(name).description()))
      ADD_FAILURE() << name << ": " << error->str();
  }
}

/// Every grade that keys 1 to 11 can spell, in a sample of group sizes, is
/// either refused by name or well-formed.
TEST(DescriptionVerifier, EveryGradeIsRefusedOrWellFormed) {
  const char *words[] = {"e2m1", "e4m3", "e8m0", "binary16", "binary32", "u2",
                         "u4",   "u6",   "u8",   "s4",       "s8"};
  const char *tails[] = {"",
                         ",zp=u2",
                         ",zp=u6,zpc=minus1",
                         ",zp=binary16,zpc=minus1",
                         ",k1=0,s1=binary32",
                         ",k1=3,s1=u6",
                         ",k1=8,s1=e8m0,zp=u4,zps=l1",
                         ",k1=0,s1=binary16,zp=s8,zps=l1",
                         ",sp=2:4:u2:asclsb",
                         ",sp=1:8:u2:unord",
                         ",sp=3:7:u4:unord",
                         ",sp=16:32:u4:unord"};
  unsigned described = 0, refused = 0;
  for (const char *e : words)
    for (const char *s0 : words)
      for (const char *tail : tails)
        for (const char *container :
             {"", ",ct=pad8", ",po=msb", ",ct=pad8,po=msb"})
          for (const char *k0 : {"0", "1", "12", "32", "65535", "65536"}) {
            std::string text = "grit1(e=" + std::string(e) + ",k0=" + k0 +
                               ",s0=" + s0 + tail + container + ",esr=ratio)";
            Expected<Contract> contract = Contract::parse(text);
            if (!contract) {
              ++refused;
              EXPECT_FALSE(contract.error().field.empty()) << text;
              EXPECT_FALSE(contract.error().declared.empty()) << text;
              continue;
            }
            ++described;
            if (auto error = validate(contract->description()))
              ADD_FAILURE() << text << ": " << error->str();
          }
  // Refused are three tails (s1=u6 and the two whose indices are too narrow)
  // and two group sizes.
  EXPECT_EQ(described, 11u * 4 * 11 * (12 - 3) * (6 - 2));
  EXPECT_EQ(described + refused, 11u * 11 * 12 * 4 * 6);
}

// (B7, G31)
TEST(DescriptionVerifier, RefusedGrades) {
  const std::pair<const char *, const char *> cases[] = {
      {"grit1(e=u4,k0=0,s0=u8,esr=ratio)", "k0"},
      {"grit1(e=u4,k0=65536,s0=u8,esr=ratio)", "k0"},
      {"grit1(e=u4,k0=8,s0=u8,k1=65536,s1=u8,esr=ratio)", "k1"},
      {"grit1(e=u4,k0=8,s0=u8,k1=2,s1=u6,esr=ratio)", "s1"},
      {"grit1(e=u4,k0=8,s0=u8,sp=2:8:u2:asclsb,esr=ratio)", "sp"},
      {"grit1(e=u4,k0=8,s0=u8,sp=2:32:u4:asclsb,esr=ratio)", "sp"},
      {"grit1(e=u4,k0=8,s0=u8,zp=u4,sp=2:4:u2:asclsb,esr=ratio)", "zp"},
  };
  for (auto [text, field] : cases) {
    Expected<Contract> contract = Contract::parse(text);
    ASSERT_FALSE(contract) << text;
    EXPECT_EQ(contract.error().status, Status::GradeUnknown);
    EXPECT_EQ(contract.error().field, field) << contract.error().str();
  }
}

namespace {
struct Fault {
  const char *name;
  const char *contract;
  std::function<void(FormatDescription &)> damage;
  const char *message; ///< part of the expected message
};
} // namespace

static const Fault kFaults[] = {
    {"no planes", "mxfp4", [](auto &d) { d.planes.clear(); }, "no planes"},
    {"plane without name", "mxfp4", [](auto &d) { d.planes[0].name = ""; },
     "has no name"},
    {"twice a name", "mxfp4", [](auto &d) { d.planes[1].name = "data"; },
     "have this name"},
    {"no bits", "mxfp4", [](auto &d) { d.planes[0].bits = 0; }, "its bits"},
    {"negative elements", "mxfp4", [](auto &d) { d.planes[1].elements = -3; },
     "its elements"},
    {"unit not whole", "mxfp4", [](auto &d) { d.planes[1].elements = 48; },
     "whole number of its units"},
    {"placement", "mxfp4", [](auto &d) { d.planes[0].placement = 3; },
     "placement word"},
    {"axis", "mxfp4", [](auto &d) { d.axisMultiple = 0; }, "out of range"},
    {"array", "mxfp4", [](auto &d) { d.arrayMultiple = int64_t(1) << 50; },
     "out of range"},
    {"common multiple", "mxfp4",
     [](auto &d) { d.arrayMultiple = (int64_t(1) << 39) - 1; },
     "common multiple"},
    {"plane index", "mxfp4", [](auto &d) { d.codes.plane = 7; },
     "its plane does not exist"},
    {"no slices", "mxfp4", [](auto &d) { d.codes.slices.clear(); }, "no bits"},
    {"slice of no bits", "mxfp4", [](auto &d) { d.codes.slices[0].width = 0; },
     "32 bits"},
    {"slice too high", "mxfp4", [](auto &d) { d.codes.slices[0].shift = 30; },
     "32 bits"},
    {"gap", "mxfp4", [](auto &d) { d.codes.slices[0].shift = 1; }, "a gap"},
    {"same bits", "gguf.q4_k",
     [](auto &d) { d.scales[1].bits.slices[1].shift = 3; }, "same bits"},
    {"far base", "mxfp4",
     [](auto &d) { d.codes.slices[0].base = int64_t(1) << 50; }, "base"},
    {"div of 0", "mxfp4", [](auto &d) { d.codes.slices[0].digits[0].div = 0; },
     "digit"},
    {"stride", "mxfp4",
     [](auto &d) { d.codes.slices[0].digits[0].stride = INT64_MIN; }, "digit"},
    {"no word", "mxfp4", [](auto &d) { d.level.number.word = FormatWord(); },
     "no format word"},
    {"bad word", "mxfp4",
     [](auto &d) { d.level.number.word = FormatWord(0xA043); }, "level"},
    {"power of two", "mxfp4", [](auto &d) { d.scales[0].number.exp2 = 300; },
     "power of two"},
    {"level width", "mxfp4", [](auto &d) { d.level.number.word = words::U8; },
     "width"},
    {"bias of a shifted float", "gguf.mxfp4",
     [](auto &d) { d.scales[0].number.plus = 1; }, "added to a float"},
    {"huge bias", "gguf.q4_0", [](auto &d) { d.level.number.plus = 1 << 25; },
     "exact"},
    {"short table", "hurray.nf4",
     [](auto &d) { d.level.number.table.pop_back(); }, "one entry per code"},
    {"multiple of a float", "mxfp4", [](auto &d) { d.level.number.times = 2; },
     "integer word"},
    {"inexact multiple", "gguf.q4_0",
     [](auto &d) { d.level.number.times = 1 << 21; }, "exact"},
    {"multiple of nothing", "gguf.q4_0",
     [](auto &d) { d.level.number.times = 0; }, "exact"},
    {"inexact power", "gguf.q4_0", [](auto &d) { d.level.number.exp2 = -120; },
     "exact"},
    {"table with a word", "hurray.nf4",
     [](auto &d) { d.level.number.word = words::U4; }, "itself alone"},
    {"short table of a factor", "gguf.mxfp4",
     [](auto &d) { d.scales[0].number = {{}, 0, 1, 0, {1, 2}}; },
     "one entry per code"},
    {"table of a digit", "gguf.q4_0",
     [](auto &d) { d.codes.slices[0].digits[1].table = {0, 1, 2}; },
     "an entry for each"},
    {"vector of a word", "gguf.q4_0", [](auto &d) { d.level.vector = 4; },
     "a table or a book"},
    {"vectors not whole", "hurray.nf4", [](auto &d) { d.level.vector = 48; },
     "whole vectors"},
    {"vectors without entries", "hurray.nf4",
     [](auto &d) { d.level.vector = 4; }, "per code and element"},
    {"no vector", "hurray.nf4", [](auto &d) { d.level.vector = 0; },
     "out of range"},
    {"signs of nothing", "gguf.q4_0",
     [](auto &d) { d.level.signs = Signs{d.codes, 0, false}; }, "out of range"},
    {"too few signs", "gguf.q4_0",
     [](auto &d) { d.level.signs = Signs{d.codes, 8, false}; },
     "one bit for each"},
    {"signs over codes", "gguf.q4_0",
     [](auto &d) { d.level.signs = Signs{d.codes, 4, false}; }, "shares bit"},
    {"book without a word", "hurray.nf4",
     [](auto &d) { d.level.book = BitField{0, {{0, 16, 0, {}}}}; },
     "a format word"},
    {"book in the codes' plane", "gguf.q4_0",
     [](auto &d) { d.level.book = d.codes; }, "constant size"},
    {"base of digits", "gguf.q4_0",
     [](auto &d) { d.codes.radix = Radix{1, {}}; }, "out of range"},
    {"digit wider than its bits", "gguf.q4_0",
     [](auto &d) { d.codes.radix = Radix{200, {}}; }, "too few"},
    {"places without end", "gguf.q4_0",
     [](auto &d) { d.codes.radix = Radix{3, {{1, 0, 1}}}; }, "come again"},
    {"digit beyond its bits", "gguf.q4_0",
     [](auto &d) {
       d.codes.radix = Radix{3, {{1, 4, 1}}};
       d.level.number.word = words::U2;
     },
     "do not hold"},
    {"digits that are the same", "gguf.q4_0",
     [](auto &d) {
       d.codes.radix = Radix{3, {{1, 2, 1}}};
       d.codes.slices[0].digits = {{32, 0, 144}, {1, 32, 0}};
       d.level.number.word = words::U2;
     },
     "shares bit"},
    {"first factor divides", "gguf.q4_0",
     [](auto &d) { d.scales[0].op = FactorOp::Divide; }, "nothing to join"},
    {"minimum after the level", "gguf.q4_k",
     [](auto &d) { d.offset.factors[1].afterLevel = true; },
     "follow the level"},
    {"line counted across", "hurray.nf4",
     [](auto &d) {
       d.scales[0].group = kWholeAxis;
       d.scales[0].order = ElementOrder::RowMajor;
     },
     "along it"},
    {"line in a plane of groups", "hurray.nf4",
     [](auto &d) { d.scales[0].group = kWholeAxis; }, "per line"},
    {"block without rows", "hurray.nf4",
     [](auto &d) { d.scales[0].order = ElementOrder::Block; }, "rows"},
    {"block in a plane of groups", "hurray.nf4",
     [](auto &d) {
       d.scales[0].order = ElementOrder::Block;
       d.scales[0].rows = 4;
     },
     "per block"},
    {"rows of nothing", "hurray.nf4",
     [](auto &d) {
       d.planes[1].rows = 4;
       d.planes[1].elements = 0;
     },
     "rows"},
    {"scale width", "gguf.q4_0",
     [](auto &d) { d.scales[0].number.word = words::U8; }, "width"},
    {"group", "gguf.q4_0", [](auto &d) { d.scales[0].group = -2; }, "group"},
    {"group not whole", "hurray.nf4", [](auto &d) { d.scales[0].group = 128; },
     "whole number of its groups"},
    {"minimum without factors", "gguf.q4_k",
     [](auto &d) { d.offset.factors.clear(); }, "number of factors"},
    {"zero point with two", "gguf.q4_k",
     [](auto &d) { d.offset.kind = Offset::Kind::ZeroPoint; },
     "number of factors"},
    {"addend", "gguf.q4_k",
     [](auto &d) { d.offset.factors[0].number.plus = 1 << 25; },
     "added to a float"},
    {"N of M", "i8s24", [](auto &d) { d.sparsity->n = 4; }, "N of M"},
    {"narrow index", "i8s24", [](auto &d) { d.sparsity->m = 8; }, "too narrow"},
    {"runs cut", "i8s24",
     [](auto &d) {
       d.axisMultiple = 2;
       d.arrayMultiple = 32;
     },
     "whole runs"},
    {"order of no groups", "gptq.q4_order",
     [](auto &d) {
       d.scales.clear();
       d.offset = {};
     },
     "no groups"},
    {"order of two sizes", "gptq.q4_order",
     [](auto &d) { d.scales[0].group = 64; }, "one size"},
    {"order along the axis", "gptq.q4_order",
     [](auto &d) { d.scales[0].order = ElementOrder::AxisFastest; },
     "row-major order"},
    {"order of parts of lines", "gptq.q4_order",
     [](auto &d) {
       d.axisMultiple = 64;
       d.arrayMultiple = 128;
     },
     "divide the group axis"},
    {"order that is encoded", "gptq.q4_order",
     [](auto &d) { d.encoding.rule = EncodeRule::AffineMinMax; }, "encodes"},
    {"order in a plane of elements", "gptq.q4_order",
     [](auto &d) { d.planes[3].elements = 1; }, "per line"},
    {"codes in a plane of positions", "gptq.q4_order",
     [](auto &d) { d.planes[0].elements = kAxisPositions; }, "per line"},
    {"projection", "mxfp4",
     [](auto &d) { d.projection.format = FormatWord(0x000F); }, ""},
    {"outside", "gguf.q4_0", [](auto &d) { d.planes[0].bits = 143; },
     "outside plane"},
    {"overlap", "gguf.q4_0",
     [](auto &d) { d.scales[0].bits.slices[0].base = 8; }, "shares bit"},
    {"does not advance", "gguf.q4_0", [](auto &d) { d.planes[0].bits = 145; },
     "do not advance"},
    {"empty plane", "mxfp4",
     [](auto &d) { d.planes.push_back({"more", 1, 8, 0}); }, "holds nothing"},
    {"constant plane with groups", "nvf4",
     [](auto &d) { d.planes[2].elements = 16; }, "constant size"},
    {"late repetition", "mxfp4",
     [](auto &d) { d.codes.slices[0].digits[0].div = int64_t(1) << 39; },
     "repeat"},
};

TEST(DescriptionVerifier, Faults) {
  for (const Fault &fault : kFaults) {
    FormatDescription desc = contract(fault.contract).description();
    fault.damage(desc);
    std::optional<Error> error = validate(desc);
    ASSERT_TRUE(error) << fault.name;
    EXPECT_EQ(error->status, Status::GradeUnknown);
    EXPECT_NE(error->str().find(fault.message), std::string::npos)
        << fault.name << ": " << error->str();
    EXPECT_FALSE(error->field.empty());
  }
}
