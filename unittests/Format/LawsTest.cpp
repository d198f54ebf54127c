//===- LawsTest.cpp - which arrays may be cut and turned ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verdicts are compared with what the text says, worked out element by
// element for every box and every permutation of small arrays.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Laws.h"
#include "LawArrays.h"
#include "grit/Format/Note.h"
#include <algorithm>
#include <functional>

using namespace grit;
using namespace grit::test;

/// Calls `visit` with every tuple of numbers below the limits.
static void
forEach(const std::vector<int64_t> &limits,
        const std::function<void(const std::vector<int64_t> &)> &f) {
  std::vector<int64_t> tuple(limits.size());
  if (std::ranges::find(limits, 0) != limits.end())
    return;
  while (true) {
    f(tuple);
    size_t i = tuple.size();
    while (i > 0 && ++tuple[i - 1] == limits[i - 1])
      tuple[--i] = 0;
    if (i == 0)
      return;
  }
}

/// The row-major index of an element.
static int64_t lin(const std::vector<int64_t> &index,
                   const std::vector<int64_t> &shape) {
  int64_t number = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    number = number * shape[i] + index[i];
  return number;
}

/// The sizes of runs of row-major elements that share something.
static std::vector<int64_t> groupSizes(const Grade &grade) {
  std::vector<int64_t> sizes = {static_cast<int64_t>(grade.k0)};
  if (grade.hasLevel1() && *grade.k1)
    sizes.push_back(static_cast<int64_t>(grade.k0) *
                    static_cast<int64_t>(*grade.k1));
  if (grade.isSparse())
    sizes.push_back(grade.spM);
  return sizes;
}

/// Each group of the result, given by the source element of each of its
/// elements in order, is a whole group of the source in order.
static bool groupsAreWhole(const std::vector<int64_t> &sources,
                           const Grade &grade) {
  for (int64_t size : groupSizes(grade))
    for (size_t i = 0; i < sources.size(); ++i) {
      int64_t within = static_cast<int64_t>(i) % size;
      if (sources[i] % size != within ||
          (within != 0 && sources[i] != sources[i - 1] + 1))
        return false;
    }
  return true;
}

/// What L5 says of a slice: the array that results is one, the group axis is
/// cut between groups, and no group is taken apart.
static bool mayBeSliced(const ArraySpec &spec,
                        const std::vector<int64_t> &offsets,
                        const std::vector<int64_t> &sizes) {
  ArraySpec result = spec;
  result.shape = sizes;
  if (result.verify())
    return false;
  const Grade &grade = *spec.contract.grade();
  auto k0 = static_cast<int64_t>(grade.k0);
  int64_t start = offsets[spec.axis], end = start + sizes[spec.axis];
  if (sizes[spec.axis] != spec.shape[spec.axis] &&
      (start % k0 != 0 || end % k0 != 0 ||
       (grade.isSparse() && (start % grade.spM || end % grade.spM))))
    return false;
  std::vector<int64_t> sources;
  forEach(sizes, [&](std::vector<int64_t> index) {
    for (size_t i = 0; i < index.size(); ++i)
      index[i] += offsets[i];
    sources.push_back(lin(index, spec.shape));
  });
  return groupsAreWhole(sources, grade);
}

static const std::vector<std::pair<std::vector<int64_t>, int>> &smallShapes() {
  static const std::vector<std::pair<std::vector<int64_t>, int>> shapes = {
      {{16}, 0},      {{3, 8}, 1},    {{8, 4}, 0},    {{2, 2, 8}, 2},
      {{2, 8, 2}, 1}, {{8, 2, 2}, 0}, {{1, 3, 8}, 2}, {{4, 1, 4}, 2},
  };
  return shapes;
}

TEST(Laws, L5_EverySliceOfSmallArrays) {
  int allowed = 0, refused = 0;
  for (const Contract &contract : lawContracts())
    for (const auto &[shape, axis] : smallShapes()) {
      ArraySpec spec{contract, shape, axis, contract.canonicalPlacements()};
      if (spec.verify())
        continue;
      std::vector<int64_t> limits = shape;
      for (int64_t &limit : limits)
        ++limit;
      forEach(limits, [&](const std::vector<int64_t> &offsets) {
        std::vector<int64_t> rest = limits;
        for (size_t i = 0; i < rest.size(); ++i)
          rest[i] -= offsets[i];
        forEach(rest, [&](const std::vector<int64_t> &sizes) {
          Expected<ArraySpec> slice = sliceOf(spec, offsets, sizes);
          bool expected = mayBeSliced(spec, offsets, sizes);
          ASSERT_EQ(slice.has_value(), expected)
              << contract.name() << testing::PrintToString(shape) << axis
              << testing::PrintToString(offsets)
              << testing::PrintToString(sizes)
              << (slice ? "" : slice.error().str());
          expected ? ++allowed : ++refused;
          if (slice) {
            ASSERT_EQ(slice->shape, sizes);
            ASSERT_EQ(slice->axis, axis);
          } else {
            ASSERT_EQ(slice.error().status, Status::SizeMismatch);
          }
        });
      });
    }
  EXPECT_GT(allowed, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Laws, L5_RefusalsNameTheLaw) {
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {4, 128}));
  for (int64_t start : {1, 31, 33}) {
    const int64_t offsets[] = {0, start}, sizes[] = {4, 32};
    Expected<ArraySpec> slice = sliceOf(spec, offsets, sizes);
    ASSERT_FALSE(slice);
    EXPECT_NE(slice.error().str().find("(L5)"), std::string::npos);
    EXPECT_EQ(slice.error().declared, "a multiple of 32");
  }
  const int64_t zero[] = {0, 0}, oddEnd[] = {4, 33}, rows[] = {2, 128};
  EXPECT_FALSE(sliceOf(spec, zero, oddEnd));
  EXPECT_TRUE(sliceOf(spec, zero, rows));
  const int64_t beyond[] = {3, 0};
  EXPECT_FALSE(sliceOf(spec, beyond, rows));
  EXPECT_FALSE(sliceOf(spec, std::span(zero, 1), rows));

  // Level-1 groups of 256 that run over the ends of rows of 128.
  ArraySpec deep = take(ArraySpec::get(contract("q4ks"), {4, 128}));
  const int64_t one[] = {1, 0}, two[] = {2, 0};
  Expected<ArraySpec> slice = sliceOf(deep, one, rows);
  ASSERT_FALSE(slice);
  EXPECT_NE(slice.error().str().find("(L5)"), std::string::npos);
  EXPECT_TRUE(sliceOf(deep, two, rows));
}

/// The bit of A4 and the placements go with a slice and a transpose; a
/// placement that has no map, or none over the result, is refused.
TEST(Laws, A4_NotesAndPlacementsGoAlong) {
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {32, 64}));
  spec.note = Descriptor::kNoteAssumed | 7 << 8;
  spec.placements.data = placements::Tile16x16;
  const int64_t start[] = {16, 0}, whole[] = {16, 64}, odd[] = {8, 64};
  ArraySpec slice = take(sliceOf(spec, start, whole));
  EXPECT_EQ(slice.note, spec.note);
  EXPECT_EQ(slice.placements, spec.placements);
  EXPECT_EQ(sliceOf(spec, start, odd).error().status, Status::SizeMismatch);
  const int64_t identity[] = {0, 1};
  EXPECT_EQ(take(transposeOf(spec, identity)).note, spec.note);
  for (Placement word : {placements::Unspecified, Placement(~uint64_t(0))}) {
    spec.placements.data = word;
    Expected<ArraySpec> refused = sliceOf(spec, start, whole);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::PlacementUnknown);
    EXPECT_EQ(transposeOf(spec, identity).error().status,
              Status::PlacementUnknown);
    EXPECT_EQ(concatOf(std::vector{spec, spec}, 0).error().status,
              Status::PlacementUnknown);
  }
}

TEST(Laws, L4_EveryTransposeOfSmallArrays) {
  int allowed = 0, moved = 0, apart = 0;
  std::vector<std::pair<std::vector<int64_t>, int>> shapes = smallShapes();
  shapes.push_back({{2, 3, 4, 8}, 3});
  shapes.push_back({{2, 3, 4, 1}, 2});
  for (const Contract &contract : lawContracts())
    for (const auto &[shape, axis] : shapes) {
      ArraySpec spec{contract, shape, axis, contract.canonicalPlacements()};
      if (spec.verify())
        continue;
      std::vector<int64_t> permutation(shape.size());
      for (size_t i = 0; i < shape.size(); ++i)
        permutation[i] = static_cast<int64_t>(i);
      do {
        std::vector<int64_t> turned, sources;
        for (int64_t from : permutation)
          turned.push_back(shape[from]);
        forEach(turned, [&](const std::vector<int64_t> &index) {
          std::vector<int64_t> source(index.size());
          for (size_t i = 0; i < index.size(); ++i)
            source[permutation[i]] = index[i];
          sources.push_back(lin(source, shape));
        });
        bool movesAxis = permutation[axis] != axis;
        bool whole = groupsAreWhole(sources, *contract.grade());
        Expected<ArraySpec> result = transposeOf(spec, permutation);
        ASSERT_EQ(result.has_value(), !movesAxis && whole)
            << contract.name() << testing::PrintToString(shape) << axis
            << testing::PrintToString(permutation)
            << (result ? "" : result.error().str());
        ++(movesAxis ? moved : whole ? allowed : apart);
        if (result) {
          ASSERT_EQ(result->shape, turned);
          ASSERT_EQ(result->axis, axis);
        } else {
          ASSERT_NE(result.error().str().find("(L4)"), std::string::npos);
          ASSERT_EQ(result.error().status, Status::SizeMismatch);
        }
      } while (std::ranges::next_permutation(permutation).found);
    }
  EXPECT_GT(allowed, 50);
  EXPECT_GT(moved, 50);
  EXPECT_GT(apart, 20);
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {2, 32}));
  const int64_t twice[] = {0, 0}, far[] = {0, 2}, few[] = {0};
  EXPECT_FALSE(transposeOf(spec, twice));
  EXPECT_FALSE(transposeOf(spec, far));
  EXPECT_FALSE(transposeOf(spec, few));
}

/// Why L4 refuses: values that are turned and encoded again are others.
TEST(Laws, L4_TurningTheGroupAxisChangesValues) {
  Contract mxfp4 = contract("mxfp4");
  ArraySpec spec = take(ArraySpec::get(mxfp4, {32, 32}));
  std::vector<float> values(1024), turned(1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i / 32 + 1) * (i % 32 + 1) / 7;
  std::vector<float> decoded = decodeAll(spec, take(encode(spec, values)));
  for (size_t i = 0; i < values.size(); ++i)
    turned[i] = values[i % 32 * 32 + i / 32];
  std::vector<float> other = decodeAll(spec, take(encode(spec, turned)));
  int different = 0;
  for (size_t i = 0; i < values.size(); ++i)
    different += other[i] != decoded[i % 32 * 32 + i / 32];
  EXPECT_GT(different, 100);
  const int64_t permutation[] = {1, 0};
  EXPECT_FALSE(transposeOf(spec, permutation));
}

TEST(Laws, L5_ConcatUndoesSlices) {
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {2, 64}));
  ArraySpec other = spec;
  other.shape = {3, 64};
  other.note = Descriptor::kNoteAssumed;
  ArraySpec whole = take(concatOf(std::vector{spec, other}, 0));
  EXPECT_EQ(whole.shape, (std::vector<int64_t>{5, 64}));
  EXPECT_TRUE(Note::read(whole.note).assumed);
  EXPECT_EQ(take(concatOf(std::vector{spec, spec, spec}, 1)).shape,
            (std::vector<int64_t>{2, 192}));
  EXPECT_EQ(take(concatOf(std::vector{spec}, 1)).shape, spec.shape);

  auto statusOf = [](std::vector<ArraySpec> parts, int axis) {
    Expected<ArraySpec> result = concatOf(parts, axis);
    return result ? Status::Ok : result.error().status;
  };
  EXPECT_EQ(statusOf({spec, other}, 1), Status::SizeMismatch);
  EXPECT_EQ(statusOf({spec, spec}, 2), Status::SizeMismatch);
  EXPECT_EQ(statusOf({}, 0), Status::SizeMismatch);
  ArraySpec grade = take(ArraySpec::get(contract("mxfp4_rne"), {2, 64}));
  EXPECT_EQ(statusOf({spec, grade}, 0), Status::GradeUnknown);
  other = spec;
  other.placements.data = placements::ColMajor;
  EXPECT_EQ(statusOf({spec, other}, 0), Status::PlacementUnknown);
  // One scale for the whole array: only the bytes know whether it is the same.
  ArraySpec nvf4 = take(ArraySpec::get(contract("nvf4"), {2, 64}));
  EXPECT_EQ(statusOf({nvf4, nvf4}, 0), Status::GradeUnknown);
  EXPECT_EQ(statusOf({nvf4}, 0), Status::Ok);
  // Parts whose groups would begin elsewhere in the whole.
  ArraySpec deep = take(ArraySpec::get(contract("q4ks"), {2, 128}));
  EXPECT_EQ(statusOf({deep, deep}, 0), Status::Ok);
  EXPECT_EQ(statusOf({deep, deep}, 1), Status::SizeMismatch);
}

TEST(Laws, L6_OrderOfIndices) {
  Contract unordered =
      contract("grit1(e=s8,k0=8,s0=f16,sp=2:8:u4:unord,esr=ratio)");
  std::optional<Error> error = requireAscending(unordered, "a sparse product");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status, Status::GradeUnknown);
  EXPECT_EQ(error->field, "sp_order");
  EXPECT_EQ(error->message,
            "a sparse product needs indices that rise within each run (L6)");
  for (const Contract &contract : lawContracts())
    EXPECT_FALSE(requireAscending(contract, "a sparse product"));
}
