//===- ExplainTest.cpp - comparisons of contracts -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Scan/Explain.h"
#include "ScanTest.h"

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using ExplainTest = ScanTest;

static Explanation compare(const std::string &a, const std::string &b) {
  Expected<Subject> left = readSubject(a), right = readSubject(b);
  EXPECT_TRUE(left) << (left ? "" : left.error().str());
  EXPECT_TRUE(right) << (right ? "" : right.error().str());
  return left && right ? explain(*left, *right) : Explanation();
}

static const FieldDifference *field(const Explanation &explanation,
                                    std::string_view name) {
  for (const FieldDifference &difference : explanation.fields)
    if (difference.field == name)
      return &difference;
  return nullptr;
}

static std::string hexOf(const std::string &contract, uint32_t note = 0) {
  ArraySpec spec = *ArraySpec::get(*Contract::parse(contract), {8, 64});
  Descriptor descriptor = Descriptor::read(*spec.descriptor());
  descriptor.note = note;
  return toHex(descriptor.write());
}

TEST_F(ExplainTest, NamesStringsAndIdsOfOneGrade) {
  const Contract contract = *Contract::parse("nvf4");
  for (const std::string &other :
       {contract.canonical(), std::string("GRADE_NVF4"),
        std::string("0x00ff6f4c2870831e")}) {
    Explanation result = compare("nvf4", other);
    EXPECT_TRUE(result.fields.empty()) << other;
    EXPECT_TRUE(result.sameBytes);
  }
}

TEST_F(ExplainTest, DifferentNumbers) {
  Explanation result = compare("mxfp4", "nvf4");
  ASSERT_TRUE(field(result, "k0"));
  EXPECT_EQ(field(result, "k0")->a, "32");
  EXPECT_EQ(field(result, "k0")->b, "16");
  ASSERT_TRUE(field(result, "scale0"));
  EXPECT_TRUE(contains(field(result, "scale0")->b, "e4m3"));
  EXPECT_TRUE(field(result, "canonical"));
  EXPECT_FALSE(result.sameBytes);
  EXPECT_TRUE(contains(result.meaning, "different numbers"));
}

TEST_F(ExplainTest, FormatsThatDifferInWhatIsLegal) {
  Explanation result =
      compare("ct.fp8_channel_bf16", "ninfer.fp8_e4m3fn_row_bf16");
  EXPECT_TRUE(field(result, "canonical"));
  EXPECT_FALSE(field(result, "decode projection"));
  EXPECT_TRUE(result.sameBytes);
  EXPECT_TRUE(contains(result.meaning, "what they call illegal"));
  Explanation other = compare("ct.fp8_channel", "ninfer.fp8_e4m3fn_row_bf16");
  EXPECT_FALSE(other.sameBytes);
}

TEST_F(ExplainTest, GradesThatDifferInEncodeOnly) {
  Explanation result = compare("nvf4", "nvf4_rtz");
  EXPECT_FALSE(field(result, "decode projection"));
  EXPECT_TRUE(field(result, "grade_id"));
  EXPECT_TRUE(result.sameBytes);
  EXPECT_TRUE(contains(result.meaning, "how they were encoded"));
}

TEST_F(ExplainTest, DescriptorsThatDifferInTheNote) {
  Explanation result = compare(hexOf("mxfp4"), hexOf("mxfp4", 0x0701));
  ASSERT_EQ(result.fields.size(), 1U);
  EXPECT_EQ(result.fields[0].field, "note");
  EXPECT_TRUE(contains(result.fields[0].b, "producer 7"));
  EXPECT_TRUE(result.sameBytes);
}

TEST_F(ExplainTest, AnyBytesAreADescriptor) {
  Explanation result = compare(std::string(128, '0'), std::string(128, 'f'));
  EXPECT_TRUE(field(result, "magic"));
  EXPECT_FALSE(result.sameBytes);
  EXPECT_TRUE(contains(result.meaning, "without a known contract"));
}

TEST_F(ExplainTest, TensorsOfFiles) {
  std::string fields = R"("contract":"mxfp4","shape":)";
  std::string a = write("a.safetensors", {{"w", "U8", {272}}},
                        record("w", fields + "[8,64]"));
  std::string b = write("b.safetensors", {{"w", "U8", {272}}},
                        record("w", fields + "[4,128]"));
  std::string c = write(
      "c.safetensors", {{"w", "U8", {272}}},
      record("w", fields + R"([8,64],"placements":{"data":"unspecified"})"));
  Explanation shape = compare(a + "::w", b);
  ASSERT_TRUE(field(shape, "shape"));
  EXPECT_EQ(field(shape, "shape")->b, "[4, 128]");
  EXPECT_TRUE(contains(shape.meaning, "different arrays"));
  Explanation layout = compare(a, c + "::w");
  EXPECT_TRUE(field(layout, "placement_data"));
  EXPECT_TRUE(contains(layout.meaning, "relayout"));
  EXPECT_FALSE(layout.sameBytes);
  Expected<Subject> array = readSubject(a);
  ASSERT_TRUE(array && array->gid);
  EXPECT_TRUE(compare(a, toBase32(*array->gid)).sameBytes);
  EXPECT_FALSE(compare(b, toBase32(*array->gid)).sameBytes);
}

/// The file's array of 64 elements with groups along `axis`.
static std::string arrayOf(const std::string &contract, int64_t bytes,
                           int axis) {
  return record("w",
                "\"contract\":\"" + contract +
                    "\",\"shape\":[64,64],\"axis\":" + std::to_string(axis));
}

/// Groups of a grade are runs of the row-major index whatever the axis is (A1);
/// those of a foreign format may follow the axis.
TEST_F(ExplainTest, AnotherGroupAxis) {
  auto both = [&](const std::string &contract, int64_t bytes) {
    std::string a = write("a.safetensors", {{"w", "U8", {bytes}}},
                          arrayOf(contract, bytes, 0));
    std::string b = write("b.safetensors", {{"w", "U8", {bytes}}},
                          arrayOf(contract, bytes, 1));
    return compare(a, b);
  };
  Explanation grade = both("mxfp4", 64 * 32 + 64 * 2);
  EXPECT_TRUE(grade.sameBytes);
  EXPECT_TRUE(contains(grade.meaning, "row-major index")) << grade.meaning;
  ASSERT_TRUE(field(grade, "group_axis"));
  EXPECT_EQ(field(grade, "group_axis")->a, "0");
  EXPECT_TRUE(field(grade, "gid"));
  Explanation foreign = both("hurray.nf4", 64 * 32 + 64 * 4);
  EXPECT_FALSE(foreign.sameBytes);
  EXPECT_TRUE(contains(foreign.meaning, "the numbers differ"))
      << foreign.meaning;
}

/// What a name alone does not say is not compared.
TEST_F(ExplainTest, ANameHasNoAxisAndNoNote) {
  std::string array =
      write("a.safetensors", {{"w", "U8", {272}}},
            record("w", R"("contract":"mxfp4","shape":[8,64],"axis":1)"));
  Explanation result = compare("mxfp4", array);
  EXPECT_FALSE(field(result, "group_axis"));
  EXPECT_TRUE(result.sameBytes) << result.meaning;
  EXPECT_FALSE(field(compare("mxfp4", hexOf("mxfp4", 0x0701)), "note"));
}

TEST_F(ExplainTest, IdsMayLackTheirLeadingZeros) {
  EXPECT_TRUE(compare("nvf4", "0xff6f4c2870831e").sameBytes);
  EXPECT_TRUE(compare("nvf4", "0X00FF6F4C2870831E").sameBytes);
}

/// Every refusal names the field, what was asked for, what was found, the
/// likeliest cause and the fix.
TEST_F(ExplainTest, RefusalsAreComplete) {
  std::string plain = write("a.safetensors", {{"model.weight", "F32", {4}}});
  std::string empty = write("empty.safetensors", "");
  std::string zip = write("zip.safetensors", "PK\x03\x04 and more");
  struct Case {
    std::string text, part;
  } cases[] = {
      {plain, "no tensor of the file"},
      {plain + "::model.weigth", "did you mean 'model.weight'?"},
      {plain + "::weight", "names that contain it: 'model.weight'"},
      {plain + "::model.weight", "F32 [4]"},
      {directory.file("none.safetensors"), "no such file"},
      {directory.file("none.safetensors") + "::w", "No such file"},
      {directory.file("."), "a directory"},
      {empty, "an empty file"},
      {zip, "a zip archive"},
      {"0x", "0x and 1 to 16 hexadecimal digits"},
      {"0x11112222333344445555", "0x and 1 to 16 hexadecimal digits"},
      {"0x0000000000000001", "no known contract"},
      {std::string(127, 'a'), "127 digits"},
      {std::string(130, 'a'), "130 digits"},
      {"mxfp5", "did you mean 'mxfp4'?"},
      {"Q4_K_M", "did you mean 'gguf.q4_k'?"},
  };
  for (const Case &test : cases) {
    Expected<Subject> subject = readSubject(test.text);
    ASSERT_FALSE(subject) << test.text;
    const Error &error = subject.error();
    EXPECT_TRUE(contains(error.str(), test.part)) << error.str();
    for (const std::string *part :
         {&error.message, &error.field, &error.declared, &error.found,
          &error.cause, &error.fix})
      EXPECT_FALSE(part->empty()) << error.str();
  }
}

TEST_F(ExplainTest, Refusals) {
  std::string a = write("a.safetensors", {{"w", "F32", {4}}});
  for (const std::string &text :
       {a + "::v", a + "::w", a, std::string("mxfp5"),
        std::string("0x0000000000000001"), directory.file("none") + "::w"}) {
    Expected<Subject> subject = readSubject(text);
    ASSERT_FALSE(subject) << text;
    EXPECT_FALSE(subject.error().message.empty());
  }
}

/// One line for each field that differs, in the order of table 3.1, with both
/// values as names and numbers; no line when none does.
TEST_F(ExplainTest, C29_FieldsInTheOrderOfTheTable) {
  struct Field {
    const char *name;
    size_t offset, size;
  };
  constexpr Field kTable[] = {{"magic", 0, 4},
                              {"hdr_bytes", 4, 1},
                              {"version", 5, 1},
                              {"n_levels", 6, 1},
                              {"flags", 7, 1},
                              {"elem", 8, 2},
                              {"scale0", 10, 2},
                              {"scale1", 12, 2},
                              {"zp_fmt", 14, 2},
                              {"group_axis", 16, 2},
                              {"k0", 18, 2},
                              {"k1", 20, 2},
                              {"sp_n", 22, 1},
                              {"sp_m", 23, 1},
                              {"sp_meta_fmt", 24, 1},
                              {"sp_order", 25, 1},
                              {"container", 26, 1},
                              {"frame_rsvd", 27, 1},
                              {"note", 28, 4},
                              {"placement_data", 32, 8},
                              {"placement_scale", 40, 8},
                              {"placement_meta", 48, 8},
                              {"grade_id", 56, 8}};
  const std::string good = hexOf("q4ks");
  EXPECT_TRUE(compare(good, good).fields.empty());
  EXPECT_EQ(compare(good, good).meaning, "the bytes mean the same");
  auto flip = [](std::string hex, size_t byte) {
    hex[2 * byte] = hex[2 * byte] == '0' ? '1' : '0';
    return hex;
  };
  std::string every = good;
  for (const Field &field : kTable) {
    for (size_t byte = field.offset; byte < field.offset + field.size; ++byte) {
      Explanation result = compare(good, flip(good, byte));
      ASSERT_FALSE(result.fields.empty()) << field.name;
      EXPECT_EQ(result.fields[0].field, field.name) << byte;
      EXPECT_NE(result.fields[0].a, result.fields[0].b);
    }
    every = flip(every, field.offset);
  }
  Explanation all = compare(good, every);
  ASSERT_GE(all.fields.size(), std::size(kTable));
  for (size_t i = 0; i < std::size(kTable); ++i)
    EXPECT_EQ(all.fields[i].field, kTable[i].name);
  // A word as its name and its number.
  EXPECT_EQ(field(all, "elem")->a, "0x43e3 (u4)");
  EXPECT_EQ(field(all, "flags")->a, "0x21 (HAS_ZP|ZP_L1SCALED)");
}
