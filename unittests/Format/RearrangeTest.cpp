//===- RearrangeTest.cpp - bytes that move keep their values --------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Rearrange.h"
#include "LawArrays.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Laws.h"
#include <numeric>

using namespace grit;
using namespace grit::test;

static constexpr int kRounds = 1200;

static PlaneBytes move(const ArraySpec &spec, const PlaneBytes &planes,
                       const Placements &to) {
  return take(relayoutPlanes(spec, spansOf(planes), to));
}

/// Relayout keeps what decode gives, composes, and comes back, for random
/// layouts of all planes (L1, L2, P20).
TEST(Rearrange, L1_L2_RelayoutOfRandomLayouts) {
  Random random(1);
  LayoutSampler sampler(11);
  int moved = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Contract contract = lawContract(round, random);
    ArraySpec spec = lawMatrix(contract, random);
    PlaneBytes planes = decodablePlanes(spec, random);
    clearTails(spec, planes);
    std::vector<float> values = decodeAll(spec, planes);
    ArraySpec p = withRandomPlacements(spec, sampler, random);
    ArraySpec q = withRandomPlacements(spec, sampler, random);
    std::string what = contract.name() + " " +
                       testing::PrintToString(spec.shape) + " " +
                       p.placements.data.str() + " " + q.placements.data.str();
    PlaneBytes inP = move(spec, planes, p.placements);
    PlaneBytes inQ = move(p, inP, q.placements);
    expectSameBits(decodeAll(p, inP), values, what);
    expectSameBits(decodeAll(q, inQ), values, what);
    ASSERT_EQ(inQ, move(spec, planes, q.placements)) << what;
    ASSERT_EQ(move(p, inP, p.placements), inP) << what;
    ASSERT_EQ(move(q, inQ, spec.placements), planes) << what;
    moved += inP != planes;
  }
  EXPECT_GT(moved, kRounds / 2);
}

/// Every slot of every small matrix under every registered word is where the
/// table of P4 says; SpecArrayTest compares larger ones.
TEST(Rearrange, L2_ColumnsOfASmallPlane) {
  ArraySpec spec = take(ArraySpec::get(
      contract("grit1(e=s8,k0=4,s0=binary16,esr=ratiomaxabs)"), {3, 4}));
  PlaneBytes planes = {Bytes(12), Bytes(6)};
  std::iota(planes[0].begin(), planes[0].end(), 0);
  Placements to = spec.placements;
  to.data = placements::ColMajor;
  PlaneBytes result = move(spec, planes, to);
  EXPECT_EQ(result[0], (Bytes{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(result[1], planes[1]);
}

/// Nothing leaves an opaque or an unspecified placement, and equal hashes
/// without their texts are not elided; the refusal names the word (L3, P17).
TEST(Rearrange, L3_NoWayOutOfTheUnknown) {
  ArraySpec spec = take(ArraySpec::get(contract("i8s24"), {32, 64}));
  Random random(3);
  PlaneBytes planes = decodablePlanes(spec, random);
  Placement opaque(0xF000000000000123), hash(0x8000000000000123);
  Placement unresolvable = take(Placement::parse("layout(Opaque(acme,00))"));
  for (Placement word : {opaque, hash, unresolvable, placements::Unspecified,
                         placements::MetaM16N8K32, placements::BlockAos})
    for (unsigned role = 0; role < 3; ++role) {
      Placements words = spec.placements;
      (role == 0 ? words.data : role == 1 ? words.scale : words.meta) = word;
      ArraySpec hidden = spec;
      hidden.placements = words;
      if (hidden.verify())
        continue; // an aux plane without a placement
      for (auto [from, to] :
           {std::pair(hidden, spec.placements), std::pair(spec, words)}) {
        auto refused = relayoutPlanes(from, spansOf(planes), to);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().status, Status::PlacementUnknown);
        EXPECT_NE(refused.error().str().find(word.specName()),
                  std::string::npos)
            << refused.error().str();
      }
      // The same word on both sides: bytes stay, unless it is a hash whose
      // text nobody has.
      auto same = relayoutPlanes(hidden, spansOf(planes), words);
      EXPECT_EQ(same.has_value(), word != hash) << word.str();
      if (same) {
        EXPECT_EQ(*same, planes);
      }
    }
}

/// A random box that the law allows, by trying.
static bool pickSlice(const ArraySpec &spec, Random &random,
                      std::vector<int64_t> &offsets,
                      std::vector<int64_t> &sizes) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    offsets.clear();
    sizes.clear();
    for (size_t i = 0; i < spec.shape.size(); ++i) {
      int64_t extent = spec.shape[i];
      int64_t start = static_cast<int64_t>(random.next() % extent);
      int64_t size = static_cast<int64_t>(1 + random.next() % (extent - start));
      if (random.next() % 2 == 0 || static_cast<int>(i) == spec.axis) {
        int64_t k = static_cast<int>(i) == spec.axis
                        ? spec.contract.description().axisMultiple
                        : 1;
        start -= start % k;
        size = std::max(size - size % k, k);
      }
      offsets.push_back(start);
      sizes.push_back(size);
    }
    if (sliceOf(spec, offsets, sizes))
      return true;
  }
  return false;
}

/// The values of a box of a matrix.
static std::vector<float> sliceValues(const std::vector<float> &values,
                                      const ArraySpec &spec,
                                      const std::vector<int64_t> &offsets,
                                      const std::vector<int64_t> &sizes) {
  std::vector<float> result;
  for (int64_t r = 0; r < sizes[0]; ++r)
    for (int64_t c = 0; c < sizes[1]; ++c)
      result.push_back(
          values[(offsets[0] + r) * spec.shape[1] + offsets[1] + c]);
  return result;
}

/// A slice that is allowed decodes to the slice of the values, in any layout
/// that fits both; joining the rows of an array gives its bytes back.
TEST(Rearrange, L5_SlicesDecodeToSlices) {
  Random random(4);
  LayoutSampler sampler(14);
  int slices = 0, placed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Contract contract = lawContract(round, random);
    ArraySpec spec = lawMatrix(contract, random);
    ArraySpec other = withRandomPlacements(spec, sampler, random);
    PlaneBytes planes = decodablePlanes(spec, random);
    std::vector<float> values = decodeAll(spec, planes);
    std::vector<int64_t> offsets, sizes;
    for (const ArraySpec &from : {spec, other}) {
      if (!pickSlice(from, random, offsets, sizes))
        continue;
      ArraySpec slice = take(sliceOf(from, offsets, sizes));
      PlaneBytes there = move(spec, planes, from.placements);
      PlaneBytes cut = take(slicePlanes(from, spansOf(there), offsets, sizes));
      expectSameBits(
          decodeAll(slice, cut), sliceValues(values, spec, offsets, sizes),
          contract.name() + testing::PrintToString(spec.shape) +
              testing::PrintToString(offsets) + testing::PrintToString(sizes));
      ++slices;
      placed += !(from.placements == spec.placements);
    }
  }
  EXPECT_GT(slices, kRounds / 2);
  EXPECT_GT(placed, kRounds / 8);
}

TEST(Rearrange, L5_PartsMakeTheWholeAgain) {
  Random random(5);
  for (int round = 0; round < kRounds / 4; ++round) {
    const Contract contract = lawContract(round, random);
    ArraySpec spec = lawMatrix(contract, random);
    int axis = static_cast<int>(random.next() % 2);
    spec.shape[axis] *= 4;
    PlaneBytes planes = decodablePlanes(spec, random);
    int64_t step = spec.shape[axis] / 4;
    std::vector<ArraySpec> specs;
    std::vector<PlaneBytes> bytes;
    std::vector<int64_t> offsets(2), sizes = spec.shape;
    sizes[axis] = step;
    for (; offsets[axis] < spec.shape[axis]; offsets[axis] += step) {
      Expected<ArraySpec> part = sliceOf(spec, offsets, sizes);
      if (!part)
        break;
      specs.push_back(*part);
      bytes.push_back(take(slicePlanes(spec, spansOf(planes), offsets, sizes)));
    }
    if (specs.size() != 4)
      continue;
    std::vector<std::vector<ByteSpan>> spans;
    for (const PlaneBytes &part : bytes)
      spans.push_back(spansOf(part));
    std::vector<PlacedArray> parts;
    for (size_t i = 0; i < 4; ++i)
      parts.push_back({specs[i], spans[i]});
    PlaneBytes whole = take(concatPlanes(parts, axis));
    expectSameBits(decodeAll(spec, whole), decodeAll(spec, planes),
                   contract.name());
    // Parts that differ in the scale of the whole array have no whole.
    const FormatDescription &desc = contract.description();
    if (desc.scales.front().group != 0)
      continue;
    bytes[2][desc.scales.front().bits.plane][0] ^= 1;
    auto refused = concatPlanes(parts, axis);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::SizeMismatch);
  }
}

/// A transpose that is allowed decodes to the transpose of the values.
TEST(Rearrange, L4_TransposesDecodeToTransposes) {
  Random random(6);
  const std::vector<int64_t> permutations[] = {{0, 1, 2}, {1, 0, 2}};
  int turned = 0;
  for (const Contract &contract : lawContracts())
    for (const std::vector<int64_t> &permutation : permutations) {
      int64_t inner = std::lcm(contract.description().axisMultiple,
                               contract.description().arrayMultiple);
      ArraySpec spec = take(ArraySpec::get(contract, {2, 3, inner}));
      PlaneBytes planes = decodablePlanes(spec, random);
      ArraySpec result = take(transposeOf(spec, permutation));
      PlaneBytes bytes =
          take(transposePlanes(spec, spansOf(planes), permutation));
      std::vector<float> values = decodeAll(spec, planes), expected;
      for (int64_t i = 0; i < result.shape[0]; ++i)
        for (int64_t j = 0; j < result.shape[1]; ++j) {
          int64_t row = permutation[0] == 0 ? i * 3 + j : j * 3 + i;
          for (int64_t k = 0; k < inner; ++k)
            expected.push_back(values[row * inner + k]);
        }
      expectSameBits(decodeAll(result, bytes), expected, contract.name());
      ++turned;
    }
  EXPECT_EQ(turned, static_cast<int>(2 * lawContracts().size()));
}

/// Groups along an axis that is not the last one: only somebody else's formats
/// have them.
TEST(Rearrange, L5_GroupsAlongAnAxis) {
  ArraySpec spec =
      take(ArraySpec::get(contract("hurray.nf4(block=64)"), {128, 3}, 0));
  Random random(7);
  PlaneBytes planes = decodablePlanes(spec, random);
  std::vector<float> values = decodeAll(spec, planes);
  for (int64_t start : {0, 64})
    for (int64_t column : {0, 1, 2}) {
      std::vector<int64_t> offsets = {start, column}, sizes = {64, 3 - column};
      ArraySpec slice = take(sliceOf(spec, offsets, sizes));
      expectSameBits(decodeAll(slice, take(slicePlanes(spec, spansOf(planes),
                                                       offsets, sizes))),
                     sliceValues(values, spec, offsets, sizes), "nf4");
    }
  const int64_t offsets[] = {32, 0}, sizes[] = {64, 3};
  EXPECT_FALSE(sliceOf(spec, offsets, sizes));
}

/// Repeated indices shift the codes of all later runs, so no part of such an
/// array can be taken.
TEST(Rearrange, L5_DamagedIndicesAreRefused) {
  ArraySpec spec = take(ArraySpec::get(contract("i8s24"), {2, 32}));
  Random random(8);
  PlaneBytes planes = decodablePlanes(spec, random);
  const std::vector<int64_t> offsets = {1, 0}, sizes = {1, 32};
  EXPECT_TRUE(slicePlanes(spec, spansOf(planes), offsets, sizes));
  planes[2][0] = 0;
  auto refused = slicePlanes(spec, spansOf(planes), offsets, sizes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::DigestMismatch);
  planes[0].pop_back();
  EXPECT_EQ(slicePlanes(spec, spansOf(planes), offsets, sizes).error().status,
            Status::SizeMismatch);
}

/// Equal gids and equal bytes decode to equal bits: whoever described the
/// array, in whatever spelling, with whatever note.
TEST(Rearrange, L8_EqualIdentitiesDecodeAlike) {
  Random random(9);
  for (const Contract &known : lawContracts()) {
    ArraySpec spec = lawMatrix(known, random);
    spec.note = static_cast<uint32_t>(random.next());
    PlaneBytes planes = decodablePlanes(spec, random);
    std::string spelling = known.canonical();
    for (char &c : spelling)
      c = static_cast<char>(std::toupper(c));
    spelling.replace(0, 5, "grit1");
    ArraySpec again =
        take(ArraySpec::get(contract(spelling), spec.shape, spec.axis));
    ASSERT_EQ(again.gid(), spec.gid());
    expectSameBits(decodeAll(again, planes), decodeAll(spec, planes),
                   known.name());
    // Another placement is another identity.
    again.placements.data = placements::ColMajor;
    ASSERT_NE(again.gid(), spec.gid());
  }
}

/// A higher level only turns what would have gone wrong into a diagnostic: a
/// failure stays, a new one has a cause, and nothing is written.
TEST(Rearrange, L9_LevelsOnlyAddDiagnostics) {
  Random random(10);
  LayoutSampler sampler(20);
  int found[4] = {};
  for (int round = 0; round < kRounds; ++round) {
    const Contract contract = lawContract(round, random);
    ArraySpec spec =
        withRandomPlacements(lawMatrix(contract, random), sampler, random);
    PlaneBytes good = decodablePlanes(spec, random);
    if (spec.contract.description().sparsity) {
      ArraySpec inOrder = spec;
      inOrder.placements = contract.canonicalPlacements();
      good = move(inOrder, good, spec.placements);
    }
    std::array<uint8_t, 16> expected = [&] {
      std::array<ByteSpan, 4> slots;
      for (unsigned i = 0; i < good.size(); ++i)
        slots[planeSlot(contract.description(), i)] = good[i];
      return digest(slots);
    }();
    PlaneBytes planes = good;
    PlaneSizes sizes = take(spec.planeSizes());
    size_t plane = random.next() % planes.size();
    if (round % 3 == 1)
      planes[plane][random.next() % planes[plane].size()] ^= 1;
    if (round % 3 == 2)
      ++sizes[plane];
    PlaneBytes before = planes;
    std::vector<const uint8_t *> addresses;
    for (const Bytes &bytes : planes)
      addresses.push_back(bytes.data());
    Status last = Status::Ok;
    for (int level : {1, 2, 3}) {
      auto error = check(spec, sizes, level, addresses, expected);
      Status status = error ? error->status : Status::Ok;
      if (last != Status::Ok) {
        ASSERT_EQ(status, last);
      } else if (status != Status::Ok) {
        ++found[level];
        ASSERT_TRUE(level == 1 ? round % 3 == 2 : round % 3 == 1);
        ASSERT_TRUE(level != 2 || status == Status::DigestMismatch);
      }
      last = status;
    }
    ASSERT_EQ(last == Status::Ok, round % 3 == 0) << contract.name();
    ASSERT_EQ(planes, before);
  }
  EXPECT_GT(found[1], kRounds / 4);
  EXPECT_GT(found[2], kRounds / 4);
  EXPECT_EQ(found[3], 0);
}

/// Bytes lie in a placement because they were written in it, moved there, or
/// because somebody assumed it: encode claims the canonical placements only,
/// relayout's result decodes under the new words, and an assumption marks the
/// array.
TEST(Rearrange, P19_WrittenMovedOrAssumed) {
  ArraySpec spec = take(ArraySpec::get(contract("mxfp4"), {4, 64}));
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 1.0f);
  PlaneBytes written = take(encode(spec, values));
  ArraySpec columns = spec;
  columns.placements = {placements::ColMajor, placements::ColMajor, {}};
  Expected<PlaneBytes> claimed = encode(columns, values);
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().status, Status::PlacementUnknown);

  PlaneBytes moved = move(spec, written, columns.placements);
  expectSameBits(decodeAll(columns, moved), decodeAll(spec, written), "moved");
  EXPECT_NE(decodeAll(columns, written), decodeAll(spec, written));

  Descriptor descriptor = Descriptor::read(*spec.descriptor());
  Assumptions assumed;
  ASSERT_TRUE(assumePlacement(descriptor, spec.shape, assumed, PlaneRole::Data,
                              placements::ColMajor, "the vendor's manual"));
  EXPECT_EQ(descriptor.placements.data, placements::ColMajor);
  EXPECT_TRUE(descriptor.note & Descriptor::kNoteAssumed);
  EXPECT_FALSE(columns.note & Descriptor::kNoteAssumed);
}
