//===- SpecGradeTest.cpp - words and grades against the reference ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "SpecVectors.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/GradeOrder.h"
#include "grit/Format/Supersedes.h"
#include <cmath>
#include <map>

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Format words
//===----------------------------------------------------------------------===//

TEST(SpecVectors, FormatWord) {
  for (const SpecVector &vector : vectorsOf("format_word", 50)) {
    SCOPED_TRACE(vector.id);
    FormatWord word(
        static_cast<uint16_t>(wordOf(textOf(vector.inputs, "word"))));
    std::optional<Error> error = word.validate();
    ASSERT_EQ(error.has_value(), vector.refused());
    if (error) {
      EXPECT_FALSE(error->message.empty());
      continue;
    }
    EXPECT_EQ(word.width(), numberOf(vector.expected, "width", -1));
    EXPECT_EQ(word.isUnsigned(), bool(vector.expected["unsigned"]));
    EXPECT_EQ(word.hasSignedZero(), bool(vector.expected["signed_zero"]));
    EXPECT_EQ(bits(maxFinite(word)),
              wordOf(textOf(vector.expected, "max_finite")));
    auto nan = encodeWord(word, NAN);
    EXPECT_EQ(nan ? int64_t(*nan) : -1,
              numberOf(vector.expected, "nan_code", -1));
    if (!word.isFloat())
      continue;
    EXPECT_EQ(word.bias(), numberOf(vector.expected, "bias", -1));
    EXPECT_EQ(word.exponentBits(),
              numberOf(vector.expected, "exponent_bits", -1));
    EXPECT_EQ(word.mantissaBits(),
              numberOf(vector.expected, "fraction_bits", -1));
    EXPECT_EQ(word.hasInf(), bool(vector.expected["has_inf"]));
  }
}

TEST(SpecVectors, FormatSpaceHasAsManyValidWords) {
  for (const SpecVector &vector : vectorsOf("format_space", 1)) {
    int64_t valid = 0;
    for (unsigned raw = 0; raw < 1u << 16; ++raw)
      valid += !FormatWord(static_cast<uint16_t>(raw)).validate();
    EXPECT_EQ(valid, numberOf(vector.expected["counts"], "valid", -1));
  }
}

TEST(SpecVectors, FmtDecode) {
  for (const SpecVector &vector : vectorsOf("fmt_decode", 40)) {
    SCOPED_TRACE(vector.id);
    FormatWord word(
        static_cast<uint16_t>(wordOf(textOf(vector.inputs, "word"))));
    std::vector<uint32_t> codes;
    std::string_view all;
    if (!vector.inputs["codes"].get(all))
      for (uint64_t code = 0; code < uint64_t(1) << word.width(); ++code)
        codes.push_back(static_cast<uint32_t>(code));
    else
      for (int64_t code : numbersOf(vector.inputs, "codes"))
        codes.push_back(static_cast<uint32_t>(code));
    std::string values, packed;
    for (uint32_t code : codes) {
      uint32_t pattern = bits(decodeWord(word, code));
      char text[9];
      std::snprintf(text, sizeof(text), "%08x", pattern);
      values += text;
      for (unsigned i = 0; i < 4; ++i)
        packed += static_cast<char>(pattern >> (8 * i));
    }
    if (SpecVector::has(vector.expected, "values"))
      EXPECT_EQ(values, textOf(vector.expected, "values"));
    else
      EXPECT_EQ(fnv1a64(packed), wordOf(textOf(vector.expected, "fnv1a64")));
  }
}

TEST(SpecVectors, FmtEncode) {
  const std::map<std::string, Rounding> roundings = {{"rne", Rounding::RNE},
                                                     {"rna", Rounding::RNA},
                                                     {"rtz", Rounding::RTZ},
                                                     {"rtp", Rounding::RTP},
                                                     {"rtn", Rounding::RTN}};
  const std::map<std::string, Saturation> saturations = {
      {"satfinite", Saturation::SatFinite},
      {"satmax", Saturation::SatMax},
      {"ovfinf", Saturation::OvfInf}};
  for (const SpecVector &vector : vectorsOf("fmt_encode", 100)) {
    SCOPED_TRACE(vector.id);
    FormatWord word(
        static_cast<uint16_t>(wordOf(textOf(vector.inputs, "word"))));
    Rounding rounding = roundings.at(textOf(vector.inputs, "rounding"));
    Saturation saturation = saturations.at(textOf(vector.inputs, "saturation"));
    std::vector<float> values = floatsOf(textOf(vector.inputs, "values"));
    size_t i = 0;
    for (dom::element expected : vector.expected["codes"]) {
      auto code = encodeWord(word, values.at(i), rounding, saturation);
      int64_t wanted = -1; // null: refused
      if (expected.get(wanted))
        wanted = -1;
      EXPECT_EQ(code ? int64_t(*code) : -1, wanted) << "value " << i;
      ++i;
    }
    EXPECT_EQ(i, values.size());
  }
}

//===----------------------------------------------------------------------===//
// Grades
//===----------------------------------------------------------------------===//

TEST(SpecVectors, Grade) {
  for (const SpecVector &vector : vectorsOf("grade", 190)) {
    SCOPED_TRACE(vector.id);
    Expected<Grade> grade = Grade::parse(textOf(vector.inputs, "text"));
    ASSERT_EQ(!grade, vector.refused()) << (grade ? "" : grade.error().str());
    if (!grade) {
      EXPECT_EQ(grade.error().status, Status::GradeUnknown);
      EXPECT_FALSE(grade.error().field.empty() ||
                   grade.error().declared.empty() ||
                   grade.error().found.empty());
      continue;
    }
    EXPECT_EQ(grade->canonical(), textOf(vector.expected, "canonical"));
    EXPECT_EQ(grade->id(), wordOf(textOf(vector.expected, "grade_id")));
    EXPECT_EQ(grade->decodeProjection(), textOf(vector.expected, "gritdec1"));
  }
}

static Grade gradeNamed(const std::string &text) {
  return *contract(text).grade();
}

// A kernel serves exactly the requests that it refines; the refusal names keys,
// values and the relaxation (G22).
TEST(SpecVectors, Refines) {
  for (const SpecVector &vector : vectorsOf("refines", 14)) {
    SCOPED_TRACE(vector.id);
    Grade kernel = gradeNamed(textOf(vector.inputs, "kernel"));
    Grade request = gradeNamed(textOf(vector.inputs, "request"));
    bool expected(vector.expected["refines"]);
    EXPECT_EQ(refines(kernel, request), expected);
    Expected<void> served = serves(kernel, request);
    EXPECT_EQ(served.has_value(), expected);
    EXPECT_FALSE(!served && (served.error().field.empty() ||
                             served.error().declared.empty() ||
                             served.error().found.empty()));
  }
}

TEST(SpecVectors, Join) {
  for (const SpecVector &vector : vectorsOf("join", 13)) {
    SCOPED_TRACE(vector.id);
    auto joined =
        join(Accumulation::of(gradeNamed(textOf(vector.inputs, "a"))),
             Accumulation::of(gradeNamed(textOf(vector.inputs, "b"))));
    ASSERT_EQ(!joined, vector.refused());
    if (!joined)
      continue;
    EXPECT_EQ(joined->ao, textOf(vector.expected, "ao"));
    EXPECT_EQ(joined->ap.str(), textOf(vector.expected, "ap"));
    EXPECT_EQ(joined->ab.str(), textOf(vector.expected, "ab"));
    EXPECT_EQ(joined->ai.str(), textOf(vector.expected, "ai"));
    EXPECT_EQ(joined->an, textOf(vector.expected, "an"));
  }
}

/// The accumulation contract with one key of this value.
static Accumulation withKey(const std::string &key, const std::string &token) {
  return Accumulation::of(
      gradeNamed("grit1(e=u8,k0=1,s0=u8,esr=ratio," + key + "=" + token + ")"));
}

TEST(SpecVectors, TokenOrder) {
  for (const SpecVector &vector : vectorsOf("token_order", 5)) {
    SCOPED_TRACE(vector.id);
    std::string key = textOf(vector.inputs, "key");
    std::vector<std::string> tokens = textsOf(vector.inputs, "tokens");
    for (size_t i = 0; i < tokens.size(); ++i)
      for (size_t j = 0; j < tokens.size(); ++j) {
        Accumulation a = withKey(key, tokens[i]), b = withKey(key, tokens[j]);
        EXPECT_EQ(refines(a, b), bool(vector.expected["refines"].at(i).at(j)))
            << tokens[i] << " " << tokens[j];
        auto joined = join(a, b);
        std::string_view expected;
        bool isNull = vector.expected["join"].at(i).at(j).get(expected);
        ASSERT_EQ(!joined, isNull) << tokens[i] << " " << tokens[j];
        if (joined) {
          EXPECT_EQ(*joined, withKey(key, std::string(expected)));
        }
      }
  }
}

TEST(SpecVectors, Relax) {
  for (const SpecVector &vector : vectorsOf("relax", 9)) {
    SCOPED_TRACE(vector.id);
    auto relaxed =
        relax(gradeNamed(textOf(vector.inputs, "grade")),
              textOf(vector.inputs, "key"), textOf(vector.inputs, "value"));
    ASSERT_EQ(!relaxed, vector.refused());
    if (relaxed) {
      EXPECT_EQ(relaxed->canonical(), textOf(vector.expected, "canonical"));
    }
  }
}

//===----------------------------------------------------------------------===//
// Equivalence
//===----------------------------------------------------------------------===//

static EdgeScope scopeOf(dom::element inputs) {
  return textOf(inputs, "scope") == "full" ? EdgeScope::Full
                                           : EdgeScope::Decode;
}

/// What the suite encodes.
static std::vector<EncodeCase> suite() {
  std::vector<EncodeCase> cases;
  for (const SpecVector &vector : vectorsOf("array", 180))
    cases.push_back({numbersOf(vector.inputs, "shape"),
                     floatsOf(textOf(vector.inputs, "values"))});
  return cases;
}

TEST(SpecVectors, Edge) {
  std::vector<EncodeCase> cases = suite();
  for (const SpecVector &vector : vectorsOf("edge", 6)) {
    SCOPED_TRACE(vector.id);
    SupersedesEdge edge{gradeNamed(textOf(vector.inputs, "from")).canonical(),
                        gradeNamed(textOf(vector.inputs, "to")).canonical(),
                        scopeOf(vector.inputs),
                        textOf(vector.inputs, "reason")};
    Expected<void> verified = verifyEdge(edge, cases);
    ASSERT_EQ(!verified, vector.refused())
        << (verified ? "" : verified.error().str());
    if (!verified)
      continue;
    bool isOurs = false;
    for (const SupersedesEdge &ours : supersedesEdges())
      isOurs |= ours.from == edge.from && ours.to == edge.to &&
                ours.scope == edge.scope;
    EXPECT_EQ(isOurs, bool(vector.expected["registered"]));
  }
}

// Every edge of version 1 passes its own precondition, and full scope is not
// shown by encoding nothing (G34, G35).
TEST(Supersedes, EdgesHoldWhatTheyClaim) {
  ASSERT_EQ(supersedesEdges().size(), 2u);
  for (const SupersedesEdge &edge : supersedesEdges()) {
    EXPECT_TRUE(verifyEdge(edge)) << edge.from;
    SupersedesEdge full = edge;
    full.scope = EdgeScope::Full;
    EXPECT_FALSE(verifyEdge(full));
    EXPECT_FALSE(verifyEdge(full, suite()));
    full.to = full.from;
    EXPECT_TRUE(verifyEdge(full, suite()));
    EXPECT_FALSE(verifyEdge(full));
    full.reason = " \t";
    EXPECT_FALSE(verifyEdge(full, suite()));
  }
}

TEST(SpecVectors, Equivalent) {
  for (const SpecVector &vector : vectorsOf("equivalent", 45)) {
    SCOPED_TRACE(vector.id);
    EXPECT_EQ(equivalent(gradeNamed(textOf(vector.inputs, "a")),
                         gradeNamed(textOf(vector.inputs, "b")),
                         scopeOf(vector.inputs)),
              bool(vector.expected["equivalent"]));
  }
}

// Paths go through several edges in both directions, and an edge of full scope
// counts for decode (G36).
TEST(Supersedes, PathsOfEdges) {
  Grade a = gradeNamed("mxfp4"), b = gradeNamed("mxfp4_rne");
  Grade c = a, d = a;
  c.ao = "seq";
  d.ao = "tree";
  EXPECT_FALSE(equivalent(b, d, EdgeScope::Decode));
  std::vector<SupersedesEdge> more = {
      {a.canonical(), c.canonical(), EdgeScope::Full, "ao is no encode key"},
      {d.canonical(), c.canonical(), EdgeScope::Full, "ao is no encode key"}};
  EXPECT_TRUE(equivalent(b, d, EdgeScope::Decode, more));
  EXPECT_TRUE(equivalent(d, b, EdgeScope::Decode, more));
  EXPECT_TRUE(equivalent(a, d, EdgeScope::Full, more));
  EXPECT_FALSE(equivalent(b, d, EdgeScope::Full, more));
}

TEST(SpecVectors, Supersedes) {
  for (const SpecVector &vector : vectorsOf("supersedes", 2)) {
    SCOPED_TRACE(vector.id);
    std::vector<int64_t> shape = numbersOf(vector.inputs, "shape");
    std::vector<std::string> gids = textsOf(vector.expected, "gid");
    const char *names[] = {"a", "b"};
    for (size_t i = 0; i < 2; ++i) {
      ArraySpec spec = take(
          ArraySpec::get(contract(textOf(vector.inputs, names[i])), shape));
      EXPECT_EQ(toHex(spec.gid()), gids[i]);
      expectSameBits(decodeAll(spec, planesOf(spec, vector.inputs)),
                     floatsOf(textOf(vector.expected, "decoded")), vector.id);
    }
    EXPECT_EQ(equivalent(gradeNamed(textOf(vector.inputs, "a")),
                         gradeNamed(textOf(vector.inputs, "b")),
                         EdgeScope::Decode),
              bool(vector.expected["decode_scope"]));
  }
}
