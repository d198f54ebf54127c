//===- GradeOrderTest.cpp - laws of the order of grades -------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/GradeOrder.h"
#include "FormatTestUtils.h"

using namespace grit;
using namespace grit::test;

/// Accumulation contracts over few values per key, so that they often compare.
static std::vector<Accumulation> someContracts() {
  std::vector<Accumulation> all;
  for (const char *ao : {"seq", "pairwise4", "pairwise8", "tree", "unspec"})
    for (FormatWord ap : {words::Binary32, words::Binary16})
      for (FormatWord ai : {words::Binary32, words::Binary16})
        for (const char *an : {"preserve", "ftz", "any"})
          all.push_back({ao, ap, words::Binary32, ai, an});
  return all;
}

// Reflexive, antisymmetric and transitive (G21).
TEST(GradeOrder, IsAPartialOrder) {
  std::vector<Accumulation> all = someContracts();
  unsigned chains = 0;
  for (const Accumulation &a : all) {
    EXPECT_TRUE(refines(a, a));
    for (const Accumulation &b : all) {
      if (refines(a, b) && refines(b, a)) {
        EXPECT_EQ(a, b);
      }
      for (const Accumulation &c : all)
        if (refines(a, b) && refines(b, c)) {
          EXPECT_TRUE(refines(a, c)) << a.str() << " | " << c.str();
          ++chains;
        }
    }
  }
  EXPECT_GT(chains, all.size() * 2);
}

// The join is an upper bound, and below every other one; where there is none,
// there is no upper bound at all (G23).
TEST(GradeOrder, JoinIsTheLeastUpperBound) {
  std::vector<Accumulation> all = someContracts();
  unsigned joined = 0, refused = 0;
  for (const Accumulation &a : all)
    for (const Accumulation &b : all) {
      auto c = join(a, b);
      auto other = join(b, a);
      ASSERT_EQ(!c, !other);
      if (c) {
        EXPECT_EQ(*c, *other);
        EXPECT_TRUE(refines(a, *c) && refines(b, *c));
        ++joined;
      } else {
        EXPECT_EQ(c.error().field == "ap" || c.error().field == "ai", true);
        ++refused;
      }
      for (const Accumulation &d : all)
        if (refines(a, d) && refines(b, d)) {
          ASSERT_TRUE(c) << a.str() << " | " << b.str() << " | " << d.str();
          EXPECT_TRUE(refines(*c, d)) << c->str() << " | " << d.str();
        }
    }
  EXPECT_EQ(joined, 900u);
  EXPECT_EQ(refused, 2700u);
}

static Grade grade(const std::string &text) { return *contract(text).grade(); }

static const std::string kBase =
    "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs";

// Grades of different decode projections are not related, whatever they say
// about sums; those that differ in encode alone are the same to a reader (G21).
TEST(GradeOrder, RelatesGrades) {
  Grade any = grade(kBase + ")"), seq = grade(kBase + ",ao=seq)");
  EXPECT_EQ(relate(seq, any), Relation::Refines);
  EXPECT_EQ(relate(any, seq), Relation::RefinedBy);
  EXPECT_EQ(relate(any, any), Relation::Same);
  EXPECT_EQ(relate(any, grade("mxfp4_rne")), Relation::Same);
  EXPECT_EQ(relate(seq, grade("nvf4")), Relation::Unrelated);
  EXPECT_EQ(
      relate(grade(kBase + ",ao=pairwise4)"), grade(kBase + ",ao=pairwise8)")),
      Relation::Unrelated);
  EXPECT_EQ(relate(grade(kBase + ",dt=f16)"), any), Relation::Unrelated);
  EXPECT_EQ(relationName(Relation::RefinedBy), "refined-by");
}

// A refusal names the keys, both values, and a relaxation of the request under
// which the kernel serves (G22).
TEST(GradeOrder, RefusalNamesTheRelaxation) {
  Grade kernel = grade(kBase + ",ao=pairwise4,an=ftz)");
  Grade request = grade(kBase + ",ao=pairwise8,an=preserve)");
  Expected<void> served = serves(kernel, request);
  ASSERT_FALSE(served);
  const Error &error = served.error();
  EXPECT_EQ(error.status, Status::GradeUnknown);
  EXPECT_EQ(error.field, "ao, an");
  EXPECT_EQ(error.declared, "ao=pairwise8, an=preserve");
  EXPECT_EQ(error.found, "ao=pairwise4, an=ftz");
  EXPECT_NE(error.fix.find("relax(ao=tree), relax(an=any)"), std::string::npos)
      << error.fix;
  request = take(relax(request, "ao", "tree"));
  request = take(relax(request, "AN", "any"));
  EXPECT_TRUE(serves(kernel, request));

  served = serves(grade(kBase + ",ap=f16)"), grade(kBase + ")"));
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().fix.find("relax("), std::string::npos);
}

// A value is one token: an item cannot be smuggled in (G24).
TEST(GradeOrder, RelaxTakesOneToken) {
  Grade g = grade(kBase + ",ao=seq)");
  EXPECT_FALSE(relax(g, "ao", "any,an=any"));
  EXPECT_FALSE(relax(g, "ao", "any),"));
  EXPECT_FALSE(relax(g, "ao", ""));
  EXPECT_FALSE(relax(g, "k0", "64"));
  EXPECT_FALSE(relax(g, "", "seq"));
  EXPECT_EQ(take(relax(g, "ao", "in-order")), g);
  EXPECT_EQ(take(relax(g, "ao", "Any_Tree")).ao, "tree");
}
