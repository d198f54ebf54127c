//===- ReportTest.cpp - rules, their documentation, and the forms of a report
//-*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"
#include "grit/Scan/Writers.h"
#include <simdjson.h>
#include <sstream>

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using ReportTest = ScanTest;

TEST(Rules, EachHasATest) {
  std::string names;
  const ::testing::UnitTest &unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i)
    for (int j = 0; j < unit.GetTestSuite(i)->total_test_count(); ++j)
      names += std::string(unit.GetTestSuite(i)->GetTestInfo(j)->name()) + "\n";
  for (const Rule &rule : rules()) {
    std::string id = idText(rule.id);
    id[4] = '_';
    EXPECT_TRUE(contains(names, id + "_")) << id;
  }
}

TEST(Rules, AreComplete) {
  Id last{};
  for (const Rule &rule : rules()) {
    EXPECT_LT(last, rule.id);
    last = rule.id;
    for (std::string_view text :
         {rule.name, rule.title, rule.cause, rule.example, rule.fix})
      EXPECT_FALSE(text.empty()) << idText(rule.id);
    EXPECT_TRUE(rule.cause.ends_with(".") && rule.fix.ends_with("."));
    EXPECT_FALSE(rule.title.ends_with(".")) << idText(rule.id);
  }
}

TEST(Rules, ThePageIsThatOfTheTable) {
  std::ifstream file(std::string(GRIT_SOURCE_DIR) + "/docs/Findings.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), documentation())
      << "write it with: grit scan --list-findings > docs/Findings.md";
}

TEST_F(ReportTest, ExitCodes) {
  Report report;
  EXPECT_EQ(report.gradedExitCode(), 4);
  EXPECT_EQ(report.simpleExitCode(), 2);
  report.files.push_back({"a", "gguf", 1});
  EXPECT_EQ(report.gradedExitCode(), 0);
  EXPECT_EQ(report.simpleExitCode(), 0);
  const std::pair<Id, int> steps[] = {
      {Id::Assumed, 3}, {Id::FileType, 2}, {Id::Truncated, 1}};
  for (auto [id, code] : steps) {
    Finding finding{};
    finding.id = id;
    report.findings.push_back(finding);
    EXPECT_EQ(report.gradedExitCode(), code);
    EXPECT_EQ(report.simpleExitCode(), 1);
  }
  // What is milder than the threshold does not count.
  report.findings.resize(1); // a warning
  EXPECT_EQ(report.gradedExitCode(Severity::Disagreement), 0);
  EXPECT_EQ(report.simpleExitCode(Severity::Disagreement), 0);
  report.findings[0].id = Id::FileType;
  EXPECT_EQ(report.gradedExitCode(Severity::Disagreement), 2);
  EXPECT_EQ(report.gradedExitCode(Severity::Violation), 0);
  report.findings[0].id = Id::Unreadable;
  EXPECT_EQ(report.gradedExitCode(Severity::Violation), 1);
  EXPECT_EQ(Report().gradedExitCode(Severity::Violation), 4);
}

TEST_F(ReportTest, JsonIsValid) {
  write("a b.safetensors", {{"<w>\n.weight_packed", "U8", {4, 16}}});
  Report report = scanFiles({"a b.safetensors"});
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_FALSE(parser.parse(writeJson(report, true)).get(json));
  EXPECT_EQ(int64_t(json["version"]), 1);
  EXPECT_EQ(int64_t(json["exit_code"]), 1);
  EXPECT_EQ(int64_t(json["exit_code_graded"]), 1);
  EXPECT_EQ(std::string_view(json["findings"].at(0)["id"]), "GRIT-S041");
  EXPECT_EQ(std::string_view(json["findings"].at(0)["where"].at(0)), "<w>\n");
  EXPECT_EQ(std::string_view(json["tensors"].at(0)["basis"]), "inferred");
}

TEST_F(ReportTest, HtmlEscapesWhatFilesSay) {
  write("a.safetensors",
        {{"<script>alert(1)</script>.weight_packed", "U8", {4, 16}}});
  std::string html = writeHtml(scanFiles({"a.safetensors"}), "1.0");
  EXPECT_FALSE(contains(html, "<script>alert"));
  EXPECT_TRUE(contains(html, "&lt;script&gt;alert(1)"));
  EXPECT_TRUE(contains(html, "GRIT-S041"));
  // Nothing is loaded from elsewhere.
  EXPECT_FALSE(contains(html, "http"));
  EXPECT_FALSE(contains(html, " src="));
}

TEST_F(ReportTest, FindingsThatDifferInPlaceAreOne) {
  std::vector<TestTensor> tensors;
  for (int i = 0; i < 40; ++i)
    tensors.push_back({"m" + std::to_string(i) + ".qweight", "I32", {8, 8}});
  Report report = scan(tensors);
  const Finding *finding = find(report, Id::MissingScale);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->count, 40U);
  EXPECT_EQ(finding->where.size(), 16U);
}

TEST_F(ReportTest, ADirectoryIsScannedOnce) {
  write("a.safetensors", {{"w", "F32", {4}}});
  write("sub/b.gguf", GgufBuilder().build());
  write("m.index.json", R"({"weight_map":{"w":"a.safetensors"}})");
  Report report = scanFiles({".", "a.safetensors", "./sub/../a.safetensors"});
  expectClean(report);
  EXPECT_EQ(report.files.size(), 3U);
  EXPECT_EQ(report.tensors.size(), 1U);
}

/// Scales between which powers of two, for the page.
TEST_F(ReportTest, SpreadsOfScales) {
  // Eight rows of two groups: codes of e8m0 behind 256 bytes of elements.
  TestTensor array("w", "U8", {272}, 0x11);
  const Bytes scales = {127, 127, 127, 130, 130, 255, 0,   124,
                        127, 127, 127, 127, 127, 127, 127, 127};
  std::ranges::copy(scales, array.bytes.begin() + 256);
  write("a.safetensors", {array},
        record("w", R"("contract":"mxfp4","shape":[8,64])"));
  write("b.safetensors",
        {{"m.weight", "F8_E4M3", {4, 4}}, {"m.weight_scale", "F32", {4, 1}}});
  Options options;
  options.deep = options.spreads = true;
  std::vector<std::string> paths = {directory.file(".")};
  Report report = grit::scan::scan(paths, options);
  ASSERT_EQ(report.tensors.size(), 3U);
  const TensorReport &tensor = report.tensors[0];
  ASSERT_EQ(tensor.planes.size(), 2U);
  EXPECT_EQ(tensor.planes[0].bytes, 256U);
  EXPECT_EQ(tensor.planes[1].bytes, 16U);
  ASSERT_EQ(tensor.scales.size(), 1U);
  const ScaleSpread &spread = tensor.scales[0];
  EXPECT_EQ(spread.samples, 16U);
  EXPECT_EQ(spread.nonFinite, 1U);
  EXPECT_EQ(spread.first, -127);
  ASSERT_EQ(spread.counts.size(), 131U);
  EXPECT_EQ(spread.counts[0], 1U);
  EXPECT_EQ(spread.counts[124], 1U);
  EXPECT_EQ(spread.counts[127], 11U);
  EXPECT_EQ(spread.counts[130], 2U);
  EXPECT_EQ(report.tensors[1].scales.at(0).samples, 4U);
  EXPECT_EQ(report.tensors[1].scales.at(0).name, "m.weight_scale");
  EXPECT_EQ(report.tensors[1].planes.at(1).bytes, 16U);
  // The planes are left alone where nobody asks.
  options.deep = false;
  EXPECT_TRUE(grit::scan::scan(paths, options).tensors[0].scales.empty());
}
