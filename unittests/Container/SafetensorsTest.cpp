//===- SafetensorsTest.cpp - reading and writing safetensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include "grit/Container/Json.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <numeric>

using namespace grit;
using namespace grit::test;

static Error refused(std::string_view header, size_t dataBytes) {
  return refusal(safetensors(header, dataBytes));
}

//===----------------------------------------------------------------------===//
// Plain files
//===----------------------------------------------------------------------===//

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  auto file = open(safetensors(
      R"({"__metadata__":{"format":"pt"},)"
      R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
      R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
      R"("e":{"dtype":"F16","shape":[0,5],"data_offsets":[28,28]}}  )",
      28));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ((*file)->format(), "safetensors");
  ASSERT_EQ((*file)->tensors().size(), 3u);
  EXPECT_EQ((*file)->tensors()[0].name, "a");
  const TensorInfo *b = (*file)->find("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->dtype, "F32");
  EXPECT_EQ(b->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b->bytes.size(), 24u);
  EXPECT_EQ(b->bytes[0], 4);
  EXPECT_FALSE(b->array);
  EXPECT_EQ((*file)->find("c"), nullptr);
  ASSERT_EQ((*file)->metadata().size(), 1u);
  EXPECT_EQ((*file)->metadata()[0].value, "pt");
}

TEST(Safetensors, AcceptsMissingAndEmptyMetadata) {
  EXPECT_TRUE(open(safetensors("{}", 0)));
  EXPECT_TRUE(open(safetensors(R"({"__metadata__":{}})", 0)));
  EXPECT_TRUE(open(safetensors(
      R"({"__metadata__":{},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
      1)));
}

TEST(Safetensors, ReadsEveryElementType) {
  for (const ElementType &type : elementTypes()) {
    size_t bytes = type.bits * 8 / 8;
    std::string header = R"({"t":{"dtype":")" + std::string(type.token) +
                         R"(","shape":[8],"data_offsets":[0,)" +
                         std::to_string(bytes) + "]}}";
    auto file = open(safetensors(header, bytes));
    ASSERT_TRUE(file) << file.error().str();
    EXPECT_EQ((*file)->tensors()[0].element, type);
  }
}

TEST(Safetensors, NamesTheBytesAfterTheLastTensor) {
  Error error = refused(
      R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4 + 7);
  EXPECT_EQ(error.message, "7 bytes after the last tensor");
  EXPECT_FALSE(contains(error.str(), "corrupt"));
}

TEST(Safetensors, RefusesFalseLayouts) {
  EXPECT_TRUE(contains(
      refused(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
              R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
              7)
          .message,
      "overlaps 'a'"));
  EXPECT_TRUE(contains(
      refused(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
              R"("b":{"dtype":"U8","shape":[1],"data_offsets":[6,7]}})",
              7)
          .message,
      "2 unused bytes"));
  EXPECT_TRUE(contains(
      refused(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3)
          .message,
      "ends inside the tensor"));
}

TEST(Safetensors, RefusesFalseEntries) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("dtype":"U8","shape":[4],"data_offsets":[-1,3])", "data_offsets"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[4,0])", "data_offsets"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[0])", "data_offsets"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[0,4,8])", "data_offsets"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[0,4.0])", "data_offsets"},
      {R"("dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551615])",
       "data_offsets"},
      {R"("dtype":"U8","shape":[2.5],"data_offsets":[0,4])", "shape"},
      {R"("dtype":"U8","shape":["4"],"data_offsets":[0,4])", "shape"},
      {R"("dtype":"U8","shape":4,"data_offsets":[0,4])", "shape"},
      {R"("dtype":"U8","shape":[-4],"data_offsets":[0,4])", "shape"},
      {R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,4],"data_offsets":[0,4])",
       "shape"},
      {R"("dtype":"F4","shape":[9223372036854775807,2],"data_offsets":[0,4])",
       "shape"},
      {R"("dtype":"F4","shape":[1,7],"data_offsets":[0,4])", "shape"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[0,4])", "data_offsets"},
      {R"("dtype":"Q9","shape":[4],"data_offsets":[0,4])", "dtype"},
      {R"("dtype":7,"shape":[4],"data_offsets":[0,4])", "dtype"},
      {R"("shape":[4],"data_offsets":[0,4])", "dtype"},
      {R"("dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4])", "shape"},
  };
  for (auto [entry, field] : cases) {
    std::string header = "{\"w\":{" + std::string(entry) + "}}";
    Error error = refused(header, 7);
    EXPECT_EQ(error.field, "tensor 'w': " + std::string(field)) << header;
    EXPECT_FALSE(error.declared.empty()) << header;
    EXPECT_FALSE(error.found.empty()) << header;
  }
}

TEST(Safetensors, RefusesFalseHeaders) {
  constexpr const char *kTensor =
      R"("w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  std::string twice = "{" + std::string(kTensor) + "," + kTensor + "}";
  EXPECT_TRUE(contains(refused(twice, 4).message, "twice"));
  EXPECT_EQ(refused("{\"w\":3}", 0).field, "tensor 'w'");
  EXPECT_TRUE(contains(refused("{\"w\":", 0).message, "not valid JSON"));
  EXPECT_TRUE(contains(refused("{\"\xFF\":1}", 0).message, "not valid JSON"));
  EXPECT_TRUE(contains(
      refused(R"({"a\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
              0)
          .message,
      "NUL"));
  EXPECT_TRUE(contains(
      refused(R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0)
          .message,
      "empty"));
  EXPECT_EQ(refused(R"({"__metadata__":3})", 0).field, "__metadata__");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":1}})", 0).field, "__metadata__.a");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":"1","a":"2"}})", 0).found, "'a'");
  EXPECT_TRUE(contains(
      refused(R"({"__metadata__":{},"__metadata__":{}})", 0).message, "twice"));
  std::string deep = "{\"a\":" + std::string(100000, '[') + "}";
  EXPECT_TRUE(contains(refused(deep, 0).message, "not valid JSON"));
}

TEST(Safetensors, RefusesFalseLengths) {
  Bytes bytes = safetensors("{}", 0);
  for (uint64_t length : {uint64_t(0), uint64_t(3), kMaxSafetensorsHeader + 1,
                          UINT64_MAX, uint64_t(1) << 63}) {
    Bytes changed;
    appendLE(changed, length, 8);
    changed.insert(changed.end(), bytes.begin() + 8, bytes.end());
    EXPECT_TRUE(contains(refusal(changed).field, "header")) << length;
  }
}

TEST(Safetensors, CollectsProblems) {
  std::vector<Error> problems;
  OpenOptions options;
  options.problems = &problems;
  auto file = open(
      safetensors(R"({"a":{"dtype":"U8","shape":[2.5],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},)"
                  R"("c":{"dtype":"??","shape":[4],"data_offsets":[8,12]}})",
                  12),
      options);
  ASSERT_TRUE(file);
  ASSERT_EQ((*file)->tensors().size(), 1u);
  EXPECT_EQ((*file)->tensors()[0].name, "b");
  ASSERT_GE(problems.size(), 2u);
  EXPECT_EQ(problems[0].field, "tensor 'a': shape");
  EXPECT_EQ(problems[1].field, "tensor 'c': dtype");
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static ArraySpec specOf(std::string_view contract, std::vector<int64_t> shape) {
  return *ArraySpec::get(*Contract::parse(contract), std::move(shape));
}

static int64_t totalOf(const ArraySpec &spec) {
  const PlaneSizes sizes = *spec.planeSizes();
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size;
  return total;
}

/// The planes of some values, one after the other.
static Bytes encoded(const ArraySpec &spec) {
  std::vector<float> values(static_cast<size_t>(spec.numElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 16;
  // What is only decoded has any bytes that no contract calls illegal: small
  // codes, scales that are positive and finite, and in an order the first
  // group.
  const FormatDescription &description = spec.contract.description();
  if (description.encoding.rule == EncodeRule::None) {
    constexpr uint8_t kLegal[] = {0x11, 0x12, 0x21, 0x22};
    Bytes bytes(static_cast<size_t>(totalOf(spec)));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = kLegal[(i * 37 + i / 29 + 3) % 4];
    PlaneSizes sizes = *spec.planeSizes();
    size_t at = 0;
    for (unsigned plane = 0; plane < sizes.size(); ++plane) {
      auto size = static_cast<size_t>(sizes[plane]);
      if (description.order && description.order->plane == plane)
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), size, 0);
      at += size;
    }
    return bytes;
  }
  std::vector<float> importance;
  if (importanceUse(spec.contract) == ImportanceUse::Needed)
    importance.assign(static_cast<size_t>(spec.shape.back()), 1.0f);
  auto planes = encode(spec, values, importance);
  EXPECT_TRUE(planes) << (planes ? "" : planes.error().str());
  Bytes bytes;
  if (planes)
    for (const std::vector<uint8_t> &plane : *planes)
      bytes.insert(bytes.end(), plane.begin(), plane.end());
  return bytes;
}

/// A file with the tensor `w` of these bytes and this __grit__ text.
static Bytes withGrit(std::string_view grit, std::string_view dtype,
                      std::string_view shape, int64_t bytes) {
  return safetensors(R"({"__metadata__":{"__grit__":)" + jsonQuote(grit) +
                         R"(},"w":{"dtype":")" + std::string(dtype) +
                         R"(","shape":)" + std::string(shape) +
                         R"(,"data_offsets":[0,)" + std::to_string(bytes) +
                         "]}}",
                     static_cast<size_t>(bytes));
}

static std::string record(std::string_view fields) {
  return R"({"version":1,"tensors":{"w":{)" + std::string(fields) + "}}}";
}

TEST(SafetensorsArrays, EveryContractComesBack) {
  TemporaryDirectory directory;
  for (const std::string &name : registeredContractNames()) {
    ArraySpec spec = specOf(name, {32, 512});
    Bytes bytes = encoded(spec);
    ASSERT_EQ(static_cast<int64_t>(bytes.size()), totalOf(spec));
    std::string path = directory.file("file");
    auto writer = SafetensorsWriter::create(
        path,
        {{"w", {}, {}, spec},
         {"bias", lookupElementType("F32"), {2}, std::nullopt}},
        {{"format", "pt"}});
    ASSERT_TRUE(writer) << writer.error().str();
    // In pieces that do not agree with the planes.
    for (size_t i = 0; i < bytes.size(); i += 7)
      ASSERT_TRUE((*writer)->write(
          0,
          ByteSpan(bytes).subspan(i, std::min<size_t>(7, bytes.size() - i))));
    ASSERT_TRUE((*writer)->write(1, Bytes(8)));
    auto finished = (*writer)->finish();
    ASSERT_TRUE(finished) << finished.error().str();

    auto file = openTensorFile(path, {.level = 2});
    ASSERT_TRUE(file) << name << "\n" << file.error().str();
    const TensorInfo *w = (*file)->find("w");
    ASSERT_TRUE(w && w->array && w->digest);
    EXPECT_TRUE(w->array->contract == spec.contract);
    EXPECT_EQ(w->array->axis, spec.axis);
    EXPECT_TRUE(w->array->placements == spec.placements);
    EXPECT_EQ(w->shape, spec.shape);
    EXPECT_TRUE(std::ranges::equal(w->bytes, bytes));
    EXPECT_EQ(w->planes().size(), spec.planeSizes()->size());

    // One changed byte is found when digests are asked for.
    Bytes changed = readFile(path);
    changed.back() ^= 1;
    EXPECT_TRUE(open(changed));
    Error error = refusal(changed, {.level = 2});
    EXPECT_EQ(error.status, Status::DigestMismatch) << name;
    EXPECT_TRUE(contains(error.field, "tensor 'w'"));
  }
}

TEST(SafetensorsArrays, ReadsTheShortestRecord) {
  ArraySpec spec = specOf("mxfp4", {2, 64});
  int64_t total = totalOf(spec);
  std::string shape = "[" + std::to_string(total) + "]";
  auto file = open(withGrit(record(R"("contract":"MXFP4","shape":[2,64])"),
                            "U8", shape, total));
  ASSERT_TRUE(file) << file.error().str();
  const TensorInfo &w = (*file)->tensors()[0];
  ASSERT_TRUE(w.array);
  EXPECT_TRUE(w.array->contract == spec.contract);
  EXPECT_EQ(w.array->axis, 1);
  EXPECT_TRUE(w.array->placements == spec.placements);
}

TEST(SafetensorsArrays, ReadsTheFlatForm) {
  ArraySpec spec = specOf("mxfp4", {2, 64});
  int64_t total = totalOf(spec);
  std::string flat = R"({"w":")" + toHex(*spec.descriptor()) + "\"}";
  auto file = open(withGrit(flat, "U8", "[2,64]", total));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_TRUE((*file)->tensors()[0].array->contract == spec.contract);
  EXPECT_EQ((*file)->tensors()[0].shape, spec.shape);
  // A shape of packed bytes is not the array's.
  Error error =
      refusal(withGrit(flat, "U8", "[" + std::to_string(total) + "]", total));
  EXPECT_TRUE(contains(error.field, "tensor 'w'"));
}

TEST(SafetensorsArrays, RefusesFalseRecords) {
  int64_t total = totalOf(specOf("mxfp4", {2, 64}));
  std::string shape = "[" + std::to_string(total) + "]";
  const std::pair<const char *, const char *> cases[] = {
      {R"("shape":[2,64])", "missing"},
      {R"("contract":"mxfp4")", "missing"},
      {R"("contract":"mxfp5","shape":[2,64])", ""},
      {R"("contract":"","shape":[2,64])", "empty"},
      {R"("contract":"mxfp4","shape":[2,63])", ""},
      {R"("contract":"mxfp4","shape":[2,128])", ""},
      {R"("contract":"mxfp4","shape":[-2,64])", "shape"},
      {R"("contract":"mxfp4","shape":[2,64],"axis":2)", ""},
      {R"("contract":"mxfp4","shape":[2,64],"axis":9)", "axis"},
      {R"("contract":"mxfp4","shape":[2,64],"axes":1)", "unknown key"},
      {R"("contract":"mxfp4","shape":[2,64],"shape":[2,64])", "twice"},
      {R"("contract":"mxfp4","shape":[2,64],"placements":{"data":"nowhere"})",
       ""},
      {R"("contract":"mxfp4","shape":[2,64],"placements":{"dta":"row_major"})",
       "unknown key"},
      {R"("contract":"mxfp4","shape":[2,64],"desc":"00")", "64 bytes"},
      {R"("contract":"mxfp4","shape":[2,64],"digest":"00")", ""},
  };
  for (auto [fields, part] : cases) {
    Error error = refusal(withGrit(record(fields), "U8", shape, total));
    EXPECT_TRUE(contains(error.message, part)) << fields << error.str();
    EXPECT_TRUE(contains(error.field, "tensor 'w'")) << fields << error.str();
  }
}

TEST(SafetensorsArrays, RefusesADescriptorThatSaysSomethingElse) {
  int64_t total = totalOf(specOf("mxfp4", {2, 64}));
  std::string shape = "[" + std::to_string(total) + "]";
  ArraySpec other = specOf("mxfp4_rne", {2, 64});
  Error error = refusal(
      withGrit(record(R"("contract":"mxfp4","shape":[2,64],"axis":1,"desc":")" +
                      toHex(*other.descriptor()) + "\""),
               "U8", shape, total));
  EXPECT_EQ(error.field, "tensor 'w': contract");
  EXPECT_EQ(error.found, "mxfp4_rne");
}

TEST(SafetensorsArrays, RefusesFalseGritTexts) {
  for (const char *text :
       {"", "[]", "{", "{\"w\":3}", "{\"w\":\"zz\"}",
        "{\"version\":2,\"tensors\":{}}", "{\"tensors\":{}}"}) {
    Error error = refusal(withGrit(text, "U8", "[1]", 1));
    EXPECT_TRUE(contains(error.field, "__grit__")) << text << error.str();
  }
  Error error = refusal(withGrit(
      R"({"version":1,"tensors":{"x":{"contract":"mxfp4","shape":[2,64]}}})",
      "U8", "[1]", 1));
  EXPECT_TRUE(contains(error.field, "tensor 'x'"));
  EXPECT_TRUE(contains(error.message, "not there"));
  error = refusal(withGrit(record(R"("contract":"mxfp4","shape":[2,64])"), "I8",
                           "[68]", 68));
  EXPECT_TRUE(contains(error.message, "not stored as bytes"));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TEST(SafetensorsWriter, SaysWhatIsWrong) {
  TemporaryDirectory directory;
  std::string path = directory.file("file");
  ElementType u8 = *lookupElementType("U8");
  EXPECT_FALSE(SafetensorsWriter::create(
      path, {{"a", u8, {1}, {}}, {"a", u8, {1}, {}}}));
  EXPECT_FALSE(
      SafetensorsWriter::create(path, {{"__metadata__", u8, {1}, {}}}));
  EXPECT_FALSE(SafetensorsWriter::create(path, {}, {{"__grit__", "{}"}}));
  auto writer = SafetensorsWriter::create(path, {{"a", u8, {4}, {}}});
  ASSERT_TRUE(writer);
  EXPECT_FALSE((*writer)->write(0, Bytes(5)));
  EXPECT_TRUE((*writer)->write(0, Bytes(3)));
  EXPECT_FALSE((*writer)->finish());
  writer->reset();
  EXPECT_EQ(directory.numEntries(), 0u);
}

TEST(SafetensorsWriter, IsDeterministicAndAligned) {
  TemporaryDirectory directory;
  auto write = [&](const std::string &path, bool swapped) {
    std::vector<SafetensorsEntry> entries = {
        {"x", lookupElementType("U8"), {3}, {}},
        {"y", lookupElementType("F32"), {1}, {}}};
    if (swapped)
      std::swap(entries[0], entries[1]);
    auto writer = SafetensorsWriter::create(path, entries);
    for (size_t i = 2; i-- > 0;)
      EXPECT_TRUE((*writer)->write(
          i, Bytes(entries[i].name == "x" ? 3 : 4, uint8_t(9))));
    EXPECT_TRUE((*writer)->finish());
    return readFile(path);
  };
  Bytes first = write(directory.file("1"), false);
  EXPECT_EQ(first, write(directory.file("2"), true));
  auto file = open(first);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->tensors()[0].name, "y");
  EXPECT_EQ((first.size() - 7) % 8, 0u);
}
/// The planes of an array lie in its tensor in the order data, scale0, scale1,
/// aux, without gaps; absent ones take no bytes. Bytes are 0, 1, 2, ...
TEST(Safetensors, B12_PlanesFollowOneAnother) {
  struct Case {
    const char *contract;
    std::vector<size_t> sizes;
    std::vector<const char *> names;
  };
  const Case cases[] = {
      {"q4ks", {128, 8, 4, 8}, {"data", "scale0", "scale1", "aux"}},
      {"i8s24", {128, 16, 32}, {"data", "scale0", "aux"}},
      {"nvf4", {128, 16, 4}, {"data", "scale0", "scale1"}},
      {"mxfp4", {128, 8}, {"data", "scale0"}}};
  for (const Case &c : cases) {
    size_t total = std::accumulate(c.sizes.begin(), c.sizes.end(), size_t(0));
    auto file =
        open(withGrit(record(R"("contract":")" + std::string(c.contract) +
                             R"(","shape":[256])"),
                      "U8", "[" + std::to_string(total) + "]", total));
    ASSERT_TRUE(file) << file.error().str();
    const TensorInfo &tensor = (*file)->tensors()[0];
    ASSERT_TRUE(tensor.array);
    const auto &described = tensor.array->contract.description().planes;
    std::vector<ByteSpan> planes = tensor.planes();
    ASSERT_EQ(planes.size(), c.sizes.size()) << c.contract;
    size_t at = 0;
    for (size_t i = 0; i < planes.size(); ++i) {
      EXPECT_EQ(described[i].name, c.names[i]) << c.contract;
      ASSERT_EQ(planes[i].size(), c.sizes[i]) << c.contract;
      EXPECT_EQ(planes[i].front(), at) << c.contract;
      EXPECT_EQ(planes[i].back(), at + c.sizes[i] - 1) << c.contract;
      at += c.sizes[i];
    }
  }
}
