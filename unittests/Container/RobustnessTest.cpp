//===- RobustnessTest.cpp - hostile files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

using namespace grit;
using namespace grit::test;

/// Opens a file, and touches everything that an open file offers. With
/// sanitizers, a read outside of the bytes ends the test.
static bool use(const Bytes &bytes) {
  std::vector<Error> problems;
  OpenOptions collect;
  collect.problems = &problems;
  auto lenient = open(bytes, collect);
  auto file = open(bytes, {.level = 2});
  for (const Error &problem : problems)
    expectComplete(problem);
  if (!file) {
    expectComplete(file.error());
    return false;
  }
  // What is accepted strictly has no problems, and both see the same tensors.
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(lenient);
  EXPECT_EQ((*lenient)->tensors().size(), (*file)->tensors().size());
  (*file)->metadata();
  for (const TensorInfo &tensor : (*file)->tensors()) {
    uint64_t sum = 0;
    for (uint8_t byte : tensor.bytes)
      sum += byte;
    EXPECT_LE(sum, tensor.bytes.size() * 255);
    EXPECT_EQ((*file)->find(tensor.name), &tensor);
    if (tensor.array) {
      size_t total = 0;
      for (ByteSpan plane : tensor.planes())
        total += plane.size();
      EXPECT_EQ(total, tensor.bytes.size());
    }
  }
  return true;
}

static Bytes sampleGguf(uint32_t version, std::endian order) {
  GgufBuilder builder;
  builder.version = version;
  builder.order = order;
  builder.pairString("general.architecture", "test");
  builder.pairUint32("general.alignment", 32);
  builder.tensor("w", {64, 2}, 2, 0).tensor("b", {2}, 0, 96).data(104);
  return builder.build();
}

static Bytes sampleSafetensors() {
  TemporaryDirectory directory;
  std::string path = directory.file("file");
  ArraySpec spec = *ArraySpec::get(*Contract::parse("nvf4"), {2, 32});
  auto writer = SafetensorsWriter::create(
      path, {{"w", {}, {}, spec},
             {"b", lookupElementType("F32"), {2}, std::nullopt}});
  EXPECT_TRUE((*writer)->write(0, Bytes(2 * 32 / 2 + 4 + 4, uint8_t(0x31))));
  EXPECT_TRUE((*writer)->write(1, Bytes(8)));
  EXPECT_TRUE((*writer)->finish());
  return readFile(path);
}

class Robustness : public testing::TestWithParam<const char *> {
protected:
  static Bytes sample() {
    std::string_view name = GetParam();
    return name == "safetensors"
               ? sampleSafetensors()
               : sampleGguf(static_cast<uint32_t>(name.back() - '0'),
                            name.starts_with("big") ? std::endian::big
                                                    : std::endian::little);
  }
};

TEST_P(Robustness, TheSampleIsAccepted) { EXPECT_TRUE(use(sample())); }

TEST_P(Robustness, EveryTruncationIsRefused) {
  Bytes bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(use(Bytes(bytes.begin(), bytes.begin() + size))) << size;
}

TEST_P(Robustness, EveryBitFlipIsSurvived) {
  Bytes bytes = sample();
  size_t numRefused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes changed = bytes;
    changed[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    numRefused += !use(changed);
  }
  EXPECT_GT(numRefused, bytes.size());
}

TEST_P(Robustness, EveryByteSetToExtremesIsSurvived) {
  Bytes bytes = sample();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t value : {0x00, 0x7F, 0x80, 0xFF}) {
      Bytes changed = bytes;
      changed[at] = value;
      use(changed);
    }
}

TEST_P(Robustness, TrailingBytesAreCounted) {
  Bytes bytes = sample();
  bytes.insert(bytes.end(), 64, 0);
  Error error = refusal(bytes);
  EXPECT_TRUE(contains(error.message, "bytes after the last tensor"));
}

INSTANTIATE_TEST_SUITE_P(, Robustness,
                         testing::Values("safetensors", "gguf1", "gguf2",
                                         "gguf3", "big1", "big3"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(Sniffing, SaysWhatAnotherFileIs) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {std::string_view("PK\x03\x04 and more bytes"), "PyTorch"},
      {"version https://git-lfs.github.com/spec/v1", "Git LFS"},
      {"<!DOCTYPE html><html></html>", "web page"},
      {"{\"weight_map\": {}}", "index"},
      {"FUGG and more bytes", "swapped"},
  };
  for (auto [text, what] : cases) {
    Bytes bytes;
    append(bytes, text);
    Error error = refusal(bytes);
    EXPECT_TRUE(contains(error.message, "neither safetensors nor GGUF"));
    EXPECT_TRUE(contains(error.cause, what)) << error.str();
  }
  EXPECT_EQ(refusal({}).found, "an empty file");
}
