//===- FormatTextTest.cpp - formats as text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/FormatText.h"
#include "FormatTestUtils.h"

using namespace grit;
using namespace grit::test;

/// The parts of a description that its canonical text says.
static FormatDescription withoutNames(FormatDescription description) {
  description.encoding = {};
  for (size_t i = 0; i < description.planes.size(); ++i)
    description.planes[i].name = "p" + std::to_string(i);
  for (auto *factors : {&description.scales, &description.offset.factors})
    for (Factor &factor : *factors)
      factor.name.clear();
  // A NaN equals nothing; its bits are in the text.
  for (float &level : description.level.number.table)
    if (level != level)
      level = 0x1p127f;
  return description;
}

static void expectSame(const FormatDescription &a, const FormatDescription &b,
                       const std::string &what) {
  FormatDescription x = withoutNames(a), y = withoutNames(b);
  EXPECT_EQ(x.planes, y.planes) << what;
  EXPECT_EQ(x.codes, y.codes) << what;
  EXPECT_EQ(x.level, y.level) << what;
  EXPECT_EQ(x.scales, y.scales) << what;
  EXPECT_EQ(x.offset, y.offset) << what;
  EXPECT_EQ(x.sparsity, y.sparsity) << what;
  EXPECT_EQ(x.order, y.order) << what;
  EXPECT_EQ(x.projection, y.projection) << what;
  EXPECT_EQ(x.axisMultiple, y.axisMultiple) << what;
  EXPECT_EQ(x.arrayMultiple, y.arrayMultiple) << what;
}

static void expectComesBack(const FormatDescription &description) {
  std::string text = canonicalText(description);
  Expected<NamedFormat> parsed = parseFormat(text);
  ASSERT_TRUE(parsed) << text << "\n" << parsed.error().str();
  expectSame(parsed->description, description, text);
  EXPECT_EQ(canonicalText(parsed->description), text);
}

TEST(FormatText, CanonicalTextsComeBack) {
  for (const std::string &name : registeredContractNames())
    expectComesBack(contract(name).description());
  const char *grades[] = {
      "grit1(e=u6,k0=8,s0=e8m0,po=msb,esr=ratio)",
      "grit1(e=s8,k0=32,s0=binary16,sp=1:8:u4:unord,esr=ratio)",
      ("grit1(e=u4,k0=8,s0=e4m3,k1=0,s1=binary32,zp=u4,zpc=minus1,esr=ratio,"
       "dt=binary16,dr=rtz,ds=ovfinf)"),
      "grit1(e=u2,k0=16,s0=u4,k1=16,s1=binary16,zp=u4,zps=l1,esr=ratio)",
  };
  for (const char *grade : grades)
    expectComesBack(contract(grade).description());
}

static const char *kPeople = R"(
# What a person writes: comments, names, any order after the planes.
gritfmt1(
  name    = mine.pairs,
  summary = "pairs of codes, # and , in quotes",
  planes  = [ codes = 4/1 @ 0 , scale = 16 / 32 @ 1 ],
  axis    = 32,             # a comment
  encode  = ratio : rtz : satfinite,
  codes   = codes : 4 @ 0 + i * 4,
  scales  = [ d = ( binary16 , lin / 32 , scale : 16 @ 0 + i*16 ) ],
  level   = u4 * 2 - 15 * 2 ^ -1,
  place   = row_major : row_major
)
# and after it
)";

TEST(FormatText, WhatPeopleWrite) {
  NamedFormat format = take(parseFormat(kPeople));
  EXPECT_EQ(format.name, "mine.pairs");
  EXPECT_EQ(format.summary, "pairs of codes, # and , in quotes");
  EXPECT_EQ(format.description.planes[1].name, "scale");
  EXPECT_EQ(format.description.scales[0].name, "d");
  EXPECT_EQ(
      format.description.encoding,
      (Encoding{EncodeRule::Ratio, Rounding::RTZ, Saturation::SatFinite}));
  EXPECT_EQ(format.placements.data, placements::RowMajor);
  EXPECT_EQ(canonicalText(format.description),
            "gritfmt1(planes=[4/1@0,16/32@1],codes=p0:4@0+i*4,"
            "level=u4*2-15*2^-1,scales=[(binary16,lin/32,p1:16@0+i*16)],"
            "axis=32)");
  EXPECT_EQ(encodeRuleName(EncodeRule::TableAbsMax), "table_abs_max");
}

TEST(FormatText, StepsOfAbsMax) {
  auto text = [](const std::string &encode) {
    return "gritfmt1(encode=" + encode +
           ",planes=[8/1@0,16/axis@1],codes=p0:8@0+i*8,level=s8,"
           "scales=[(binary16,axis,p1:16@0+i*16)])";
  };
  auto encodingOf = [&](const std::string &encode) {
    return take(parseFormat(text(encode))).description.encoding;
  };
  EXPECT_EQ(encodingOf("abs_max"), Encoding{EncodeRule::AbsMax});
  Encoding expected{EncodeRule::AbsMax, Rounding::RNA, Saturation::SatMax};
  expected.steps.over = 127.5f;
  expected.steps.least = 1e-4f;
  expected.steps.scaleRounding = Rounding::RTP;
  expected.steps.epsilon = expected.steps.narrow = true;
  EXPECT_EQ(encodingOf("abs_max:rna:satmax[over=127.5, least=38d1b717, "
                       "scale=rtp, epsilon, narrow]"),
            expected);
  expected = Encoding{EncodeRule::AbsMax};
  expected.steps.reciprocal = expected.steps.positiveZero = true;
  EXPECT_EQ(encodingOf("abs_max[reciprocal,positive_zero]"), expected);
  for (const char *bad :
       {"abs_max[]", "abs_max[twice]", "abs_max[over]", "abs_max[over=-1]",
        "abs_max[over=7f800000]", "abs_max[over=0.1]", "abs_max[scale=up]",
        "abs_max[epsilon", "ratio[epsilon]"})
    EXPECT_FALSE(parseFormat(text(bad))) << bad;
}

// What only encode writes is no part of what bytes mean.
TEST(FormatText, DerivedFields) {
  const std::string text =
      "gritfmt1(planes=[72/8@0],codes=p0:4@0+i/8*72+i%8*4,level=u4,"
      "scales=[(binary16,lin/8,p0:16@32+i*72)],axis=8";
  const std::string derived = ",derived=[sum total=(u8,lin/8,p0:8@48+i*72),"
                              "scaled_sum (binary16,lin/8,p0:16@56+i*72)])";
  FormatDescription with = take(parseFormat(text + derived)).description;
  ASSERT_EQ(with.derived.size(), 2u);
  EXPECT_EQ(with.derived[0].rule, DerivedRule::Sum);
  EXPECT_EQ(with.derived[0].field.name, "total");
  EXPECT_EQ(with.derived[1].rule, DerivedRule::ScaledSum);
  EXPECT_EQ(canonicalText(with),
            canonicalText(take(parseFormat(text + ")")).description));
  auto overlapping =
      parseFormat(text + ",derived=[sum total=(u8,lin/8,p0:8@40+i*72)])");
  ASSERT_FALSE(overlapping);
  auto line =
      parseFormat(text + ",derived=[sum total=(u8,axis/8,p0:8@48+i*72)])");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().field, "derived 'total'");
}

TEST(FormatText, Parameters) {
  const std::string text =
      "gritfmt1(param block=32 in 8..1024 powers of two,"
      "planes=[4/1@0,32/block@1],codes=p0:4@0+i*4,level=u4,"
      "scales=[(binary32,axis/block,p1:32@0+i*32)],axis=block)";
  EXPECT_EQ(take(parseFormat(text)).description.axisMultiple, 32);
  const ParameterValue given[] = {{"block", 256}};
  NamedFormat format = take(parseFormat(text, given));
  EXPECT_EQ(format.description.axisMultiple, 256);
  EXPECT_EQ(format.description.planes[1].elements, 256);
  EXPECT_EQ(format.description.scales[0].group, 256);
  ASSERT_EQ(format.parameters.size(), 1u);
  EXPECT_EQ(format.parameters[0].most, 1024);
  for (ParameterValue bad : {ParameterValue{"block", 48},
                             {"block", 4},
                             {"block", 2048},
                             {"blocks", 32}})
    EXPECT_FALSE(parseFormat(text, std::span(&bad, 1))) << bad.value;
}

TEST(FormatText, FaultsSayWhere) {
  const std::string head =
      "gritfmt1(planes=[4/1@0,16/32@1],\ncodes=p0:4@0+i*4,";
  const std::string tail = ",scales=[(binary16,lin/32,p1:16@0+i*16)],axis=32)";
  struct Case {
    std::string text, place, expected;
  };
  const Case cases[] = {
      {"", "line 1, column 1", "'gritfmt1'"},
      {"grit1(e=u4)", "line 1, column 1", "'gritfmt1'"},
      {"gritfmt1 planes", "line 1, column 10", "'('"},
      {"gritfmt1(plane=[4/1@0])", "line 1, column 10", "a part: param"},
      {"gritfmt1(planes=[4/1@0],planes=[4/1@0])", "line 1, column 25",
       "each part once"},
      {"gritfmt1(codes=p0:4@0)", "line 1, column 16", "planes= before"},
      {"gritfmt1(planes=[4/1@0])", "line 1, column 25", "the part codes="},
      {"gritfmt1(planes=[4/1@0],codes=px:4@0)", "line 1, column 31",
       "one of the planes p0"},
      {"gritfmt1(planes=[99999999999999999999/1@0])", "line 1, column 18",
       "below 2^63"},
      {"gritfmt1(planes=[4/block@0])", "line 1, column 20", "an integer"},
      {"gritfmt1(summary=x)", "line 1, column 18", "'\"'"},
      {"gritfmt1(summary=\"x)", "line 1, column 19", "double quotes"},
      {"gritfmt1(encode=best)", "line 1, column 17", "one of none, exp2"},
      {"gritfmt1(place=nowhere)", "line 1, column 16", "placement"},
      {"gritfmt1(param b=8 in 4..16 powers of two)", "line 1, column 16",
       "a name"},
      {"gritfmt1(param bb=8 in 4..16 powers of two,param cc=8 in 4..16 powers "
       "of two)",
       "line 1, column 50", "one parameter"},
      {"gritfmt1(summary=\"x\ny\")", "line 1, column 18", "one line"},
      {"gritfmt1(summary=\"\x1B[2J\")", "line 1, column 18", "one line"},
      {"gritfmt1(param bb=6 in 4..16 powers of two)", "line 1, column 16",
       "a default"},
      {head + "level=u5" + tail, "line 2, column 24", "a number format"},
      {head + "level=u4*2*3" + tail, "line 2, column 29", "a power of two"},
      {head + "level=u4*3^2" + tail, "line 2, column 27", "a power of two"},
      {head + "level=[1,0.1]" + tail, "line 2, column 27", "binary32"},
      {head + "level=[1,1e999]" + tail, "line 2, column 27", "binary32"},
      {head + "level=v2:s8[00f]" + tail, "line 2, column 32", "two hex digits"},
      {head + "level=u4,zero=(u4,near/4,p1:4@0)" + tail, "line 2, column 36",
       "all, lin/N"},
      {head + "level=u4" + tail + "x", "line 2, column 75", "nothing after"},
  };
  for (const Case &c : cases) {
    Expected<NamedFormat> format = parseFormat(c.text);
    ASSERT_FALSE(format) << c.text;
    EXPECT_EQ(format.error().field, c.place) << c.text;
    EXPECT_NE(format.error().declared.find(c.expected), std::string::npos)
        << c.text << "\n"
        << format.error().str();
    EXPECT_FALSE(format.error().found.empty());
  }
  // What can be read and is not well-formed is refused as such.
  Expected<NamedFormat> format = parseFormat(head + "level=u8" + tail);
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().field, "level");
}

TEST(FormatText, ContractsOfTexts) {
  // A registered format keeps its name, however it is written.
  Contract q4 = contract("gguf.q4_0");
  EXPECT_EQ(contract(q4.canonical()).name(), "gguf.q4_0");
  Contract mine = contract(kPeople);
  EXPECT_EQ(mine.name(), mine.canonical());
  EXPECT_FALSE(mine.isRegistered());
  EXPECT_EQ(contract(mine.name()).id(), mine.id());
}

//===----------------------------------------------------------------------===//
// What each word means
//===----------------------------------------------------------------------===//

static std::vector<float> decodeText(const std::string &text,
                                     std::vector<int64_t> shape,
                                     const std::vector<Bytes> &planes,
                                     int axis = -1) {
  return decodeAll(take(ArraySpec::get(contract(text), std::move(shape), axis)),
                   planes);
}
using Floats = std::vector<float>;

/// Bytes as codes, and levels as bytes are.
static std::string bytesWith(const std::string &planes,
                             const std::string &rest) {
  return "gritfmt1(planes=[8/1@0" + planes + "],codes=p0:8@0+i*8,level=s8," +
         rest + ")";
}

TEST(FormatMeaning, ArithmeticOfIntegers) {
  EXPECT_EQ(decodeText("gritfmt1(planes=[4/1@0],codes=p0:4@0+i*4,"
                       "level=u4*2+1*2^-3,scales=[])",
                       {4}, {{0x10, 0xf2}}),
            (Floats{0.125f, 0.375f, 0.625f, 3.875f}));
  EXPECT_EQ(decodeText("gritfmt1(planes=[16/1@0],codes=p0:16@0+i*16,"
                       "level=binary16*-1,scales=[])",
                       {2}, {{0x00, 0x3c, 0x00, 0x80}}),
            (Floats{-1, 0}));
  // 2^-24 is lost beside 1.
  EXPECT_EQ(decodeText("gritfmt1(planes=[16/1@0],codes=p0:16@0+i*16,"
                       "level=binary16*-1+1,scales=[])",
                       {2}, {{0x00, 0x40, 0x01, 0x80}}),
            (Floats{-1, 1}));
}

TEST(FormatMeaning, VectorsAndSigns) {
  // Two bits choose one of four pairs; signs have a bit for each of four.
  std::string text =
      "gritfmt1(planes=[8/4@0],codes=p0:2@0+i/2*8+i%2*2,"
      "level=v2:s8[0102 0304 0506 ff00],signs=4:each:p0:4@4+i*8,scales=[],"
      "axis=4)";
  EXPECT_EQ(decodeText(text, {8}, {{0x91, 0x0e}}),
            (Floats{-3, 4, 1, -2, 5, 6, -1, 0}));
  // Of three the last is the parity of the others.
  text = "gritfmt1(planes=[4/2@0],codes=p0:1@0+i/2*4+i%2*1,level=[1,2],"
         "signs=2:parity:p0:1@2+i*4,scales=[],axis=2)";
  EXPECT_EQ(decodeText(text, {4}, {{0x62}}), (Floats{1, 2, -1, -2}));
}

TEST(FormatMeaning, BooksOfTheArray) {
  std::string text = "gritfmt1(planes=[2/1@0,64/0@1],codes=p0:2@0+i*2,"
                     "level=binary16,book=p1:16@0+i*16,scales=[])";
  EXPECT_EQ(
      decodeText(text, {4}, {{0xe4}, {0, 0x3c, 0, 0x40, 0, 0x44, 0, 0xc4}}),
      (Floats{1, 2, 4, -4}));
}

TEST(FormatMeaning, ChainsOfFactors) {
  auto one = [](float x) {
    Bytes bytes;
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(bits(x) >> shift));
    return bytes;
  };
  auto chain = [&](const std::string &second, float a, float b) {
    return decodeText(
        bytesWith(",32/0@1,32/0@1", "scales=[(binary32,all,p1:32@0)," + second +
                                        "(binary32,all,p2:32@0)]"),
        {1}, {{3}, one(a), one(b)})[0];
  };
  float third = 1.0f / 3;
  EXPECT_EQ(chain("", third, 2.5f), third * 2.5f * 3);
  EXPECT_EQ(chain("/", 1, 2.5f), 1 / 2.5f * 3);
  EXPECT_EQ(chain("+", third, 2.5f), (third + 2.5f) * 3);
  // After the level: the product first, and one division.
  EXPECT_EQ(chain(">/", third, 2.5f), third * 3 / 2.5f);
  EXPECT_EQ(chain(">+", third, 2.5f), third * 3 + 2.5f);
  EXPECT_NE(chain(">/", 3 * 0x1p-10f, 2.5f), chain("/", 3 * 0x1p-10f, 2.5f));
  // Alone after the level.
  EXPECT_EQ(
      decodeText(bytesWith(",32/0@1", "scales=[>/(binary32,all,p1:32@0)]"), {1},
                 {{3}, one(2.5f)})[0],
      3 / 2.5f);
}

TEST(FormatMeaning, LinesAndBlocks) {
  std::string lines = bytesWith(",8/axis@1", "scales=[(s8,axis,p1:8@0+i*8)]");
  // Rows have numbers of their own, along either axis.
  Bytes codes{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(decodeText(lines, {2, 3}, {codes, {1, 10}}),
            (Floats{1, 2, 3, 40, 50, 60}));
  EXPECT_EQ(decodeText(lines, {2, 3}, {codes, {1, 10, 100}}, 0),
            (Floats{1, 20, 300, 4, 50, 600}));
  // Blocks of 2 x 2 over the last two dimensions, cut short at the edges.
  std::string blocks = bytesWith(",8/2x2@1", "scales=[(s8,2x2,p1:8@0+i*8)]");
  EXPECT_EQ(decodeText(blocks, {3, 3}, {Bytes(9, 1), {1, 2, 3, 4}}),
            (Floats{1, 1, 2, 1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(decodeText(blocks, {2, 1, 3}, {Bytes(6, 1), {1, 2, 3, 4}}),
            (Floats{1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(decodeText(blocks, {3}, {Bytes(3, 1), {1, 2}}), (Floats{1, 1, 2}));
  ArraySpec spec = take(ArraySpec::get(contract(blocks), {0, 3}));
  EXPECT_EQ(take(spec.planeSizes()), (PlaneSizes{0, 0}));
}

TEST(FormatMeaning, DigitsThatShareBits) {
  // Two digits to base 10 in a byte: B is ceil(256 v / 100).
  std::string text = "gritfmt1(planes=[8/2@0],"
                     "codes=p0:base10^(+i%2*1):8@0+i/2*8,level=u4,scales=[],"
                     "axis=2)";
  for (unsigned v = 0; v < 100; ++v)
    EXPECT_EQ(
        decodeText(text, {2}, {{static_cast<uint8_t>((256 * v + 99) / 100)}}),
        (Floats{static_cast<float>(v / 10), static_cast<float>(v % 10)}));
}
