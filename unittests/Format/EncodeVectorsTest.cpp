//===- EncodeVectorsTest.cpp - encode against bytes made elsewhere --------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeInputs.h"
#include "FormatTestUtils.h"
#include "Golden.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <simdjson.h>

using namespace grit;
using namespace grit::test;
namespace dom = simdjson::dom;

namespace {
struct VectorCase {
  std::string contract, kind;
  uint32_t seed = 0, importanceSeed = 0; ///< importance 0: none
  Bytes planes;                          ///< one after the other
};

struct VectorFile {
  std::vector<int64_t> shape;
  std::vector<VectorCase> cases;
};
} // namespace

/// spec/conformance/encode-vectors.json. Throws when it is not of that form: no
/// test may pass without its data.
static VectorFile readVectors() {
  dom::parser parser;
  dom::element root =
      parser.load(GRIT_SOURCE_DIR "/spec/conformance/encode-vectors.json");
  VectorFile file;
  for (dom::element extent : root["shape"])
    file.shape.push_back(int64_t(extent));
  for (dom::element entry : root["cases"]) {
    VectorCase c;
    c.contract = std::string_view(entry["contract"]);
    c.kind = std::string_view(entry["kind"]);
    c.seed = static_cast<uint32_t>(uint64_t(entry["seed"]));
    uint64_t importance = 0;
    if (!entry["importance_seed"].get(importance))
      c.importanceSeed = static_cast<uint32_t>(importance);
    c.planes = golden::fromHex(std::string_view(entry["planes"]));
    file.cases.push_back(std::move(c));
  }
  return file;
}

static Bytes joined(const std::vector<Bytes> &planes) {
  Bytes all;
  for (const Bytes &plane : planes)
    all.insert(all.end(), plane.begin(), plane.end());
  return all;
}

static bool allFinite(const std::vector<float> &values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

/// Of finite values whose scale overflows, the vectors have what decodes to
/// infinities and NaN, and encode refuses. Checks row by row; without
/// importance block by block, for blocks are independent.
static void checkInParts(const VectorCase &c, const ArraySpec &whole,
                         const std::vector<float> &values,
                         const std::vector<float> &importance) {
  int64_t width = importance.empty() ? whole.contract.description().axisMultiple
                                     : whole.shape.back();
  ArraySpec part = specOf(c.contract, {1, width});
  size_t bytes = c.planes.size() * width / values.size();
  for (size_t i = 0; i < values.size() / width; ++i) {
    std::vector<float> x(&values[i * width], &values[i * width] + width);
    std::vector<Bytes> expected = {
        Bytes(&c.planes[i * bytes], &c.planes[i * bytes] + bytes)};
    auto planes = encode(part, x, importance);
    if (allFinite(decodeAll(part, expected)))
      EXPECT_EQ(take(std::move(planes)), expected) << i;
    else
      EXPECT_FALSE(planes) << i;
  }
}

TEST(EncodeVectors, EveryCaseGivesTheSameBytes) {
  VectorFile file = readVectors();
  std::map<std::string, int> perContract;
  for (const VectorCase &c : file.cases) {
    SCOPED_TRACE(c.contract + " " + c.kind + " seed " + std::to_string(c.seed));
    ArraySpec spec = take(ArraySpec::get(contract(c.contract), file.shape));
    std::vector<float> importance;
    if (c.importanceSeed)
      importance = importanceInputs(c.importanceSeed, file.shape.back());
    std::vector<float> values =
        encodeInputs(c.kind, c.seed, spec.numElements());
    if (auto planes = encode(spec, values, importance))
      EXPECT_EQ(joined(*planes), c.planes);
    else
      checkInParts(c, spec, values, importance);
    ++perContract[c.contract];
  }
  EXPECT_EQ(perContract.size(), 32u);
  for (const auto &[name, count] : perContract)
    EXPECT_GE(count, 12) << name;
}

//===----------------------------------------------------------------------===//
// The golden vectors of GRIT v1
//===----------------------------------------------------------------------===//

static std::vector<Bytes> present(const golden::Planes &planes,
                                  const ArraySpec &spec) {
  std::vector<Bytes> result;
  const FormatDescription &format = spec.contract.description();
  for (size_t i = 0; i < format.planes.size(); ++i)
    result.push_back(planes[planeSlot(format, i)]);
  return result;
}

static void expectGolden(const std::vector<golden::Vector> &vectors) {
  for (const golden::Vector &vector : vectors) {
    SCOPED_TRACE(vector.name);
    ArraySpec spec = take(ArraySpec::get(contract(vector.grade), vector.shape));
    auto planes = take(encode(spec, golden::toFloats(vector.inputs)));
    EXPECT_EQ(planes, present(vector.encodedPlanes(), spec));
    expectSameBits(decodeAll(spec, planes),
                   golden::toFloats(vector.encodedValues()), vector.name);
  }
}

// (E27, E28, E29, E30, E31, E32)
TEST(EncodeGolden, Vectors) {
  ASSERT_EQ(golden::file().vectors.size(), 24u);
  expectGolden(golden::file().vectors);
}

// (E12)
TEST(EncodeGolden, TotalWhereTheReferenceRaises) {
  ASSERT_EQ(golden::file().resolution.size(), 1u);
  expectGolden(golden::file().resolution);
}
