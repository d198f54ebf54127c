//===- RecodeFp4Test.cpp - FP4 in the conventions that it has -------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeArrays.h"

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// MXFP4: every code under every scale byte
//===----------------------------------------------------------------------===//

/// Row e has scale byte e and every code twice, or `code` 32 times.
static PlaneBytes ggufRows(std::optional<unsigned> code = std::nullopt,
                           unsigned first = 0, unsigned count = 256) {
  PlaneBytes planes(1);
  for (unsigned e = first; e < first + count; ++e) {
    planes[0].push_back(static_cast<uint8_t>(e));
    for (unsigned j = 0; j < 16; ++j)
      planes[0].push_back(static_cast<uint8_t>(code.value_or(j) * 17));
  }
  return planes;
}

TEST(Recode, GgufMxfp4ToTheGrade) {
  ArraySpec source = specOf("gguf.mxfp4", {255, 32});
  ArraySpec target = specOf("mxfp4", {255, 32});
  PlaneBytes planes =
      expectRecodes(source, ggufRows({}, 0, 255), target, "gguf.mxfp4");
  ASSERT_EQ(planes.size(), 2u);
  // Scale bytes stay; codes come into the order of the elements, and code 8,
  // which is +0, becomes code 0. From byte 253 on several codes are infinite.
  for (unsigned row = 0; row < 253; ++row) {
    EXPECT_EQ(planes[1][row], row);
    for (unsigned i = 0; i < 32; ++i) {
      unsigned code = planes[0][row * 16 + i / 2] >> i % 2 * 4 & 15;
      EXPECT_EQ(code, i % 16 == 8 ? 0 : i % 16) << row << " " << i;
    }
  }
}

/// The grade reads scale byte 255 as NaN; ggml reads 2^127, under which levels
/// are 2^127 or infinite. The grade has both under byte 254.
TEST(Recode, GgufMxfp4ScaleThatTheGradeReadsAsNaN) {
  ArraySpec source = rowOf("gguf.mxfp4", 32), target = rowOf("mxfp4", 32);
  PlaneBytes planes =
      expectRecodes(source, ggufRows({}, 255, 1), target, "byte 255");
  ASSERT_EQ(planes.size(), 2u);
  EXPECT_EQ(planes[1][0], 254);
}

TEST(Recode, GradeToGgufMxfp4) {
  ArraySpec source = rowOf("mxfp4", 32), target = rowOf("gguf.mxfp4", 32);
  for (unsigned e = 0; e < 256; ++e)
    for (unsigned code = 0; code < 16; ++code) {
      PlaneBytes planes = {Bytes(16, static_cast<uint8_t>(code)),
                           Bytes(1, static_cast<uint8_t>(e))};
      planes[0][5] = static_cast<uint8_t>(code << 4 | 7);
      auto result = recodeTo(source, planes, target);
      if (e == 255) {
        // A NaN, whatever the codes.
        ASSERT_FALSE(result) << code;
        EXPECT_NE(result.error().found.find("nan"), std::string::npos);
      } else if (code == 8) {
        ASSERT_FALSE(result) << e;
        EXPECT_EQ(result.error().field, "element 0");
        EXPECT_NE(result.error().cause.find("only +0"), std::string::npos)
            << result.error().str();
      } else {
        ASSERT_TRUE(result) << e << " " << code << result.error().str();
        EXPECT_EQ((*result)[0][0], e);
        if (e < 253) {
          EXPECT_EQ((*result)[0][1], code * 17) << e;
        }
        expectSameBits(decodeAll(target, *result), decodeAll(source, planes),
                       "mxfp4");
      }
    }
}

//===----------------------------------------------------------------------===//
// NVFP4 in its variants
//===----------------------------------------------------------------------===//

/// Codes other than 8 under most scale codes, and the scale of the tensor
/// given.
static PlaneBytes nvfp4Planes(float outer) {
  PlaneBytes planes(3);
  for (unsigned scale = 1; scale <= 124; ++scale) {
    for (unsigned i = 0; i < 8; ++i)
      planes[0].push_back(static_cast<uint8_t>(i * 34 + 16 - (i == 4)));
    planes[1].push_back(static_cast<uint8_t>(scale));
  }
  for (int byte = 0; byte < 4; ++byte)
    planes[2].push_back(static_cast<uint8_t>(bits(outer) >> 8 * byte));
  return planes;
}

TEST(Recode, Nvfp4BetweenItsVariants) {
  const int64_t columns = 124 * 16;
  ArraySpec grade = rowOf("nvf4", columns);
  ArraySpec divided = rowOf("ct.nvfp4", columns);
  ArraySpec after = rowOf("ninfer.nvfp4", columns);
  ArraySpec blocks = rowOf("gguf.nvfp4", columns);
  for (float outer : {1.0f, 0.25f, 0x1p-20f, 64.0f}) {
    PlaneBytes planes = nvfp4Planes(outer);
    for (const ArraySpec &target : {divided, after}) {
      PlaneBytes other =
          expectRecodes(grade, planes, target, target.contract.name());
      ASSERT_EQ(other.size(), 3u);
      EXPECT_EQ(other[0], planes[0]);
      EXPECT_EQ(other[1], planes[1]);
      EXPECT_EQ(expectRecodes(target, other, grade, "and back"), planes);
    }
  }
  // Blocks have no scale of the tensor: it must be 1.
  PlaneBytes planes = nvfp4Planes(1);
  PlaneBytes inBlocks = expectRecodes(grade, planes, blocks, "to gguf.nvfp4");
  EXPECT_EQ(expectRecodes(blocks, inBlocks, grade, "from gguf.nvfp4"), planes);
  auto refused = recodeTo(grade, nvfp4Planes(3), blocks);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause.find("factor d"), std::string::npos)
      << refused.error().str();
  // -0 again.
  planes[0][0] = 0x88;
  refused = recodeTo(grade, planes, blocks);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause.find("only +0"), std::string::npos);
  expectRecodes(grade, planes, divided, "to ct.nvfp4, with -0");
}

TEST(Recode, Nvfp4DividedByANumberThatHasNoInverse) {
  const int64_t columns = 124 * 16;
  // f32(1 / 3) is no third: the products differ in their last bits.
  auto refused = recodeTo(rowOf("ct.nvfp4", columns), nvfp4Planes(3),
                          rowOf("nvf4", columns));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::GradeUnknown);
}
