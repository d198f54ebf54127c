//===- BugReportsTest.cpp - files that made other programs fail -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One test for each public report whose fault a file shows. Its name begins
// with the number that the project gives to the report; the comment names the
// thread. The files are made here and are a few kilobytes at most.
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using BugReportsTest = ScanTest;
using Tensors = std::vector<TestTensor>;

static Bytes wordBytes(std::initializer_list<uint32_t> values) {
  Bytes bytes;
  for (uint32_t value : values)
    appendLE(bytes, value, 4);
  return bytes;
}

/// An FP4 layer with block scales, and a tensor scale of this name.
static void addFp4(Tensors &tensors, const std::string &name, float second,
                   const std::string &suffix = "weight_scale_2") {
  tensors.push_back({name + ".weight", "U8", {4, 16}});
  tensors.push_back({name + ".weight_scale", "F8_E4M3", {4, 2}, 0x38});
  tensors.push_back(number(name + "." + suffix, second));
}

static Tensors packed(const std::string &name) {
  return {{name + ".weight_packed", "I32", {4, 16}},
          {name + ".weight_scale", "F16", {4, 1}, 0x3C}};
}

/// quantization_config of compressed-tensors around these members of weights.
static std::string groupsOf(const std::string &members) {
  return R"("quant_method":"compressed-tensors","config_groups":{"g":)"
         R"({"weights":{)" +
         members + "}}}";
}

// ml-explore/mlx-lm#1734: the weight was split, the scales were not.
TEST_F(BugReportsTest, B02_ScalesOfTheUnsplitMatrix) {
  write("config.json", R"({"quantization":{"bits":2,"group_size":128}})");
  expectFinding(
      scan({{"m.weight", "U32", {10, 64}}, {"m.scales", "F16", {10, 32}}}),
      Id::GroupSize, "m", "32 groups");
}

// vllm-project/compressed-tensors#843: blocks taken for channels.
TEST_F(BugReportsTest, B05_BlockScalesThatLookLikeChannels) {
  declare(groupsOf(R"("num_bits":8,"strategy":"block",)"
                   R"("block_structure":[128,128])"));
  expectFinding(scan({{"m.weight", "F8_E4M3", {256, 128}},
                      {"m.weight_scale", "F32", {2, 1}}}),
                Id::Strategy, "m", "ambiguous");
}

// onnxruntime/mobius#446: one row of scales was spread over all rows.
TEST_F(BugReportsTest, B06_OneScaleRowForFour) {
  expectFinding(
      scan({{"m.weight", "U8", {4, 8}}, {"m.weight_scale", "F8_E4M3", {1, 1}}}),
      Id::ScaleShape, "m", "[1, 1]");
}

// AutoGPTQ/AutoGPTQ#754: layers of mixed widths declared as 2 bits.
TEST_F(BugReportsTest, B07_MixedWidthsDeclaredAsOne) {
  declare(R"("quant_method":"gptq","bits":2,"group_size":128)");
  expectFinding(
      scan({{"m.qweight", "I32", {276, 64}}, {"m.scales", "F16", {32, 64}}}),
      Id::PackedBits, "m", "4416 codes");
}

// ml-explore/mlx-lm#1451: a layer of 6 bits without an entry of its own.
TEST_F(BugReportsTest, B08_AnOverrideThatIsNotRecorded) {
  write("config.json", R"({"quantization":{"bits":4,"group_size":32}})");
  Tensors tensors = {{"a.weight", "U32", {4, 32}},
                     {"a.scales", "F16", {4, 8}},
                     {"b.weight", "U32", {4, 48}},
                     {"b.scales", "F16", {4, 8}}};
  Report report = scan(tensors);
  expectFinding(report, Id::PackedBits, "b", "6 bits");
  EXPECT_EQ(find(report, Id::PackedBits)->count, 1U);
}

// modular/modular#6600: a divisor used as a multiplier.
TEST_F(BugReportsTest, B09_TheReciprocalOfATensorScale) {
  Tensors divisor, multiplier;
  addFp4(divisor, "m", 3584, "weight_global_scale");
  addFp4(multiplier, "m", 1.0F / 3584);
  Report report = scan(divisor);
  expectFinding(report, Id::ReciprocalScale, "m");
  expectNone(deepScan(multiplier), Id::ReciprocalName);
  Tensors wrong;
  addFp4(wrong, "m", 3584);
  expectFinding(deepScan(wrong), Id::ReciprocalName, "m", "above 1");
}

// vllm-project/vllm#54974: the gate's scale was applied to up.
TEST_F(BugReportsTest, B10_GateAndUpUnderTwoScales) {
  Tensors tensors;
  addFp4(tensors, "mlp.gate_proj", 3.85e-5F);
  addFp4(tensors, "mlp.up_proj", 4.83e-5F);
  expectFinding(deepScan(tensors), Id::SiblingScale, "mlp.up_proj", "4.83");
}

// intel/auto-round#2380: the names to_q, to_k, to_v were not grouped.
TEST_F(BugReportsTest, B11_AliasesOfSiblings) {
  Tensors tensors;
  addFp4(tensors, "to_q", 12343, "weight_global_scale");
  addFp4(tensors, "to_k", 5334, "weight_global_scale");
  addFp4(tensors, "to_v", 8001, "weight_global_scale");
  Report report = deepScan(tensors);
  for (const char *name : {"to_k", "to_v"})
    EXPECT_TRUE(std::ranges::any_of(report.findings,
                                    [&](const Finding &finding) {
                                      return finding.id == Id::SiblingScale &&
                                             (finding.where.front() == name ||
                                              contains(finding.message, name));
                                    }))
        << name << "\n"
        << textOf(report);
}

// sgl-project/sglang#23625: 1.0 was taken for input scales of about 150.
TEST_F(BugReportsTest, B12_SomeLayersWithoutInputScale) {
  Tensors tensors;
  for (const char *name : {"a", "b", "c", "d"})
    addFp4(tensors, name, 1e-3F);
  tensors.push_back(number("a.input_scale", 150));
  tensors.push_back(number("b.input_scale", 150));
  Report report = scan(tensors);
  expectFinding(report, Id::MissingInputScale, "c");
  expectFinding(report, Id::MissingInputScale, "d");
}

// Comfy-Org/ComfyUI#15520: scales without a declaration were dropped.
TEST_F(BugReportsTest, B13_NothingDeclaresTheScales) {
  Tensors tensors;
  addFp4(tensors, "m", 1e-3F);
  tensors.push_back(number("m.input_scale", 1));
  Report report = scan(tensors);
  expectFinding(report, Id::Undeclared, "m");
  EXPECT_EQ(report.tensors.front().contract, "nvf4");
  EXPECT_EQ(report.tensors.front().basis, "inferred");
}

// wuwangzhang1216/abliterix#93: the suffix ".scale" was not known.
TEST_F(BugReportsTest, B14_AScaleNamedScale) {
  Report report = scan({{"wo_b.weight", "F8_E4M3", {256, 256}},
                        {"wo_b.scale", "F8_E8M0", {2, 2}}});
  expectFinding(report, Id::ScaleSpelling, "wo_b");
}

// kekzl/imp#1450: a converter kept the codes and dropped their scales.
TEST_F(BugReportsTest, B15_AnOrphanAmongScaledSiblings) {
  Tensors tensors;
  for (const char *name : {"a", "b", "c"}) {
    tensors.push_back({std::string(name) + ".weight", "F8_E4M3", {128, 128}});
    if (*name != 'c')
      tensors.push_back(
          {std::string(name) + ".weight_scale_inv", "F32", {1, 1}});
  }
  expectFinding(scan(tensors), Id::OrphanWeight, "c");
}

// huggingface/transformers#46763: the stored scale is one step high.
TEST_F(BugReportsTest, B16_CodesOfTheUnroundedScale) {
  Tensors tensors = {{"m.weight", "F8_E4M3", {32, 32}, 0x76}, // 224
                     {"m.weight_scale", "F8_E8M0", {32, 1}, 128}};
  expectFinding(deepScan(tensors), Id::UnusedCodes, "m", "224");
}

// NVIDIA/TransformerEngine#3262: scale codes 0 and 255 were expanded wrongly.
TEST_F(BugReportsTest, B20_TheTwoEndsOfE8M0) {
  for (auto [code, id] :
       {std::pair<uint8_t, Id>{0, Id::ExtremeScale}, {255, Id::ScaleNaN}}) {
    TestTensor scale("m.weight_scale", "F8_E8M0", {2, 1}, 127);
    scale.with({127, code});
    expectFinding(deepScan({{"m.weight", "U8", {2, 16}}, scale}), id, "m",
                  "1 of 2");
  }
}

// THUDM/slime#2256: zero divided by zero was stored as NaN codes.
TEST_F(BugReportsTest, B25_ATileOfNaNUnderAZeroScale) {
  Report report = deepScan({{"m.weight", "F8_E4M3", {128, 128}, 0x7F},
                            {"m.weight_scale_inv", "F32", {1, 1}, 0}});
  expectFinding(report, Id::ElementNaN, "m", "16384 of 16384");
  expectFinding(report, Id::ZeroScale, "m");
}

// causalflow-ai/petit-kernel#3: FNUZ read as e4m3.
TEST_F(BugReportsTest, B26_FnuzIsNoE4M3) {
  Report report = scan({{"m.weight", "F8_E4M3FNUZ", {4, 4}}});
  expectFinding(report, Id::Fnuz, "m.weight");
  EXPECT_FALSE(Contract::parse("grit1(e=e4m3fnuz,k0=32,s0=e8m0,esr=floor)"));
}

// pytorch/ao#2939: the first element in the high nibble.
TEST_F(BugReportsTest, B29_NibblesPackedBothWays) {
  write("a.safetensors", {TestTensor("w", "U8", {2}).with({0x10, 0x32})});
  write("b.safetensors", {TestTensor("w", "U8", {2}).with({0x01, 0x23})});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::NibbleSwap, "w");
}

// amd/Quark#30: the order of AWQ was declared, the bytes were linear.
TEST_F(BugReportsTest, B30_ARampInTwoOrders) {
  write("a.safetensors",
        {TestTensor("w", "I32", {1}).with(wordBytes({0x76543210}))});
  write("b.safetensors",
        {TestTensor("w", "I32", {1}).with(wordBytes({0x75316420}))});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::PackingOrder, "w");
  // Alone, the order is not proven.
  declare(R"("quant_method":"awq","bits":4,"group_size":128)");
  expectFinding(scan({{"m.qweight", "I32", {256, 8}},
                      {"m.scales", "F16", {2, 64}},
                      {"m.qzeros", "I32", {2, 8}}}),
                Id::OrderUnproven, "m");
}

// vllm-project/vllm#38966: says version 1, stores zero points of version 2.
TEST_F(BugReportsTest, B32_ZeroPointsOfTheOtherVersion) {
  declare(R"("quant_method":"gptq","bits":4,"group_size":8,"sym":true,)"
          R"("checkpoint_format":"gptq")");
  expectFinding(deepScan({{"m.qweight", "I32", {2, 8}},
                          {"m.scales", "F16", {2, 8}, 0x3C},
                          {"m.qzeros", "I32", {2, 1}, 0x88}}),
                Id::ZeroPointOffByOne, "m", "zero point 9");
}

// intel/auto-round#2273: unsigned zero points in a packer for signed ones.
TEST_F(BugReportsTest, B34_ZeroPointsOutsideOfTheirRange) {
  declare(groupsOf(R"("num_bits":4,"symmetric":false,"strategy":"channel")"));
  Tensors tensors = packed("m");
  tensors.push_back(
      TestTensor("m.weight_zero_point", "I8", {4, 1}).with({8, 10, 12, 15}));
  expectFinding(deepScan(tensors), Id::ZeroPointRange, "m", "4 of 4");
}

// vllm-project/compressed-tensors#225: zero points that are all zero vanished.
TEST_F(BugReportsTest, B35_AsymmetricWithoutZeroPoints) {
  declare(groupsOf(R"("num_bits":4,"symmetric":false,"strategy":"channel")"));
  expectFinding(scan(packed("m")), Id::ZeroPointAbsent, "m");
}

// huggingface/transformers#47430: zero points that nobody collected.
TEST_F(BugReportsTest, B36_SymmetricWithZeroPoints) {
  declare(groupsOf(R"("num_bits":4,"symmetric":true,"strategy":"channel")"));
  Tensors tensors = packed("m");
  tensors.push_back({"m.weight_zero_point", "I8", {4, 1}});
  expectFinding(scan(tensors), Id::ZeroPointUndeclared, "m");
}

// vllm-project/vllm#23140: swizzled planes have padded extents.
TEST_F(BugReportsTest, B43_ASwizzledPlaneIsPadded) {
  expectFinding(scan({{"m.weight", "U8", {100, 40}},
                      {"m.weight_scale", "F8_E4M3", {128, 8}}}),
                Id::SwizzleAmbiguous, "m", "inferred swizzle");
}

// vllm-project/vllm#52240: rows of gate and up, stacked or alternating.
TEST_F(BugReportsTest, B45_InterleavedGateAndUp) {
  write("a.safetensors", {TestTensor("w", "U8", {4, 1}).with({1, 2, 3, 4})});
  write("b.safetensors", {TestTensor("w", "U8", {4, 1}).with({1, 3, 2, 4})});
  expectFinding(scanFiles({"a.safetensors", "b.safetensors"}, true),
                Id::RowInterleave, "w");
  expectFinding(scan({{"m.experts.w13_blocks", "U8", {2, 8, 1, 16}},
                      {"m.experts.w13_scales", "U8", {2, 8, 1}}}),
                Id::FusedRows, "m.experts.w13");
}

// vllm-project/vllm#7374: the index of groups was ignored.
TEST_F(BugReportsTest, B49_AShuffledIndexOfGroups) {
  auto layer = [](const Bytes &order) {
    return Tensors{{"m.qweight", "I32", {1, 8}},
                   {"m.scales", "F16", {2, 8}, 0x3C},
                   {"m.qzeros", "I32", {2, 1}, 0x77},
                   TestTensor("m.g_idx", "I32", {8}).with(order)};
  };
  declare(R"("quant_method":"gptq","bits":4,"group_size":4,)"
          R"("checkpoint_format":"gptq")");
  expectFinding(deepScan(layer(wordBytes({1, 0, 0, 1, 1, 0, 1, 0}))),
                Id::ActOrder, "m", "not expressible");
  // turboderp/exllama#44: an index of zeros is harmless.
  expectNone(deepScan(layer(Bytes(32, 0))), Id::ActOrder);
}

// vllm-project/llm-compressor#3038: reordering without its index.
TEST_F(BugReportsTest, B50_ReorderingWithoutAnIndex) {
  declare(groupsOf(R"("num_bits":4,"strategy":"channel","actorder":"group")"));
  expectFinding(scan(packed("m")), Id::ReorderAbsent, "m", "nothing");
}

// 1bit-MONSTER/1bit-MONSTER#1606: a short GGUF file was accepted.
TEST_F(BugReportsTest, B52_AFileThatEndsInsideItsSecondTensor) {
  GgufBuilder builder;
  builder.tensor("a", {8}, 0, 0).tensor("b", {8}, 0, 32).data(40);
  write("a.gguf", builder.build());
  Report report = scanFiles({"a.gguf"});
  expectFinding(report, Id::Truncated, "b");
  EXPECT_EQ(find(report, Id::Truncated)->count, 1U);
}

// safetensors/safetensors#749: the extent doubled beyond 64 bits.
TEST_F(BugReportsTest, B54_AnExtentThatOverflows) {
  for (const char *shape : {"[9223372036854775810]", "[9223372036854775807]",
                            "[4294967296,4294967296]"}) {
    write("a.safetensors",
          safetensors(R"({"w":{"dtype":"F4","shape":)" + std::string(shape) +
                          R"(,"data_offsets":[0,1]}})",
                      1));
    Report report = scanFiles({"a.safetensors"});
    EXPECT_EQ(report.count(Severity::Violation), 1U) << textOf(report);
  }
}

// Comfy-Org/ComfyUI#15599: "corrupt download" for seven bytes too many.
TEST_F(BugReportsTest, B55_SevenBytesTooMany) {
  Bytes bytes = safetensorsOf({{"w", "F32", {4}}});
  bytes.resize(bytes.size() + 7);
  write("a.safetensors", bytes);
  Report report = scanFiles({"a.safetensors"});
  expectFinding(report, Id::TrailingBytes, "", "7 bytes after the last tensor");
  EXPECT_EQ(report.findings.size(), 1U);
}

// safetensors/safetensors#839: the shape of F4 counts numbers, not bytes.
TEST_F(BugReportsTest, B56_TheShapeOfF4) {
  auto report = [&](const char *shape, size_t bytes) {
    write("a.safetensors",
          safetensors(R"({"w":{"dtype":"F4","shape":)" + std::string(shape) +
                          R"(,"data_offsets":[0,)" + std::to_string(bytes) +
                          "]}}",
                      bytes));
    return scanFiles({"a.safetensors"});
  };
  expectClean(report("[2,8]", 8));
  expectFinding(report("[1,7]", 4), Id::ShapeBytes, "w");
  expectClean(scan({{"s", "F8_E8M0", {3}}}));
}

// foundation-model-stack/fastsafetensors#89: an empty __metadata__.
TEST_F(BugReportsTest, B57_EmptyMetadata) {
  write("a.safetensors", Tensors{{"w", "F32", {4}}}, "{}");
  expectClean(scanFiles({"a.safetensors"}));
}

// gpustack/gguf-parser-go#38: newer type ids, and padding that is not needed.
TEST_F(BugReportsTest, B58_NewerTypesAndNoPadding) {
  constexpr std::tuple<uint32_t, uint64_t, size_t, const char *> kTypes[] = {
      {40, 64, 36, "NVFP4"}, {41, 128, 18, "Q1_0"}};
  for (auto [type, extent, bytes, name] : kTypes) {
    // Names of every length: one of the headers ends at a multiple of 32.
    for (size_t length = 1; length <= 32; ++length) {
      GgufBuilder builder;
      builder.tensor(std::string(length, 'w'), {extent}, type, 0).data(bytes);
      write("a.gguf", builder.build());
      Report report = scanFiles({"a.gguf"});
      ASSERT_EQ(report.tensors.size(), 1U) << textOf(report);
      EXPECT_EQ(report.tensors[0].dtype, name);
      EXPECT_EQ(report.count(Severity::Violation), 0U) << textOf(report);
    }
  }
}

// ggml-org/llama.cpp#15597: a removed id used for another format.
TEST_F(BugReportsTest, B60_ARetiredTypeId) {
  GgufBuilder builder;
  builder.tensor("w", {2880}, 4, 0);
  write("a.gguf", builder.build());
  expectCause(scanFiles({"a.gguf"}), Id::RetiredType, "MXFP4");
}

// sgl-project/sglang#32736: a parent's name swallowed its children.
TEST_F(BugReportsTest, B61_IgnoredAndQuantized) {
  declare(R"("quant_method":"compressed-tensors","ignore":["mlp.experts.0"])");
  expectFinding(scan(packed("mlp.experts.0.w1")), Id::IgnoredModule,
                "mlp.experts.0.w1");
}
