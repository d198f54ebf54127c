//===- LayerFamilies.cpp - how checkpoints store layers, as a table -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerFamilies.h"

using namespace grit;
using namespace grit::scan;

const std::vector<FamilyRow> &grit::scan::layerFamilies() {
  static const std::vector<FamilyRow> rows = [] {
    std::vector<FamilyRow> all;
    for (auto *part : {rowsOfWords, rowsOfFloats, rowsOfBytes, rowsOfOthers})
      for (FamilyRow &row : part())
        all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool grit::scan::listHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    size_t end = list.find(' ');
    if (list.substr(0, end) == word)
      return true;
    list = end == std::string_view::npos ? "" : list.substr(end + 1);
  }
  return false;
}

std::string_view grit::scan::countText(Count count) {
  static constexpr std::string_view texts[] = {
      "1",       "N",         "K",        "N b / 32",   "K b / 32",
      "K b / 8", "N b / 16",  "K / G",    "K b / 32 G", "G b / 8",
      "G",       "P",         "P b / 32", "N K / G",    "N K / 10 G",
      "G / 10",  "N / R",     "K / C",    "2^b",        "256",
      "any",     "N K b / 8", "N K / G",  "N K / 256 G"};
  return texts[static_cast<size_t>(count)];
}

bool grit::scan::isProduct(Count count) { return count >= Count::AllBytes; }

std::string grit::scan::fillIn(
    std::string_view text,
    std::initializer_list<std::pair<char, int64_t>> replacements) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::pair<char, int64_t> *known = nullptr;
    if (text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}')
      for (const auto &replacement : replacements)
        if (replacement.first == text[i + 1])
          known = &replacement;
    result += known ? std::to_string(known->second) : std::string(1, text[i]);
    if (known)
      i += 2;
  }
  return result;
}
