//===- GgufOrderTest.cpp - big-endian GGUF files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include <algorithm>

using namespace grit;
using namespace grit::test;

static std::vector<std::pair<int64_t, int64_t>> wordsOf(std::string_view name) {
  std::vector<std::pair<int64_t, int64_t>> words;
  for (const GgmlType &type : ggmlTypes())
    if (type.name == name && type.byteOrder)
      for (const ByteOrder::Word &word : type.byteOrder->words())
        words.emplace_back(word.offset, word.bytes);
  return words;
}

using Words = std::vector<std::pair<int64_t, int64_t>>;

/// The members of several bytes in the block structures of ggml.
TEST(ByteOrder, WordsAreThoseOfGgmlsBlocks) {
  EXPECT_EQ(wordsOf("F32"), (Words{{0, 4}}));
  EXPECT_EQ(wordsOf("I64"), (Words{{0, 8}}));
  EXPECT_EQ(wordsOf("BF16"), (Words{{0, 2}}));
  EXPECT_EQ(wordsOf("I8"), (Words{}));
  EXPECT_EQ(wordsOf("Q4_0"), (Words{{0, 2}}));
  EXPECT_EQ(wordsOf("Q4_1"), (Words{{0, 2}, {2, 2}}));
  EXPECT_EQ(wordsOf("Q5_0"), (Words{{0, 2}, {2, 4}}));
  EXPECT_EQ(wordsOf("Q5_1"), (Words{{0, 2}, {2, 2}, {4, 4}}));
  EXPECT_EQ(wordsOf("Q8_1"), (Words{{0, 2}, {2, 2}}));
  EXPECT_EQ(wordsOf("Q2_K"), (Words{{80, 2}, {82, 2}}));
  EXPECT_EQ(wordsOf("Q3_K"), (Words{{108, 2}}));
  EXPECT_EQ(wordsOf("Q4_K"), (Words{{0, 2}, {2, 2}}));
  EXPECT_EQ(wordsOf("Q6_K"), (Words{{208, 2}}));
  EXPECT_EQ(wordsOf("IQ4_XS"), (Words{{0, 2}, {2, 2}}));
  EXPECT_EQ(wordsOf("TQ1_0"), (Words{{52, 2}}));
  EXPECT_EQ(wordsOf("MXFP4"), (Words{}));
  EXPECT_EQ(wordsOf("NVFP4"), (Words{}));
  Words q8k{{0, 4}};
  for (int64_t i = 0; i < 16; ++i)
    q8k.emplace_back(260 + 2 * i, 2);
  EXPECT_EQ(wordsOf("Q8_K"), q8k);
}

/// Those whose levels ggml reads from words, byte by byte.
TEST(ByteOrder, TypesWithGridsHaveNone) {
  std::vector<std::string> without;
  for (const GgmlType &type : ggmlTypes())
    if (!type.byteOrder)
      without.emplace_back(type.name);
  std::ranges::sort(without);
  EXPECT_EQ(without,
            (std::vector<std::string>{"IQ1_M", "IQ1_S", "IQ2_S", "IQ2_XS",
                                      "IQ2_XXS", "IQ3_S", "IQ3_XXS"}));
}

static GgufBuilder sample(uint32_t version, std::endian order) {
  GgufBuilder builder;
  builder.version = version;
  builder.order = order;
  builder.pairUint32("answer", 42);
  Bytes list;
  builder.number(list, 3, 4); // of int16
  builder.length(list, 2);
  builder.number(list, 258, 2);
  builder.number(list, 0xFFFE, 2);
  builder.pair("list", 9, list);
  builder.tensor("w", {64, 3}, 2, 0); // Q4_0, 108 bytes, padded to 128
  builder.tensor("b", {5}, 0, 128);   // F32, 20 bytes
  return builder.data(148);
}

TEST(GgufBigEndian, IsReadInEveryVersion) {
  for (uint32_t version : {1u, 2u, 3u}) {
    auto big = open(sample(version, std::endian::big).build());
    auto little = open(sample(version, std::endian::little).build());
    ASSERT_TRUE(big && little) << big.error().str();
    const auto &reader = static_cast<const GgufReader &>(**big);
    EXPECT_EQ(reader.byteOrder(), std::endian::big);
    EXPECT_EQ(reader.version(), version);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ((*big)->metadata()[i].value, (*little)->metadata()[i].value);
    EXPECT_EQ((*big)->metadata()[1].value, "[258, -2]");
    // Data of the builder are bytes 0, 1, 2, ...
    ByteSpan w = (*big)->find("w")->bytes, b = (*big)->find("b")->bytes;
    ASSERT_EQ(w.size(), 108u);
    EXPECT_EQ((std::vector<int>{w[0], w[1], w[2], w[17], w[18], w[19], w[20]}),
              (std::vector<int>{1, 0, 2, 17, 19, 18, 20}));
    EXPECT_EQ((std::vector<int>{b[0], b[1], b[2], b[3], b[4]}),
              (std::vector<int>{131, 130, 129, 128, 135}));
    EXPECT_EQ((*big)->tensors()[0].name, "w");
  }
}

TEST(GgufBigEndian, GridsAreRefused) {
  GgufBuilder builder;
  builder.order = std::endian::big;
  Error error =
      refusal(builder.tensor("w", {256}, 22, 0).data(82).build()); // IQ2_S
  EXPECT_EQ(error.field, "tensor 'w': byte order");
  EXPECT_TRUE(contains(error.declared, "IQ2_S"));
  EXPECT_EQ(error.found, "big-endian");
  // Without elements there is nothing to turn round.
  GgufBuilder empty;
  empty.order = std::endian::big;
  EXPECT_TRUE(open(empty.tensor("w", {256, 0}, 22, 0).build()));
}

/// The work for a hostile file is bounded by its size.
TEST(GgufBigEndian, OverlappingTensorsAreNotCopiedTwice) {
  GgufBuilder builder;
  builder.order = std::endian::big;
  for (int i = 0; i < 40; ++i)
    builder.tensor("w" + std::to_string(i), {1024}, 0, 0);
  Error error = refusal(builder.data(4096).build());
  EXPECT_EQ(error.code, ErrorCode::Overlap);
}

static Bytes written(std::endian order, size_t piece) {
  TemporaryDirectory directory;
  const std::string path = directory.file("file");
  auto source = open(sample(3, std::endian::little).build());
  auto writer = GgufWriter::create(
      path, {{"w", {3, 64}, lookupGgmlType(2)}, {"b", {5}, lookupGgmlType(0)}},
      static_cast<const GgufReader &>(**source).keyValues(), order);
  EXPECT_TRUE(writer);
  for (size_t tensor = 0; tensor < 2; ++tensor) {
    ByteSpan bytes = (*source)->tensors()[tensor].bytes;
    while (!bytes.empty()) {
      const size_t count = std::min(piece, bytes.size());
      EXPECT_TRUE((*writer)->write(tensor, bytes.first(count)));
      bytes = bytes.subspan(count);
    }
  }
  EXPECT_TRUE((*writer)->finish());
  return readFile(path);
}

TEST(GgufBigEndian, IsWrittenInPiecesOfAnySize) {
  const Bytes whole = written(std::endian::big, 1000);
  for (size_t piece : {1, 3, 18, 19})
    EXPECT_EQ(written(std::endian::big, piece), whole) << piece;
  auto big = open(whole), little = open(written(std::endian::little, 7));
  ASSERT_TRUE(big && little);
  for (const char *name : {"w", "b"})
    EXPECT_TRUE(std::ranges::equal((*big)->find(name)->bytes,
                                   (*little)->find(name)->bytes));
  EXPECT_EQ((*big)->metadata()[1].value, "[258, -2]");
}

TEST(GgufBigEndian, GridsAreNotWritten) {
  TemporaryDirectory directory;
  auto writer = GgufWriter::create(directory.file("file"),
                                   {{"w", {256}, lookupGgmlType(22)}}, {},
                                   std::endian::big);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().field, "tensor 'w': byte order");
}

/// More bytes than are kept in memory.
TEST(ScratchFile, HoldsWhatIsWritten) {
  for (uint64_t size : {uint64_t(100), ScratchFile::kInMemory + 1}) {
    auto file = ScratchFile::create(size);
    ASSERT_TRUE(file) << file.error().str();
    ASSERT_EQ(file->bytes().size(), size);
    ASSERT_TRUE(file->writeAt(size - 3, Bytes{1, 2, 3}));
    ScratchFile moved = std::move(*file);
    EXPECT_EQ(moved.bytes()[0], 0);
    EXPECT_EQ(moved.bytes()[size - 1], 3);
    EXPECT_TRUE(file->bytes().empty());
  }
}

TEST(ScratchFile, SaysWhereItCannotBe) {
  const char *before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  auto file = ScratchFile::create(ScratchFile::kInMemory + 1);
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  ASSERT_FALSE(file);
  expectComplete(file.error());
  EXPECT_TRUE(contains(file.error().message, "/nowhere/at/all"));
}
