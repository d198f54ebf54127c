//===- UserGradeTest.cpp - grades that a program registers ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "FromThreads.h"
#include "grit/Format/Check.h"
#include "grit/Format/Descriptor.h"

using namespace grit;
using namespace grit::test;

static std::string textOf(int k0) {
  return "grit1(e=e2m1,k0=" + std::to_string(k0) + ",s0=e8m0,esr=ocpmx)";
}

// Unknown to the check until it is registered; then name, id and any spelling
// mean the same (G32).
TEST(UserGrades, BecomeKnown) {
  Contract unknown = contract(textOf(48));
  ArraySpec spec = take(ArraySpec::get(unknown, {96}));
  auto descriptor = spec.descriptor();
  ASSERT_TRUE(descriptor);
  std::vector<int64_t> shape = {96}, sizes = {48, 2, 0, 0};
  CheckInput input{*descriptor, shape, sizes, {}, {}};
  auto error = check(input, 1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->field, "grade_id");
  EXPECT_FALSE(Contract::lookupId(unknown.id()));

  Contract known = take(registerGrade("Fours48", textOf(48)));
  EXPECT_FALSE(check(input, 1));
  EXPECT_EQ(known, unknown);
  EXPECT_EQ(contract("fours48"), unknown);
  EXPECT_EQ(contract("FOURS48").userName(), "fours48");
  EXPECT_EQ(contract(textOf(48)).userName(), "fours48");
  EXPECT_EQ(Contract::lookupId(unknown.id())->canonical(), known.canonical());
  // What is written to files is the text, which every reader knows.
  EXPECT_FALSE(known.isRegistered());
  EXPECT_EQ(known.name(), known.canonical());

  // The details speak of it by its name.
  (*descriptor)[18] = 32;
  error = check({*descriptor, shape, sizes, {}, {}}, 1);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("fours48"), std::string::npos);
  Expected<Contract> typo = Contract::parse("fours4");
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().fix.find("fours48"), std::string::npos);
}

// The same pair again is no clash; a taken name or grade is (G32).
TEST(UserGrades, RefuseClashes) {
  take(registerGrade("fours40", textOf(40)));
  EXPECT_TRUE(registerGrade("fours40", "GRIT1( k0=40, e=fp4, s0=ue8m0, "
                                       "esr=floor )"));
  struct Clash {
    std::string name, text, field;
  } clashes[] = {
      {"fours40", textOf(41), "name"},
      {"other40", textOf(40), "grade"},
      {"mxfp4", textOf(42), "name"},
      {"gguf.q4_k", textOf(42), "name"},
      {"gguf.mine", textOf(42), "name"},
      {"grade_mine", textOf(42), "name"},
      {"mine", "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)", "grade"},
      {"", textOf(42), "name"},
      {"4you", textOf(42), "name"},
      {"a b", textOf(42), "name"},
      {"a(b)", textOf(42), "name"},
      {std::string(65, 'a'), textOf(42), "name"},
      {"mine", "grit1(e=e2m1)", "k0"},
      {"mine", textOf(0), "k0"},
  };
  for (const Clash &clash : clashes) {
    Expected<Contract> result = registerGrade(clash.name, clash.text);
    ASSERT_FALSE(result) << clash.name << " " << clash.text;
    EXPECT_EQ(result.error().status, Status::GradeUnknown);
    EXPECT_EQ(result.error().field, clash.field) << result.error().str();
  }
  // Names are shown as they were spelt, and the cause is the true one.
  Expected<Contract> taken = registerGrade("MXFP4", textOf(42));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().found.find("'MXFP4'"), std::string::npos);
  EXPECT_EQ(taken.error().cause, "the library has it from the start");
  taken = registerGrade("Fours40", textOf(41));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().cause, "it was registered before");
  EXPECT_FALSE(Contract::parse("mine"));
  EXPECT_FALSE(Contract::lookupId(contract(textOf(42)).id()));
  // The library's own names stay what they are.
  EXPECT_TRUE(registerGrade("mxfp4", contract("mxfp4").canonical()));
  EXPECT_EQ(contract("mxfp4").userName(), "");
}

// Several threads register and look up at once (G32).
TEST(UserGrades, FromSeveralThreads) {
  constexpr int kGrades = 60;
  registerFromThreads(
      kGrades, [](int i) { return "t" + std::to_string(1000 + i); },
      [](const std::string &name, int i) {
        return registerGrade(name, textOf(1000 + i));
      });
  int listed = 0;
  for (const Contract &grade : userContracts())
    listed += grade.userName()[0] == 't';
  EXPECT_EQ(listed, kGrades);
}
