//===- ModelsTest.cpp - findings between tensors and configuration -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using ModelsTest = ScanTest;

static std::vector<TestTensor> gptq(const std::string &name, int64_t k,
                                    int64_t n, int64_t groups,
                                    int64_t bits = 4) {
  return {{name + ".qweight", "I32", {k * bits / 32, n}},
          {name + ".scales", "F16", {groups, n}, 0x3C},
          {name + ".qzeros", "I32", {groups, n * bits / 32}}};
}
static std::vector<TestTensor> nvfp4(const std::string &name,
                                     bool second = true) {
  std::vector<TestTensor> tensors = {
      {name + ".weight", "U8", {4, 16}},
      {name + ".weight_scale", "F8_E4M3", {4, 2}}};
  if (second)
    tensors.push_back(number(name + ".weight_scale_2", 1e-3F));
  return tensors;
}
static std::vector<TestTensor> packed(const std::string &name) {
  return {{name + ".weight_packed", "I32", {4, 16}},
          {name + ".weight_scale", "BF16", {4, 1}, 0x3F}};
}
static std::vector<TestTensor> operator+(std::vector<TestTensor> a,
                                         const std::vector<TestTensor> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

//===----------------------------------------------------------------------===//
// Declared against implied
//===----------------------------------------------------------------------===//

TEST_F(ModelsTest, GRIT_S030_PackedBits) { // B07, B08
  declare(R"("quant_method":"gptq","bits":2,"group_size":128)");
  std::vector<TestTensor> tensors = {{"m.qweight", "I32", {276, 64}},
                                     {"m.scales", "F16", {32, 64}}};
  expectFinding(scan(tensors), Id::PackedBits, "m", "2.16 bits");
  tensors[0] = {"m.qweight", "I32", {256, 64}};
  expectNone(scan(tensors), Id::PackedBits);
  // The shapes of qzeros tell the width.
  expectFinding(scan(gptq("m", 256, 64, 2, 8)), Id::PackedBits, "m", "8 bits");
  // One layer of 6 bits among layers of 4, without an entry for it.
  std::vector<TestTensor> mixed = {{"a.weight", "U32", {4, 48}},
                                   {"a.scales", "F16", {4, 8}}};
  write("config.json", R"({"quantization":{"bits":4,"group_size":32}})");
  expectFinding(scan(mixed), Id::PackedBits, "a", "imply 6 bits");
  write("config.json", R"({"quantization":{"bits":4,"group_size":32,)"
                       R"("a":{"bits":6,"group_size":32}}})");
  expectNone(scan(mixed), Id::PackedBits);
}

TEST_F(ModelsTest, GRIT_S031_GroupSize) { // B02
  write("config.json", R"({"quantization":{"bits":2,"group_size":128}})");
  std::vector<TestTensor> tensors = {{"m.weight", "U32", {10, 64}},
                                     {"m.scales", "F16", {10, 32}}};
  Report report = scan(tensors);
  expectFinding(report, Id::GroupSize, "m", "groups of 32");
  tensors[1] = {"m.scales", "F16", {10, 8}};
  expectNone(scan(tensors), Id::GroupSize);
}

TEST_F(ModelsTest, GRIT_S032_ScaleShape) { // B06
  expectFinding(
      scan({{"m.weight", "U8", {4, 8}}, {"m.weight_scale", "F8_E4M3", {1, 1}}}),
      Id::ScaleShape, "m");
  expectNone(
      scan({{"m.weight", "U8", {4, 8}}, {"m.weight_scale", "F8_E4M3", {4, 1}}}),
      Id::ScaleShape);
  expectFinding(scan({{"m.weight", "F8_E4M3", {256, 256}},
                      {"m.weight_scale", "F32", {3, 2}}}),
                Id::ScaleShape, "m");
}

TEST_F(ModelsTest, GRIT_S033_Strategy) { // B05
  declare(R"("quant_method":"compressed-tensors","config_groups":{"g":)"
          R"({"weights":{"num_bits":8,"strategy":"block",)"
          R"("block_structure":[128,128]}}})");
  std::vector<TestTensor> tensors = {{"m.weight", "F8_E4M3", {256, 128}},
                                     {"m.weight_scale", "F32", {2, 1}}};
  expectFinding(scan(tensors), Id::Strategy, "m", "ambiguous");
  tensors[1] = {"m.weight_scale", "F32", {256, 1}};
  expectFinding(scan(tensors), Id::Strategy, "m", "not that of the declared");
  tensors = {{"m.weight", "F8_E4M3", {256, 256}},
             {"m.weight_scale", "F32", {2, 2}}};
  expectNone(scan(tensors), Id::Strategy);
}

static const char kAsymmetric[] =
    R"("quant_method":"compressed-tensors","config_groups":{"g":{"weights":)"
    R"({"num_bits":4,"symmetric":false,"strategy":"channel"}}})";
static const char kSymmetric[] =
    R"("quant_method":"compressed-tensors","config_groups":{"g":{"weights":)"
    R"({"num_bits":4,"symmetric":true,"strategy":"channel"}}})";

TEST_F(ModelsTest, GRIT_S034_ZeroPointAbsent) { // B35
  declare(kAsymmetric);
  Report report = scan(packed("m"));
  expectFinding(report, Id::ZeroPointAbsent, "m");
  EXPECT_EQ(report.gradedExitCode(), 2);
  declare(kSymmetric);
  expectNone(scan(packed("m")), Id::ZeroPointAbsent);
}

TEST_F(ModelsTest, GRIT_S035_ZeroPointUndeclared) { // B36
  declare(kSymmetric);
  std::vector<TestTensor> tensors = packed("m");
  tensors.push_back({"m.weight_zero_point", "I8", {4, 1}});
  expectFinding(scan(tensors), Id::ZeroPointUndeclared, "m");
  declare(kAsymmetric);
  expectNone(scan(tensors), Id::ZeroPointUndeclared);
}

TEST_F(ModelsTest, GRIT_S036_ReorderAbsent) { // B50
  declare(R"("quant_method":"compressed-tensors","config_groups":{"g":)"
          R"({"weights":{"num_bits":4,"strategy":"channel",)"
          R"("actorder":"group"}}})");
  expectFinding(scan(packed("m")), Id::ReorderAbsent, "m");
  std::vector<TestTensor> tensors = packed("m");
  tensors.push_back({"m.weight_g_idx", "I32", {128}});
  expectNone(scan(tensors), Id::ReorderAbsent);
}

TEST_F(ModelsTest, GRIT_S037_IgnoredModule) { // B61
  declare(R"("quant_method":"compressed-tensors","ignore":["mlp.experts.0"])");
  Report report =
      scan(packed("mlp.experts.0.w1") + packed("mlp.experts.01.w1"));
  expectFinding(report, Id::IgnoredModule, "mlp.experts.0.w1");
  EXPECT_EQ(find(report, Id::IgnoredModule)->count, 1U);
}

TEST_F(ModelsTest, GRIT_S038_Method) {
  declare(R"("quant_method":"awq","bits":4,"group_size":128)");
  expectFinding(scan(gptq("m", 256, 64, 2)), Id::Method, "m", "gptq");
  declare(R"("quant_method":"gptq","bits":4,"group_size":128)");
  expectNone(scan(gptq("m", 256, 64, 2)), Id::Method);
}

TEST_F(ModelsTest, GRIT_S039_NothingQuantized) {
  declare(R"("quant_method":"gptq","bits":4)");
  expectFinding(scan({{"m.weight", "BF16", {8, 8}}}), Id::NothingQuantized);
}

//===----------------------------------------------------------------------===//
// Missing planes
//===----------------------------------------------------------------------===//

TEST_F(ModelsTest, GRIT_S040_Undeclared) { // B13
  std::vector<TestTensor> tensors = nvfp4("m");
  tensors.push_back(number("m.input_scale", 1));
  expectFinding(scan(tensors), Id::Undeclared, "m");
  declare(R"("quant_method":"modelopt","quant_algo":"NVFP4")");
  expectNone(scan(tensors), Id::Undeclared);
}

TEST_F(ModelsTest, GRIT_S041_MissingScale) {
  Report report = scan({{"m.qweight", "I32", {8, 8}}});
  expectFinding(report, Id::MissingScale, "m");
  EXPECT_EQ(report.gradedExitCode(), 1);
  expectFinding(scan({{"m.weight_packed", "U8", {4, 16}}}), Id::MissingScale,
                "m");
  expectFinding(scan({{"m.up_proj_blocks", "U8", {2, 4, 16}}}),
                Id::MissingScale, "m.up_proj");
  expectFinding(scan({{"m.W_q", "U8", {4, 16}}}), Id::MissingScale, "m");
  expectFinding(
      scan({{"m.weight", "U8", {32, 1}}, {"m.weight.quant_map", "F32", {16}}}),
      Id::MissingScale, "m");
}

TEST_F(ModelsTest, GRIT_S042_OrphanWeight) { // B15
  std::vector<TestTensor> tensors;
  for (const char *name : {"a", "b", "c", "d"}) {
    tensors.push_back({std::string(name) + ".weight", "F8_E4M3", {128, 128}});
    if (*name != 'd')
      tensors.push_back(
          {std::string(name) + ".weight_scale_inv", "F32", {1, 1}});
  }
  Report report = scan(tensors);
  expectFinding(report, Id::OrphanWeight, "d");
  EXPECT_EQ(find(report, Id::OrphanWeight)->count, 1U);
}

TEST_F(ModelsTest, GRIT_S043_MissingSecondScale) {
  expectFinding(scan(nvfp4("a") + nvfp4("b", false)), Id::MissingSecondScale,
                "b");
  expectNone(scan(nvfp4("a") + nvfp4("b")), Id::MissingSecondScale);
}

TEST_F(ModelsTest, GRIT_S044_MissingInputScale) { // B12
  std::vector<TestTensor> tensors =
      nvfp4("a") + nvfp4("b") + nvfp4("c") + nvfp4("d");
  tensors.push_back(number("a.input_scale", 150));
  tensors.push_back(number("b.input_scale", 150));
  Report report = scan(tensors);
  expectFinding(report, Id::MissingInputScale, "c");
  EXPECT_EQ(find(report, Id::MissingInputScale)->count, 2U);
}

TEST_F(ModelsTest, GRIT_S045_Partial) {
  std::vector<TestTensor> tensors = nvfp4("layers.0.mlp.up_proj");
  tensors.push_back({"layers.1.mlp.up_proj.weight", "F16", {4, 32}});
  tensors.push_back({"lm_head.weight", "F16", {4, 32}});
  Report report = scan(tensors);
  expectFinding(report, Id::Partial, "layers.1.mlp.up_proj");
  EXPECT_EQ(find(report, Id::Partial)->count, 1U);
}

TEST_F(ModelsTest, GRIT_S046_ScaleSpelling) { // B14
  Report report = scan({{"wo_b.weight", "F8_E4M3", {256, 256}},
                        {"wo_b.scale", "F8_E8M0", {2, 2}}});
  expectFinding(report, Id::ScaleSpelling, "wo_b");
  expectFinding(report, Id::NotExpressible, "wo_b", "two-dimensional");
}

//===----------------------------------------------------------------------===//
// Conventions
//===----------------------------------------------------------------------===//

TEST_F(ModelsTest, GRIT_S050_ReciprocalScale) { // B09
  std::vector<TestTensor> tensors = nvfp4("m", false);
  tensors.push_back(number("m.weight_global_scale", 3584));
  expectFinding(scan(tensors), Id::ReciprocalScale, "m");
  expectNone(scan(nvfp4("m")), Id::ReciprocalScale);
}

TEST_F(ModelsTest, GRIT_S051_ZeroPointConvention) {
  declare(R"("quant_method":"gptq","bits":4,"group_size":128)");
  Report report = scan(gptq("m", 256, 64, 2));
  expectFinding(report, Id::ZeroPointConvention, "m");
  EXPECT_EQ(report.gradedExitCode(), 2);
  declare(R"("quant_method":"gptq","bits":4,"group_size":128,)"
          R"("checkpoint_format":"gptq")");
  report = scan(gptq("m", 256, 64, 2));
  expectNone(report, Id::ZeroPointConvention);
  EXPECT_EQ(report.gradedExitCode(), 3);
}

TEST_F(ModelsTest, GRIT_S053_ByteScale) {
  expectFinding(
      scan({{"m.weight", "U8", {4, 16}}, {"m.weight_scale", "U8", {4, 1}}}),
      Id::ByteScale, "m");
  expectNone(scan({{"m.weight", "U8", {4, 16}},
                   {"m.weight_scale", "F8_E8M0", {4, 1}}}),
             Id::ByteScale);
}

TEST_F(ModelsTest, GRIT_S054_Fnuz) { // B26
  expectFinding(scan({{"m.weight", "F8_E4M3FNUZ", {4, 4}}}), Id::Fnuz,
                "m.weight", "F8_E4M3FNUZ");
}

TEST_F(ModelsTest, GRIT_S056_DenseZeroPoints) {
  expectFinding(scan(gptq("m", 256, 64, 2)), Id::DenseZeroPoints, "m");
  std::vector<TestTensor> awq = {{"m.qweight", "I32", {256, 8}},
                                 {"m.scales", "F16", {2, 64}},
                                 {"m.qzeros", "I32", {2, 8}}};
  Report report = scan(awq);
  expectFinding(report, Id::DenseZeroPoints, "m", "");
  expectFinding(report, Id::FormatInferred, "m", "AWQ, 4 bits");
}

//===----------------------------------------------------------------------===//
// Siblings and roles
//===----------------------------------------------------------------------===//

TEST_F(ModelsTest, GRIT_S061_SiblingContract) {
  declare(R"("quant_method":"gptq","group_size":64)");
  Report report =
      scan(gptq("l.q_proj", 64, 64, 1) + gptq("l.k_proj", 64, 64, 1) +
           gptq("l.v_proj", 64, 64, 1, 8));
  expectFinding(report, Id::SiblingContract, "l.v_proj");
  expectNone(scan(gptq("l.q_proj", 64, 64, 1) + gptq("l.k_proj", 64, 64, 1)),
             Id::SiblingContract);
}

TEST_F(ModelsTest, GRIT_S062_RoleDrift) {
  Report report = scan(gptq("layers.0.mlp.down_proj", 128, 64, 1) +
                       gptq("layers.1.mlp.down_proj", 128, 64, 2));
  expectFinding(report, Id::RoleDrift, "mlp.down_proj", "groups of 64");
  expectNone(report, Id::ArtifactDrift);
}

TEST_F(ModelsTest, GRIT_S063_ArtifactDrift) {
  Report report = scan(gptq("layers.0.mlp.down_proj", 128, 64, 1) +
                       gptq("layers.0.mlp.up_proj", 128, 64, 2));
  expectFinding(report, Id::ArtifactDrift, "", "groups of 64");
  expectNone(report, Id::RoleDrift);
}

//===----------------------------------------------------------------------===//
// What no header proves
//===----------------------------------------------------------------------===//

TEST_F(ModelsTest, GRIT_S090_SwizzleAmbiguous) { // B43
  auto report = [&](int64_t rows, int64_t groups, std::vector<int64_t> scale) {
    return scan({{"m.weight", "U8", {rows, groups * 8}},
                 {"m.weight_scale", "F8_E4M3", std::move(scale)}});
  };
  expectFinding(report(128, 4, {128, 4}), Id::SwizzleAmbiguous, "m", "linear");
  expectFinding(report(100, 5, {128, 8}), Id::SwizzleAmbiguous, "m",
                "inferred swizzle");
  expectNone(report(100, 5, {100, 5}), Id::SwizzleAmbiguous);
  expectFinding(report(100, 5, {100, 8}), Id::ScaleShape, "m");
}

TEST_F(ModelsTest, GRIT_S091_OrderUnproven) { // B29, B30
  expectFinding(scan(nvfp4("m")), Id::OrderUnproven, "m", "FP4");
}

TEST_F(ModelsTest, GRIT_S092_FusedRows) { // B45
  expectFinding(scan({{"m.experts.gate_up_proj_blocks", "U8", {2, 8, 1, 16}},
                      {"m.experts.gate_up_proj_scales", "U8", {2, 8, 1}}}),
                Id::FusedRows, "m.experts.gate_up_proj");
}

TEST_F(ModelsTest, GRIT_S093_NotExpressible) {
  expectFinding(scan({{"m.weight", "F8_E4M3", {256, 256}},
                      {"m.weight_scale_inv", "F32", {2, 2}}}),
                Id::NotExpressible, "m", "two-dimensional");
  expectCause(scan({{"m.weight", "F8_E4M3", {256, 256}},
                    {"m.weight_scale_inv", "F32", {2, 2}}}),
              Id::NotExpressible, "blocks of rows and columns");
  expectCause(scan({{"m.weight", "F8_E4M3", {256, 256}},
                    {"m.weight_scale", "BF16", {256, 1}}}),
              Id::NotExpressible, "bfloat16");
  // A type of GGUF has a contract, though no grade spells it.
  GgufBuilder builder;
  builder.tensor("w", {256}, 13, 0).data(176); // Q5_K
  write("a.gguf", builder.build());
  expectNone(scanFiles({"a.gguf"}), Id::NotExpressible);
}

TEST_F(ModelsTest, GRIT_S094_FormatInferred) {
  Report report = scan(nvfp4("m"));
  expectFinding(report, Id::FormatInferred, "m", "NVFP4");
  expectCause(report, Id::FormatInferred, "neither a record in the file");
  declare(R"("quant_method":"modelopt")");
  expectCause(scan(nvfp4("m")), Id::FormatInferred,
              "config.json declares the method 'modelopt'");
  const TensorReport &tensor = report.tensors.front();
  EXPECT_EQ(tensor.basis, "inferred");
  EXPECT_EQ(tensor.contract, "nvf4");
  EXPECT_TRUE(tensor.gid.empty()) << "an inference has no identity";
  EXPECT_EQ(tensor.logicalShape, (std::vector<int64_t>{4, 32}));
}
