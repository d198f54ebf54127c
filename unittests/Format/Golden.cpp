//===- Golden.cpp - spec/conformance/grit-golden.json for tests -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <simdjson.h>

using namespace grit::golden;
namespace dom = simdjson::dom;

static const char *const kPath = GRIT_SPEC_DIR "/conformance/grit-golden.json";

[[noreturn]] static void die(const std::string &what) {
  std::fprintf(stderr, "%s: %s\n", kPath, what.c_str());
  std::exit(1);
}

namespace {

/// A JSON value whose accessors end the process instead of returning errors.
class Json {
public:
  explicit Json(dom::element value) : value(value) {}

  bool has(const char *key) const {
    return value[key].error() == simdjson::SUCCESS;
  }
  Json operator[](const char *key) const {
    dom::element found;
    if (value[key].get(found))
      die(std::string("no key ") + key);
    return Json(found);
  }
  std::vector<Json> items() const {
    dom::array array;
    if (value.get(array))
      die("not an array");
    std::vector<Json> result;
    for (dom::element item : array)
      result.emplace_back(item);
    return result;
  }
  std::vector<std::pair<std::string, Json>> members() const {
    dom::object object;
    if (value.get(object))
      die("not an object");
    std::vector<std::pair<std::string, Json>> result;
    for (auto [key, item] : object)
      result.emplace_back(std::string(key), Json(item));
    return result;
  }
  bool isNull() const { return value.is_null(); }
  bool isString() const { return value.is_string(); }
  std::string str() const {
    std::string_view text;
    if (value.get(text))
      die("not a string");
    return std::string(text);
  }
  int64_t integer() const {
    int64_t number = 0;
    if (value.get(number))
      die("not an integer");
    return number;
  }
  bool boolean() const {
    bool flag = false;
    if (value.get(flag))
      die("not a Boolean");
    return flag;
  }
  Bytes bytes() const { return fromHex(str()); }
  uint64_t hex() const { return std::strtoull(str().c_str(), nullptr, 16); }
  Bits bits() const {
    Bytes raw = bytes();
    Bits result(raw.size() / 4);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = uint32_t(raw[4 * i]) << 24 | uint32_t(raw[4 * i + 1]) << 16 |
                  uint32_t(raw[4 * i + 2]) << 8 | raw[4 * i + 3];
    return result;
  }
  std::vector<int64_t> integers() const {
    std::vector<int64_t> result;
    for (const Json &item : items())
      result.push_back(item.integer());
    return result;
  }
  Planes planes() const {
    std::vector<Json> list = items();
    Planes result;
    if (list.size() != result.size())
      die("planes are not four");
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = list[i].bytes();
    return result;
  }

private:
  dom::element value;
};

} // namespace

static Vector readVector(const Json &json) {
  Vector v;
  v.name = json["name"].str();
  v.grade = json["grade"].str();
  v.shape = json["shape"].integers();
  v.descriptor = json["desc_hex"].bytes();
  if (json.has("inputs"))
    v.inputs = json["inputs"].bits();
  v.planes = json["planes"].planes();
  for (size_t i = 0; i < v.planes.size(); ++i)
    v.planeBytes[i] = static_cast<int64_t>(v.planes[i].size());
  if (json.has("plane_bytes") &&
      json["plane_bytes"].integers() !=
          std::vector<int64_t>(v.planeBytes.begin(), v.planeBytes.end()))
    die("plane_bytes of " + v.name + " are not the lengths of its planes");
  if (json.has("gid"))
    v.gid = json["gid"].bytes();
  if (json.has("gid_base32"))
    v.gidBase32 = json["gid_base32"].str();
  if (json.has("digest"))
    v.digest = json["digest"].bytes();
  v.decoded = json["decoded"].bits();
  if (json.has("level2"))
    v.level2 = json["level2"].str();
  if (json.has("encode_normative"))
    v.encodeNormative = json["encode_normative"].boolean();
  if (!v.encodeNormative) {
    v.rtzPlanes = json["rtz_planes"].planes();
    v.rtzDecoded = json["rtz_decoded"].bits();
    v.rtzDigest = json["rtz_digest"].bytes();
  }
  return v;
}

static Check readCheck(const Json &json) {
  Check c;
  c.name = json["name"].str();
  c.descriptor = json["desc_hex"].bytes();
  c.shape = json["shape"].integers();
  c.planeBytes = json["plane_bytes"].integers();
  c.level = int(json["check_level"].integer());
  if (json.has("planes"))
    c.planes = json["planes"].planes();
  if (json.has("expected_digest"))
    c.digest = json["expected_digest"].bytes();
  c.status = json["status"].str();
  c.code = int(json["code"].integer());
  c.step = int(json["step"].integer());
  return c;
}

static FmtDecode readDecode(const Json &json) {
  FmtDecode d;
  d.name = json["name"].str();
  d.word = uint16_t(json["word"].hex());
  d.values = json["values"].bits();
  if (json["codes"].isString()) { // "all"
    for (uint32_t code = 0; code < d.values.size(); ++code)
      d.codes.push_back(code);
    return d;
  }
  for (const Json &code : json["codes"].items())
    d.codes.push_back(uint32_t(code.hex()));
  return d;
}

static FmtEncode readEncode(const Json &json) {
  FmtEncode e;
  e.word = uint16_t(json["word"].hex());
  e.saturation = json["sat"].str();
  for (const Json &item : json["cases"].items()) {
    std::vector<Json> pair = item.items();
    std::optional<uint32_t> code;
    if (!pair.at(1).isNull())
      code = uint32_t(pair[1].hex());
    e.cases.emplace_back(uint32_t(pair[0].hex()), code);
  }
  return e;
}

static File readFile() {
  dom::parser parser;
  dom::element document;
  if (auto error = parser.load(kPath).get(document))
    die(simdjson::error_message(error));
  Json root(document);
  File file;
  for (const auto &[name, g] : root["grades"].members())
    file.grades.push_back({name, g["canonical"].str(), g["grade_id"].hex(),
                           g["gritdec1"].str(), g["desc_hex"].bytes()});
  for (const Json &v : root["vectors"].items())
    file.vectors.push_back(readVector(v));
  for (const Json &v : root["decode_only"].items())
    file.decodeOnly.push_back(readVector(v));
  for (const Json &v : root["resolution"].items())
    file.resolution.push_back(readVector(v));
  for (const Json &c : root["checks"].items())
    file.checks.push_back(readCheck(c));
  for (const Json &s : root["grade_strings"].items()) {
    GradeString text{s["text"].str(), std::nullopt, 0, {}};
    if (s["canonical"].isNull()) {
      text.why = s["why"].str();
    } else {
      text.canonical = s["canonical"].str();
      text.id = s["grade_id"].hex();
    }
    file.gradeStrings.push_back(text);
  }
  for (const Json &d : root["fmt_decode"].items())
    file.fmtDecode.push_back(readDecode(d));
  for (const Json &e : root["fmt_encode"].items())
    file.fmtEncode.push_back(readEncode(e));
  for (const Json &b : root["base32"].items()) {
    Base32 entry{b["text"].str(), std::nullopt};
    if (!b["gid"].isNull())
      entry.value = b["gid"].bytes();
    file.base32.push_back(entry);
  }
  for (const Json &s : root["supersedes"].items())
    file.supersedes.push_back({s["name"].str(), s["payload"].bytes(),
                               s["desc_a"].bytes(), s["desc_b"].bytes(),
                               s["decoded"].bits(),
                               s["equal_gritdec1"].boolean()});
  return file;
}

const File &grit::golden::file() {
  static const File file = readFile();
  return file;
}

Bytes grit::golden::fromHex(std::string_view hex) {
  auto digit = [&](char c) -> unsigned {
    if (c >= '0' && c <= '9')
      return c - '0';
    if (c >= 'a' && c <= 'f')
      return c - 'a' + 10;
    die("not hex: " + std::string(hex.substr(0, 80)));
  };
  if (hex.size() % 2)
    die("odd number of hex digits");
  Bytes result(hex.size() / 2);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = uint8_t(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return result;
}

std::vector<float> grit::golden::toFloats(std::span<const uint32_t> bits) {
  std::vector<float> result;
  for (uint32_t pattern : bits)
    result.push_back(std::bit_cast<float>(pattern));
  return result;
}
