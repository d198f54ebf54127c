//===- IndexesTest.cpp - findings about indexes and what lies beside files -*-
// C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"
#include "grit/Format/Descriptor.h"

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using IndexesTest = ScanTest;

static std::string hexOf(const std::string &contract,
                         std::vector<int64_t> shape) {
  ArraySpec spec =
      *ArraySpec::get(*Contract::parse(contract), std::move(shape));
  return toHex(*spec.descriptor());
}

TEST_F(IndexesTest, GRIT_S021_MissingShard) {
  write("a.safetensors", {{"w", "F32", {4}}});
  write("m.index.json",
        R"({"weight_map":{"w":"a.safetensors","v":"b.safetensors"}})");
  Report report = scanFiles({"m.index.json"});
  expectFinding(report, Id::MissingShard, "b.safetensors");
  EXPECT_EQ(report.tensors.size(), 1U);
}

TEST_F(IndexesTest, GRIT_S022_MissingTensor) {
  write("a.safetensors", {{"w", "F32", {4}}});
  write("m.index.json",
        R"({"weight_map":{"w":"a.safetensors","w2":"a.safetensors"}})");
  expectFinding(scanFiles({"m.index.json"}), Id::MissingTensor, "w2");
  write("m.json", R"([{"path":"a.safetensors","tensor":"v","desc":"00"}])");
  expectFinding(scanFiles({"m.json"}), Id::MissingTensor, "v");
}

TEST_F(IndexesTest, GRIT_S023_UnlistedTensor) {
  write("a.safetensors", {{"w", "F32", {4}}, {"w3", "F32", {4}}});
  write("m.index.json", R"({"weight_map":{"w":"a.safetensors"}})");
  expectFinding(scanFiles({"m.index.json"}), Id::UnlistedTensor, "w3");
}

TEST_F(IndexesTest, GRIT_S024_RepeatedTensor) {
  write("m-00001-of-00002.safetensors", {{"w", "F32", {4}}});
  write("m-00002-of-00002.safetensors", {{"w", "F32", {4}}});
  expectFinding(scanFiles({"."}), Id::RepeatedTensor, "w");
}

TEST_F(IndexesTest, GRIT_S025_ShardSet) {
  write("m-00001-of-00002.safetensors", {{"m.qweight", "I32", {8, 8}}});
  Report report = scanFiles({"m-00001-of-00002.safetensors"});
  expectFinding(report, Id::ShardSet);
  expectNone(report, Id::MissingScale);
}

TEST_F(IndexesTest, GRIT_S026_TotalSize) {
  write("a.safetensors", {{"w", "F32", {8}}});
  write("m.index.json", R"({"metadata":{"total_size":64},)"
                        R"("weight_map":{"w":"a.safetensors"}})");
  expectFinding(scanFiles({"."}), Id::TotalSize, "", "32 bytes");
  write("m.index.json", R"({"metadata":{"total_size":32},)"
                        R"("weight_map":{"w":"a.safetensors"}})");
  expectClean(scanFiles({"."}));
}

TEST_F(IndexesTest, GRIT_S027_ManifestPath) {
  write("a/a.safetensors", {{"w", "F32", {4}}});
  write("x.safetensors", {{"w", "F32", {4}}});
  write("a/m.index.json", R"({"weight_map":{"w":"../x.safetensors"}})");
  Report report = scanFiles({"a/m.index.json"});
  expectFinding(report, Id::ManifestPath, "", "../x.safetensors");
  EXPECT_TRUE(report.tensors.empty());
}

TEST_F(IndexesTest, GRIT_S028_ManifestContract) {
  write("a.safetensors", {{"w", "U8", {272}}},
        record("w", R"("contract":"mxfp4","shape":[8,64])"));
  auto manifest = [&](const std::string &contract) {
    write("m.json",
          "[{\"path\":\"a.safetensors\",\"tensor\":\"w\",\"desc\":\"" +
              hexOf(contract, {8, 64}) + "\"}]");
    return scanFiles({"m.json"});
  };
  expectFinding(manifest("nvf4"), Id::ManifestContract, "w");
  expectClean(manifest("mxfp4"));
}

TEST_F(IndexesTest, GRIT_S029_ConfigUnreadable) {
  write("a.safetensors", {{"w", "F32", {4}}});
  write("config.json", "{");
  expectFinding(scanFiles({"a.safetensors"}), Id::ConfigUnreadable);
  declare(R"("quant_method":"gptq","bits":"four")");
  expectFinding(scanFiles({"a.safetensors"}), Id::ConfigUnreadable, "", "bits");
}
