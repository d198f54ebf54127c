//===- Text.cpp - text for messages -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Text.h"
#include <algorithm>
#include <vector>

using namespace grit;

std::string grit::hexWord(uint64_t value, unsigned digits) {
  std::string text;
  while (value || text.size() < digits) {
    text.push_back("0123456789abcdef"[value & 15]);
    value >>= 4;
  }
  std::reverse(text.begin(), text.end());
  return "0x" + text;
}

std::string grit::quoteText(std::string_view text) {
  constexpr size_t kLimit = 160;
  std::string result = "'";
  for (char c : text.substr(0, kLimit)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F)
      result.push_back(c);
    else
      result += "\\" + hexWord(byte, 2).substr(1);
  }
  if (text.size() > kLimit)
    result += "...";
  return result + "'";
}

std::string grit::toLower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Levenshtein distance of two short texts.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string grit::didYouMean(std::string_view text,
                             std::span<const std::string_view> candidates) {
  // The distance is quadratic in the length: hostile text is not worth it.
  if (text.empty() || text.size() > 64)
    return {};
  std::string_view best;
  size_t bestDistance = text.size() < 4 ? 2 : text.size() / 3 + 2;
  for (std::string_view candidate : candidates) {
    size_t distance = editDistance(text, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best.empty())
    return {};
  return "did you mean '" + std::string(best) + "'?";
}

std::string grit::shapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}
