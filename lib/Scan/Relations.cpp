//===- Relations.cpp - how the bytes of two tensors are related -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relations.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace grit;
using namespace grit::scan;

static uint8_t swapNibbles(uint8_t byte) {
  return static_cast<uint8_t>(byte << 4 | byte >> 4);
}

static bool areSwapped(ByteSpan a, ByteSpan b) {
  return std::ranges::equal(
      a, b, [](uint8_t x, uint8_t y) { return x == swapNibbles(y); });
}

/// The nibbles of `linear`, in the order of AWQ: 0 2 4 6 1 3 5 7.
static std::array<uint8_t, 4> interleave(const uint8_t *linear) {
  constexpr std::array<unsigned, 8> kOrder = {0, 2, 4, 6, 1, 3, 5, 7};
  std::array<uint8_t, 4> word{};
  for (unsigned i = 0; i < 8; ++i) {
    unsigned nibble = linear[kOrder[i] / 2] >> (kOrder[i] % 2 * 4) & 15;
    word[i / 2] = static_cast<uint8_t>(word[i / 2] | nibble << (i % 2 * 4));
  }
  return word;
}

static bool areInterleaved(ByteSpan linear, ByteSpan other) {
  if (linear.size() % 4 != 0)
    return false;
  for (size_t i = 0; i < linear.size(); i += 4) {
    std::array<uint8_t, 4> word = interleave(&linear[i]);
    if (std::memcmp(word.data(), &other[i], 4) != 0)
      return false;
  }
  return true;
}

/// Rows g0 g1 u0 u1 against g0 u0 g1 u1, with rows of all axes but the first.
static bool areRowsInterleaved(ByteSpan stacked, ByteSpan other, int64_t rows) {
  if (rows < 4 || rows % 2 != 0 ||
      stacked.size() % static_cast<size_t>(rows) != 0)
    return false;
  size_t row = stacked.size() / static_cast<size_t>(rows);
  size_t half = static_cast<size_t>(rows) / 2;
  for (size_t i = 0; i < half; ++i)
    if (std::memcmp(&stacked[i * row], &other[2 * i * row], row) != 0 ||
        std::memcmp(&stacked[(half + i) * row], &other[(2 * i + 1) * row],
                    row) != 0)
      return false;
  return true;
}

static float floatAt(ByteSpan bytes) {
  float value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

void grit::scan::compareBytes(const TensorRef &first, const TensorRef &second,
                              Collector &collector) {
  const TensorInfo &a = *first.info, &b = *second.info;
  if (a.bytes.size() != b.bytes.size() || a.bytes.empty() ||
      a.dtype != b.dtype || std::ranges::equal(a.bytes, b.bytes))
    return;
  auto add = [&](Id id, std::string message) {
    collector.add(id, second.file->path, b.name,
                  "inferred: " + std::move(message) + " " + first.file->path);
  };
  if (a.dtype == "F32" && a.bytes.size() == sizeof(float)) {
    constexpr float kTolerance = 1e-5F;
    float product = floatAt(a.bytes) * floatAt(b.bytes);
    if (std::fabs(product - 1.0F) < kTolerance)
      add(Id::ReciprocalTwin, "the reciprocal of the number in");
    return;
  }
  bool isPacked = a.dtype == "U8" || a.dtype == "I32" || a.dtype == "U32";
  if (isPacked && areSwapped(a.bytes, b.bytes))
    add(Id::NibbleSwap, "the nibbles of every byte are swapped against");
  else if (isPacked && (areInterleaved(a.bytes, b.bytes) ||
                        areInterleaved(b.bytes, a.bytes)))
    add(Id::PackingOrder, "the codes of every word are permuted against");
  else if (!a.shape.empty() && a.shape == b.shape &&
           (areRowsInterleaved(a.bytes, b.bytes, a.shape[0]) ||
            areRowsInterleaved(b.bytes, a.bytes, a.shape[0])))
    add(Id::RowInterleave, "the rows are interleaved against");
}
