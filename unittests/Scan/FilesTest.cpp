//===- FilesTest.cpp - findings about files and records -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"
#include "grit/Container/Gguf.h"
#include "grit/Format/Descriptor.h"

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using FilesTest = ScanTest;

static std::string hexOf(const std::string &contract,
                         std::vector<int64_t> shape, uint32_t note = 0) {
  ArraySpec spec =
      *ArraySpec::get(*Contract::parse(contract), std::move(shape));
  Descriptor descriptor = Descriptor::read(*spec.descriptor());
  descriptor.note = note;
  return toHex(descriptor.write());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST_F(FilesTest, GRIT_S001_Unreadable) {
  write("a.safetensors", "PK\x03\x04 and so on");
  Report report = scanFiles({"a.safetensors"});
  expectFinding(report, Id::Unreadable);
  EXPECT_EQ(report.gradedExitCode(), 4);
  EXPECT_EQ(report.simpleExitCode(), 2);
  // Among files that parse it is a fault of the input.
  write("b.safetensors", {{"w", "F32", {4}}});
  report = scanFiles({"a.safetensors", "b.safetensors"});
  expectFinding(report, Id::Unreadable);
  EXPECT_EQ(report.gradedExitCode(), 1);
  EXPECT_EQ(scanFiles({"nothing"}).gradedExitCode(), 4);
  write("config.json", "{}");
  write("zero.safetensors", "");
  for (const char *name : {"nothing", "empty", "config.json",
                           "zero.safetensors", "a.safetensors"}) {
    std::filesystem::create_directory(directory.file("empty"));
    const Report refused = scanFiles({name});
    const Finding *finding = find(refused, Id::Unreadable);
    ASSERT_NE(finding, nullptr) << name;
    for (const std::string *part :
         {&finding->declared, &finding->found, &finding->cause, &finding->fix})
      EXPECT_FALSE(part->empty()) << name << ": " << finding->message;
  }
  EXPECT_EQ(scanFiles({"empty"}).gradedExitCode(), 4);
}

TEST_F(FilesTest, GRIT_S002_Truncated) { // B52
  GgufBuilder builder;
  builder.tensor("a", {8}, 0, 0).tensor("b", {8}, 0, 32).data(48);
  write("a.gguf", builder.build());
  Report report = scanFiles({"a.gguf"});
  expectFinding(report, Id::Truncated, "b");
  EXPECT_EQ(report.gradedExitCode(), 1);
  builder.data(64);
  write("a.gguf", builder.build());
  expectClean(scanFiles({"a.gguf"}));
  // Planes that were cut off are not called missing.
  Bytes bytes = safetensorsOf({{"m.weight_packed", "U8", {4, 16}},
                               {"m.weight_scale", "F8_E4M3", {4, 2}}});
  bytes.resize(bytes.size() - 4);
  write("b.safetensors", bytes);
  report = scanFiles({"b.safetensors"});
  expectFinding(report, Id::Truncated, "m.weight_scale");
  expectNone(report, Id::MissingScale);
}

/// A file that was cut has one finding, and none that follows from it.
TEST_F(FilesTest, ATruncatedFileIsOneFinding) {
  std::vector<TestTensor> tensors;
  for (const char *layer : {"layers.0.mlp.", "layers.1.mlp."})
    for (const char *part : {"gate_proj", "up_proj"}) {
      std::string name = std::string(layer) + part;
      tensors.push_back({name + ".weight", "U8", {4, 16}});
      tensors.push_back({name + ".weight_scale", "F8_E4M3", {4, 2}});
      tensors.push_back(number(name + ".weight_scale_2", 0.01F));
    }
  Bytes bytes = safetensorsOf(tensors);
  write("a.safetensors", bytes);
  Report whole = scanFiles({"a.safetensors"});
  for (size_t cut : {4, 10, 80, 110, 160}) {
    Bytes part = bytes;
    part.resize(bytes.size() - cut);
    write("a.safetensors", part);
    Report report = scanFiles({"a.safetensors"});
    size_t truncations = 0;
    for (const Finding &finding : report.findings) {
      truncations += finding.id == Id::Truncated;
      EXPECT_TRUE(finding.id == Id::Truncated || find(whole, finding.id))
          << cut << "\n"
          << textOf(report);
    }
    EXPECT_EQ(truncations, 1U) << textOf(report);
  }
}

TEST_F(FilesTest, GRIT_S003_TrailingBytes) { // B55
  Bytes bytes = safetensorsOf({{"w", "F32", {4}}});
  write("a.safetensors", bytes);
  expectClean(scanFiles({"a.safetensors"}));
  bytes.resize(bytes.size() + 7);
  write("a.safetensors", bytes);
  Report report = scanFiles({"a.safetensors"});
  expectFinding(report, Id::TrailingBytes, "", "7 bytes after the last tensor");
}

TEST_F(FilesTest, GRIT_S004_Overlap) {
  write("a.safetensors",
        safetensors(R"({"a":{"dtype":"U8","shape":[16],"data_offsets":[0,16]},)"
                    R"("b":{"dtype":"U8","shape":[16],"data_offsets":[8,24]}})",
                    24));
  expectFinding(scanFiles({"a.safetensors"}), Id::Overlap, "b");
}

TEST_F(FilesTest, GRIT_S005_Gap) {
  write(
      "a.safetensors",
      safetensors(R"({"a":{"dtype":"U8","shape":[16],"data_offsets":[0,16]},)"
                  R"("b":{"dtype":"U8","shape":[16],"data_offsets":[24,40]}})",
                  40));
  expectFinding(scanFiles({"a.safetensors"}), Id::Gap, "b", "8 unused bytes");
}

TEST_F(FilesTest, GRIT_S006_DuplicateName) {
  write("a.safetensors",
        safetensors(R"({"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                    R"("w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
                    8));
  expectFinding(scanFiles({"a.safetensors"}), Id::DuplicateName, "w");
}

TEST_F(FilesTest, GRIT_S007_ShapeBytes) { // B54, B56
  auto report = [&](const char *dtype, const char *shape, int bytes) {
    std::string size = std::to_string(bytes);
    write("a.safetensors",
          safetensors("{\"w\":{\"dtype\":\"" + std::string(dtype) +
                          "\",\"shape\":" + shape + ",\"data_offsets\":[0," +
                          size + "]}}",
                      static_cast<size_t>(bytes)));
    return scanFiles({"a.safetensors"});
  };
  expectFinding(report("F32", "[4]", 8), Id::ShapeBytes, "w");
  expectFinding(report("F4", "[1, 7]", 4), Id::ShapeBytes, "w");
  expectClean(report("F4", "[2, 7]", 7)); // rows may end within a byte
  expectFinding(report("F4", "[9223372036854775807]", 8), Id::ShapeBytes, "w");
  expectClean(report("F4", "[2, 8]", 8));
  expectClean(report("F8_E8M0", "[3]", 3));
}

TEST_F(FilesTest, GRIT_S008_MalformedEntry) { // B57
  write("a.safetensors",
        safetensors(R"({"w":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})",
                    0));
  expectFinding(scanFiles({"a.safetensors"}), Id::MalformedEntry, "w");
  write("a.safetensors", {{"w", "F32", {4}}}, R"({"k":1})");
  expectFinding(scanFiles({"a.safetensors"}), Id::MalformedEntry);
  write("a.safetensors", {{"w", "F32", {4}}}, "{}");
  expectClean(scanFiles({"a.safetensors"}));
}

TEST_F(FilesTest, GRIT_S009_UnknownType) {
  GgufBuilder builder;
  builder.tensor("w", {8}, 200, 0).data(32);
  write("a.gguf", builder.build());
  Report report = scanFiles({"a.gguf"});
  expectFinding(report, Id::UnknownType, "w");
}

TEST_F(FilesTest, GRIT_S010_RetiredType) { // B60
  GgufBuilder builder;
  builder.tensor("w", {2880}, 4, 0);
  write("a.gguf", builder.build());
  Report report = scanFiles({"a.gguf"});
  expectFinding(report, Id::RetiredType, "w");
  EXPECT_TRUE(contains(find(report, Id::RetiredType)->cause, "MXFP4"));
}

//===----------------------------------------------------------------------===//
// Declared contracts
//===----------------------------------------------------------------------===//

TEST_F(FilesTest, GRIT_S011_ContractSize) {
  std::string fields = R"("contract":"mxfp4","shape":[8,64])";
  write("a.safetensors", {{"w", "U8", {271}}}, record("w", fields));
  expectFinding(scanFiles({"a.safetensors"}), Id::ContractSize, "w", "271");
  write("a.safetensors", {{"w", "U8", {272}}}, record("w", fields));
  expectClean(scanFiles({"a.safetensors"}));
  // The flat form, whose shape is that of the tensor.
  write("a.safetensors", {{"w", "U8", {8, 64}}},
        gritMetadata("{\"w\":\"" + hexOf("mxfp4", {8, 64}) + "\"}"));
  expectFinding(scanFiles({"a.safetensors"}), Id::ContractSize, "w");
  // An empty tensor is compared, too.
  write("a.safetensors", {{"w", "U8", {0}}}, record("w", fields));
  expectFinding(scanFiles({"a.safetensors"}), Id::ContractSize, "w");
}

TEST_F(FilesTest, GRIT_S012_ContractRefused) {
  std::string hex = hexOf("mxfp4", {8, 64});
  hex[0] = '0';
  write("a.safetensors", {{"w", "U8", {272}}},
        gritMetadata("{\"w\":\"" + hex + "\"}"));
  expectFinding(scanFiles({"a.safetensors"}), Id::ContractRefused, "w");
}

TEST_F(FilesTest, GRIT_S013_UnregisteredGrade) {
  std::string hex = hexOf("mxfp4", {8, 64});
  hex.replace(112, 4, "3412"); // the low bytes of grade_id
  write("a.safetensors", {{"w", "U8", {8, 34}}},
        gritMetadata("{\"w\":\"" + hex + "\"}"));
  Report report = scanFiles({"a.safetensors"});
  expectFinding(report, Id::UnregisteredGrade, "w");
  EXPECT_EQ(report.gradedExitCode(), 3);
}

/// Every array with the bit is reported, by its producer (A13).
TEST_F(FilesTest, GRIT_S014_Assumed) {
  auto desc = [](uint32_t note) { return hexOf("mxfp4", {8, 64}, note); };
  std::string fields = R"("contract":"mxfp4","shape":[8,64],"desc":")";
  write("a.safetensors",
        {{"u", "U8", {272}},
         {"v", "U8", {272}},
         {"w", "U8", {272}},
         {"x", "U8", {272}}},
        gritMetadata("{\"version\":1,\"tensors\":{\"u\":{" + fields +
                     desc(0x0701) + "\"},\"v\":{" + fields + desc(0x0901) +
                     "\"},\"w\":{" + fields + desc(0x0701) + "\"},\"x\":{" +
                     fields + desc(0x0700) + "\"}}}"));
  Report report = scanFiles({"a.safetensors"});
  EXPECT_EQ(report.gradedExitCode(), 3);
  ASSERT_EQ(report.findings.size(), 2U) << textOf(report);
  expectFinding(report, Id::Assumed, "w", "producer 7");
  EXPECT_EQ(report.findings[0].where, (std::vector<std::string>{"u", "w"}));
  EXPECT_TRUE(contains(report.findings[1].message, "producer 9"));
  EXPECT_EQ(report.findings[1].where, std::vector<std::string>{"v"});
}

TEST_F(FilesTest, GRIT_S015_DigestMismatch) {
  std::string fields = R"("contract":"mxfp4","shape":[8,64],)"
                       R"("digest":"00000000000000000000000000")";
  write("a.safetensors", {{"w", "U8", {272}}}, record("w", fields));
  expectNone(scanFiles({"a.safetensors"}), Id::DigestMismatch);
  expectFinding(scanFiles({"a.safetensors"}, true), Id::DigestMismatch, "w");
}

TEST_F(FilesTest, GRIT_S016_MetadataOrder) {
  std::string fields = R"("contract":"i8s24","shape":[1,64])";
  ArraySpec spec = *ArraySpec::get(*Contract::parse("i8s24"), {1, 64});
  PlaneSizes sizes = *spec.planeSizes();
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size;
  TestTensor tensor("w", "U8", {total}, 0x11);
  std::fill(tensor.bytes.end() - sizes.back(), tensor.bytes.end(), 0x44);
  write("a.safetensors", {tensor}, record("w", fields));
  expectNone(scanFiles({"a.safetensors"}, true), Id::MetadataOrder);
  std::fill(tensor.bytes.end() - sizes.back(), tensor.bytes.end(), 0x11);
  write("a.safetensors", {tensor}, record("w", fields));
  expectFinding(scanFiles({"a.safetensors"}, true), Id::MetadataOrder, "w");
}

TEST_F(FilesTest, GRIT_S088_IllegalWord) {
  std::string fields = R"("contract":"ninfer.q8_g32_fp16","shape":[1,128])";
  TestTensor tensor("w", "U8", {136}, 0x11);
  write("a.safetensors", {tensor}, record("w", fields));
  expectNone(scanFiles({"a.safetensors"}, true), Id::IllegalWord);
  tensor.bytes[17] = 0x80;
  write("a.safetensors", {tensor}, record("w", fields));
  expectNone(scanFiles({"a.safetensors"}), Id::IllegalWord);
  expectFinding(scanFiles({"a.safetensors"}, true), Id::IllegalWord, "w");
  expectNone(scanFiles({"a.safetensors"}, true), Id::DigestMismatch);
}

TEST_F(FilesTest, GRIT_S017_OrphanRecord) {
  write("a.safetensors", {{"w", "F32", {4}}},
        record("w2", R"("contract":"mxfp4","shape":[8,64])"));
  expectFinding(scanFiles({"a.safetensors"}), Id::OrphanRecord, "w2");
  GgufBuilder builder;
  builder.pairString("grit.desc.w2", hexOf("mxfp4", {8, 64}));
  write("a.gguf", builder.build());
  expectFinding(scanFiles({"a.gguf"}), Id::OrphanRecord, "w2");
}

TEST_F(FilesTest, GRIT_S018_PlacementUnspecified) {
  write("a.safetensors", {{"w", "U8", {272}}},
        record("w", R"("contract":"mxfp4","shape":[8,64],)"
                    R"("placements":{"scale":"unspecified"})"));
  expectFinding(scanFiles({"a.safetensors"}), Id::PlacementUnspecified, "w",
                "scale unspecified");
}

TEST_F(FilesTest, GRIT_S019_OuterGroupAxis) {
  write("a.safetensors", {{"w", "U8", {272}}},
        record("w", R"("contract":"mxfp4","shape":[64,8],"axis":0)"));
  expectFinding(scanFiles({"a.safetensors"}), Id::OuterGroupAxis, "w",
                "axis 0");
}

/// A GGUF file of matrices [8, 256] of the given types.
static Bytes ggufOf(uint32_t fileType, std::vector<uint32_t> types) {
  GgufBuilder builder;
  builder.pairUint32("general.file_type", fileType);
  size_t offset = 0;
  for (uint32_t type : types) {
    const GgmlType *known = lookupGgmlType(type);
    builder.tensor("w" + std::to_string(type) + "." + std::to_string(offset),
                   {256, 8}, type, offset);
    offset += static_cast<size_t>(8 * 256 / known->elements * known->bytes);
    offset = (offset + 31) / 32 * 32;
  }
  return builder.data(offset).build();
}

TEST_F(FilesTest, GRIT_S020_FileType) {
  constexpr uint32_t kF32 = 0, kQ8_0 = 8, kQ3K = 11, kQ4K = 12, kQ5K = 13,
                     kQ6K = 14;
  auto report = [&](uint32_t fileType, std::vector<uint32_t> types) {
    write("a.gguf", ggufOf(fileType, std::move(types)));
    return scanFiles({"a.gguf"});
  };
  Report wrong = report(7, {kQ4K, kQ4K, kQ6K});
  expectFinding(wrong, Id::FileType, "", "2 of Q4_K, 1 of Q6_K");
  EXPECT_EQ(wrong.gradedExitCode(), 2);
  expectClean(report(15, {kQ4K}));
  // Q4_K_M with a tied embedding of another type, which is most of the bytes.
  expectClean(report(15, {kF32, kF32, kF32, kQ4K}));
  // Q3_K_L: more matrices of Q5_K than of Q3_K.
  expectNone(report(13, {kQ3K, kQ5K, kQ5K, kQ5K}), Id::FileType);
  expectFinding(report(13, {kQ5K, kQ5K}), Id::FileType);
  // Vectors stay F32 in every recipe.
  GgufBuilder vectors;
  vectors.pairUint32("general.file_type", 7);
  vectors.tensor("norm", {32}, kF32, 0).data(128);
  write("a.gguf", vectors.build());
  expectClean(scanFiles({"a.gguf"}));
  // A shard does not hold all matrices.
  std::filesystem::remove(directory.file("a.gguf"));
  write("a-00001-of-00002.gguf", ggufOf(7, {kQ4K}));
  expectNone(scanFiles({"a-00001-of-00002.gguf"}), Id::FileType);
  write("a-00002-of-00002.gguf", ggufOf(7, {kQ8_0}));
  expectNone(scanFiles({"."}), Id::FileType);
}
