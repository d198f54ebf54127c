//===- GgufTest.cpp - reading and writing GGUF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

using namespace grit;
using namespace grit::test;

/// The ids used below.
enum : uint32_t { F32 = 0, Q4_0 = 2, Q6_K = 14, Q4_K = 12 };

TEST(GgufTypes, ContractsAgreeWithGgml) {
  // The blocks as ggml's own tables give them.
  const std::tuple<const char *, int64_t, int64_t> blocks[] = {
      {"Q4_0", 32, 18},  {"Q4_K", 256, 144}, {"Q8_0", 32, 34},
      {"MXFP4", 32, 17}, {"IQ4_NL", 32, 18},
  };
  for (auto [name, elements, bytes] : blocks) {
    bool found = false;
    for (const GgmlType &type : ggmlTypes()) {
      if (type.name != name)
        continue;
      found = true;
      ASSERT_TRUE(type.contract) << name;
      EXPECT_EQ(type.elements, elements);
      EXPECT_EQ(type.bytes, bytes);
      EXPECT_EQ(ggmlTypeOf(*type.contract), &type);
    }
    EXPECT_TRUE(found) << name;
  }
  // Every GGUF contract of the registry has a type.
  for (const std::string &name : registeredContractNames())
    if (name.starts_with("gguf.")) {
      EXPECT_TRUE(ggmlTypeOf(*Contract::parse(name))) << name;
    }
  EXPECT_EQ(lookupGgmlType(4), nullptr);
  EXPECT_FALSE(ggmlTypeHint(4).empty());
  EXPECT_TRUE(ggmlTypeHint(77).empty());
}

static GgufBuilder sample(uint32_t version,
                          std::endian order = std::endian::little) {
  GgufBuilder builder;
  builder.version = version;
  builder.order = order;
  builder.pairString("general.architecture", "test");
  builder.pairUint32("answer", 42);
  Bytes list;
  builder.number(list, 8, 4); // of strings
  builder.length(list, 2);
  builder.string(list, "x");
  builder.string(list, "yz");
  builder.pair("tokens", 9, list);
  builder.tensor("w", {64, 3}, Q4_0, 0); // 108 bytes, padded to 128
  builder.tensor("b", {5}, F32, 128);    // 20 bytes
  builder.data(148);
  return builder;
}

TEST(Gguf, ReadsEveryVersion) {
  for (uint32_t version : {1u, 2u, 3u}) {
    auto file = open(sample(version).build());
    ASSERT_TRUE(file) << version << "\n" << file.error().str();
    EXPECT_EQ((*file)->format(), "gguf");
    ASSERT_EQ((*file)->tensors().size(), 2u);
    const TensorInfo *w = (*file)->find("w");
    ASSERT_TRUE(w && w->array);
    EXPECT_EQ(w->dtype, "Q4_0");
    EXPECT_EQ(w->shape, (std::vector<int64_t>{3, 64}));
    EXPECT_EQ(w->array->contract.name(), "gguf.q4_0");
    EXPECT_EQ(w->bytes.size(), 108u);
    ASSERT_EQ(w->planes().size(), 1u);
    const TensorInfo *b = (*file)->find("b");
    ASSERT_TRUE(b && b->element);
    EXPECT_FALSE(b->array);
    EXPECT_EQ(b->bytes[0], 128);
    std::vector<MetadataEntry> entries = (*file)->metadata();
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].value, "test");
    EXPECT_EQ(entries[1].value, "42");
    EXPECT_EQ(entries[2].type, "array of string");
  }
}

TEST(Gguf, ShowsNumbersOfEveryType) {
  auto number = [](uint64_t bits, unsigned bytes) {
    Bytes value;
    appendLE(value, bits, bytes);
    return value;
  };
  GgufBuilder builder;
  builder.pair("u8", 0, number(200, 1)).pair("i8", 1, number(200, 1));
  builder.pair("u16", 2, number(65535, 2)).pair("i16", 3, number(65535, 2));
  builder.pair("i32", 5, number(0xFFFFFFFE, 4));
  builder.pair("f32", 6, number(0x3727C5AC, 4)).pair("bool", 7, number(1, 1));
  builder.pair("u64", 10, number(UINT64_MAX, 8));
  builder.pair("i64", 11, number(UINT64_MAX, 8));
  builder.pair("f64", 12, number(0xC004000000000000, 8));
  auto file = open(builder.build());
  ASSERT_TRUE(file) << file.error().str();
  std::string values;
  for (const MetadataEntry &entry : (*file)->metadata())
    values += entry.key + "=" + entry.value + " ";
  EXPECT_EQ(values, "u8=200 i8=-56 u16=65535 i16=-1 i32=-2 f32=1e-05 bool=true "
                    "u64=18446744073709551615 i64=-1 f64=-2.5 ");
}

TEST(Gguf, AcceptsAPaddedEndAndNoTensors) {
  EXPECT_TRUE(open(sample(3).data(160).build()));
  EXPECT_TRUE(open(GgufBuilder().build()));
  GgufBuilder unpadded;
  unpadded.alignment = 1;
  EXPECT_TRUE(open(unpadded.build()));
}

/// Every type is an array of its contract or a tensor of plain numbers.
TEST(Gguf, EveryTypeIsRead) {
  for (const GgmlType &type : ggmlTypes()) {
    auto file = open(
        GgufBuilder()
            .tensor("w", {static_cast<uint64_t>(type.elements), 2}, type.id, 0)
            .data(2 * type.bytes)
            .build());
    ASSERT_TRUE(file) << type.name << ": " << file.error().str();
    const TensorInfo &info = (*file)->tensors()[0];
    EXPECT_EQ(info.dtype, type.name);
    EXPECT_NE(info.array.has_value(), info.element.has_value()) << type.name;
    if (info.array) {
      EXPECT_EQ(info.array->contract, *type.contract);
      EXPECT_GT(type.elements, 1) << type.name;
    }
  }
}

TEST(Gguf, HonoursTheAlignment) {
  GgufBuilder builder;
  builder.alignment = 64;
  builder.pairUint32("general.alignment", 64);
  builder.tensor("a", {1}, F32, 0).tensor("b", {1}, F32, 64).data(68);
  EXPECT_TRUE(open(builder.build()));
  for (uint32_t bad : {0u, 24u}) {
    Error error =
        refusal(GgufBuilder().pairUint32("general.alignment", bad).build());
    EXPECT_EQ(error.field, "general.alignment");
    EXPECT_EQ(error.found, std::to_string(bad));
  }
  Error error =
      refusal(GgufBuilder().pairString("general.alignment", "32").build());
  EXPECT_EQ(error.field, "general.alignment");
  // The largest alignment puts the data beyond the end.
  error = refusal(GgufBuilder()
                      .pairUint32("general.alignment", 0x80000000)
                      .tensor("a", {1}, F32, 0)
                      .data(4)
                      .build());
  EXPECT_TRUE(contains(error.message, "ends inside the tensor"));
}

TEST(Gguf, RefusesFalseTensors) {
  struct Case {
    GgufBuilder builder;
    const char *part;
  };
  const Case cases[] = {
      {GgufBuilder().tensor("w", {32}, 4, 0).data(17), "retired"},
      {GgufBuilder().tensor("w", {32}, 99, 0).data(17), "unknown tensor type"},
      {GgufBuilder().tensor("w", {33}, Q4_0, 0).data(36), "blocks"},
      {GgufBuilder().tensor("w", {256}, Q4_K, 0).data(143), "ends inside"},
      {GgufBuilder().tensor("w", {1}, F32, 4).data(8), "not aligned"},
      {GgufBuilder().tensor("w", {1}, F32, 64).data(68), "unused bytes"},
      {GgufBuilder().tensor("w", {1}, F32, UINT64_MAX - 31).data(4),
       "ends inside"},
      {GgufBuilder()
           .tensor("w", {1}, F32, 0)
           .tensor("w", {1}, F32, 32)
           .data(36),
       "twice"},
      {GgufBuilder()
           .tensor("v", {16}, F32, 0)
           .tensor("w", {1}, F32, 32)
           .data(64),
       "overlaps 'v'"},
      {GgufBuilder().tensor("w", {uint64_t(1) << 63}, F32, 0), "too large"},
      {GgufBuilder().tensor("w", {uint64_t(1) << 62, 8}, F32, 0), "overflows"},
      {GgufBuilder().tensor("w", {uint64_t(1) << 62}, F32, 0), "overflows"},
      {GgufBuilder().tensor("w", {1, 1, 1, 1, 1, 1, 1, 1, 1}, F32, 0).data(4),
       "dimensions"},
      {GgufBuilder().tensor(std::string_view("w\0x", 3), {1}, F32, 0).data(4),
       "NUL"},
      {GgufBuilder().tensor("\xFFw", {1}, F32, 0).data(4), "UTF-8"},
      {GgufBuilder().tensor("", {1}, F32, 0).data(4), "empty"},
  };
  for (const Case &test : cases) {
    Error error = refusal(test.builder.build());
    EXPECT_TRUE(contains(error.message, test.part)) << error.str();
    EXPECT_TRUE(contains(error.field, "tensor '")) << error.str();
  }
  Error retired =
      refusal(GgufBuilder().tensor("w", {32}, 4, 0).data(17).build());
  EXPECT_EQ(retired.found, "4");
  EXPECT_TRUE(contains(retired.cause, "MXFP4"));
  Error trailing =
      refusal(GgufBuilder().tensor("w", {1}, F32, 0).data(39).build());
  EXPECT_EQ(trailing.message, "35 bytes after the last tensor");
}

TEST(Gguf, RefusesFalseHeaders) {
  auto change = [](size_t at, uint64_t value, unsigned bytes) {
    Bytes file = sample(3).build();
    for (unsigned i = 0; i < bytes; ++i)
      file[at + i] = static_cast<uint8_t>(value >> (8 * i));
    return refusal(file);
  };
  EXPECT_EQ(change(4, 4, 4).field, "version");
  EXPECT_EQ(change(4, 0, 4).field, "version");
  // The rest is not turned round with it.
  EXPECT_EQ(change(4, 0x03000000, 4).field, "number of tensors");
  EXPECT_EQ(change(8, UINT64_MAX, 8).field, "number of tensors");
  EXPECT_EQ(change(16, kMaxTensors + 1, 8).field, "number of metadata entries");
  EXPECT_TRUE(contains(change(8, kMaxTensors, 8).field, "tensor entry"));
  EXPECT_TRUE(contains(change(16, kMaxTensors, 8).field, "metadata"));
  EXPECT_TRUE(contains(change(24, UINT64_MAX, 8).message, "too long"));
  EXPECT_TRUE(contains(
      refusal(GgufBuilder().pairUint32("a", 1).pairUint32("a", 2).build())
          .message,
      "twice"));
  EXPECT_TRUE(contains(refusal(GgufBuilder().pair("a", 13, {}).build()).message,
                       "unknown type"));
}

TEST(Gguf, RefusesFalseArrays) {
  auto array = [](uint32_t type, uint64_t count) {
    Bytes value;
    appendLE(value, type, 4);
    appendLE(value, count, 8);
    return value;
  };
  auto refusedPair = [](Bytes value) {
    return refusal(GgufBuilder().pair("a", 9, value).build());
  };
  EXPECT_TRUE(contains(refusedPair(array(10, UINT64_MAX)).message, "too long"));
  EXPECT_TRUE(contains(refusedPair(array(10, 1 << 20)).message, "ends inside"));
  EXPECT_TRUE(contains(refusedPair(array(8, 1 << 20)).message, "ends inside"));
  Bytes nested;
  for (int i = 0; i < 1000; ++i)
    append(nested, std::string_view("\x09\0\0\0\x01\0\0\0\0\0\0\0", 12));
  EXPECT_TRUE(contains(refusedPair(nested).message, "nested"));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TEST(GgufWriter, ComesBack) {
  TemporaryDirectory directory;
  std::string path = directory.file("file");
  std::vector<GgufKeyValue> pairs = {
      GgufKeyValue::ofString("general.architecture", "test"),
      GgufKeyValue::ofUint32("general.alignment", 64)};
  auto writer = GgufWriter::create(
      path,
      {{"w", {3, 64}, lookupGgmlType(Q4_0)}, {"b", {5}, lookupGgmlType(F32)}},
      pairs);
  ASSERT_TRUE(writer) << writer.error().str();
  ASSERT_TRUE((*writer)->write(1, Bytes(20, uint8_t(2))));
  ASSERT_TRUE((*writer)->write(0, Bytes(100, uint8_t(1))));
  ASSERT_TRUE((*writer)->write(0, Bytes(8, uint8_t(1))));
  ASSERT_TRUE((*writer)->finish());
  auto file = openTensorFile(path);
  ASSERT_TRUE(file) << file.error().str();
  const auto &reader = static_cast<const GgufReader &>(**file);
  EXPECT_EQ(reader.version(), 3u);
  EXPECT_EQ(reader.alignment(), 64u);
  ASSERT_EQ(reader.keyValues().size(), 2u);
  EXPECT_EQ(reader.keyValues()[0].asString(), "test");
  EXPECT_EQ(reader.keyValues()[1].asUnsigned(), 64u);
  EXPECT_EQ(reader.find("w")->shape, (std::vector<int64_t>{3, 64}));
  EXPECT_EQ(reader.find("w")->bytes[107], 1);
  EXPECT_EQ(reader.find("b")->bytes[0], 2);
  EXPECT_EQ(reader.fileBytes() % 64, 0u);
}

/// What version 1 stored with short lengths is the same once written again.
TEST(GgufWriter, CopiesMetadataOfEveryVersion) {
  TemporaryDirectory directory;
  auto third = open(sample(3).build());
  auto first = open(sample(1).build());
  ASSERT_TRUE(first && third);
  const auto &a = static_cast<const GgufReader &>(**first).keyValues();
  const auto &b = static_cast<const GgufReader &>(**third).keyValues();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].key, b[i].key);
    EXPECT_EQ(a[i].value, b[i].value);
  }
  std::string path = directory.file("file");
  auto writer = GgufWriter::create(path, {}, a);
  ASSERT_TRUE(writer && (*writer)->finish());
  auto copy = openTensorFile(path);
  ASSERT_TRUE(copy) << copy.error().str();
  EXPECT_EQ((*copy)->metadata().size(), 3u);
}

TEST(GgufWriter, RefusesWhatGgmlCannotRead) {
  TemporaryDirectory directory;
  std::string path = directory.file("file");
  const GgmlType *f32 = lookupGgmlType(F32), *q4 = lookupGgmlType(Q4_0);
  EXPECT_FALSE(GgufWriter::create(path, {{"a", {1, 1, 1, 1, 1}, f32}}));
  EXPECT_FALSE(GgufWriter::create(path, {{"a", {2, 33}, q4}}));
  EXPECT_FALSE(GgufWriter::create(path, {{"a", {1}, f32}, {"a", {1}, f32}}));
  EXPECT_FALSE(GgufWriter::create(path, {{"a", {int64_t(1) << 62}, f32}}));
  EXPECT_FALSE(GgufWriter::create(
      path, {}, {GgufKeyValue::ofUint32("general.alignment", 3)}));
  EXPECT_EQ(directory.numEntries(), 0u);
}
