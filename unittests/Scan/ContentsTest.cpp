//===- ContentsTest.cpp - findings that read planes, and across files -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"
#include <cmath>
#include <random>
#include <set>

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using ContentsTest = ScanTest;

static std::vector<TestTensor> gptq(const Bytes &order, uint8_t zeros = 0x77) {
  return {{"m.qweight", "I32", {2, 8}},
          {"m.scales", "F16", {2, 8}, 0x3C},
          {"m.qzeros", "I32", {2, 1}, zeros},
          TestTensor("m.g_idx", "I32", {16}).with(order)};
}

static Bytes indices(std::initializer_list<int32_t> values) {
  Bytes bytes;
  for (int32_t value : values)
    appendLE(bytes, static_cast<uint32_t>(value), 4);
  return bytes;
}

static const char kGptq[] = R"("quant_method":"gptq","bits":4,"group_size":8,)"
                            R"("sym":true,"checkpoint_format":"gptq")";

TEST_F(ContentsTest, GRIT_S052_ZeroPointOffByOne) { // B32
  declare(kGptq);
  Bytes runs = indices({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  expectFinding(deepScan(gptq(runs, 0x88)), Id::ZeroPointOffByOne, "m",
                "zero point 9");
  expectNone(deepScan(gptq(runs, 0x77)), Id::ZeroPointOffByOne);
  expectNone(scan(gptq(runs, 0x88)), Id::ZeroPointOffByOne);
}

TEST_F(ContentsTest, GRIT_S055_ActOrder) { // B49
  declare(kGptq);
  Bytes runs = indices({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  Bytes shuffled = indices({0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  expectFinding(scan(gptq(shuffled)), Id::ActOrder, "m", "was not read");
  expectFinding(deepScan(gptq(shuffled)), Id::ActOrder, "m", "not expressible");
  expectNone(deepScan(gptq(runs)), Id::ActOrder);
  // An index of zeros is harmless.
  expectNone(deepScan(gptq(Bytes(64, 0))), Id::ActOrder);
}

static std::vector<TestTensor> nvfp4(const std::string &name, float second,
                                     const char *suffix = "weight_scale_2") {
  return {{name + ".weight", "U8", {4, 16}},
          {name + ".weight_scale", "F8_E4M3", {4, 2}, 0x38},
          number(name + "." + suffix, second)};
}

TEST_F(ContentsTest, GRIT_S057_ReciprocalName) { // B09
  expectFinding(deepScan(nvfp4("m", 3584)), Id::ReciprocalName, "m", "above 1");
  expectNone(deepScan(nvfp4("m", 1.0F / 3584)), Id::ReciprocalName);
  expectNone(deepScan(nvfp4("m", 3584, "weight_global_scale")),
             Id::ReciprocalName);
  expectFinding(deepScan(nvfp4("m", 1.0F / 3584, "weight_global_scale")),
                Id::ReciprocalName, "m");
}

TEST_F(ContentsTest, GRIT_S060_SiblingScale) { // B10, B11
  auto both = [&](const char *a, float x, const char *b, float y) {
    std::vector<TestTensor> tensors = nvfp4(a, x);
    for (const TestTensor &tensor : nvfp4(b, y))
      tensors.push_back(tensor);
    return deepScan(tensors);
  };
  expectFinding(both("l.gate_proj", 3.85e-5F, "l.up_proj", 4.83e-5F),
                Id::SiblingScale, "l.up_proj", "4.83");
  expectFinding(both("l.to_q", 1e-4F, "l.to_v", 2e-4F), Id::SiblingScale,
                "l.to_v");
  expectNone(both("l.gate_proj", 1e-4F, "l.up_proj", 1e-4F), Id::SiblingScale);
  expectNone(both("l.gate_proj", 1e-4F, "l.down_proj", 2e-4F),
             Id::SiblingScale);
}

//===----------------------------------------------------------------------===//
// Across files
//===----------------------------------------------------------------------===//

TEST_F(ContentsTest, GRIT_S070_ContractDiffers) {
  write("a.safetensors", {{"w", "U8", {272}}},
        record("w", R"("contract":"mxfp4","shape":[8,64])"));
  write("b.safetensors", {{"w", "U8", {292}}},
        record("w", R"("contract":"nvf4","shape":[8,64])"));
  write("c.safetensors", {{"w", "U8", {272}}},
        record("w", R"("contract":"mxfp4","shape":[4,128])"));
  Report report = scanFiles({"a.safetensors", "b.safetensors"});
  expectFinding(report, Id::ContractDiffers, "w", "nvf4");
  EXPECT_EQ(report.gradedExitCode(), 2);
  expectFinding(scanFiles({"a.safetensors", "c.safetensors"}),
                Id::ContractDiffers, "w", "[4, 128]");
  expectCause(scanFiles({"a.safetensors", "b.safetensors"}),
              Id::ContractDiffers, "different numbers");
  // Another group axis leaves the numbers of a grade alone (A1).
  for (int axis : {0, 1})
    write("axis" + std::to_string(axis) + ".safetensors", {{"w", "U8", {2176}}},
          record("w", R"("contract":"mxfp4","shape":[64,64],"axis":)" +
                          std::to_string(axis)));
  expectCause(scanFiles({"axis0.safetensors", "axis1.safetensors"}),
              Id::ContractDiffers, "decode to the same numbers");
  // The numbers that both were made from do not hide it.
  write("0.safetensors", {{"w", "F32", {8, 64}}});
  expectFinding(scanFiles({"0.safetensors", "a.safetensors", "b.safetensors"}),
                Id::ContractDiffers, "w", "nvf4");
  expectClean(scanFiles({"0.safetensors", "a.safetensors"}));
  std::filesystem::copy_file(directory.file("a.safetensors"),
                             directory.file("d.safetensors"));
  expectClean(scanFiles({"a.safetensors", "d.safetensors"}));
}

TEST_F(ContentsTest, GRIT_S071_NibbleSwap) { // B29
  write("a.safetensors",
        {TestTensor("w", "U8", {4}).with({0x12, 0x34, 0x56, 0x78})});
  write("b.safetensors",
        {TestTensor("w", "U8", {4}).with({0x21, 0x43, 0x65, 0x87})});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::NibbleSwap, "w");
  expectNone(scanFiles({"a.safetensors", "b.safetensors"}), Id::NibbleSwap);
}

TEST_F(ContentsTest, GRIT_S072_PackingOrder) { // B30
  write("a.safetensors",
        {TestTensor("w", "I32", {1}).with({0x10, 0x32, 0x54, 0x76})});
  write("b.safetensors",
        {TestTensor("w", "I32", {1}).with({0x20, 0x64, 0x31, 0x75})});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::PackingOrder, "w");
}

TEST_F(ContentsTest, GRIT_S073_RowInterleave) { // B45
  write("a.safetensors", {TestTensor("w", "U8", {4, 1}).with({1, 2, 3, 4})});
  write("b.safetensors", {TestTensor("w", "U8", {4, 1}).with({1, 3, 2, 4})});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::RowInterleave, "w");
  write("b.safetensors", {TestTensor("w", "U8", {4, 1}).with({1, 3, 4, 2})});
  expectNone(scanFiles({"a.safetensors", "b.safetensors"}, true),
             Id::RowInterleave);
}

TEST_F(ContentsTest, GRIT_S074_ReciprocalTwin) { // B09
  write("a.safetensors", {number("s", 3584)});
  write("b.safetensors", {number("s", 1.0F / 3584)});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::ReciprocalTwin, "s");
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

static std::vector<TestTensor> mxfp4(uint8_t scale, uint8_t codes = 0x77) {
  return {{"m.weight", "U8", {4, 32}, codes},
          TestTensor("m.weight_scale", "F8_E8M0", {4, 2})
              .with({127, 127, 127, 127, 127, 127, 127, scale})};
}

TEST_F(ContentsTest, GRIT_S080_ScaleNaN) { // B20
  expectFinding(deepScan(mxfp4(255)), Id::ScaleNaN, "m", "1 of 8");
  expectNone(deepScan(mxfp4(254)), Id::ScaleNaN);
  std::vector<TestTensor> wide = {{"m.weight", "F8_E4M3", {4, 4}, 0x78},
                                  {"m.weight_scale", "BF16", {4, 1}, 0x7F}};
  wide[1].bytes[0] = 0x80;
  expectFinding(deepScan(wide), Id::ScaleNaN, "m", "1 of 4");
  // Of a declared array, too.
  write("a.safetensors", {{"w", "U8", {272}, 255}},
        record("w", R"("contract":"mxfp4","shape":[8,64])"));
  expectFinding(scanFiles({"a.safetensors"}, true), Id::ScaleNaN, "w",
                "16 of 16");
}

TEST_F(ContentsTest, GRIT_S081_ElementNaN) { // B25
  expectFinding(deepScan({{"m.weight", "F8_E4M3", {128, 128}, 0x7F},
                          {"m.weight_scale_inv", "F32", {1, 1}}}),
                Id::ElementNaN, "m", "16384 of 16384");
  expectNone(deepScan({{"m.weight", "F8_E4M3", {128, 128}, 0x7E},
                       {"m.weight_scale_inv", "F32", {1, 1}}}),
             Id::ElementNaN);
}

TEST_F(ContentsTest, GRIT_S082_ZeroScale) {
  expectFinding(deepScan({{"m.weight", "U8", {4, 16}},
                          {"m.weight_scale", "F8_E4M3", {4, 2}, 0}}),
                Id::ZeroScale, "m", "8 of 8");
  expectFinding(deepScan(nvfp4("m", 0)), Id::ZeroScale, "m", "tensor scale");
  expectNone(deepScan(nvfp4("m", 1e-3F)), Id::ZeroScale);
}

TEST_F(ContentsTest, GRIT_S083_ExtremeScale) { // B20
  expectFinding(deepScan(mxfp4(0)), Id::ExtremeScale, "m", "1 of 8");
  expectNone(deepScan(mxfp4(1)), Id::ExtremeScale);
}

TEST_F(ContentsTest, GRIT_S084_ZeroPointRange) { // B34
  declare(R"("quant_method":"compressed-tensors","config_groups":{"g":)"
          R"({"weights":{"num_bits":4,"symmetric":false,)"
          R"("strategy":"channel"}}})");
  std::vector<TestTensor> tensors = {
      {"m.weight_packed", "I32", {4, 16}},
      {"m.weight_scale", "F16", {4, 1}, 0x3C},
      TestTensor("m.weight_zero_point", "I8", {4, 1}).with({8, 15, 7, 0})};
  expectFinding(deepScan(tensors), Id::ZeroPointRange, "m", "2 of 4");
  tensors[2].with({0xF8, 7, 0, 1});
  expectNone(deepScan(tensors), Id::ZeroPointRange);
}

TEST_F(ContentsTest, GRIT_S085_UnusedCodes) { // B16
  auto report = [&](uint8_t code) {
    return deepScan({{"m.weight", "F8_E4M3", {32, 32}, code},
                     {"m.weight_scale", "F8_E8M0", {32, 1}, 127}});
  };
  expectFinding(report(0x76), Id::UnusedCodes, "m", "224"); // 224
  expectNone(report(0x78), Id::UnusedCodes);                // 256
  expectFinding(deepScan({{"m.weight", "U8", {32, 16}, 0x55},
                          {"m.weight_scale", "F8_E8M0", {32, 1}, 127}}),
                Id::UnusedCodes, "m", "3.0");
}

/// The magnitude of an e4m3 code, by its definition; NaN for the top one.
static double e4m3Magnitude(uint8_t code) {
  int exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 0x7F) == 0x7F)
    return std::nan("");
  return exponent ? std::ldexp(1 + fraction / 8.0, exponent - 7)
                  : std::ldexp(fraction / 8.0, -6);
}

/// Planes are looked at in two ways, a quick one and a count; what they say is
/// what the definition of the type says, whatever the bytes are.
TEST_F(ContentsTest, ProbesOfRandomPlanesFollowTheDefinition) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    uint8_t mask = static_cast<uint8_t>(random());
    uint8_t top = trial % 3 ? static_cast<uint8_t>(random()) : 255;
    auto fill = [&](size_t size) {
      Bytes bytes(size);
      for (uint8_t &byte : bytes)
        byte = std::min<uint8_t>(random() & mask, top);
      return bytes;
    };
    TestTensor codes("m.weight", "F8_E4M3", {16, 32}, 0);
    TestTensor scale("m.weight_scale", "F8_E8M0", {16, 1}, 0);
    codes.with(fill(512));
    scale.with(fill(16));
    double largest = 0;
    bool anyNaN = false;
    for (uint8_t code : codes.bytes) {
      double size = e4m3Magnitude(code);
      anyNaN |= std::isnan(size);
      largest = std::max(largest, std::isnan(size) ? 0 : size);
    }
    auto count = [&](uint8_t code) {
      return std::ranges::count(scale.bytes, code);
    };
    const std::pair<Id, bool> expected[] = {
        {Id::ElementNaN, anyNaN},
        {Id::UnusedCodes, largest > 0 && largest <= 224},
        {Id::ScaleNaN, count(255) > 0},
        {Id::ZeroScale, count(0) == 16},
        {Id::ExtremeScale, count(0) > 0 && count(0) < 16}};
    Report report = deepScan({codes, scale});
    for (auto [id, isThere] : expected)
      EXPECT_EQ(find(report, id) != nullptr, isThere)
          << idText(id) << " in trial " << trial << "\n"
          << textOf(report);
  }
}

/// Digests are computed side by side, arrays of any sizes in any number.
TEST_F(ContentsTest, DigestsOfManyArrays) {
  for (size_t number : {1, 3, 4, 5, 11}) {
    std::vector<TestTensor> tensors;
    std::string records;
    for (size_t i = 0; i < number; ++i) {
      std::string name = "w" + std::to_string(i);
      int64_t rows = 1 + static_cast<int64_t>(i * i);
      TestTensor tensor(name, "U8", {rows * 34}, static_cast<uint8_t>(100 + i));
      ByteSpan bytes(tensor.bytes);
      size_t data = static_cast<size_t>(rows) * 32;
      const ByteSpan planes[] = {bytes.first(data), bytes.subspan(data)};
      std::string hash = toBase32(digest(planes));
      if (i % 3 == 2)
        tensor.bytes[i] ^= 1;
      records += (i ? ",\"" : "\"") + name +
                 R"(":{"contract":"mxfp4","shape":[)" + std::to_string(rows) +
                 R"(,64],"digest":")" + hash + "\"}";
      tensors.push_back(std::move(tensor));
    }
    write("a.safetensors", tensors,
          gritMetadata("{\"version\":1,\"tensors\":{" + records + "}}"));
    for (unsigned threads : {1, 2, 7}) {
      Options options;
      options.deep = true;
      options.threads = threads;
      uint64_t total = 0, done = 0;
      options.onDeepStart = [&](uint64_t bytes) { total = bytes; };
      options.onDeepProgress = [&](uint64_t bytes) { done += bytes; };
      std::vector<std::string> paths = {directory.file("a.safetensors")};
      Report report = grit::scan::scan(paths, options);
      EXPECT_EQ(done, total);
      std::set<std::string> wrong, expected;
      for (const Finding &finding : report.findings)
        if (finding.id == Id::DigestMismatch)
          wrong.insert(finding.where.begin(), finding.where.end());
      for (size_t i = 2; i < number; i += 3)
        expected.insert("w" + std::to_string(i));
      EXPECT_EQ(wrong, expected) << number << " on " << threads;
    }
  }
}
