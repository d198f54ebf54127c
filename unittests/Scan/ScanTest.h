//===- ScanTest.h - checkpoints of a few bytes, and what a scan says -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_SCAN_SCANTEST_H
#define GRIT_UNITTESTS_SCAN_SCANTEST_H

#include "../Container/TestFiles.h"
#include "grit/Container/Json.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Scan/Scan.h"
#include <algorithm>
#include <cstring>

namespace grit::test {

/// A tensor of a test file. Without bytes it is filled with `fill`.
struct TestTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  Bytes bytes;
  uint8_t fill = 1;

  TestTensor(std::string name, std::string dtype, std::vector<int64_t> shape,
             uint8_t fill = 1)
      : name(std::move(name)), dtype(std::move(dtype)), shape(std::move(shape)),
        fill(fill) {
    bytes.assign(static_cast<size_t>(
                     *byteSize(*lookupElementType(this->dtype), this->shape)),
                 fill);
  }
  TestTensor &with(Bytes content) {
    EXPECT_EQ(content.size(), bytes.size()) << name;
    bytes = std::move(content);
    return *this;
  }
};

inline Bytes floatBytes(float value) {
  Bytes bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

inline TestTensor number(std::string name, float value) {
  return TestTensor(std::move(name), "F32", {}).with(floatBytes(value));
}

/// `metadata` is the JSON of `__metadata__`, or empty.
inline Bytes safetensorsOf(const std::vector<TestTensor> &tensors,
                           const std::string &metadata = {}) {
  JsonWriter json;
  Bytes data;
  json.beginObject();
  for (const TestTensor &tensor : tensors) {
    int64_t begin = static_cast<int64_t>(data.size());
    data.insert(data.end(), tensor.bytes.begin(), tensor.bytes.end());
    int64_t offsets[] = {begin, static_cast<int64_t>(data.size())};
    json.key(tensor.name)
        .beginObject()
        .field("dtype", tensor.dtype)
        .field("shape", std::span<const int64_t>(tensor.shape))
        .field("data_offsets", std::span<const int64_t>(offsets))
        .endObject();
  }
  json.endObject();
  std::string header = json.str();
  if (!metadata.empty())
    header = "{\"__metadata__\":" + metadata + (tensors.empty() ? "" : ",") +
             header.substr(1);
  Bytes bytes = safetensors(header, 0);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

/// `__metadata__` around a `__grit__` object.
inline std::string gritMetadata(const std::string &grit) {
  return "{\"__grit__\":" + jsonQuote(grit) + "}";
}
/// The record of one array.
inline std::string record(const std::string &name, const std::string &fields) {
  return gritMetadata("{\"version\":1,\"tensors\":{\"" + name + "\":{" +
                      fields + "}}}");
}

class ScanTest : public ::testing::Test {
protected:
  std::string write(const std::string &name, const Bytes &bytes) {
    std::filesystem::path path = directory.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  std::string write(const std::string &name, std::string_view text) {
    return write(name, Bytes(text.begin(), text.end()));
  }
  std::string write(const std::string &name,
                    const std::vector<TestTensor> &tensors,
                    const std::string &metadata = {}) {
    return write(name, safetensorsOf(tensors, metadata));
  }
  /// config.json around these members of quantization_config.
  void declare(const std::string &members) {
    write("config.json", "{\"quantization_config\":{" + members + "}}");
  }
  scan::Report scanFiles(std::vector<std::string> names, bool deep = false) {
    for (std::string &name : names)
      name = directory.file(name);
    scan::Options options;
    options.deep = deep;
    return scan::scan(names, options);
  }
  scan::Report scan(const std::vector<TestTensor> &tensors, bool deep = false) {
    write("a.safetensors", tensors);
    return scanFiles({"a.safetensors"}, deep);
  }
  scan::Report deepScan(const std::vector<TestTensor> &tensors) {
    return scan(tensors, true);
  }

  TemporaryDirectory directory;
};

inline const scan::Finding *find(const scan::Report &report, scan::Id id) {
  for (const scan::Finding &finding : report.findings)
    if (finding.id == id)
      return &finding;
  return nullptr;
}

inline std::string textOf(const scan::Report &report) {
  std::string text;
  for (const scan::Finding &finding : report.findings)
    text += idText(finding.id) + " " + finding.message + " [" +
            (finding.where.empty() ? "" : finding.where.front()) + "] " +
            finding.declared + " | " + finding.found + "\n";
  return text;
}

/// Expects the finding, about `where` (empty: about the file), with `part` in
/// its message or in what was found.
inline void expectFinding(const scan::Report &report, scan::Id id,
                          std::string_view where = {},
                          std::string_view part = {}) {
  const scan::Finding *finding = find(report, id);
  ASSERT_NE(finding, nullptr) << idText(id) << " is missing\n"
                              << textOf(report);
  if (where.empty())
    EXPECT_TRUE(finding->where.empty()) << textOf(report);
  else
    EXPECT_NE(std::ranges::find(finding->where, where), finding->where.end())
        << textOf(report);
  EXPECT_TRUE(contains(finding->message + finding->found, part))
      << textOf(report);
}

/// Expects `part` in the cause that the finding itself gives.
inline void expectCause(const scan::Report &report, scan::Id id,
                        std::string_view part) {
  const scan::Finding *finding = find(report, id);
  ASSERT_NE(finding, nullptr) << textOf(report);
  EXPECT_TRUE(contains(finding->cause, part)) << finding->cause;
}

inline void expectNone(const scan::Report &report, scan::Id id) {
  EXPECT_EQ(find(report, id), nullptr) << textOf(report);
}

inline void expectClean(const scan::Report &report) {
  EXPECT_TRUE(report.findings.empty()) << textOf(report);
  EXPECT_EQ(report.gradedExitCode(), 0);
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_SCAN_SCANTEST_H
