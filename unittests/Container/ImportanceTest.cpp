//===- ImportanceTest.cpp - reading importance matrices -------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Importance.h"
#include "TestFiles.h"
#include <bit>
#include <cmath>

using namespace grit;
using namespace grit::test;

static Expected<ImportanceFile> readBytes(Bytes bytes) {
  return ImportanceFile::read(MappedFile::ofBytes(std::move(bytes), "m"));
}

static void appendFloats(Bytes &bytes, const std::vector<float> &values) {
  for (float value : values)
    appendLE(bytes, std::bit_cast<uint32_t>(value), 4);
}

//===----------------------------------------------------------------------===//
// The form without a header
//===----------------------------------------------------------------------===//

namespace {
struct PlainEntry {
  std::string name;
  int32_t calls;
  std::vector<float> values;
};
} // namespace

static Bytes plain(const std::vector<PlainEntry> &entries) {
  Bytes bytes;
  appendLE(bytes, entries.size(), 4);
  for (const PlainEntry &entry : entries) {
    appendLE(bytes, entry.name.size(), 4);
    append(bytes, entry.name);
    appendLE(bytes, static_cast<uint32_t>(entry.calls), 4);
    appendLE(bytes, entry.values.size(), 4);
    appendFloats(bytes, entry.values);
  }
  return bytes;
}

static const std::vector<PlainEntry> kTwo = {{"a.weight", 4, {1, 2, 6}},
                                             {"b.weight", 0, {0.5f}}};

TEST(Importance, SumsAreDividedByCalls) {
  auto file = readBytes(plain(kTwo));
  ASSERT_TRUE(file) << file.error().str();
  ASSERT_EQ(file->entries().size(), 2u);
  EXPECT_EQ(file->find("a.weight")->weights,
            (std::vector<float>{0.25f, 0.5f, 1.5f}));
  EXPECT_EQ(file->find("b.weight")->weights, std::vector<float>{0.5f});
  EXPECT_EQ(file->find("c.weight"), nullptr);
}

TEST(Importance, WhatNewerWritersAppend) {
  Bytes bytes = plain(kTwo);
  appendLE(bytes, 100, 4);
  EXPECT_TRUE(readBytes(bytes));
  appendLE(bytes, 8, 4);
  append(bytes, "wiki.txt");
  EXPECT_TRUE(readBytes(bytes));
  bytes.push_back(0);
  auto file = readBytes(bytes);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().field, "length of the data set");
}

TEST(Importance, EveryTruncationIsRefusedByName) {
  const Bytes whole = plain(kTwo);
  for (size_t size = 0; size < whole.size(); ++size) {
    auto file = readBytes(Bytes(whole.begin(), whole.begin() + size));
    ASSERT_FALSE(file) << size;
    EXPECT_FALSE(file.error().field.empty()) << size;
  }
}

TEST(Importance, MalformedEntries) {
  auto fieldOf = [](Bytes bytes) {
    auto file = readBytes(std::move(bytes));
    EXPECT_FALSE(file);
    return file ? "" : file.error().field;
  };
  EXPECT_EQ(fieldOf(plain({})), "number of entries");
  EXPECT_EQ(fieldOf(plain({{"", 1, {1, 2}}})), "entry 0: length of the name");
  EXPECT_EQ(fieldOf(plain({{"a", 1, {}}, {"b", 1, {1, 2}}})),
            "entry 0: tensor 'a': number of values");
  EXPECT_EQ(fieldOf(plain({{"a", 1, {1}}, {"a", 1, {1}}})),
            "entry 1: tensor 'a': name");
  EXPECT_EQ(fieldOf(plain({{"a", 1, {1, -1}}})),
            "entry 0: tensor 'a': importance[1]");
  EXPECT_EQ(fieldOf(plain({{"a", 1, {NAN}}})),
            "entry 0: tensor 'a': importance[0]");
  Bytes huge = plain(kTwo);
  huge[3] = 0x7F;
  EXPECT_EQ(fieldOf(huge), "number of entries");
  huge = plain(kTwo);
  huge[7] = 0xFF; // of the first name's length
  EXPECT_EQ(fieldOf(huge), "entry 0: length of the name");
}

//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

namespace {
struct Part {
  std::string name;
  std::vector<uint64_t> dims; ///< fastest first
  std::vector<float> values;
};
} // namespace

static Bytes gguf(const std::vector<Part> &parts,
                  std::string_view type = "imatrix", uint32_t dtype = 0) {
  GgufBuilder builder;
  if (!type.empty())
    builder.pairString("general.type", type);
  Bytes data;
  for (const Part &part : parts) {
    builder.tensor(part.name, part.dims, dtype, data.size());
    appendFloats(data, part.values);
    data.resize((data.size() + 31) / 32 * 32);
  }
  Bytes bytes = builder.build();
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TEST(Importance, GgufHasACountForEachMatrix) {
  auto file = readBytes(gguf({{"w.in_sum2", {2, 3}, {2, 4, 6, 8, 10, 12}},
                              {"w.counts", {1, 3}, {2, 0, 4}},
                              {"v.in_sum2", {3}, {3, 0, 6}},
                              {"v.counts", {1}, {3}}}));
  ASSERT_TRUE(file) << file.error().str();
  // The second matrix saw nothing.
  EXPECT_EQ(file->find("w")->weights,
            (std::vector<float>{1, 2, 1, 1, 2.5f, 3}));
  EXPECT_EQ(file->find("v")->weights, (std::vector<float>{1, 0, 2}));
}

TEST(Importance, MalformedGguf) {
  auto fieldOf = [](Bytes bytes) {
    auto file = readBytes(std::move(bytes));
    EXPECT_FALSE(file);
    return file ? "" : file.error().field;
  };
  const Part sums = {"w.in_sum2", {2}, {1, 2}}, counts = {"w.counts", {1}, {1}};
  EXPECT_EQ(fieldOf(gguf({sums, counts}, "model")), "general.type");
  EXPECT_EQ(fieldOf(gguf({sums, counts}, "")), "general.type");
  EXPECT_EQ(fieldOf(gguf({})), "tensors");
  EXPECT_EQ(fieldOf(gguf({sums})), "tensor 'w.in_sum2': tensors");
  EXPECT_EQ(fieldOf(gguf({sums, counts, {"w", {1}, {1}}})), "tensor 'w'");
  EXPECT_EQ(fieldOf(gguf({sums, {"w.counts", {2}, {1, 1}}})),
            "tensor 'w.in_sum2': number of counts");
  EXPECT_EQ(fieldOf(gguf({{"w.in_sum2", {2}, {1, -2}}, counts})),
            "tensor 'w': importance[1]");
  EXPECT_EQ(fieldOf(gguf({sums, counts}, "imatrix", 26)),
            "tensor 'w.in_sum2': dtype");
  Bytes whole = gguf({sums, counts});
  whole.resize(whole.size() - 32);
  EXPECT_FALSE(readBytes(whole));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TEST(Importance, LengthsAreThoseOfTheTensor) {
  std::vector<float> weights(256, 1);
  std::vector<float> pair(512, 1);
  auto file = readBytes(
      plain({{"one", 1, weights}, {"two", 1, pair}, {"short", 1, {1, 2}}}));
  ASSERT_TRUE(file);
  auto specOf = [](const char *name, std::vector<int64_t> shape) {
    return *ArraySpec::get(*Contract::parse(name), std::move(shape));
  };
  ArraySpec matrix = specOf("gguf.iq2_xs", {4, 256});
  ArraySpec experts = specOf("gguf.iq2_xs", {2, 4, 256});
  EXPECT_EQ(importanceOf(&*file, "one", matrix, false)->size(), 256u);
  EXPECT_EQ(importanceOf(&*file, "one", experts, false)->size(), 256u);
  EXPECT_EQ(importanceOf(&*file, "two", experts, false)->size(), 512u);
  for (auto [name, spec] :
       {std::pair("two", matrix), std::pair("short", matrix),
        std::pair("missing", matrix)}) {
    auto found = importanceOf(&*file, name, spec, false);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().field,
              "tensor '" + std::string(name) + "': importance");
  }
  EXPECT_FALSE(importanceOf(nullptr, "one", matrix, false));
  // Where it may be missing, and where it would be refused.
  ArraySpec weighed = specOf("gguf.q4_k", {4, 256});
  EXPECT_TRUE(importanceOf(&*file, "missing", weighed, false)->empty());
  EXPECT_TRUE(importanceOf(nullptr, "one", weighed, false)->empty());
  EXPECT_EQ(importanceOf(&*file, "one", weighed, false)->size(), 256u);
  ArraySpec even = specOf("mxfp4", {4, 256});
  EXPECT_TRUE(importanceOf(&*file, "short", even, false)->empty());
  EXPECT_EQ(importanceOf(&*file, "one", even, true)->size(), 256u);
}
