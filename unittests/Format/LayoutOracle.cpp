//===- LayoutOracle.cpp - layouts by the table of the text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutOracle.h"
#include <algorithm>
#include <numeric>

using namespace grit::test;

static std::string number(int64_t value) { return std::to_string(value); }

int64_t LayoutSampler::below(int64_t limit) {
  return std::uniform_int_distribution<int64_t>(0, limit - 1)(engine);
}

int64_t LayoutSampler::divisorOf(int64_t value) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= value; ++d)
    if (value % d == 0)
      divisors.push_back(d);
  return divisors[static_cast<size_t>(
      below(static_cast<int64_t>(divisors.size())))];
}

void LayoutSampler::pickExtents(int64_t &rows, int64_t &columns) {
  static constexpr int64_t kExtents[] = {1, 2,  3,  4,  5,  6,  8,
                                         9, 12, 16, 18, 24, 32, 36};
  rows = kExtents[below(std::size(kExtents))];
  columns = kExtents[below(std::size(kExtents))];
}

LayoutSample LayoutSampler::simple(int64_t rows, int64_t columns, bool mayPad) {
  LayoutSample base{"RowMajor", rows, columns, columns, {}};
  base.slots.resize(static_cast<size_t>(rows * columns));
  std::iota(base.slots.begin(), base.slots.end(), 0);
  switch (below(mayPad ? 5 : 4)) {
  case 0:
    return base;
  case 1:
    return colMajor(std::move(base));
  case 2:
    return swizzle(std::move(base));
  case 3:
    return perm(std::move(base));
  default:
    return pad(std::move(base));
  }
}

LayoutSample LayoutSampler::colMajor(LayoutSample base) {
  base.text = "ColMajor";
  for (int64_t &x : base.slots)
    x = x % base.columns * base.rows + x / base.columns;
  return base;
}

LayoutSample LayoutSampler::swizzle(LayoutSample base) {
  int64_t twos = 0;
  for (auto count = static_cast<int64_t>(base.slots.size());
       count && count % 2 == 0; count /= 2)
    ++twos;
  if (twos < 2)
    return base;
  int64_t b = 1 + below(twos - 1), s = 1 + below(twos - b);
  int64_t m = below(twos - b - s + 1);
  base.text = "Swizzle(" + number(b) + "," + number(m) + "," + number(s) + ")";
  int64_t mask = ((int64_t(1) << b) - 1) << (m + s);
  for (int64_t &x : base.slots)
    x ^= (x & mask) >> s;
  return base;
}

LayoutSample LayoutSampler::perm(LayoutSample base) {
  int64_t n = divisorOf(static_cast<int64_t>(base.slots.size()));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, engine);
  base.text = "Perm([";
  for (int64_t p : order)
    base.text += number(p) + ",";
  base.text.back() = ']';
  base.text += ")";
  for (int64_t &x : base.slots)
    x = x - x % n + (std::ranges::find(order, x % n) - order.begin());
  return base;
}

LayoutSample LayoutSampler::pad(LayoutSample base) {
  int64_t align = 1 + below(8);
  base.text = "Pad(" + number(align) + ")";
  base.wide = (base.columns + align - 1) / align * align;
  for (int64_t &x : base.slots)
    x = x / base.columns * base.wide + x % base.columns;
  return base;
}

LayoutSample LayoutSampler::tile(LayoutSample base, int depth) {
  int64_t t0 = divisorOf(base.rows), t1 = divisorOf(base.columns);
  LayoutSample tiles =
      pick(base.rows / t0, base.columns / t1, depth - 1, false);
  base.text =
      "Tile(" + tiles.text + ",[" + number(t0) + "," + number(t1) + "])";
  for (int64_t &x : base.slots) {
    int64_t r = x / base.columns, c = x % base.columns;
    int64_t index = r / t0 * (base.columns / t1) + c / t1;
    x = tiles.slots[static_cast<size_t>(index)] * t0 * t1 + r % t0 * t1 +
        c % t1;
  }
  return base;
}

LayoutSample LayoutSampler::interleave(int64_t rows, int64_t columns, int depth,
                                       bool mayPad) {
  LayoutSample base = pick(rows, columns, depth - 1, mayPad);
  int64_t total = base.rows * base.wide, n = divisorOf(total);
  base.text = "Interleave(" + base.text + "," + number(n) + ")";
  for (int64_t &y : base.slots)
    y = y % (total / n) * n + y / (total / n);
  return base;
}

LayoutSample LayoutSampler::compose(int64_t rows, int64_t columns, int depth,
                                    bool mayPad) {
  LayoutSample first = pick(rows, columns, depth - 1, mayPad);
  LayoutSample second = pick(rows, first.wide, depth - 1, mayPad);
  first.text = "Compose(" + second.text + "," + first.text + ")";
  first.wide = second.wide;
  for (int64_t &y : first.slots)
    y = second.slots[static_cast<size_t>(y)];
  return first;
}

LayoutSample LayoutSampler::pick(int64_t rows, int64_t columns, int depth,
                                 bool mayPad) {
  if (depth == 0)
    return simple(rows, columns, mayPad);
  switch (below(4)) {
  case 0:
    return simple(rows, columns, mayPad);
  case 1: {
    LayoutSample base{"", rows, columns, columns, {}};
    base.slots.resize(static_cast<size_t>(rows * columns));
    std::iota(base.slots.begin(), base.slots.end(), 0);
    return tile(std::move(base), depth);
  }
  case 2:
    return interleave(rows, columns, depth, mayPad);
  default:
    return compose(rows, columns, depth, mayPad);
  }
}
