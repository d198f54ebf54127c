//===- CAPITest.cpp - the C interface on good and bad input -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "grit-c/grit.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace grit::golden;

/// A view over a golden vector's own copy of its planes.
struct GoldenArray {
  grit_array_view_t view{};
  Planes planes;

  GoldenArray(const Vector &v, const Planes &from) : planes(from) {
    grit_view_t &grade = view.u.grade;
    view.tag = GRIT_ARRAY_GRADE;
    std::memcpy(&grade.d, v.descriptor.data(), sizeof(grade.d));
    grade.rank = static_cast<int32_t>(v.shape.size());
    std::copy(v.shape.begin(), v.shape.end(), grade.shape);
    for (int i = 0; i < 4; ++i) {
      grade.plane[i] = planes[i].empty() ? nullptr : planes[i].data();
      grade.plane_bytes[i] = static_cast<int64_t>(planes[i].size());
    }
  }
};

static const Vector &vectorNamed(const std::string &name) {
  for (const Vector &v : file().vectors)
    if (v.name == name)
      return v;
  std::abort();
}

TEST(CAPI, DequantizeGoldenVectors) {
  for (const auto *list : {&file().vectors, &file().decodeOnly})
    for (const Vector &v : *list) {
      GoldenArray array(v, v.planes);
      std::vector<float> values(v.decoded.size());
      grit_detail_t detail;
      ASSERT_EQ(grit_dequantize(&array.view, values.data(),
                                static_cast<int64_t>(values.size()), &detail),
                GRIT_OK)
          << detail.message;
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), v.decoded[i])
            << v.name << " " << i;
    }
}

TEST(CAPI, QuantizeGoldenVectors) {
  for (const Vector &v : file().vectors) {
    Planes blank = v.planes;
    for (Bytes &plane : blank)
      std::fill(plane.begin(), plane.end(), uint8_t(0xA5));
    GoldenArray array(v, blank);
    std::vector<float> inputs = toFloats(v.inputs);
    grit_detail_t detail;
    ASSERT_EQ(grit_quantize(inputs.data(), static_cast<int64_t>(inputs.size()),
                            &array.view, &detail),
              GRIT_OK)
        << detail.message;
    EXPECT_EQ(array.planes, v.encodedPlanes()) << v.name;
  }
}

TEST(CAPI, GoldenChecks) {
  for (const Check &c : file().checks) {
    grit_view_t view{};
    std::memcpy(&view.d, c.descriptor.data(), sizeof(view.d));
    view.rank = static_cast<int32_t>(c.shape.size());
    std::copy(c.shape.begin(), c.shape.end(), view.shape);
    std::copy(c.planeBytes.begin(), c.planeBytes.end(), view.plane_bytes);
    Planes planes;
    if (c.planes)
      planes = *c.planes;
    for (int i = 0; i < 4; ++i)
      view.plane[i] = planes[i].empty() ? nullptr : planes[i].data();
    grit_detail_t detail;
    grit_status_t status = grit_check_digest(
        &view, c.level, c.digest ? c.digest->data() : nullptr, &detail);
    EXPECT_EQ(status, c.code) << c.name << ": " << detail.message;
    EXPECT_EQ(grit_status_name(status), c.status);
    EXPECT_EQ(detail.status, status);
    EXPECT_EQ(detail.message[0] == 0,
              status == GRIT_OK &&
                  c.name != "mxfp4/group_axis_not_innermost_ok")
        << detail.message;
    if (!c.digest) {
      EXPECT_EQ(grit_check(&view, c.level, nullptr), status);
      grit_array_view_t array{};
      array.u.grade = view;
      EXPECT_EQ(grit_check_array(&array, c.level, nullptr), status);
    }
  }
}

TEST(CAPI, DetailHasTheNumbers) {
  const Vector &v = vectorNamed("mxfp4/tie_to_even");
  GoldenArray array(v, v.planes);
  array.view.u.grade.plane_bytes[1] = 2;
  grit_detail_t detail;
  ASSERT_EQ(grit_check(&array.view.u.grade, 1, &detail), GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.expected, 1);
  EXPECT_EQ(detail.actual, 2);
  EXPECT_EQ(detail.plane, 1);
  EXPECT_STREQ(detail.field, "plane_bytes[scale0]");
  EXPECT_NE(std::strstr(detail.message, "cause: the plane was made for k0=16"),
            nullptr)
      << detail.message;
  array.view.u.grade.d.placement_scale = 0x1000000000000099;
  ASSERT_EQ(grit_check(&array.view.u.grade, 1, &detail),
            GRIT_PLACEMENT_UNKNOWN);
  EXPECT_EQ(detail.actual, 0x1000000000000099);
}

TEST(CAPI, Expectations) {
  const Vector &v = vectorNamed("mxfp4/range_rank2"); // [2, 64]
  GoldenArray array(v, v.planes);
  int64_t shape[] = {2, 64};
  grit_expect_t expect{
      "weights", 0,
      2,         1,
      shape,     {GRIT_PLACEMENT_ROW_MAJOR, GRIT_PLACEMENT_ROW_MAJOR, 0}};
  ASSERT_EQ(grit_contract_id("mxfp4", &expect.contract_id, nullptr), GRIT_OK);
  grit_detail_t detail;
  auto status = [&] {
    return grit_check_expected(&array.view, &expect, 1, &detail);
  };
  auto says = [&](const char *text) {
    return std::strstr(detail.message, text) != nullptr;
  };
  EXPECT_EQ(status(), GRIT_OK) << detail.message;

  shape[1] = 128;
  EXPECT_EQ(status(), GRIT_SIZE_MISMATCH);
  EXPECT_TRUE(says("operand 'weights' has extent 1 64") && says("128"))
      << detail.message;
  EXPECT_EQ(detail.expected, 128);
  EXPECT_EQ(detail.actual, 64);
  shape[1] = -1;
  EXPECT_EQ(status(), GRIT_OK);
  expect.shape = nullptr;
  EXPECT_EQ(status(), GRIT_OK);

  expect.axis = 0;
  EXPECT_EQ(status(), GRIT_SIZE_MISMATCH);
  EXPECT_TRUE(says("group axis")) << detail.message;
  expect.axis = 1;

  expect.placement[1] = GRIT_PLACEMENT_SWIZZLE_128x4B;
  EXPECT_EQ(status(), GRIT_PLACEMENT_UNKNOWN);
  EXPECT_TRUE(says("operand 'weights'") && says("SWIZZLE_128x4B (0x") &&
              says("ROW_MAJOR (0x") && says("fix: relayout") && says("or: "))
      << detail.message;
  EXPECT_STREQ(detail.field, "placement_scale");
  expect.placement[1] = 0;
  EXPECT_EQ(status(), GRIT_OK);

  uint64_t mxfp4 = expect.contract_id;
  ASSERT_EQ(grit_contract_id("nvf4", &expect.contract_id, nullptr), GRIT_OK);
  EXPECT_EQ(status(), GRIT_GRADE_UNKNOWN);
  EXPECT_TRUE(says("nvf4 (0x00ff6f4c2870831e)") &&
              says("mxfp4 (0x2370ee9ee454a183)"))
      << detail.message;
  EXPECT_EQ(static_cast<uint64_t>(detail.actual), mxfp4);
  // Its sibling is read the same way.
  ASSERT_EQ(grit_contract_id("mxfp4_rne", &expect.contract_id, nullptr),
            GRIT_OK);
  EXPECT_EQ(status(), GRIT_OK);

  // A failure of the array itself names the operand, too.
  array.view.u.grade.d.magic = 0;
  EXPECT_EQ(status(), GRIT_GRADE_UNKNOWN);
  EXPECT_TRUE(says("operand 'weights': the descriptor")) << detail.message;
}

TEST(CAPI, ForeignViews) {
  const int64_t shape[] = {2, 64};
  grit_array_view_t view;
  grit_detail_t detail;
  ASSERT_EQ(grit_view_init("gguf.q8_0", 2, shape, -1, &view, &detail), GRIT_OK);
  grit_foreign_view_t &foreign = view.u.foreign;
  EXPECT_EQ(view.tag, GRIT_ARRAY_FOREIGN);
  EXPECT_EQ(foreign.rank, 2);
  EXPECT_EQ(foreign.axis, 1);
  EXPECT_EQ(foreign.plane_bytes[0], 2 * 2 * 34);
  Bytes blocks(static_cast<size_t>(foreign.plane_bytes[0]));
  foreign.plane[0] = blocks.data();
  EXPECT_EQ(grit_check_array(&view, 2, &detail), GRIT_OK) << detail.message;

  auto statusAfter = [&](auto &&change) {
    grit_array_view_t changed = view;
    change(changed);
    grit_status_t status = grit_check_array(&changed, 1, &detail);
    EXPECT_EQ(status == GRIT_OK, detail.message[0] == 0);
    return status;
  };
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.id ^= 1; }),
            GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.id = 0x2370EE9EE454A183; }),
            GRIT_GRADE_UNKNOWN);
  EXPECT_NE(std::strstr(detail.message, "mxfp4"), nullptr);
  EXPECT_EQ(statusAfter([](auto &v) { v.tag = 2; }), GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.rank = 9; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.actual, 9);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.rank = -1; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.axis = 2; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.axis = -1; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.shape[1] = 65; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.shape[0] = INT64_MAX; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.plane_bytes[0] += 1; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.plane_bytes[1] = 4; }),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.plane, 1);
  EXPECT_EQ(statusAfter([](auto &v) { v.u.foreign.placement[0] = 7; }),
            GRIT_PLACEMENT_UNKNOWN);
}

TEST(CAPI, RanksOfGradeViews) {
  const Vector &v = vectorNamed("mxfp4/tie_to_even");
  for (int32_t rank : {-1, 0, 9, INT32_MAX, INT32_MIN}) {
    GoldenArray array(v, v.planes);
    array.view.u.grade.rank = rank;
    grit_detail_t detail;
    EXPECT_EQ(grit_check(&array.view.u.grade, 1, &detail), GRIT_SIZE_MISMATCH);
    if (rank != 0) {
      EXPECT_EQ(detail.actual, rank) << detail.message;
    }
    float value = 0;
    EXPECT_EQ(grit_dequantize(&array.view, &value, 1, nullptr),
              GRIT_SIZE_MISMATCH);
  }
}

// A plane with bytes that the grade does not have (D9, C20).
TEST(CAPI, UnexpectedPlane) {
  const Vector &v = vectorNamed("mxfp4/tie_to_even");
  GoldenArray array(v, v.planes);
  array.view.u.grade.plane_bytes[3] = 1;
  std::vector<float> values(v.decoded.size());
  auto count = static_cast<int64_t>(values.size());
  grit_detail_t detail;
  EXPECT_EQ(grit_dequantize(&array.view, values.data(), count, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.plane, 3);
  EXPECT_EQ(grit_quantize(values.data(), count, &array.view, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.plane, 3);
}

TEST(CAPI, BadArguments) {
  grit_detail_t detail;
  grit_array_view_t view;
  uint64_t id = 0;
  int64_t shape[] = {32}, sizes[4];
  EXPECT_EQ(grit_check(nullptr, 1, &detail), GRIT_GRADE_UNKNOWN);
  EXPECT_STREQ(detail.field, "view");
  EXPECT_EQ(grit_check_array(nullptr, 1, &detail), GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_check_digest(nullptr, 1, nullptr, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_check_expected(nullptr, nullptr, 1, &detail),
            GRIT_GRADE_UNKNOWN);
  grit_expect_t expect{};
  EXPECT_EQ(grit_check_expected(nullptr, &expect, 1, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_contract_id(nullptr, &id, nullptr), GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_contract_id("mxfp4", nullptr, &detail), GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_contract_id("mxpf4", &id, &detail), GRIT_GRADE_UNKNOWN);
  EXPECT_NE(std::strstr(detail.message, "did you mean 'mxfp4'?"), nullptr)
      << detail.message;
  EXPECT_EQ(grit_view_init("mxfp4", 1, nullptr, -1, &view, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(grit_view_init("mxfp4", 9, shape, -1, &view, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(grit_view_init("mxfp4", -1, shape, -1, &view, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(grit_view_init("mxfp4", 1, shape, 1, &view, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(grit_plane_sizes("mxfp4", 1, shape, -1, nullptr, nullptr, &detail),
            GRIT_GRADE_UNKNOWN);
  shape[0] = 33;
  EXPECT_EQ(grit_plane_sizes("mxfp4", 1, shape, -1, sizes, nullptr, &detail),
            GRIT_SIZE_MISMATCH);
}

// Scales of the array, of lines, of blocks, of groups and of scales.
TEST(CAPI, QuantizeFormatsOfCheckpoints) {
  const int64_t shape[] = {64, 256}, count = 64 * 256;
  std::vector<float> values(count), decoded(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i * 37 % 3 - 1);
  for (const char *name :
       {"ct.fp8_tensor", "ct.fp8_channel_bf16", "deepseek.fp8", "ct.nvfp4",
        "ct.int4_zp", "mlx.q4_f16", "hqq.q8", "bnb.fp4_double", "mxint8"}) {
    int64_t sizes[GRIT_MAXPLANES];
    int32_t planes = 0;
    grit_detail_t detail;
    ASSERT_EQ(grit_plane_sizes(name, 2, shape, -1, sizes, &planes, &detail),
              GRIT_OK)
        << detail.message;
    grit_array_view_t view;
    ASSERT_EQ(grit_view_init(name, 2, shape, -1, &view, &detail), GRIT_OK);
    std::vector<Bytes> bytes;
    for (int32_t i = 0; i < planes; ++i)
      bytes.emplace_back(sizes[i]);
    for (int32_t i = 0; i < planes; ++i)
      view.u.foreign.plane[i] = bytes[i].data();
    ASSERT_EQ(grit_quantize(values.data(), count, &view, &detail), GRIT_OK)
        << name << detail.message;
    ASSERT_EQ(grit_dequantize(&view, decoded.data(), count, &detail), GRIT_OK);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_NEAR(decoded[i], values[i], 0.13) << name << " " << i;
  }
}

TEST(CAPI, QuantizeRefusesBeforeItWrites) {
  const Vector &v = vectorNamed("mxfp4/tie_to_even");
  GoldenArray array(v, v.planes);
  Planes before = array.planes;
  std::vector<float> values(32, 1.0f);
  grit_detail_t detail;
  EXPECT_EQ(grit_quantize(values.data(), 31, &array.view, &detail),
            GRIT_SIZE_MISMATCH);
  EXPECT_EQ(detail.expected, 32);
  EXPECT_EQ(detail.actual, 31);
  EXPECT_EQ(grit_quantize(nullptr, 32, &array.view, &detail),
            GRIT_GRADE_UNKNOWN);
  array.view.u.grade.plane[1] = nullptr;
  EXPECT_EQ(grit_quantize(values.data(), 32, &array.view, &detail),
            GRIT_DIGEST_MISMATCH);
  EXPECT_EQ(detail.plane, 1);
  EXPECT_EQ(grit_quantize(values.data(), 32, nullptr, &detail),
            GRIT_GRADE_UNKNOWN);
  EXPECT_EQ(array.planes, before);
}

TEST(CAPI, ViewsOfEveryRegisteredContract) {
  for (const char *name :
       {"mxfp4", "mxfp4_rne", "nvf4", "nvf4_rtz", "q4ks", "i8s24", "gguf.q4_0",
        "gguf.q4_k", "gguf.q8_0", "gguf.mxfp4", "gguf.iq4_nl", "hurray.nf4",
        "hurray.nf4(block=128)"}) {
    const int64_t shape[] = {3, 512};
    grit_array_view_t view;
    grit_detail_t detail;
    ASSERT_EQ(grit_view_init(name, 2, shape, -1, &view, &detail), GRIT_OK)
        << detail.message;
    bool isGrade = view.tag == GRIT_ARRAY_GRADE;
    void **planes = isGrade ? view.u.grade.plane : view.u.foreign.plane;
    int64_t *bytes =
        isGrade ? view.u.grade.plane_bytes : view.u.foreign.plane_bytes;
    Planes storage;
    for (int i = 0; i < 4; ++i) {
      storage[i].resize(static_cast<size_t>(bytes[i]));
      planes[i] = bytes[i] ? storage[i].data() : nullptr;
    }
    std::vector<float> values(3 * 512), again(3 * 512);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<float>(i));
    ASSERT_EQ(grit_quantize(values.data(), 3 * 512, &view, &detail), GRIT_OK)
        << name << ": " << detail.message;
    EXPECT_EQ(grit_check_array(&view, 2, &detail), GRIT_OK) << detail.message;
    ASSERT_EQ(grit_dequantize(&view, again.data(), 3 * 512, &detail), GRIT_OK);
    double error = 0, norm = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += std::pow(again[i] - values[i], 2.0);
      norm += std::pow(values[i], 2.0);
    }
    // Four-bit elements are this coarse; i8s24 drops half of its elements.
    EXPECT_LT(std::sqrt(error / norm),
              std::string_view(name) == "i8s24" ? 0.6 : 0.25)
        << name;
    EXPECT_GT(error, 0) << name;
  }
}

//===----------------------------------------------------------------------===//
// Options of quantize
//===----------------------------------------------------------------------===//

namespace {
/// 3 x 512 values under gguf.q4_k, their weights and the view of their planes.
struct Weighed {
  std::vector<float> values, weights;
  std::vector<uint8_t> plane;
  grit_array_view_t view;

  Weighed() : values(3 * 512), weights(512) {
    const int64_t shape[] = {3, 512};
    EXPECT_EQ(grit_view_init("gguf.q4_k", 2, shape, -1, &view, nullptr),
              GRIT_OK);
    plane.resize(static_cast<size_t>(view.u.foreign.plane_bytes[0]));
    view.u.foreign.plane[0] = plane.data();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<float>(i * i % 1021));
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = i % 2 ? 1 : 0.001f;
  }
  grit_status_t quantize(const grit_quantize_options_t *options,
                         grit_detail_t *detail = nullptr) {
    return grit_quantize_with(values.data(), 3 * 512, options, &view, detail);
  }
  double error() {
    std::vector<float> again(values.size());
    EXPECT_EQ(grit_dequantize(&view, again.data(), 3 * 512, nullptr), GRIT_OK);
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i)
      sum += weights[i % 512] * std::pow(double(again[i]) - values[i], 2.0);
    return sum;
  }
};
} // namespace

TEST(CAPI, QuantizeUnderImportanceAndSearch) {
  Weighed array;
  ASSERT_EQ(array.quantize(nullptr), GRIT_OK);
  const std::vector<uint8_t> plain = array.plane;
  const double even = array.error();
  ASSERT_EQ(grit_quantize(array.values.data(), 3 * 512, &array.view, nullptr),
            GRIT_OK);
  EXPECT_EQ(array.plane, plain);
  grit_quantize_options_t options = {};
  options.struct_bytes = sizeof(options);
  ASSERT_EQ(array.quantize(&options), GRIT_OK);
  EXPECT_EQ(array.plane, plain);
  options.importance = array.weights.data();
  options.importance_count = 512;
  ASSERT_EQ(array.quantize(&options), GRIT_OK);
  const double weighed = array.error();
  EXPECT_LT(weighed, even);
  options.search = GRIT_SEARCH_MEAN_SQUARE;
  ASSERT_EQ(array.quantize(&options), GRIT_OK);
  EXPECT_LT(array.error(), weighed);
}

TEST(CAPI, QuantizeOptionsOutOfRange) {
  Weighed array;
  ASSERT_EQ(array.quantize(nullptr), GRIT_OK);
  const std::vector<uint8_t> before = array.plane;
  struct Later {
    grit_quantize_options_t known;
    uint64_t added;
  };
  auto fieldOf = [&](auto change) {
    Later later = {};
    later.known.struct_bytes = sizeof(later.known);
    change(later);
    grit_detail_t detail;
    EXPECT_NE(array.quantize(&later.known, &detail), GRIT_OK);
    EXPECT_EQ(array.plane, before);
    return std::string(detail.field);
  };
  EXPECT_EQ(fieldOf([](Later &o) { o.known.struct_bytes = 8; }),
            "struct_bytes");
  EXPECT_EQ(fieldOf([](Later &o) {
              o.known.struct_bytes = sizeof(Later);
              o.added = 1;
            }),
            "options");
  EXPECT_EQ(fieldOf([](Later &o) { o.known.search = 7; }), "search");
  EXPECT_EQ(fieldOf([](Later &o) { o.known.reserved = 1; }), "reserved");
  EXPECT_EQ(fieldOf([](Later &o) { o.known.importance_count = 512; }),
            "importance");
  EXPECT_EQ(fieldOf([&](Later &o) {
              o.known.importance = array.weights.data();
              o.known.importance_count = 5;
            }),
            "importance");
  array.weights[17] = -1;
  EXPECT_EQ(fieldOf([&](Later &o) {
              o.known.importance = array.weights.data();
              o.known.importance_count = 512;
            }),
            "importance[17]");
  Later later = {};
  later.known.struct_bytes = sizeof(Later);
  EXPECT_EQ(array.quantize(&later.known), GRIT_OK);
}
