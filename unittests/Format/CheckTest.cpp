//===- CheckTest.cpp - grit_check on good, bad and hostile input -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Check.h"
#include "Golden.h"
#include "grit/Format/Fingerprint.h"
#include <gtest/gtest.h>
#include <random>

using namespace grit;

static Status statusOf(const std::optional<Error> &error) {
  return error ? error->status : Status::Ok;
}

static std::array<uint8_t, 16> toDigest(const golden::Bytes &bytes) {
  std::array<uint8_t, 16> digest{};
  EXPECT_EQ(bytes.size(), digest.size());
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

static std::array<const uint8_t *, 4> pointers(const golden::Planes &planes) {
  std::array<const uint8_t *, 4> result;
  for (size_t i = 0; i < 4; ++i)
    result[i] = planes[i].empty() ? nullptr : planes[i].data();
  return result;
}

/// A good array of each registered grade.
struct GoodArray {
  std::string name;
  golden::Bytes descriptor;
  std::vector<int64_t> shape;
  std::vector<int64_t> planeBytes;
};
static const GoodArray &good(const std::string &name) {
  static const std::vector<GoodArray> all = [] {
    std::vector<GoodArray> arrays;
    for (const golden::Grade &grade : golden::file().grades) {
      bool q4ks = grade.name == "GRADE_Q4KS",
           i8s24 = grade.name == "GRADE_I8S24";
      bool nvf4 = grade.name.starts_with("GRADE_NVF4");
      arrays.push_back({grade.name,
                        grade.descriptor,
                        {256},
                        q4ks    ? std::vector<int64_t>{128, 8, 4, 8}
                        : i8s24 ? std::vector<int64_t>{128, 16, 0, 32}
                        : nvf4  ? std::vector<int64_t>{128, 16, 4, 0}
                                : std::vector<int64_t>{128, 8, 0, 0}});
    }
    return arrays;
  }();
  for (const GoodArray &array : all)
    if (array.name == name)
      return array;
  std::abort();
}

static std::optional<Error> checkArray(const GoodArray &array, int level = 1) {
  return check({array.descriptor, array.shape, array.planeBytes, {}, {}},
               level);
}

// (C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17, C18, C20)
TEST(Check, GoldenChecks) {
  ASSERT_EQ(golden::file().checks.size(), 58u);
  for (const golden::Check &c : golden::file().checks) {
    CheckInput input{c.descriptor, c.shape, c.planeBytes, {}, {}};
    std::array<const uint8_t *, 4> planes{};
    if (c.planes)
      planes = pointers(*c.planes);
    input.planes = planes;
    if (c.digest)
      input.digest = toDigest(*c.digest);
    std::optional<Error> error = check(input, c.level);
    EXPECT_EQ(statusName(statusOf(error)), c.status) << c.name;
    EXPECT_EQ(static_cast<int>(statusOf(error)), c.code) << c.name;
    if (!error)
      continue;
    EXPECT_FALSE(error->message.empty() || error->field.empty() ||
                 error->declared.empty() || error->found.empty() ||
                 error->fix.empty())
        << c.name << ": " << error->str();
    // Steps 1 and 2 have one status; their messages tell them apart.
    bool aboutGrade = error->message.find("grade") != std::string::npos;
    if (c.code == 2) {
      EXPECT_EQ(aboutGrade, c.step == 2) << c.name << ": " << error->str();
    }
  }
}

// (C24)
TEST(Check, GoldenVectorsPassLevel2WithTheirDigest) {
  const golden::File &file = golden::file();
  for (const auto *list : {&file.vectors, &file.decodeOnly})
    for (const golden::Vector &v : *list) {
      auto planes = pointers(v.planes);
      CheckInput input{v.descriptor, v.shape, v.planeBytes, planes,
                       toDigest(v.digest)};
      for (int level : {-1, 0, 1, 2, 3}) {
        std::optional<Error> error = check(input, level);
        EXPECT_EQ(statusName(statusOf(error)),
                  level < 2 ? "Ok" : std::string_view(v.level2))
            << v.name << " level " << level;
      }
      (*input.digest)[v.name.size() % 16] ^= 1;
      EXPECT_EQ(statusOf(check(input, 2)), Status::DigestMismatch);
      EXPECT_EQ(statusOf(check(input, 1)), Status::Ok);

      Expected<ArraySpec> spec = specFromDescriptor(v.descriptor, v.shape);
      ASSERT_TRUE(spec) << spec.error().str();
      EXPECT_EQ(spec->contract.name(), Contract::parse(v.grade)->name());
      EXPECT_EQ(spec->shape, v.shape);
    }
}

/// Every flip of one bit of a canonical descriptor has the outcome of its
/// field.
// (C12, C33)
TEST(Check, EveryBitFlip) {
  for (const golden::Grade &grade : golden::file().grades) {
    GoodArray array = good(grade.name);
    ASSERT_FALSE(checkArray(array));
    bool hasAux = array.planeBytes[3] != 0;
    for (unsigned bit = 0; bit < 512; ++bit) {
      GoodArray flipped = array;
      unsigned byte = bit / 8;
      flipped.descriptor[byte] ^= static_cast<uint8_t>(1 << bit % 8);
      Status expected = Status::GradeUnknown;
      if (byte >= 28 && byte < 32)
        expected = Status::Ok;
      else if (byte == 16 || byte == 17)
        expected = Status::SizeMismatch;
      else if (byte >= 32 && byte < 56) {
        uint64_t word = 0;
        for (unsigned i = 8; i-- > 0;)
          word = word << 8 | flipped.descriptor[byte / 8 * 8 + i];
        bool ok = Placement(word).isAcceptable();
        if (byte >= 48)
          ok = ok && (word != 0) == hasAux;
        expected = ok ? Status::Ok : Status::PlacementUnknown;
      }
      std::optional<Error> error = checkArray(flipped);
      ASSERT_EQ(statusName(statusOf(error)), statusName(expected))
          << grade.name << " bit " << bit << (error ? error->str() : "");
    }
  }
}

// (C33, C34)
TEST(Check, RandomDescriptors) {
  std::mt19937_64 random(1);
  const int64_t extents[] = {0,  1,         16,        31,
                             32, 256,       -1,        33,
                             64, INT64_MAX, INT64_MIN, int64_t(1) << 40};
  unsigned counts[5] = {};
  for (int i = 0; i < 100000; ++i) {
    const golden::Grade &base = golden::file().grades[random() % 6];
    golden::Bytes bytes = base.descriptor;
    if (random() % 2) {
      // All bytes after a random prefix.
      for (size_t at = random() % 65; at < 64; ++at)
        bytes[at] = static_cast<uint8_t>(random());
    } else {
      for (unsigned edits = random() % 4; edits-- > 0;)
        bytes[random() % 64] = static_cast<uint8_t>(random());
    }
    std::vector<int64_t> shape(random() % 10);
    for (int64_t &extent : shape)
      extent = extents[random() % std::size(extents)];
    std::vector<int64_t> planeBytes(random() % 16 ? 4 : random() % 6);
    for (int64_t &size : planeBytes)
      size = extents[random() % std::size(extents)];
    CheckInput input{bytes, shape, planeBytes, {}, {}};
    std::optional<Error> error = check(input, 1);
    ++counts[static_cast<int>(statusOf(error))];
    if (error) {
      ASSERT_FALSE(error->message.empty() || error->str().empty());
    }
    // A higher level never turns a failure into a success.
    if (error) {
      ASSERT_EQ(statusOf(check(input, 2)), error->status);
    }
  }
  EXPECT_GT(counts[1], 100u);
  EXPECT_GT(counts[2], 100u);
  EXPECT_GT(counts[3], 100u);
  EXPECT_EQ(counts[4], 0u);
}

// (B4, C5)
TEST(Check, LengthOfTheDescriptor) {
  GoodArray array = good("GRADE_MXFP4");
  for (size_t size : {0u, 1u, 63u, 65u, 128u}) {
    array.descriptor.resize(size, 0);
    EXPECT_EQ(statusOf(checkArray(array)), Status::GradeUnknown) << size;
  }
}

// (C21)
TEST(Check, ShapesThatOverflow) {
  GoodArray array = good("GRADE_MXFP4");
  const std::vector<std::vector<int64_t>> shapes = {
      {32, int64_t(1) << 58}, // 2^63 elements
      {int64_t(1) << 62},     // elements fit, bits do not
      {32, INT64_MAX},        {32, INT64_MAX, INT64_MAX},
      {INT64_MAX - 31, 2},    {32, 1, 1, 1, 1, 1, 1, 1, 1},
      {32, INT64_MIN},
  };
  for (const std::vector<int64_t> &shape : shapes) {
    array.shape = shape;
    EXPECT_EQ(statusOf(checkArray(array)), Status::SizeMismatch)
        << testing::PrintToString(shape);
  }
  // An extent of 0 makes the product 0, whatever the others are.
  array.shape = {32, INT64_MAX, 0, INT64_MAX};
  array.planeBytes = {0, 0, 0, 0};
  EXPECT_EQ(statusOf(checkArray(array)), Status::Ok);
}

// (C22, C26)
TEST(Check, SizeMessagesNameTheArithmeticAndTheCause) {
  GoodArray array = good("GRADE_MXFP4");
  array.planeBytes = {128, 16, 0, 0};
  std::optional<Error> error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->plane, 1);
  EXPECT_EQ(error->field, "plane_bytes[scale0]");
  EXPECT_EQ(error->declared,
            "8 bytes (numel=256, k0=32 -> n_groups0=8, cw(e8m0)=8 -> "
            "ceil(8*8/8))");
  EXPECT_EQ(error->found, "16 bytes");
  EXPECT_EQ(error->cause, "the plane was made for k0=16");

  array.planeBytes = {256, 8, 0, 0};
  error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->plane, 0);
  EXPECT_EQ(error->cause, "the plane has 8 bits per code, and e2m1 takes 4");

  array.planeBytes = {128, 0, 0, 0};
  EXPECT_EQ(checkArray(array)->cause, "the plane is missing");
  array.planeBytes = {8, 8, 0, 0};
  EXPECT_NE(checkArray(array)->cause.find("scale0"), std::string::npos);

  array = good("GRADE_Q4KS");
  array.planeBytes = {128, 8, 8, 8};
  error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->plane, 2);
  EXPECT_EQ(error->declared,
            "4 bytes (numel=256, k0=32 -> n_groups0=8, k1=8 -> n_groups1=1, "
            "cw(binary16)=16 -> ceil(1*2*16/8))");

  array.planeBytes = {128, 8, 4};
  EXPECT_EQ(statusOf(checkArray(array)), Status::SizeMismatch);
}

// (C12, C26)
TEST(Check, GradeMessagesListWhatDiffers) {
  GoodArray array = good("GRADE_MXFP4");
  array.descriptor[18] = 64;
  std::optional<Error> error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->field, "k0");
  EXPECT_EQ(error->declared, "k0 32");
  EXPECT_EQ(error->found, "k0 64");
  EXPECT_NE(error->cause.find("groups of 64"), std::string::npos);

  array.descriptor[22] = 2;
  error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->field, "k0, sp_n");

  // A damaged id beside a good frame names the grade of the frame.
  array = good("GRADE_NVF4");
  array.descriptor[60] ^= 4;
  error = checkArray(array);
  ASSERT_TRUE(error);
  EXPECT_NE(error->cause.find("nvf4 (0x00ff6f4c2870831e)"), std::string::npos)
      << error->str();
}

// (C23)
TEST(Check, PlanesAreNeededAtLevel2Only) {
  GoodArray array = good("GRADE_I8S24");
  EXPECT_EQ(statusOf(checkArray(array, 1)), Status::Ok);
  std::optional<Error> error = checkArray(array, 2);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status, Status::DigestMismatch);
  EXPECT_EQ(error->plane, 0);
}

// (C25)
TEST(Check, IndicesOfSparseArrays) {
  GoodArray array = good("GRADE_I8S24");
  golden::Planes planes = {golden::Bytes(128),
                           golden::Bytes(16),
                           {},
                           golden::Bytes(32, 0x44)}; // every quad keeps 0 and 1
  CheckInput input{array.descriptor, array.shape, array.planeBytes, {}, {}};
  auto addresses = pointers(planes);
  input.planes = addresses;
  EXPECT_EQ(statusOf(check(input, 2)), Status::Ok);
  for (unsigned quad = 0; quad < 64; ++quad)
    for (unsigned nibble = 0; nibble < 16; ++nibble) {
      golden::Bytes saved = planes[3];
      uint8_t &byte = planes[3][quad / 2];
      byte = static_cast<uint8_t>(quad % 2 ? (byte & 15) | nibble << 4
                                           : (byte & 0xF0) | nibble);
      bool rising = (nibble & 3) < nibble >> 2;
      std::optional<Error> error = check(input, 2);
      ASSERT_EQ(statusOf(error), rising ? Status::Ok : Status::DigestMismatch);
      if (error) {
        ASSERT_EQ(error->message, "the indices of run " + std::to_string(quad) +
                                      " are out of order");
        ASSERT_EQ(error->plane, 3);
      }
      std::copy(saved.begin(), saved.end(), planes[3].begin());
    }
}

/// The literal size equations agree with the ones derived from the
/// descriptions.
// (B18)
TEST(Check, SizesAgreeWithTheDescriptions) {
  std::mt19937 random(2);
  for (const golden::Grade &grade : golden::file().grades) {
    Expected<Contract> contract = Contract::parse(grade.name);
    ASSERT_TRUE(contract);
    for (int i = 0; i < 500; ++i) {
      std::vector<int64_t> shape(1 + random() % 4);
      for (int64_t &extent : shape)
        extent = random() % 5;
      int axis = static_cast<int>(random() % shape.size());
      shape[axis] *= random() % 4 ? 32 : 7;
      golden::Bytes bytes = grade.descriptor;
      bytes[16] = static_cast<uint8_t>(axis);
      ArraySpec spec{*contract, shape, axis, contract->canonicalPlacements()};
      Expected<PlaneSizes> sizes = spec.planeSizes();
      Expected<ArraySpec> declared = specFromDescriptor(bytes, shape);
      ASSERT_EQ(sizes.has_value(), declared.has_value())
          << grade.name << testing::PrintToString(shape) << axis;
      if (!sizes)
        continue;
      std::vector<int64_t> four(4);
      for (size_t p = 0; p < sizes->size(); ++p)
        four[planeSlot(contract->description(), p)] = (*sizes)[p];
      EXPECT_EQ(statusOf(check({bytes, shape, four, {}, {}}, 1)), Status::Ok);
      EXPECT_EQ(statusOf(check(spec, *sizes, 1)), Status::Ok);
      size_t plane = random() % 4;
      four[plane] += 1;
      std::optional<Error> error = check({bytes, shape, four, {}, {}}, 1);
      ASSERT_TRUE(error);
      EXPECT_EQ(error->status, Status::SizeMismatch);
      EXPECT_EQ(error->plane, static_cast<int>(plane));
    }
  }
}

TEST(Check, ForeignArraysPassTheSameSteps) {
  Expected<Contract> contract = Contract::parse("gguf.q4_0");
  ASSERT_TRUE(contract);
  Expected<ArraySpec> spec = ArraySpec::get(*contract, {4, 64});
  ASSERT_TRUE(spec) << spec.error().str();
  std::vector<int64_t> sizes = *spec->planeSizes();
  ASSERT_EQ(sizes, std::vector<int64_t>{4 * 64 / 32 * 18});
  golden::Bytes blocks(static_cast<size_t>(sizes[0]), 7);
  const uint8_t *planes[] = {blocks.data()};
  std::span<const uint8_t> bytes = blocks;
  std::array<uint8_t, 16> digest = grit::digest({&bytes, 1});
  EXPECT_EQ(statusOf(check(*spec, sizes, 2, planes, digest)), Status::Ok);
  blocks[3] ^= 1;
  EXPECT_EQ(statusOf(check(*spec, sizes, 2, planes, digest)),
            Status::DigestMismatch);
  EXPECT_EQ(statusOf(check(*spec, sizes, 1, planes, digest)), Status::Ok);
  EXPECT_EQ(statusOf(check(*spec, sizes, 2)), Status::DigestMismatch);
  sizes[0] -= 1;
  EXPECT_EQ(statusOf(check(*spec, sizes, 1)), Status::SizeMismatch);
}
