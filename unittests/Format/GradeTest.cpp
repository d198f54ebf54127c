//===- GradeTest.cpp - grade strings and their canonical form -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Grade.h"
#include "Golden.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace grit;

static const std::string kMinimal = "grit1(e=e2m1,k0=32,s0=e8m0,esr=floor";

/// The canonical string of the minimal grade with more items.
static std::string canonicalWith(const std::string &items) {
  Expected<Grade> grade = Grade::parse(kMinimal + "," + items + ")");
  return grade ? grade->canonical() : "refused: " + grade.error().str();
}

static Error refusal(const std::string &text) {
  Expected<Grade> grade = Grade::parse(text);
  EXPECT_FALSE(grade) << text;
  return grade ? Error() : grade.error();
}

// (G28, G29, B21)
TEST(Grade, RegisteredGrades) {
  ASSERT_EQ(golden::file().grades.size(), 6u);
  for (const golden::Grade &entry : golden::file().grades) {
    Expected<Grade> grade = Grade::parse(entry.canonical);
    ASSERT_TRUE(grade) << grade.error().str();
    EXPECT_EQ(grade->canonical(), entry.canonical);
    EXPECT_EQ(grade->id(), entry.id);
    EXPECT_EQ(grade->decodeProjection(), entry.decodeProjection);
  }
}

// (G1, G2, G3, G4, G5, G6, G7)
TEST(Grade, GoldenStrings) {
  // A class of rejection and words that its message must contain.
  const std::map<std::string, std::string> classes = {
      {"missing-key", "is missing"},
      {"unknown-key", "unknown key"},
      {"duplicate-key", "given twice"},
      {"forbidden-alias", "on purpose"},
      {"level-pair", "come together"},
      {"zp-required", "needs a zero point"},
      {"level1-required", "level-1"},
      {"bad-integer", "not a decimal"},
      {"bad-field", "item"},
      {"bad-sp", "sp "},
      {"unknown-token", "pairwise"},
      {"unknown-format", "on purpose"},
  };
  for (const golden::GradeString &entry : golden::file().gradeStrings) {
    Expected<Grade> grade = Grade::parse(entry.text);
    ASSERT_EQ(grade.has_value(), entry.canonical.has_value()) << entry.text;
    if (grade) {
      EXPECT_EQ(grade->canonical(), *entry.canonical);
      EXPECT_EQ(grade->id(), entry.id);
      continue;
    }
    EXPECT_EQ(grade.error().status, Status::GradeUnknown);
    EXPECT_FALSE(grade.error().fix.empty()) << entry.text;
    if (entry.why == "bad-shell")
      continue; // see Refusals
    ASSERT_TRUE(classes.count(entry.why)) << entry.why;
    EXPECT_NE(grade.error().message.find(classes.at(entry.why)),
              std::string::npos)
        << entry.text << ": " << grade.error().message;
  }
}

// (G17, G18)
TEST(Grade, FormatAliases) {
  const std::map<std::string, std::vector<std::string>> aliases = {
      {"e2m1",
       {"fp4", "fp4e2m1", "float4_e2m1", "float4_e2m1fn", "e2m1fn",
        "mxfp4elem"}},
      {"e4m3", {"fp8e4m3", "e4m3fn", "float8_e4m3fn", "f8e4m3fn"}},
      {"e8m0", {"ue8m0", "e8m0fnu", "float8_e8m0fnu"}},
      {"binary16", {"f16", "fp16", "half", "float16"}},
      {"binary32", {"f32", "fp32", "float", "float32", "single"}},
      {"u2", {"uint2"}},
      {"u4", {"uint4", "nibble"}},
      {"u6", {"uint6"}},
      {"u8", {"uint8", "byte"}},
      {"s4", {"int4", "sint4", "i4"}},
      {"s8", {"int8", "sint8", "i8"}},
  };
  EXPECT_EQ(aliases.size(), registeredWords().size());
  for (const auto &[token, spellings] : aliases)
    for (const std::string &spelling : spellings) {
      Expected<Grade> grade =
          Grade::parse("grit1(e=" + spelling + ",k0=1,s0=u8,esr=ratio)");
      ASSERT_TRUE(grade) << spelling;
      EXPECT_EQ(grade->e.token(), token) << spelling;
    }
  for (const char *spelling : {"fp-4", "E 2 M1x", "e5m2", "bf16", "int2", "s2",
                               "u3", "int16", "e2m1fnuz"})
    EXPECT_FALSE(Grade::parse("grit1(e=" + std::string(spelling) +
                              ",k0=1,s0=u8,esr=ratio)"));
}

// (G16, G19)
TEST(Grade, EnumerationAliases) {
  const struct {
    const char *items, *canonical;
  } cases[] = {
      {"er=even", ""},
      {"er=round-ties-to-even", ""},
      {"er=away", "er=rna"},
      {"er=floor", "er=rtn"},
      {"er=to-ward-zero", "er=rtz"},
      {"es=over-flow-to-inf", "es=ovfinf"},
      {"es=sat_max", "es=satmax"},
      {"esn=flushtozero", "esn=ftz"},
      {"esn=any", "esn=any"},
      {"an=any", ""},
      {"an=denorm", "an=preserve"},
      {"ao=any", ""},
      {"ao=any_tree", "ao=tree"},
      {"ao=pairwise___007", "ao=pairwise7"},
      {"ao=pair-wise8", "ao=pairwise8"},
      {"ct=padto8", "ct=pad8"},
      {"po=msb-first", "po=msb"},
      {"ap=half,ab=float,ai=byte", "ap=binary16,ai=u8"},
      {"zp=u4,zpc=as-stored,zps=symmetric", "zp=u4"},
      {"zp=u4,zpc=stored_minus_one", "zp=u4,zpc=minus1"},
      {"zp=u6,zps=own-scale,k1=8,s1=half", "k1=8,s1=binary16,zp=u6,zps=l1"},
      {"sp=1:2:nibble:none", "sp=1:2:u4:unord"},
      {"sp=31:32:uint2:ordered", "sp=31:32:u2:asclsb"},
      {"dt=half,ds=inf,dr=up", "dr=rtp,ds=ovfinf,dt=binary16"},
  };
  for (auto [items, canonical] : cases) {
    std::string expected =
        *canonical ? kMinimal + "," + canonical + ")" : kMinimal + ")";
    Expected<Grade> grade = Grade::parse(expected);
    ASSERT_TRUE(grade) << canonical;
    std::string found = canonicalWith(items);
    EXPECT_EQ(found, grade->canonical()) << items;
    EXPECT_NE(found.find(canonical), std::string::npos) << found;
  }
}

// (G25)
TEST(Grade, CanonicalOrderAndElision) {
  EXPECT_EQ(
      canonicalWith("an=ftz,ai=f16,ab=f16,ap=f16,ao=seq,dt=f16,ds=satmax,"
                    "dr=rtz,esn=ftz,es=satmax,er=rtz,po=msb,ct=pad8,"
                    "zps=l1,zpc=gptq,zp=u6,s1=f16,k1=00"),
      "grit1(e=e2m1,k0=32,s0=e8m0,k1=0,s1=binary16,zp=u6,zpc=minus1,"
      "zps=l1,ct=pad8,po=msb,er=rtz,es=satmax,esr=exp2floormaxabs,esn=ftz,"
      "dr=rtz,ds=satmax,dt=binary16,ao=seq,ap=binary16,ab=binary16,"
      "ai=binary16,an=ftz)");
  EXPECT_EQ(
      canonicalWith("an=any,ai=f32,ab=f32,ap=f32,ao=unspec,dt=f32,"
                    "ds=satfinite,dr=rne,esn=preserve,es=satfinite,er=rne,"
                    "po=lsb,ct=dense"),
      "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)");
  // What no array can hold is still a string with an id.
  EXPECT_TRUE(Grade::parse("grit1(e=u4,k0=0,s0=u6,esr=ratio)"));
  EXPECT_TRUE(Grade::parse("grit1(e=u4,k0=65536,s0=u6,esr=ratio)"));
}

// (G8, G9, G10, G13, G14, G15)
TEST(Grade, Refusals) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"", "starts with 'grit1('"},
      {"grit1", "starts with 'grit1('"},
      {"grit2(e=e2m1,k0=32,s0=e8m0,esr=floor)", "starts with 'grit1('"},
      {"grit1{e=e2m1,k0=32,s0=e8m0,esr=floor}", "starts with 'grit1('"},
      {"gritdec1(e=e2m1)", "decode projection"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor", "ends with ')'"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor)x", "ends with ')'"},
      {"grit1(,e=e2m1,k0=32,s0=e8m0,esr=floor)", "is empty"},
      {"grit1(e=e2m1,,k0=32,s0=e8m0,esr=floor)", "is empty"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor,)", "is empty"},
      {"grit1(e)", "no '='"},
      {"grit1(e=e2m1,k0=,s0=e8m0,esr=floor)", "decimal"},
      {"grit1(e=e2m1,k0=0x20,s0=e8m0,esr=floor)", "decimal"},
      {"grit1(e=e2m1,k0=-1,s0=e8m0,esr=floor)", "decimal"},
      {"grit1(e=e2m1,k0=3_2,s0=e8m0,esr=floor)", "decimal"},
      {"grit1(e=e2m1,k0=18446744073709551616,s0=e8m0,esr=floor)", "64 bits"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:-)", "needs a name"},
      {"grit1(e=s8,k0=32,s0=f16,sp=0:4:u2:none,esr=ratio)", "keeps 0"},
      {"grit1(e=s8,k0=32,s0=f16,sp=2:33:u2:none,esr=ratio)", "of every 33"},
      {"grit1(e=s8,k0=32,s0=f16,sp=2:4:u8:none,esr=ratio)", "indices"},
      {"grit1(e=s8,k0=32,s0=f16,sp=2:4:u2:none:x,esr=ratio)", "5 parts"},
      {"grit1(e=s8,k0=32,s0=f16,sp=+2:4:u2:none,esr=ratio)", "decimal"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor,ao=pairwise(8))", "block length"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor,ao=pairwise)", "block length"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=floor,zps=l1)", "needs a zero point"},
      {"grit1(e=int2,k0=32,s0=e8m0,esr=floor)", "on purpose"},
      {"grit1(e=e2m1,k0=32,s0=e8m0,esr=fl\xC3\xB6or)", "printable ASCII"},
      {"grit1(e=e2m1,\xC2\xA0k0=32,s0=e8m0,esr=floor)", "printable ASCII"},
      {"grit1(e=e2m1,k0=\xE2\x84\xAA,s0=e8m0,esr=floor)", "printable ASCII"},
      {"grit1(e=e2m1,k0=32\x01,s0=e8m0,esr=floor)", "printable ASCII"},
  };
  for (auto [text, message] : cases) {
    Error error = refusal(text);
    EXPECT_EQ(error.status, Status::GradeUnknown);
    EXPECT_NE(error.message.find(message), std::string::npos)
        << text << ": " << error.message;
    EXPECT_FALSE(error.field.empty() || error.declared.empty() ||
                 error.fix.empty())
        << error.str();
  }
  EXPECT_FALSE(Grade::parse(std::string_view("grit1(e=e2m1\0)", 14)));
  EXPECT_FALSE(Grade::parse("grit1(" + std::string(1 << 20, ',') + ")"));
}

// (G11)
TEST(Grade, Suggestions) {
  EXPECT_EQ(refusal("grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2flor)").fix,
            "did you mean 'exp2floor'?");
  EXPECT_EQ(refusal("grit1(e=e2m1,k0=32,s0=ue8m,esr=floor)").fix,
            "did you mean 'ue8m0'?");
  EXPECT_EQ(refusal("grit1(e=e2m1,k0=32,s00=e8m0,esr=floor)").fix,
            "did you mean 's0'?");
}

/// A random grade in canonical fields, for properties over the whole grammar.
static Grade randomGrade(std::mt19937 &random) {
  auto word = [&] {
    return registeredWords()[random() % registeredWords().size()].word;
  };
  auto flip = [&] { return random() % 2 != 0; };
  Grade g;
  g.e = word();
  g.k0 = random() % 1000;
  g.s0 = word();
  if (flip()) {
    g.k1 = random() % 100;
    g.s1 = word();
  }
  if (flip()) {
    g.zp = word();
    g.zpMinusOne = flip();
    g.zpLevel1 = g.k1 && flip();
  }
  if (flip()) {
    g.spM = 2 + random() % 31;
    g.spN = 1 + random() % (g.spM - 1);
    g.spMetaBits = flip() ? 2 : 4;
    g.spAscending = flip();
  }
  g.pad8 = flip();
  g.msbFirst = flip();
  g.er = static_cast<Rounding>(random() % 5);
  g.dr = static_cast<Rounding>(random() % 5);
  g.es = static_cast<Saturation>(random() % 3);
  g.ds = static_cast<Saturation>(random() % 3);
  const char *rules[] = {"exp2floormaxabs", "exp2ceilmaxabs", "exp2rnemaxabs",
                         "ratiomaxabs",     "affineminmax",   "custom:abc"};
  g.esr = rules[random() % 6];
  const char *subnormals[] = {"preserve", "ftz", "any"};
  g.esn = subnormals[random() % 3];
  g.an = subnormals[random() % 3];
  const char *orders[] = {"seq", "tree", "unspec", "pairwise16"};
  g.ao = orders[random() % 4];
  g.dt = word();
  g.ap = word();
  g.ab = word();
  g.ai = word();
  return g;
}

/// A canonical string, with its items shuffled, in random case, with spaces.
static std::string respell(const std::string &canonical, std::mt19937 &random) {
  std::vector<std::string> items;
  std::string body = canonical.substr(6, canonical.size() - 7);
  for (size_t start = 0; start <= body.size();) {
    size_t comma = std::min(body.find(',', start), body.size());
    items.push_back(body.substr(start, comma - start));
    start = comma + 1;
  }
  std::shuffle(items.begin(), items.end(), random);
  std::string text = "GRIT1(";
  for (const std::string &item : items)
    text += (text.back() == '(' ? "" : " ,\n") + item;
  for (char &c : text)
    if (random() % 2)
      c = static_cast<char>(std::toupper(c));
  return text + " )";
}

// (G26, G27)
TEST(Grade, CanonicalIsAFixedPoint) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    Grade grade = randomGrade(random);
    std::string canonical = grade.canonical();
    Expected<Grade> again = Grade::parse(canonical);
    ASSERT_TRUE(again) << canonical << "\n" << again.error().str();
    ASSERT_EQ(*again, grade) << canonical;
    Expected<Grade> respelled = Grade::parse(respell(canonical, random));
    ASSERT_TRUE(respelled) << canonical;
    ASSERT_EQ(respelled->canonical(), canonical);
    ASSERT_FALSE(Grade::parse(grade.decodeProjection()));
  }
}

/// Any bytes: a grade whose canonical string parses to itself, or a message.
// (G12)
TEST(Grade, RandomBytesNeverTrap) {
  std::mt19937 random(6);
  const std::string seed = "grit1(e=s8,k0=32,s0=binary16,k1=0,s1=f32,zp=u4,"
                           "sp=2:4:u2:asclsb,esr=custom:x,ao=pairwise8)";
  int accepted = 0;
  for (int i = 0; i < 40000; ++i) {
    std::string text = seed;
    for (unsigned edits = 1 + random() % 3; edits-- > 0;) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 5);
        break;
      default:
        text.insert(at, 1, seed[random() % seed.size()]);
      }
    }
    Expected<Grade> grade = Grade::parse(text);
    if (!grade) {
      ASSERT_FALSE(grade.error().message.empty());
      continue;
    }
    ++accepted;
    Expected<Grade> again = Grade::parse(grade->canonical());
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *grade) << text;
  }
  EXPECT_GT(accepted, 200);
}
