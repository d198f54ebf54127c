//===- UserFormatTest.cpp - formats that a program registers --------------===//
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

/// Four-bit codes under a scale for every `group` elements.
static std::string textOf(const std::string &name, int group,
                          const std::string &more = "") {
  std::string n = std::to_string(group);
  return "gritfmt1(" + (name.empty() ? "" : "name = " + name + ",") + more +
         "planes=[data=4/1@0,scale=16/" + n +
         "@1],\n  codes=data:4@0+i*4, # a nibble\n  level=s4,"
         "scales=[d=(binary16,lin/" +
         n + ",scale:16@0+i*16)],axis=" + n + ")";
}

TEST(UserFormats, BecomeKnown) {
  std::string text = textOf("Mine.a", 24, "summary=\"a try\",");
  Contract unknown = contract(text);
  EXPECT_FALSE(Contract::lookupId(unknown.id()));
  EXPECT_FALSE(Contract::parse("mine.a"));

  Contract known = take(registerFormat(text));
  EXPECT_EQ(known, unknown);
  EXPECT_EQ(known.summary(), "a try");
  EXPECT_EQ(contract("MINE.A"), unknown);
  EXPECT_EQ(contract(unknown.canonical()).userName(), "mine.a");
  EXPECT_EQ(Contract::lookupId(unknown.id())->canonical(), known.canonical());
  // What is written to files is the text, which every reader knows.
  EXPECT_FALSE(known.isRegistered());
  EXPECT_EQ(known.name(), known.canonical());
  // The same again, in another spelling.
  EXPECT_EQ(take(registerFormat(text)), known);
  EXPECT_EQ(take(registerFormat("# mine\n" + text)), known);

  Expected<Contract> typo = Contract::parse("mine.b");
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().fix.find("mine.a"), std::string::npos);
  Expected<Contract> argument = Contract::parse("mine.a(block=24)");
  ASSERT_FALSE(argument);
  EXPECT_EQ(argument.error().message, "mine.a takes no parameter");
}

// A check that names the grades it knows does not trip over formats.
TEST(UserFormats, AreNoGrades) {
  Contract format = take(registerFormat(textOf("mine.frame", 40)));
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {32}));
  auto descriptor = spec.descriptor();
  ASSERT_TRUE(descriptor);
  // The id is the last eight bytes.
  for (int i = 0; i < 8; ++i)
    (*descriptor)[56 + i] = static_cast<uint8_t>(format.id() >> (8 * i));
  std::vector<int64_t> shape = {32}, sizes = {16, 1, 0, 0};
  auto error = check({*descriptor, shape, sizes, {}, {}}, 1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status, Status::GradeUnknown);
  EXPECT_EQ(error->field, "grade_id");
}

TEST(UserFormats, LeaveEveryFamilyOfNamesToTheLibrary) {
  for (const std::string &name : registeredContractNames()) {
    std::string family = name.substr(0, name.find('.') + 1);
    if (family.empty())
      continue;
    Expected<Contract> result = registerFormat(textOf(family + "mine", 12));
    ASSERT_FALSE(result) << family;
    EXPECT_EQ(result.error().field, "name");
    EXPECT_NE(result.error().declared.find(family), std::string::npos);
  }
}

TEST(UserFormats, RefuseClashes) {
  take(registerFormat(textOf("mine.c", 20)));
  take(registerGrade("mine.grade",
                     "grit1(e=s4,k0=28,s0=binary16,esr=ratiomaxabs)"));
  struct Clash {
    std::string text, field;
  } clashes[] = {
      {textOf("mine.c", 12), "name"},
      {textOf("other.c", 20), "format"},
      {textOf("mine.c", 20, "encode=ratio,"), "name"},
      {textOf("mine.grade", 12), "name"},
      {textOf("mxfp4", 12), "name"},
      {textOf("gguf.mine", 12), "name"},
      {textOf("grade_mine", 12), "name"},
      {textOf("gritfmt1x", 12), "name"},
      {textOf("4you", 12), "name"},
      {textOf(std::string(65, 'a'), 12), "name"},
      {textOf("", 12), "name"},
      {contract("hurray.nf4").canonical(), "name"},
  };
  for (const Clash &clash : clashes) {
    Expected<Contract> result = registerFormat(clash.text);
    ASSERT_FALSE(result) << clash.text;
    EXPECT_EQ(result.error().status, Status::GradeUnknown);
    EXPECT_EQ(result.error().field, clash.field) << result.error().str();
    EXPECT_FALSE(result.error().fix.empty());
  }
  // Both are declared.
  Expected<Contract> taken = registerFormat(textOf("Mine.C", 12));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().declared.find("'mine.c' = gritfmt1("),
            std::string::npos);
  EXPECT_NE(taken.error().declared.find("16/20@1"), std::string::npos);
  EXPECT_NE(taken.error().found.find("'Mine.C' = gritfmt1("),
            std::string::npos);
  EXPECT_NE(taken.error().found.find("16/12@1"), std::string::npos);
  EXPECT_EQ(taken.error().cause, "it was registered before");
  // A grade does not take the name of a format.
  EXPECT_FALSE(registerGrade("mine.c", "grit1(e=s4,k0=20,s0=binary16,esr="
                                       "ratiomaxabs)"));
  EXPECT_FALSE(Contract::lookupId(contract(textOf("", 12)).id()));
}

// What is not text, and what is text of no format: both say where.
TEST(UserFormats, SayWhereTheTextIsWrong) {
  std::string text = textOf("mine.d", 20);
  std::string typo = text;
  typo.replace(typo.find("level=s4"), 8, "level=s5");
  Expected<Contract> result = registerFormat(typo);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().field, "line 3, column 9");

  struct Case {
    std::string from, to, field, place;
  } cases[] = {
      {"level=s4", "level=s8", "level", "line 3, column 3"},
      {"data:4@0", "data:4@1", "codes", "line 2, column 3"},
      {"axis=20", "axis=21", "plane 'scale'", ""},
      {"16@0+i*16", "8@0+i*16", "scale 'd'", ""},
      {"axis=20", "axis=0", "axis", ""},
  };
  for (const Case &c : cases) {
    std::string wrong = text;
    wrong.replace(wrong.find(c.from), c.from.size(), c.to);
    result = registerFormat(wrong);
    ASSERT_FALSE(result) << wrong;
    EXPECT_EQ(result.error().field, c.field) << result.error().str();
    EXPECT_NE(result.error().message.find(
                  "(" + (c.place.empty() ? "line " : c.place + ")")),
              std::string::npos)
        << result.error().str();
  }
  result = registerFormat(text + std::string(1 << 16, ' '));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().field, "text");
}

// One parameter makes a family; several have their defaults.
TEST(UserFormats, Families) {
  const std::string tail =
      ",planes=[data=4/1@0,scale=16/width@1],codes=data:4@0+i*4,level=s4,"
      "scales=[d=(binary16,axis/width,scale:16@0+i*16)],axis=width)";
  const std::string head =
      "gritfmt1(name=mine.family,param width=32 in 16..128 powers of two";
  Contract middle = take(registerFormat(head + tail));
  EXPECT_EQ(contract("mine.family"), middle);
  EXPECT_EQ(contract("mine.family( width = 32 )"), middle);
  for (int width : {16, 64, 128}) {
    std::string n = std::to_string(width);
    Contract member = contract("mine.family(width=" + n + ")");
    EXPECT_EQ(member.description().axisMultiple, width);
    EXPECT_EQ(member.userName(), "mine.family(width=" + n + ")");
    EXPECT_EQ(*Contract::lookupId(member.id()), member);
  }
  EXPECT_EQ(take(registerFormat(head + tail)), middle);
  for (const char *wrong :
       {"mine.family(width=8)", "mine.family(width=48)",
        "mine.family(block=32)", "mine.family(width=)", "mine.family("})
    EXPECT_FALSE(Contract::parse(wrong)) << wrong;

  // A member has one value in its name, so a family has one parameter.
  auto two = registerFormat("gritfmt1(name=mine.two,param width=8 in 4..8 "
                            "powers of two,param other=4 in 4..8 powers of "
                            "two,array=other" +
                            tail);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().declared, "one parameter in all");
}

TEST(UserFormats, FromSeveralThreads) {
  registerFromThreads(
      40, [](int i) { return "many" + std::to_string(100 + i); },
      [](const std::string &name, int i) {
        return registerFormat(textOf(name, 100 + i));
      });
}
