//===- SpecVectors.cpp - the vectors of spec/conformance ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecVectors.h"
#include "Golden.h"
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

using namespace grit;
using namespace grit::test;

/// The file, with the integers that fit no 64 bits (counts that overflow) put
/// in quotes: the parser refuses them.
static std::string readFile() {
  std::ifstream in(GRIT_SOURCE_DIR "/spec/conformance/vectors.json");
  std::string text, result;
  std::getline(in, text, '\0');
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    inString ^= text[i] == '"';
    size_t end = i;
    while (!inString && end < text.size() && std::isdigit(text[end]))
      ++end;
    if (end - i > 19)
      result += '"' + text.substr(i, end - i) + '"';
    else
      result += text.substr(i, std::max<size_t>(end - i, 1));
    i = std::max(end, i + 1) - 1;
  }
  return result;
}

static void log(const std::string &id, std::string_view reason) {
  static const char *path = std::getenv("GRIT_VECTOR_LOG");
  if (path)
    std::ofstream(path, std::ios::app) << id << '\t' << reason << '\n';
}

void test::notApplicable(const SpecVector &vector, std::string_view reason) {
  log(vector.id, reason);
}

std::vector<SpecVector> test::vectorsOf(std::string_view kind, size_t least) {
  static dom::parser parser;
  static dom::element root = parser.parse(readFile());
  std::vector<SpecVector> vectors;
  for (dom::element entry : root["vectors"])
    if (std::string_view(entry["kind"]) == kind)
      vectors.push_back({std::string(std::string_view(entry["id"])),
                         entry["inputs"], entry["expected"]});
  EXPECT_GE(vectors.size(), least) << kind;
  for (const SpecVector &vector : vectors)
    log(vector.id, {});
  return vectors;
}

std::string test::textOf(dom::element object, const char *key) {
  return std::string(std::string_view(object[key]));
}

int64_t test::numberOf(dom::element object, const char *key,
                       int64_t byDefault) {
  int64_t value = byDefault;
  return object[key].get(value) ? byDefault : value;
}

std::vector<int64_t> test::numbersOf(dom::element object, const char *key) {
  std::vector<int64_t> numbers;
  for (dom::element number : object[key])
    numbers.push_back(int64_t(number));
  return numbers;
}

std::vector<std::string> test::textsOf(dom::element object, const char *key) {
  std::vector<std::string> texts;
  if (SpecVector::has(object, key))
    for (dom::element text : object[key])
      texts.emplace_back(std::string_view(text));
  return texts;
}

uint64_t test::wordOf(std::string_view hex) {
  return std::stoull(std::string(hex), nullptr, 16);
}

std::vector<float> test::floatsOf(std::string_view hex) {
  std::vector<float> values;
  for (size_t i = 0; i < hex.size(); i += 8)
    values.push_back(value(static_cast<uint32_t>(wordOf(hex.substr(i, 8)))));
  return values;
}

Expected<ArraySpec> test::specOf(dom::element inputs, int axisByDefault) {
  Expected<Contract> parsed = Contract::parse(textOf(inputs, "grade"));
  if (!parsed)
    return tl::unexpected(parsed.error());
  std::optional<Placements> placements;
  if (SpecVector::has(inputs, "placements")) {
    std::vector<std::string> words = textsOf(inputs, "placements");
    placements = {Placement(wordOf(words.at(0))),
                  Placement(wordOf(words.at(1))),
                  Placement(wordOf(words.at(2)))};
  }
  return ArraySpec::get(
      *parsed, numbersOf(inputs, "shape"),
      static_cast<int>(numberOf(inputs, "group_axis", axisByDefault)),
      placements);
}

std::vector<Bytes> test::planesOf(const ArraySpec &spec, dom::element inputs) {
  std::vector<std::string> slots = textsOf(inputs, "planes");
  std::vector<Bytes> planes;
  const FormatDescription &description = spec.contract.description();
  for (unsigned i = 0; i < description.planes.size(); ++i)
    planes.push_back(golden::fromHex(
        std::exchange(slots.at(planeSlot(description, i)), {})));
  for (const std::string &other : slots)
    if (!other.empty())
      planes.push_back(golden::fromHex(other));
  return planes;
}

std::array<Bytes, 4> test::slotsOf(const ArraySpec &spec,
                                   const std::vector<Bytes> &planes) {
  std::array<Bytes, 4> slots;
  for (unsigned i = 0; i < planes.size(); ++i)
    slots[planeSlot(spec.contract.description(), i)] = planes[i];
  return slots;
}
