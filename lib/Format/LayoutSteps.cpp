//===- LayoutSteps.cpp - one step of a layout map -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include <algorithm>
#include <bit>
#include <numeric>

using namespace grit;

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

static int64_t apply(const DigitMove &move, int64_t index) {
  int64_t slot = 0;
  for (const LayoutDigit &digit : move.digits) {
    bool last = &digit == &move.digits.back();
    slot += (last ? index : index % digit.radix) * digit.stride;
    index /= digit.radix;
  }
  return slot;
}

static uint64_t mix(const BitMix &step, uint64_t value) {
  uint64_t result = 0;
  for (size_t bit = 0; bit < step.images.size(); ++bit)
    if (value >> bit & 1)
      result ^= step.images[bit];
  return result;
}

/// Replaces (index / base) % count by what `replace` makes of it.
template <typename Replace>
static int64_t replacePart(int64_t index, int64_t base, int64_t count,
                           Replace replace) {
  int64_t part = index / base % count;
  return index + (replace(part) - part) * base;
}

static int64_t apply(const BitMix &step, int64_t index) {
  return replacePart(
      index, step.base, int64_t(1) << step.images.size(), [&](int64_t part) {
        return static_cast<int64_t>(mix(step, static_cast<uint64_t>(part)));
      });
}

static int64_t apply(const SlotTable &step, int64_t index) {
  return replacePart(index, step.base, static_cast<int64_t>(step.slots.size()),
                     [&](int64_t part) -> int64_t {
                       return step.slots[static_cast<size_t>(part)];
                     });
}

int64_t grit::applyStep(const LayoutStep &step, int64_t index) {
  return std::visit([&](const auto &kind) { return apply(kind, index); }, step);
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

std::vector<LayoutDigit>
grit::mergeDigits(std::span<const LayoutDigit> digits) {
  std::vector<LayoutDigit> result;
  for (const LayoutDigit &digit : digits) {
    if (digit.radix == 1)
      continue;
    if (!result.empty() &&
        digit.stride == result.back().stride * result.back().radix)
      result.back().radix *= digit.radix;
    else
      result.push_back(digit);
  }
  return result;
}

/// The digits by stride, each with its place in the index as the other number.
static std::vector<std::pair<LayoutDigit, int64_t>>
digitsByStride(const DigitMove &move) {
  std::vector<std::pair<LayoutDigit, int64_t>> sorted;
  int64_t place = 1;
  for (const LayoutDigit &digit : move.digits) {
    sorted.emplace_back(digit, place);
    place *= digit.radix;
  }
  std::ranges::sort(sorted, {},
                    [](const auto &entry) { return entry.first.stride; });
  return sorted;
}

bool grit::areSeparate(const DigitMove &move) {
  auto sorted = digitsByStride(move);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const LayoutDigit &digit = sorted[i].first;
    int64_t next =
        i + 1 < sorted.size() ? sorted[i + 1].first.stride : move.range;
    if (digit.stride < 1 || next / digit.stride < digit.radix ||
        next % digit.stride != 0)
      return false;
  }
  return true;
}

static std::optional<LayoutStep> invert(const DigitMove &move) {
  if (!areSeparate(move))
    return std::nullopt;
  auto sorted = digitsByStride(move);
  DigitMove inverse;
  inverse.range = 1;
  if (!sorted.empty() && sorted.front().first.stride > 1)
    inverse.digits.push_back({sorted.front().first.stride, 0});
  for (size_t i = 0; i < sorted.size(); ++i) {
    auto [digit, place] = sorted[i];
    int64_t next =
        i + 1 < sorted.size() ? sorted[i + 1].first.stride : move.range;
    inverse.digits.push_back({next / digit.stride, place});
    inverse.range *= digit.radix;
  }
  inverse.digits = mergeDigits(inverse.digits);
  return inverse;
}

static std::optional<LayoutStep> fuse(const DigitMove &first,
                                      const DigitMove &second) {
  if (!areSeparate(first))
    return std::nullopt;
  std::vector<int64_t> places{1};
  for (const LayoutDigit &digit : second.digits)
    places.push_back(places.back() * digit.radix);
  size_t last = second.digits.size() - 1;
  DigitMove result;
  result.range = second.range;
  for (auto [radix, stride] : first.digits) {
    // What the second step cuts inside this digit must cut it evenly.
    while (radix > 1) {
      size_t at = last;
      while (places[at] > stride)
        --at;
      if (stride % places[at] != 0)
        return std::nullopt;
      int64_t piece = radix;
      if (at < last && places[at + 1] / radix < stride) {
        piece = places[at + 1] / stride;
        if (places[at + 1] % stride != 0 || radix % piece != 0)
          return std::nullopt;
      }
      result.digits.push_back(
          {piece, stride / places[at] * second.digits[at].stride});
      stride *= piece;
      radix /= piece;
    }
  }
  result.digits = mergeDigits(result.digits);
  if (areSeparate(second) && !areSeparate(result))
    return std::nullopt;
  return result;
}

/// The step on `size` indices that does `digits` to (index / base) % count.
static DigitMove moveInside(std::vector<LayoutDigit> digits, int64_t base,
                            int64_t count, int64_t size) {
  std::vector<LayoutDigit> all{{base, 1}};
  for (const LayoutDigit &digit : digits)
    all.push_back({digit.radix, digit.stride * base});
  all.push_back({size / (base * count), base * count});
  return {mergeDigits(all), size};
}

//===----------------------------------------------------------------------===//
// Bits and tables
//===----------------------------------------------------------------------===//

static std::optional<LayoutStep> invert(const BitMix &step) {
  // Gauss and Jordan: rows are pairs of an image and the bits that make it.
  size_t count = step.images.size();
  std::vector<uint64_t> images = step.images, sources(count);
  for (size_t i = 0; i < count; ++i)
    sources[i] = uint64_t(1) << i;
  for (size_t bit = 0; bit < count; ++bit) {
    size_t pivot = bit;
    while (pivot < count && !(images[pivot] >> bit & 1))
      ++pivot;
    if (pivot == count)
      return std::nullopt;
    std::swap(images[bit], images[pivot]);
    std::swap(sources[bit], sources[pivot]);
    for (size_t row = 0; row < count; ++row)
      if (row != bit && (images[row] >> bit & 1)) {
        images[row] ^= images[bit];
        sources[row] ^= sources[bit];
      }
  }
  return BitMix{step.base, sources};
}

static std::optional<LayoutStep> invert(const SlotTable &step) {
  SlotTable inverse{step.base, std::vector<uint32_t>(step.slots.size())};
  for (size_t i = 0; i < step.slots.size(); ++i)
    inverse.slots[step.slots[i]] = static_cast<uint32_t>(i);
  return inverse;
}

std::optional<LayoutStep> grit::invertStep(const LayoutStep &step) {
  return std::visit([](const auto &kind) { return invert(kind); }, step);
}

/// The images over a lower base and more bits; bits outside stay.
static std::vector<uint64_t> widen(const BitMix &step, unsigned shift,
                                   size_t count) {
  std::vector<uint64_t> images(count);
  for (size_t bit = 0; bit < count; ++bit) {
    bool inside = bit >= shift && bit - shift < step.images.size();
    images[bit] =
        inside ? step.images[bit - shift] << shift : uint64_t(1) << bit;
  }
  return images;
}

static std::optional<LayoutStep> fuse(const BitMix &first,
                                      const BitMix &second) {
  int64_t base = std::min(first.base, second.base);
  int64_t ratio = std::max(first.base, second.base) / base;
  if (base * ratio != std::max(first.base, second.base) ||
      !std::has_single_bit(static_cast<uint64_t>(ratio)))
    return std::nullopt;
  auto shiftOf = [&](const BitMix &step) {
    return static_cast<unsigned>(
        std::countr_zero(static_cast<uint64_t>(step.base / base)));
  };
  size_t count = std::max(shiftOf(first) + first.images.size(),
                          shiftOf(second) + second.images.size());
  BitMix result{base, widen(first, shiftOf(first), count)};
  BitMix after{base, widen(second, shiftOf(second), count)};
  for (uint64_t &image : result.images)
    image = mix(after, image);
  return result;
}

static std::optional<LayoutStep> fuse(const SlotTable &first,
                                      const SlotTable &second) {
  size_t count = std::lcm(first.slots.size(), second.slots.size());
  if (first.base != second.base || count > kMaxSlotTable)
    return std::nullopt;
  SlotTable result{first.base, std::vector<uint32_t>(count)};
  SlotTable a{1, first.slots}, b{1, second.slots};
  for (size_t i = 0; i < count; ++i)
    result.slots[i] =
        static_cast<uint32_t>(apply(b, apply(a, static_cast<int64_t>(i))));
  return result;
}

/// The bits as a table, where that is not too large.
static std::optional<SlotTable> tabulate(const BitMix &step) {
  if (step.images.size() >= std::bit_width(kMaxSlotTable))
    return std::nullopt;
  SlotTable table{step.base, {}};
  for (uint64_t value = 0; value >> step.images.size() == 0; ++value)
    table.slots.push_back(static_cast<uint32_t>(mix(step, value)));
  return table;
}

std::optional<LayoutStep> grit::fuseSteps(const LayoutStep &first,
                                          const LayoutStep &second) {
  if (first.index() == second.index())
    return std::visit(
        [&](const auto &kind) {
          return fuse(kind, std::get<std::decay_t<decltype(kind)>>(second));
        },
        first);
  // A table takes the bits beside it in.
  auto asTable = [](const LayoutStep &step) -> std::optional<SlotTable> {
    if (const auto *bits = std::get_if<BitMix>(&step))
      return tabulate(*bits);
    if (const auto *table = std::get_if<SlotTable>(&step))
      return *table;
    return std::nullopt;
  };
  std::optional<SlotTable> a = asTable(first), b = asTable(second);
  if (!a || !b)
    return std::nullopt;
  return fuse(*a, *b);
}

//===----------------------------------------------------------------------===//
// Simplify
//===----------------------------------------------------------------------===//

/// The digits that the table permutes, if that is all it does.
static std::optional<std::vector<LayoutDigit>>
digitsOf(const SlotTable &table) {
  std::vector<LayoutDigit> digits;
  size_t count = table.slots.size();
  for (size_t place = 1; place < count;) {
    int64_t stride = table.slots[place];
    size_t radix = 1;
    while (place * radix < count &&
           table.slots[place * radix] == static_cast<int64_t>(radix) * stride)
      ++radix;
    if (count % (place * radix) != 0)
      return std::nullopt;
    digits.push_back({static_cast<int64_t>(radix), stride});
    place *= radix;
  }
  DigitMove move{digits, static_cast<int64_t>(count)};
  for (size_t i = 0; i < count; ++i)
    if (apply(move, static_cast<int64_t>(i)) != table.slots[i])
      return std::nullopt;
  return digits;
}

/// The images of the bits, if the table is linear over GF(2).
static std::optional<std::vector<uint64_t>> imagesOf(const SlotTable &table) {
  size_t count = table.slots.size();
  if (!std::has_single_bit(count))
    return std::nullopt;
  BitMix step{1, {}};
  for (size_t bit = 1; bit < count; bit <<= 1)
    step.images.push_back(table.slots[bit]);
  for (size_t i = 0; i < count; ++i)
    if (mix(step, i) != table.slots[i])
      return std::nullopt;
  return step.images;
}

static std::optional<LayoutStep> simplify(DigitMove move, int64_t) {
  move.digits = mergeDigits(move.digits);
  if (move.digits.empty() ||
      (move.digits.size() == 1 && move.digits.front().stride == 1))
    return std::nullopt;
  return move;
}

static std::optional<LayoutStep> simplify(BitMix step, int64_t size) {
  if (!std::ranges::all_of(step.images, std::has_single_bit<uint64_t>))
    return step;
  std::vector<LayoutDigit> digits;
  for (uint64_t image : step.images)
    digits.push_back({2, static_cast<int64_t>(image)});
  int64_t count = int64_t(1) << step.images.size();
  return simplify(moveInside(digits, step.base, count, size), size);
}

static std::optional<LayoutStep> simplify(SlotTable step, int64_t size) {
  if (auto digits = digitsOf(step))
    return simplify(moveInside(*digits, step.base,
                               static_cast<int64_t>(step.slots.size()), size),
                    size);
  if (auto images = imagesOf(step))
    return BitMix{step.base, *images};
  return step;
}

std::optional<LayoutStep> grit::simplifyStep(LayoutStep step, int64_t size) {
  return std::visit([&](auto &kind) { return simplify(std::move(kind), size); },
                    step);
}

LayoutStep grit::stepOfBlocks(const LayoutStep &step, int64_t size) {
  if (const auto *move = std::get_if<DigitMove>(&step)) {
    DigitMove result{{{size, 1}}, move->range * size};
    for (const LayoutDigit &digit : move->digits)
      result.digits.push_back({digit.radix, digit.stride * size});
    result.digits = mergeDigits(result.digits);
    return result;
  }
  LayoutStep result = step;
  if (auto *bits = std::get_if<BitMix>(&result))
    bits->base *= size;
  if (auto *table = std::get_if<SlotTable>(&result))
    table->base *= size;
  return result;
}
