//===- SpecPagesTest.cpp - the worked examples of spec/formats -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "grit/Format/Text.h"
#include <fstream>
#include <sstream>

using namespace grit;
using namespace grit::test;

namespace {
/// A `grit-example` block of a page.
struct Example {
  std::string contract;
  std::vector<int64_t> shape;
  int axis = -1;
  std::optional<Placements> places;
  std::vector<Bytes> planes;
  std::vector<float> values;
};
} // namespace

static std::string pagePath(const std::string &name) {
  return std::string(GRIT_SOURCE_DIR) + "/spec/" + name;
}

static std::string readPage(const std::string &name) {
  std::ifstream file(pagePath(name));
  EXPECT_TRUE(file) << pagePath(name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "a b,c*3" as a b c b c b c.
static std::vector<std::string> expand(std::istream &words) {
  std::vector<std::string> result;
  for (std::string word; words >> word;) {
    size_t star = word.find('*');
    int count =
        star == std::string::npos ? 1 : std::stoi(word.substr(star + 1));
    for (int i = 0; i < count; ++i) {
      std::stringstream items(word.substr(0, star));
      for (std::string item; std::getline(items, item, ',');)
        result.push_back(item);
    }
  }
  return result;
}

static float readValue(const std::string &word) {
  if (word.starts_with("0x"))
    return value(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  return std::stof(word);
}

static std::vector<Example> examples(const std::string &page) {
  std::vector<Example> result;
  std::stringstream text(readPage(page));
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = line == "```grit-example";
      if (inside)
        result.emplace_back();
      continue;
    }
    if (!inside)
      continue;
    std::stringstream words(line);
    std::string key;
    words >> key;
    Example &example = result.back();
    if (key == "contract") {
      words >> example.contract;
    } else if (key == "axis") {
      words >> example.axis;
    } else if (key == "place") {
      example.places.emplace();
      for (Placement *word : {&example.places->data, &example.places->scale,
                              &example.places->meta}) {
        std::string text;
        words >> text;
        *word = take(Placement::parse(text));
      }
    } else if (key == "shape") {
      for (int64_t extent; words >> extent;)
        example.shape.push_back(extent);
    } else if (key == "plane") {
      example.planes.emplace_back();
      for (const std::string &byte : expand(words))
        example.planes.back().push_back(
            static_cast<uint8_t>(std::stoi(byte, nullptr, 16)));
    } else if (key == "values") {
      for (const std::string &word : expand(words))
        example.values.push_back(readValue(word));
    } else {
      ADD_FAILURE() << page << ": what is '" << key << "'?";
    }
  }
  return result;
}

TEST(SpecPages, WorkedExamplesDecode) {
  for (const std::string &name : registeredContractNames()) {
    std::string page = "formats/" + name + ".md";
    std::vector<Example> found = examples(page);
    EXPECT_FALSE(found.empty()) << page;
    for (const Example &example : found) {
      EXPECT_EQ(example.contract.substr(0, name.size()), name) << page;
      ArraySpec spec =
          take(ArraySpec::get(contract(example.contract), example.shape,
                              example.axis, example.places));
      expectSameBits(decodeAll(spec, example.planes), example.values, page);
    }
  }
}

TEST(SpecPages, IdsAndCanonicalTexts) {
  std::string index = readPage("formats/README.md");
  for (const std::string &name : registeredContractNames()) {
    std::string page = readPage("formats/" + name + ".md");
    Contract contract = test::contract(name);
    EXPECT_NE(toLower(page).find(hexWord(contract.id(), 16)), std::string::npos)
        << name << ": the page lacks the id";
    if (contract.isGrade()) {
      EXPECT_NE(page.find(contract.canonical()), std::string::npos) << name;
    }
    EXPECT_NE(index.find("(" + name + ".md)"), std::string::npos) << name;
  }
}

/// The text that spec/gritfmt1.md takes apart is the real one.
TEST(SpecPages, CanonicalTextOfTheGrammarPage) {
  std::string page = readPage("gritfmt1.md");
  std::erase_if(page, [](char c) { return c == ' ' || c == '\n'; });
  for (const char *name : {"gguf.q4_0", "gguf.q4_k", "hurray.nf4"})
    EXPECT_NE(page.find(contract(name).canonical()), std::string::npos)
        << contract(name).canonical();
}
