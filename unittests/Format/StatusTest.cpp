//===- StatusTest.cpp - outcomes, errors and their text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Status.h"
#include "grit/Format/Text.h"
#include <gtest/gtest.h>

using namespace grit;

TEST(Status, Names) {
  EXPECT_EQ(statusName(Status::Ok), "Ok");
  EXPECT_EQ(statusName(Status::SizeMismatch), "SizeMismatch");
  EXPECT_EQ(statusName(Status::GradeUnknown), "GradeUnknown");
  EXPECT_EQ(statusName(Status::PlacementUnknown), "PlacementUnknown");
  EXPECT_EQ(statusName(Status::DigestMismatch), "DigestMismatch");
  EXPECT_EQ(statusName(static_cast<Status>(17)), "status out of range");
}

TEST(Error, PrintsThePartsThatArePresent) {
  Expected<int> result =
      makeError(Status::SizeMismatch, "too short", "data", "16", "15");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().str(), "too short\n  field: data\n  declared: 16\n"
                                  "  found: 15");
  EXPECT_EQ(result.error().plane, -1);
}

TEST(Text, QuotedIsSafeForATerminal) {
  EXPECT_EQ(quoteText("a\x1b[2J\n"), "'a\\x1b[2J\\x0a'");
  EXPECT_EQ(quoteText(std::string_view("\0\xff", 2)), "'\\x00\\xff'");
  EXPECT_LT(quoteText(std::string(100000, 'x')).size(), 200u);
}

TEST(Text, DidYouMean) {
  std::string_view names[] = {"mxfp4", "nvf4", "row_major"};
  EXPECT_EQ(didYouMean("mxpf4", names), "did you mean 'mxfp4'?");
  EXPECT_EQ(didYouMean("nvfp4", names), "did you mean 'nvf4'?");
  EXPECT_EQ(didYouMean("zzzzzzz", names), "");
  EXPECT_EQ(didYouMean("", names), "");
  EXPECT_EQ(didYouMean(std::string(100000, 'x'), names), "");
}

TEST(Text, Words) {
  EXPECT_EQ(hexWord(0, 4), "0x0000");
  EXPECT_EQ(hexWord(0xABCDE, 4), "0xabcde");
  std::vector<int64_t> shape = {2, -1};
  EXPECT_EQ(shapeText(shape), "[2, -1]");
}
