//===- PlacedCheckTest.cpp - grit_check finds values where they lie -------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LawArrays.h"
#include "grit/Format/Check.h"

using namespace grit;
using namespace grit::test;

/// The status of a level-2 or level-3 check, and the names of its warnings.
static std::string outcome(const ArraySpec &spec, const PlaneBytes &planes,
                           int level) {
  std::array<const uint8_t *, 4> addresses{};
  std::array<int64_t, 4> sizes{};
  for (unsigned i = 0; i < planes.size(); ++i) {
    unsigned slot = planeSlot(spec.contract.description(), i);
    addresses[slot] = planes[i].data();
    sizes[slot] = static_cast<int64_t>(planes[i].size());
  }
  auto descriptor = *spec.descriptor();
  std::vector<Warning> warnings;
  auto error =
      check({descriptor, spec.shape, sizes, addresses, {}}, level, &warnings);
  std::string text(statusName(error ? error->status : Status::Ok));
  for (const Warning &warning : warnings)
    text += " " + std::string(warningName(warning.kind));
  return text;
}

static ArraySpec under(ArraySpec spec, Placement data, Placement scale,
                       Placement meta) {
  spec.placements = {data, scale, meta};
  return spec;
}

static const Placement kUnknown[] = {Placement(0xF000000000000007),
                                     Placement(0x8000000000000777)};

/// Step 5.2 finds the indices where placement_meta says they lie, in every
/// layout, and leaves what it cannot find alone (C25).
TEST(PlacedCheck, C25_IndicesAreReadInTheirPlacement) {
  ArraySpec spec = take(ArraySpec::get(contract("i8s24"), {4, 32}));
  PlaneBytes planes = {Bytes(64), Bytes(8), Bytes(16)};
  const uint8_t rising[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  auto setRun = [&](int64_t run, uint8_t indices) {
    std::vector<std::span<uint8_t>> spans(planes.begin(), planes.end());
    const BitField &field = spec.contract.description().sparsity->indices;
    writeField(field, 2 * run, indices & 3, spans);
    writeField(field, 2 * run + 1, indices >> 2, spans);
  };
  auto right = [&](int64_t run) { return rising[(run + run / 5) % 6]; };
  for (int64_t run = 0; run < 32; ++run)
    setRun(run, right(run));
  for (const char *text :
       {"col_major", "layout(Swizzle(2,0,2))", "layout(Perm([3,1,0,2]))",
        "layout(Interleave(RowMajor,4))"}) {
    Placement word = take(Placement::parse(text));
    ArraySpec placed =
        under(spec, placements::RowMajor, placements::RowMajor, word);
    auto moved = [&] {
      return take(relayoutPlanes(spec, spansOf(planes), placed.placements));
    };
    EXPECT_EQ(outcome(placed, moved(), 2), "Ok") << text;
    // In another order they do not rise, and an unknown order is not tested.
    EXPECT_EQ(outcome(spec, moved(), 2), "DigestMismatch") << text;
    for (Placement unknown : kUnknown)
      EXPECT_EQ(outcome(under(spec, placements::RowMajor, placements::RowMajor,
                              unknown),
                        moved(), 2),
                "Ok");
    for (int64_t run = 0; run < 32; ++run) {
      setRun(run, 0x1); // 1, then 0
      EXPECT_EQ(outcome(placed, moved(), 2), "DigestMismatch")
          << text << " run " << run;
      setRun(run, right(run));
    }
  }
}

/// Probes look at every second of 128 groups, wherever these lie (C30).
TEST(PlacedCheck, C30_ProbesFindTheirGroups) {
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {4, 1024}));
  PlaneBytes planes = {Bytes(2048, 0x22), Bytes(128)};
  for (size_t group = 0; group < 128; ++group)
    planes[1][group] = group % 2 ? static_cast<uint8_t>(group) : 0x7F;
  const std::string warned = "Ok scales-without-spread";
  EXPECT_EQ(outcome(spec, planes, 3), warned);
  for (const char *text : {"col_major", "layout(Perm([1,2,3,0]))"}) {
    ArraySpec placed = under(spec, placements::RowMajor,
                             take(Placement::parse(text)), Placement());
    PlaneBytes moved =
        take(relayoutPlanes(spec, spansOf(planes), placed.placements));
    EXPECT_EQ(outcome(placed, moved, 3), warned) << text;
    EXPECT_EQ(outcome(spec, moved, 3), "Ok") << text;
  }
  planes[1].assign(128, 0x7F);
  for (Placement unknown : kUnknown)
    EXPECT_EQ(outcome(under(spec, placements::RowMajor, unknown, Placement()),
                      planes, 3),
              "Ok");
}

/// The same of codes, whose groups survivors belong to.
TEST(PlacedCheck, C30_ProbesFollowSurvivors) {
  ArraySpec spec = take(ArraySpec::get(contract("i8s24"), {4, 1024}));
  PlaneBytes planes = {Bytes(2048), Bytes(256, 0x3C), Bytes(512, 0x44)};
  // Runs keep 0 and 1. Sixteen survivors of a group; 100 in those that nobody
  // looks at.
  for (size_t i = 0; i < 2048; ++i)
    planes[0][i] = i / 16 % 2 ? 100 : 5;
  const std::string warned = "Ok codes-far-from-limit";
  EXPECT_EQ(outcome(spec, planes, 3), warned);
  Placement columns = placements::ColMajor;
  ArraySpec placed = under(spec, columns, placements::RowMajor, columns);
  PlaneBytes moved =
      take(relayoutPlanes(spec, spansOf(planes), placed.placements));
  EXPECT_EQ(outcome(placed, moved, 3), warned);
  ArraySpec wrong = under(spec, placements::RowMajor, placements::RowMajor,
                          spec.placements.meta);
  EXPECT_EQ(outcome(wrong, {moved[0], planes[1], planes[2]}, 3), "Ok");
  for (Placement unknown : kUnknown) {
    EXPECT_EQ(outcome(under(spec, unknown, placements::RowMajor,
                            spec.placements.meta),
                      planes, 3),
              "Ok");
    EXPECT_EQ(outcome(under(spec, placements::RowMajor, placements::RowMajor,
                            unknown),
                      planes, 3),
              "Ok");
  }
}
