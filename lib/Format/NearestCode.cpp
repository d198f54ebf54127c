//===- NearestCode.cpp - the codes around a number ------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NearestCode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace grit;

/// Codes of more bits are not tabulated.
static constexpr unsigned kMaxWidth = 16;

NearestCode::NearestCode(const Number &number, const BitField &field,
                         const std::vector<uint32_t> &illegal)
    : number(number) {
  if (!number.isTable() && field.width() > kMaxWidth)
    return;
  uint64_t count = uint64_t(1) << field.width();
  if (field.radix)
    count = std::min<uint64_t>(count, field.radix->base);
  if (number.isTable())
    count = std::min<uint64_t>(count, number.table.size());
  for (uint32_t code = 0; code < count; ++code) {
    if (std::ranges::binary_search(illegal, code))
      continue;
    float value = number.decode(code);
    if (!std::isnan(value))
      sorted.push_back({value, code});
    else if (nans.empty())
      nans.push_back(code);
  }
  std::ranges::sort(sorted, [](const Entry &a, const Entry &b) {
    if (a.value != b.value)
      return a.value < b.value;
    if (std::signbit(a.value) != std::signbit(b.value))
      return std::signbit(a.value);
    return a.code < b.code;
  });
  auto same = [](const Entry &a, const Entry &b) {
    return std::bit_cast<uint32_t>(a.value) == std::bit_cast<uint32_t>(b.value);
  };
  auto rest = std::ranges::unique(sorted, same);
  sorted.erase(rest.begin(), rest.end());
  for (const Entry &entry : sorted)
    keys.push_back(entry.value);
}

/// Of a plain number of a wide word: the codes of the floats next to x.
void NearestCode::aroundOfWord(double x, std::vector<uint32_t> &codes) const {
  double inner = std::ldexp(x, -number.exp2) - static_cast<double>(number.plus);
  float y = static_cast<float>(inner / static_cast<double>(number.times));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> near = {y, std::nextafter(y, kInf),
                             std::nextafter(y, -kInf)};
  if (y == 0)
    near.push_back(-y);
  for (float z : near)
    if (Expected<uint32_t> code =
            encodeWord(number.word, z, Rounding::RNE, Saturation::OvfInf))
      codes.push_back(*code);
}

size_t NearestCode::position(double x) const {
  // The first key that is not below x, without branches to mispredict.
  size_t at = 0;
  for (size_t count = keys.size(), half; count > 1; count -= half) {
    half = count / 2;
    at += keys[at + half - 1] < x ? half : 0;
  }
  at += keys[at] < x;
  if (at == keys.size() || (at > 0 && x - keys[at - 1] < keys[at] - x))
    --at;
  if (keys[at] == 0 && std::signbit(keys[at]) && !std::signbit(x) &&
      at + 1 < keys.size() && keys[at + 1] == 0)
    ++at;
  return at;
}

void NearestCode::around(double x, std::vector<uint32_t> &codes) const {
  if (sorted.empty()) {
    if (!number.isTable())
      aroundOfWord(x, codes);
    return;
  }
  const auto count = static_cast<int64_t>(sorted.size());
  const auto at = static_cast<int64_t>(position(x));
  for (int64_t i : {at, at - 1, at + 1, at - 2, at + 2})
    if (i >= 0 && i < count)
      codes.push_back(sorted[i].code);
}

void NearestCode::notANumber(std::vector<uint32_t> &codes) const {
  codes.insert(codes.end(), nans.begin(), nans.end());
  if (!sorted.empty() || number.isTable())
    return;
  if (auto code =
          encodeWord(number.word, std::numeric_limits<float>::quiet_NaN()))
    codes.push_back(*code);
}

void NearestCode::extremes(std::vector<uint32_t> &codes) const {
  if (sorted.empty())
    return;
  codes.push_back(sorted.front().code);
  codes.push_back(sorted.back().code);
}

std::optional<NearestCode::Entry> NearestCode::nearest(double x) const {
  if (!std::isnan(x) && !sorted.empty())
    return sorted[position(x)];
  std::vector<uint32_t> codes;
  if (std::isnan(x))
    notANumber(codes);
  else
    around(x, codes);
  if (codes.empty())
    return std::nullopt;
  return Entry{decode(codes.front()), codes.front()};
}
