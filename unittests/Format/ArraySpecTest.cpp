//===- ArraySpecTest.cpp - arrays under contracts -------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"

using namespace grit;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

// (B18, B19)
TEST(ArraySpec, PlaneSizes) {
  struct Case {
    const char *contract;
    std::vector<int64_t> shape;
    PlaneSizes sizes;
  };
  const Case cases[] = {
      {"mxfp4", {64, 128}, {4096, 256}},
      {"nvf4", {64, 128}, {4096, 512, 4}},
      {"q4ks", {256}, {128, 8, 4, 8}},
      {"q4ks", {4, 384}, {768, 48, 24, 48}}, // super-blocks run over row ends
      {"i8s24", {64, 128}, {4096, 512, 1024}},
      {"i8s24", {32}, {16, 2, 4}},
      {"gguf.q4_0", {3, 64}, {108}},
      {"gguf.q4_k", {2, 512}, {576}},
      {"gguf.q8_0", {1, 32}, {34}},
      {"gguf.mxfp4", {5, 96}, {255}},
      {"gguf.iq4_nl", {32}, {18}},
      {"hurray.nf4", {128, 128}, {8192, 1024}},
      {"hurray.nf4(block=128)", {128, 128}, {8192, 512}},
      // Empty arrays are legal; a scale per tensor stays.
      {"mxfp4", {0}, {0, 0}},
      {"nvf4", {7, 0}, {0, 0, 4}},
      {"q4ks", {0, 32}, {0, 0, 0, 0}},
      {"i8s24", {0}, {0, 0, 0}},
      {"gguf.q4_k", {0, 256}, {0}},
      {"hurray.nf4", {4, 0}, {0, 0}},
      // Codes that do not fill a byte.
      {"grit1(e=u2,k0=3,s0=u4,esr=ratio)", {3}, {1, 1}},
      {"grit1(e=u6,k0=3,s0=u4,esr=ratio)", {3, 3}, {7, 3}},
      {"grit1(e=u2,k0=4,s0=u8,ct=pad8,esr=ratio)", {8}, {8, 2}},
      {"grit1(e=u4,k0=32,s0=u8,k1=2,s1=binary16,zp=u4,zps=l1,esr=ratio)",
       {64},
       {32, 2, 4, 2}},
  };
  for (const Case &c : cases) {
    ArraySpec spec = take(ArraySpec::get(contract(c.contract), c.shape));
    EXPECT_EQ(take(spec.planeSizes()), c.sizes) << c.contract;
    EXPECT_EQ(spec.checkPlaneSizes(c.sizes), std::nullopt) << c.contract;
  }
}

TEST(ArraySpec, Nf4BlocksRunAlongAnyAxis) {
  for (int axis : {0, 1, -2})
    EXPECT_EQ(take(take(ArraySpec::get(contract("hurray.nf4(block=8)"),
                                       {16, 24, 3}, axis))
                       .planeSizes()),
              (PlaneSizes{576, 576}));
  Expected<ArraySpec> ragged =
      ArraySpec::get(contract("hurray.nf4(block=8)"), {3, 20});
  ASSERT_FALSE(ragged);
  EXPECT_EQ(ragged.error().status, Status::SizeMismatch);
  EXPECT_NE(ragged.error().str().find("ragged"), std::string::npos);
  EXPECT_NE(ragged.error().str().find("pad the axis to 24"), std::string::npos);
  // Shorter than a block is ragged, too.
  EXPECT_FALSE(ArraySpec::get(contract("hurray.nf4"), {32}));
}

// (B14)
TEST(ArraySpec, ShapesThatDoNotFit) {
  struct Case {
    const char *contract;
    std::vector<int64_t> shape;
    int axis;
    const char *field;
  };
  constexpr int64_t kHuge = int64_t(1) << 40;
  const Case cases[] = {
      {"mxfp4", {}, 0, "rank"},
      {"mxfp4", {33}, 0, "shape[0]"},
      {"mxfp4", {32, -1}, 0, "shape[1]"},
      {"mxfp4", {32}, 1, "group_axis"},
      {"mxfp4", {32}, -2, "group_axis"},
      {"mxfp4", {1, 1, 1, 1, 1, 1, 1, 1, 32}, 8, "rank"},
      {"mxfp4", {kHuge, kHuge}, 1, "shape"},
      {"mxfp4", {INT64_MAX - 31}, 0, "shape"}, // too many bits
      {"q4ks", {32}, 0, "shape"},
      {"i8s24", {16, 33}, 1, "shape[1]"},
      {"grit1(e=s8,k0=2,s0=u8,sp=2:4:u2:asclsb,esr=ratio)", {6}, 0, "shape[0]"},
      {"gguf.q4_0", {32, 3}, 0, "group_axis"},
      {"gguf.q4_k", {128}, 0, "shape[0]"},
  };
  for (const Case &c : cases) {
    ArraySpec spec{contract(c.contract), c.shape, c.axis < 0 ? -1 : c.axis,
                   contract(c.contract).canonicalPlacements()};
    Expected<PlaneSizes> sizes = spec.planeSizes();
    ASSERT_FALSE(sizes) << c.contract;
    EXPECT_EQ(sizes.error().status, Status::SizeMismatch);
    EXPECT_EQ(sizes.error().field, c.field) << sizes.error().str();
  }
  // A trailing extent of one leaves blocks along the axis in order.
  EXPECT_TRUE(ArraySpec::get(contract("gguf.q4_0"), {32, 1}, 0));
  // Grades count groups in row-major order, whatever the axis.
  EXPECT_TRUE(ArraySpec::get(contract("mxfp4"), {32, 3}, 0));
}

TEST(ArraySpec, WrongSizesAreExplained) {
  ArraySpec spec = take(ArraySpec::get(contract("nvf4"), {64, 128}));
  struct Case {
    PlaneSizes found;
    int plane;
    const char *part;
  };
  const Case cases[] = {
      {{4096, 256, 4}, 1, "groups of 32 elements instead of 16"},
      {{8192, 512, 4}, 0, "8 bits per element instead of 4"},
      {{4096, 512, 0}, 2, "missing"},
      {{512, 4096, 4}, 0, "another order"},
      {{4095, 512, 4}, 0, "cut short"},
      {{4100, 512, 4}, 0, "too many"},
      {{4096, 512, 8}, 2, "another contract"},
      {{4096, 512}, -1, "wrong number of planes"},
  };
  for (const Case &c : cases) {
    std::optional<Error> error = spec.checkPlaneSizes(c.found);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status, Status::SizeMismatch);
    EXPECT_EQ(error->plane, c.plane);
    EXPECT_NE(error->str().find(c.part), std::string::npos) << error->str();
  }
  // The aux plane is number 3 of the four, even where scale1 is absent.
  spec = take(ArraySpec::get(contract("i8s24"), {64}));
  EXPECT_EQ(spec.checkPlaneSizes({32, 4, 9})->plane, 3);
  EXPECT_NE(spec.checkPlaneSizes({32, 4, 9})
                ->declared.find("numel=64 / 4 x 4 bits = 8 bytes"),
            std::string::npos);
}

TEST(ArraySpec, Placements) {
  struct Case {
    const char *contract;
    Placements placements;
    const char *field; ///< null: accepted
  };
  using namespace placements;
  const Placement opaque(~uint64_t(0)), hash(uint64_t(8) << 60);
  const Case cases[] = {
      {"mxfp4", {RowMajor, RowMajor, {}}, nullptr},
      {"mxfp4", {{}, {}, {}}, nullptr},
      {"mxfp4", {opaque, hash, {}}, nullptr},
      {"mxfp4", {RowMajor, RowMajor, RowMajor}, "placement_meta"},
      {"mxfp4", {Placement(7), RowMajor, {}}, "placement_data"},
      {"mxfp4",
       {RowMajor, Placement(0x1000000000000006), {}},
       "placement_scale"},
      {"i8s24", {RowMajor, RowMajor, {}}, "placement_meta"},
      {"i8s24", {RowMajor, RowMajor, opaque}, nullptr},
      {"q4ks", {RowMajor, RowMajor, {}}, "placement_meta"},
      {"gguf.q4_k", {BlockAos, {}, {}}, nullptr},
      {"gguf.q4_k", {BlockAos, RowMajor, {}}, "placement_scale"},
      {"gguf.q4_k", {BlockAos, {}, RowMajor}, "placement_meta"},
      {"hurray.nf4", {RowMajor, RowMajor, {}}, nullptr},
      {"hurray.nf4", {RowMajor, RowMajor, LinearMeta}, "placement_meta"},
  };
  for (const Case &c : cases) {
    // A shape that does not fit: placements come first.
    ArraySpec spec{contract(c.contract), {1}, 0, c.placements};
    std::optional<Error> error = spec.verify();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status,
              c.field ? Status::PlacementUnknown : Status::SizeMismatch)
        << error->str();
    EXPECT_EQ(error->field, c.field ? c.field : error->field);
  }
}

TEST(ArraySpec, CanonicalPlacementsAreTheDefault) {
  using namespace placements;
  auto of = [](const char *name) {
    return contract(name).canonicalPlacements();
  };
  EXPECT_EQ(of("nvf4"), (Placements{RowMajor, RowMajor, {}}));
  EXPECT_EQ(of("q4ks"), (Placements{RowMajor, RowMajor, RowMajor}));
  EXPECT_EQ(of("i8s24"), (Placements{RowMajor, RowMajor, LinearMeta}));
  EXPECT_EQ(of("gguf.q8_0"), (Placements{BlockAos, {}, {}}));
  EXPECT_EQ(of("hurray.nf4"), (Placements{RowMajor, RowMajor, {}}));
  EXPECT_EQ(take(ArraySpec::get(contract("i8s24"), {2, 32})).placements,
            of("i8s24"));
  EXPECT_EQ(take(ArraySpec::get(contract("i8s24"), {2, 32})).axis, 1);
}
