//===- SarifTest.cpp - what SARIF 2.1.0 demands of a report -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanTest.h"
#include "grit/Scan/Writers.h"
#include <set>
#include <simdjson.h>

using namespace grit;
using namespace grit::scan;
using namespace grit::test;

using simdjson::dom::element;

class SarifTest : public ScanTest {
protected:
  /// The log of a scan of these paths, as they are spelt.
  element parse(const std::vector<std::string> &paths,
                std::string_view documentation = kFindingsUrn) {
    Report report = grit::scan::scan(paths);
    text = writeSarif(report, "1.0", documentation);
    element root;
    EXPECT_FALSE(parser.parse(text).get(root));
    return root;
  }
  std::string text;
  simdjson::dom::parser parser;
};

static std::string stringAt(element value, const char *pointer) {
  std::string_view found;
  EXPECT_FALSE(value.at_pointer(pointer).get(found)) << pointer;
  return std::string(found);
}

/// RFC 3986: a scheme and a colon, and no character that must be escaped.
static void expectUri(const std::string &uri, bool absolute) {
  EXPECT_FALSE(uri.empty());
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-._~:/?#[]@!$&'()*+,;=%";
  EXPECT_EQ(uri.find_first_not_of(kAllowed), std::string::npos) << uri;
  size_t colon = uri.find(':');
  EXPECT_EQ(absolute, colon != std::string::npos) << uri;
  EXPECT_FALSE(uri.starts_with("./")) << uri;
}

/// The members that the schema requires, and the values that it allows
/// (sections 3.13, 3.14, 3.18, 3.19, 3.27, 3.49).
static void expectValidLog(element log) {
  EXPECT_EQ(stringAt(log, "/version"), "2.1.0");
  EXPECT_EQ(stringAt(log, "/$schema"),
            "https://json.schemastore.org/sarif-2.1.0.json");
  const std::set<std::string> kLevels = {"none", "note", "warning", "error"};
  for (element run : simdjson::dom::array(log["runs"])) {
    EXPECT_EQ(stringAt(run, "/tool/driver/name"), "grit scan");
    std::vector<std::string> ids;
    for (element rule : simdjson::dom::array(run["tool"]["driver"]["rules"])) {
      ids.push_back(stringAt(rule, "/id"));
      expectUri(stringAt(rule, "/helpUri"), /*absolute=*/true);
      EXPECT_FALSE(stringAt(rule, "/help/text").empty());
      EXPECT_FALSE(stringAt(rule, "/shortDescription/text").empty());
      EXPECT_TRUE(
          kLevels.contains(stringAt(rule, "/defaultConfiguration/level")));
    }
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
    for (element result : simdjson::dom::array(run["results"])) {
      uint64_t index = result["ruleIndex"];
      ASSERT_LT(index, ids.size());
      EXPECT_EQ(ids[index], stringAt(result, "/ruleId"));
      EXPECT_TRUE(kLevels.contains(stringAt(result, "/level")));
      EXPECT_NE(stringAt(result, "/message/text").find("\nfix: "),
                std::string::npos);
      std::string uri = stringAt(
          result, "/locations/0/physicalLocation/artifactLocation/uri");
      expectUri(uri, uri.starts_with("file:///"));
      EXPECT_EQ(stringAt(result, "/partialFingerprints/gritScan~1v1").size(),
                16U);
      EXPECT_FALSE(stringAt(result, "/properties/fix").empty());
    }
  }
}

TEST_F(SarifTest, HasWhatTheSchemaRequires) {
  write("a b.safetensors", {{"<w>\n.weight_packed", "U8", {4, 16}}});
  write("c.gguf", "PK\x03\x04 and more");
  element log = parse(
      {directory.file("."), directory.file("c.gguf"), directory.file("none")});
  expectValidLog(log);
  element results = log["runs"].at(0)["results"];
  std::set<std::string> ids;
  for (element result : simdjson::dom::array(results))
    ids.insert(stringAt(result, "/ruleId"));
  EXPECT_TRUE(ids.contains("GRIT-S001") && ids.contains("GRIT-S041"));
}

TEST_F(SarifTest, UrisAreRelativeWithoutADot) {
  write("sub/a b#1.safetensors", {{"m.weight_packed", "U8", {4, 16}}});
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.file("."));
  std::vector<std::string> uris;
  for (const char *path : {".", "./sub", ".//sub", "sub/a b#1.safetensors"}) {
    element log = parse({path});
    expectValidLog(log);
    uris.push_back(stringAt(log, "/runs/0/results/0/locations/0/"
                                 "physicalLocation/artifactLocation/uri"));
  }
  std::filesystem::current_path(before);
  for (const std::string &uri : uris)
    EXPECT_EQ(uri, "sub/a%20b%231.safetensors");
}

/// The same finding has the same fingerprint whichever way it was reached.
TEST_F(SarifTest, FingerprintsTellFindingsApart) {
  write("a.safetensors",
        {{"m.weight_packed", "U8", {4, 16}}, {"n.qweight", "I32", {8, 8}}});
  element log = parse({directory.file("a.safetensors")});
  std::set<std::string> prints;
  size_t count = 0;
  for (element result : simdjson::dom::array(log["runs"].at(0)["results"])) {
    prints.insert(stringAt(result, "/partialFingerprints/gritScan~1v1"));
    ++count;
  }
  EXPECT_EQ(prints.size(), count);
  EXPECT_GE(count, 2U);
}

TEST_F(SarifTest, TheAddressOfTheFindingsCanBeGiven) {
  write("a.safetensors", {{"m.weight_packed", "U8", {4, 16}}});
  element log = parse({directory.file("a.safetensors")},
                      "https://example.org/Findings.html");
  expectValidLog(log);
  EXPECT_EQ(stringAt(log, "/runs/0/tool/driver/rules/0/helpUri"),
            "https://example.org/Findings.html#grit-s001");
}
