//===- EncodeRefusalsTest.cpp - formats that a rule does not fit ----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"

using namespace grit;
using namespace grit::test;

namespace {
/// A rule, the parts of a format that it has no answer for, and the field that
/// its refusal names.
struct Refusal {
  const char *rule, *parts, *field;
};
} // namespace

static constexpr Refusal kRefusals[] = {
    // A minimum, a table, an integer scale, digits after the level.
    {"abs_max",
     "planes=[8/1@0,16/4@1,16/4@2],codes=p0:8@0+i*8,level=u8,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],"
     "min=[(binary16,lin/4,p2:16@0+i*16)],axis=4",
     "scales"},
    {"abs_max",
     "planes=[2/1@0,16/4@1],codes=p0:2@0+i*2,level=[-1,0,0.5,1],"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "level"},
    {"abs_max",
     "planes=[8/1@0,8/4@1],codes=p0:8@0+i*8,level=s8,"
     "scales=[d=(u8,lin/4,p1:8@0+i*8)],axis=4",
     "d"},
    {"abs_max",
     "planes=[8/1@0,16/4@1],codes=p0:8@0+i*8,level=s8,"
     "scales=[d=>(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "d"},
    {"abs_max",
     "planes=[8/1@0,16/4@1,16/0@1],codes=p0:8@0+i*8,level=s8,"
     "scales=[(binary16,lin/4,p1:16@0+i*16),g=(binary16,all,p2:16@0)],axis=4",
     "g"},
    {"abs_max",
     "planes=[16/1@0,16/4@1],codes=p0:16@0+i*16,level=binary16,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "level"},
    {"abs_max",
     "planes=[16/4@0,16/4@1,8/4@2],codes=p0:8@0+i*8,level=s8,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],sparse=2:4:asc:p2:4@0+i*4,axis=4",
     "sparse"},
    // Nothing above 0, and nothing that binary32 can hold.
    {"exp2_floor",
     "planes=[8/1@0,8/4@1],codes=p0:8@0+i*8,level=u8-255,"
     "scales=[(e8m0,lin/4,p1:8@0+i*8)],axis=4",
     "level"},
    {"ratio",
     "planes=[8/1@0,16/4@1],codes=p0:8@0+i*8,level=e4m3*2^200,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "level"},
    {"abs_max[narrow]",
     "planes=[8/1@0,8/4@1],codes=p0:8@0+i*8,level=s8,"
     "scales=[(e8m0,lin/4,p1:8@0+i*8)],axis=4",
     "narrow"},
    // No zero point, other groups, codes that are not bytes, an integer scale.
    {"zero_point_min_max",
     "planes=[4/1@0,16/4@1],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "zero"},
    {"zero_point_min_max",
     "planes=[4/1@0,16/4@1,4/2@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],zero=z=(u4,lin/2,p2:4@0+i*4),"
     "axis=4",
     "z"},
    {"zero_point_min_max",
     "planes=[4/1@0,16/4@1,4/4@2],codes=p0:4@0+i*4,level=s4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],zero=(u4,lin/4,p2:4@0+i*4),axis=4",
     "level"},
    {"zero_point_min_max",
     "planes=[4/1@0,8/4@1,4/4@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[d=(e8m0,lin/4,p1:8@0+i*8)],zero=(u4,lin/4,p2:4@0+i*4),axis=4",
     "d"},
    {"zero_point_min_max",
     "planes=[4/1@0,16/4@1,4/4@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],zero=(u4+1,lin/4,p2:4@0+i*4),"
     "axis=4",
     "zero"},
    {"gptq_symmetric",
     "planes=[4/1@0,16/4@1,8/4@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],zero=(u8,lin/4,p2:8@0+i*8),axis=4",
     "zero"},
    {"hqq_min_max",
     "planes=[4/1@0,16/4@1,4/4@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],zero=(u4,lin/4,p2:4@0+i*4),axis=4",
     "zero"},
    // No minimum, one of other groups, one that is not negated.
    {"mlx_edge",
     "planes=[4/1@0,16/4@1],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],axis=4",
     "min"},
    {"mlx_edge",
     "planes=[4/1@0,16/4@1,16/2@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],"
     "min=[b=(binary16*-1,lin/2,p2:16@0+i*16)],axis=4",
     "b"},
    {"mlx_edge",
     "planes=[4/1@0,16/4@1,16/4@2],codes=p0:4@0+i*4,level=s4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],"
     "min=[(binary16*-1,lin/4,p2:16@0+i*16)],axis=4",
     "level"},
    {"mlx_edge",
     "planes=[4/1@0,16/4@1,16/4@2],codes=p0:4@0+i*4,level=u4,"
     "scales=[(binary16,lin/4,p1:16@0+i*16)],"
     "min=[(binary16,lin/4,p2:16@0+i*16)],axis=4",
     "scales, min"},
    // One scale; no table of scales; levels beyond 1.
    {"table_abs_max_nested",
     "planes=[2/1@0,32/4@1],codes=p0:2@0+i*2,level=[-1,0,0.5,1],"
     "scales=[(binary32,lin/4,p1:32@0+i*32)],axis=4",
     "scales"},
    {"table_abs_max_nested",
     "planes=[2/1@0,8/4@1,32/8@1,32/0@1],codes=p0:2@0+i*2,level=[-1,0,0.5,1],"
     "scales=[q=(e4m3,lin/4,p1:8@0+i*8),(binary32,lin/8,p2:32@0+i*32),"
     "+(binary32,all,p3:32@0)],array=8",
     "q"},
    {"table_abs_max_nested",
     "planes=[2/1@0,8/4@1,16/8@1,32/0@1],codes=p0:2@0+i*2,level=[-1,0,0.5,1],"
     "scales=[q=(e4m3,lin/4,p1:8@0+i*8),(binary16,lin/8,p2:16@0+i*16),"
     "+(binary32,all,p3:32@0)],array=8",
     "scales"},
    {"table_abs_max",
     "planes=[2/1@0,32/4@1],codes=p0:2@0+i*2,level=[-1,0,0.5,2],"
     "scales=[(binary32,lin/4,p1:32@0+i*32)],axis=4",
     "level"},
};

TEST(EncodeRefusals, NameThePartThatDoesNotFit) {
  for (const auto &[rule, parts, field] : kRefusals) {
    const std::string text =
        "gritfmt1(encode=" + std::string(rule) + "," + parts + ")";
    ArraySpec spec = take(ArraySpec::get(contract(text), {2, 4}));
    auto planes = encode(spec, std::vector<float>(8));
    ASSERT_FALSE(planes) << text;
    EXPECT_EQ(planes.error().field, field) << text << planes.error().str();
    EXPECT_EQ(planes.error().status, Status::GradeUnknown) << text;
  }
}

/// Blocks stand alone, and lines nest with groups of the same order only.
TEST(EncodeRefusals, GroupsThatDoNotNest) {
  const std::string
      head = "gritfmt1(encode=affine_min_max,",
      codes =
          "codes=p0:4@0+i*4,level=u4,scales=[d=(binary16,lin/8,p1:16@0+i*16),"
          "(u6,lin/3,p2:6@0+i*6)],min=[(binary16,lin/8,p3:16@0+i*16),"
          "(u6,lin/3,p4:6@0+i*6)],axis=24)";
  const Contract nested =
      contract(head + "planes=[4/1@0,16/8@1,6/3@1,16/8@2,6/3@2]," + codes);
  for (int64_t count : {24, 0}) { // the compiler asks about empty arrays
    ArraySpec spec = take(ArraySpec::get(nested, {count}));
    auto planes = encode(spec, std::vector<float>(count));
    ASSERT_FALSE(planes);
    EXPECT_EQ(planes.error().declared,
              "a divisor of 8, counted in the same order");
    EXPECT_EQ(planes.error().found, "3");
  }
}

TEST(EncodeRefusals, LinesWithoutElements) {
  for (const char *name : {"ct.fp8_channel", "ct.int8_channel_bf16"}) {
    ArraySpec spec = take(ArraySpec::get(contract(name), {3, 0}));
    PlaneSizes sizes = take(spec.planeSizes());
    auto planes = take(encode(spec, {}));
    ASSERT_EQ(planes.size(), sizes.size());
    for (size_t i = 0; i < planes.size(); ++i)
      EXPECT_EQ(planes[i], Bytes(static_cast<size_t>(sizes[i]))) << name;
  }
}
