//===- SharedContractsTest.cpp - names that a program registered ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit-c/grit.h"
#include "grit/Compiler/Compiler.h"
#include "grit/Format/Contract.h"
#include <gtest/gtest.h>

using namespace grit;

/// A format of four-bit codes that are their values, less an offset.
static std::string formatText(const std::string &name, int offset) {
  return "gritfmt1(name=" + name +
         ",planes=[a=8/2@0],codes=a:4@0+i*4,level=u4-" +
         std::to_string(offset) + ",scales=[],axis=2)";
}

static bool compiles(std::string &errors) {
  return CompiledModule::compile("module {}", "in.mlir", {}, errors) != nullptr;
}

TEST(SharedContracts, CompiledFunctionsKnowWhatIsRegisteredInCpp) {
  ASSERT_TRUE(registerFormat(formatText("shared.one", 3)).has_value());
  ASSERT_TRUE(registerGrade("Shared.Grade",
                            "grit1(e=s4,k0=28,s0=binary16,esr=ratiomaxabs)")
                  .has_value());
  uint64_t id = 0;
  EXPECT_EQ(grit_contract_id("shared.one", &id, nullptr), GRIT_GRADE_UNKNOWN);
  std::string errors;
  ASSERT_TRUE(compiles(errors)) << errors;
  EXPECT_EQ(grit_contract_id("shared.one", &id, nullptr), GRIT_OK);
  EXPECT_EQ(id, Contract::parse("shared.one")->id());
  EXPECT_EQ(grit_contract_id("shared.grade", &id, nullptr), GRIT_OK);
}

/// Ends the process, for the two formats stay registered.
[[noreturn]] static void compileWithTwoOfOneName() {
  (void)registerFormat(formatText("shared.two", 1));
  (void)grit_register_format(formatText("shared.two", 2).c_str(), nullptr,
                             nullptr);
  std::string errors;
  bool compiled = compiles(errors);
  std::fputs(errors.c_str(), stderr);
  std::exit(compiled);
}

TEST(SharedContractsDeathTest, OneNameForTwoFormatsIsRefused) {
  EXPECT_EXIT(compileWithTwoOfOneName(), testing::ExitedWithCode(0),
              "the name is taken");
}
