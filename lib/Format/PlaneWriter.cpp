//===- PlaneWriter.cpp - codes into the bits of fresh planes --------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneWriter.h"
#include "Parallel.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

using namespace grit;

namespace {
/// A slice whose addresses repeat: at(i) = offsets[i % period] + (i / period) *
/// stride.
struct PeriodicSlice {
  unsigned width = 0, shift = 0;
  int64_t period = 0; ///< 0: not periodic
  int64_t stride = 0;
  std::vector<int64_t> offsets;
  /// Periods do not reach into one another, so that two ranges of whole bytes
  /// can be written at once.
  bool isSeparate = false;

  explicit PeriodicSlice(const BitSlice &slice);
};
} // namespace

/// Longer tables than this cost more to build than they save.
static constexpr int64_t kMaxPeriod = 1 << 16;

PeriodicSlice::PeriodicSlice(const BitSlice &slice)
    : width(slice.width), shift(slice.shift) {
  const Digit *top = nullptr;
  for (const Digit &digit : slice.digits) {
    if (digit.mod)
      continue;
    if (top)
      return;
    top = &digit;
  }
  if (!top || top->div > kMaxPeriod || top->stride <= 0)
    return;
  for (const Digit &digit : slice.digits)
    if (digit.mod && (digit.div > top->div || digit.mod > top->div ||
                      top->div % (digit.div * digit.mod)))
      return;
  period = top->div;
  stride = top->stride;
  offsets.resize(period);
  for (int64_t i = 0; i < period; ++i)
    offsets[i] = slice.at(i);
  auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  isSeparate = *most + int64_t(width) - *least <= stride;
}

/// Adds the low `width` bits of `value` at bit `bit`; those bits are zero.
static inline void addBits(uint8_t *plane, int64_t bit, unsigned width,
                           uint32_t value) {
  uint64_t bits = uint64_t(value & (UINT32_MAX >> (32 - width))) << (bit & 7);
  for (uint8_t *byte = plane + (bit >> 3); bits; ++byte, bits >>= 8)
    *byte |= static_cast<uint8_t>(bits);
}

template <typename Code>
static void writePeriods(const PeriodicSlice &slice,
                         std::span<const Code> codes, int64_t begin,
                         int64_t end, uint8_t *plane) {
  int64_t base = begin / slice.period * slice.stride;
  int64_t phase = begin % slice.period;
  for (int64_t i = begin; i < end; ++i) {
    addBits(plane, base + slice.offsets[phase], slice.width,
            uint32_t(codes[i]) >> slice.shift);
    if (++phase == slice.period) {
      phase = 0;
      base += slice.stride;
    }
  }
}

template <typename Code>
static void writeSlice(const BitSlice &slice, std::span<const Code> codes,
                       std::span<uint8_t> plane) {
  const int64_t count = static_cast<int64_t>(codes.size());
  PeriodicSlice periodic(slice);
  if (!periodic.period) {
    for (int64_t i = 0; i < count; ++i)
      addBits(plane.data(), slice.at(i), slice.width,
              uint32_t(codes[i]) >> slice.shift);
    return;
  }
  if (!periodic.isSeparate)
    return writePeriods(periodic, codes, 0, count, plane.data());
  // Eight periods end on a byte; 2^16 codes are worth a thread.
  int64_t grain = 8 * periodic.period * (kMaxPeriod / periodic.period + 1);
  parallelFor(count, grain, [&](int64_t begin, int64_t end) {
    writePeriods(periodic, codes, begin, end, plane.data());
  });
}

template <typename Code>
static void writeStream(unsigned width, std::span<const Code> codes,
                        std::span<uint8_t> plane) {
  int64_t bit = 0;
  for (Code code : codes)
    for (unsigned i = width; i-- > 0; ++bit)
      plane[bit / 8] |= static_cast<uint8_t>((code >> i & 1) << (7 - bit % 8));
}

/// Digits that share bits: the least bits whose fraction holds them. Digits
/// that no code stands for are 0.
static void writeDigits(const BitField &field, std::span<const uint8_t> codes,
                        std::span<uint8_t> plane) {
  const BitSlice &slice = field.slices[0];
  const uint64_t whole = uint64_t(1) << slice.width, base = field.radix->base;
  std::vector<uint64_t> weights; // of each digit, in units of the last
  uint64_t units = 1;
  for (; units * base <= whole; units *= base)
    weights.insert(weights.begin(), units);
  std::unordered_map<int64_t, uint64_t> sums;
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t place = 0;
    for (const Digit &digit : field.radix->place)
      place += digit.at(i);
    sums[slice.at(i)] += codes[i] * weights[place];
  }
  for (auto [bit, sum] : sums)
    addBits(plane.data(), bit, slice.width,
            uint32_t((sum * whole + units - 1) / units));
}

void grit::writeCodes(const BitField &field, std::span<const uint8_t> codes,
                      std::span<uint8_t> plane) {
  if (field.radix)
    return writeDigits(field, codes, plane);
  if (field.isMsbStream())
    return writeStream(field.width(), codes, plane);
  for (const BitSlice &slice : field.slices)
    writeSlice(slice, codes, plane);
}

void grit::writeCodes(const BitField &field, std::span<const uint32_t> codes,
                      std::span<uint8_t> plane) {
  if (field.isMsbStream())
    return writeStream(field.width(), codes, plane);
  for (const BitSlice &slice : field.slices)
    writeSlice(slice, codes, plane);
}
