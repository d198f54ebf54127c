//===- Layout.cpp - the meaning of layout expressions -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Layout.h"
#include "grit/Format/Fingerprint.h"
#include <numeric>

using namespace grit;

//===----------------------------------------------------------------------===//
// Text and word
//===----------------------------------------------------------------------===//

static std::string join(const std::vector<int64_t> &numbers,
                        std::string_view separator = ",") {
  std::string text;
  for (int64_t number : numbers)
    text += std::string(text.empty() ? "" : separator) + std::to_string(number);
  return text;
}

std::string Layout::str() const {
  std::string text(layoutKindName(which));
  switch (which) {
  case Kind::RowMajor:
  case Kind::ColMajor:
    return text;
  case Kind::Tile:
    return text + "(" + parts[0].str() + ",[" + join(numbers) + "])";
  case Kind::Interleave:
    return text + "(" + parts[0].str() + "," + join(numbers) + ")";
  case Kind::Perm:
    return text + "([" + join(numbers) + "])";
  case Kind::Swizzle:
  case Kind::Pad:
    return text + "(" + join(numbers) + ")";
  case Kind::Compose:
    return text + "(" + parts[0].str() + "," + parts[1].str() + ")";
  case Kind::Opaque:
    break;
  }
  return text + "(" + vendor + "," + blob + ")";
}

Placement Layout::word() const {
  constexpr uint64_t kPayload = (uint64_t(1) << 60) - 1;
  return Placement(uint64_t(0x8) << 60 | (fnv1a64(str()) & kPayload));
}

Layout::Multiples Layout::multiples() const {
  Multiples result;
  auto lcm = [](int64_t a, int64_t b) {
    int64_t product = 0;
    if (a == 0 || b == 0 ||
        __builtin_mul_overflow(a / std::gcd(a, b), b, &product))
      return std::max(a, b);
    return product;
  };
  for (const Layout &part : parts) {
    Multiples inner = part.multiples();
    result = {lcm(result.rows, inner.rows), lcm(result.columns, inner.columns)};
  }
  if (which == Kind::Tile &&
      (__builtin_mul_overflow(result.rows, numbers[0], &result.rows) ||
       __builtin_mul_overflow(result.columns, numbers[1], &result.columns)))
    return {INT64_MAX, INT64_MAX};
  return result;
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

namespace grit {

/// Turns expressions into steps; one function per row of the table of P14.
class LayoutMapper {
public:
  using Result = tl::expected<void, Error>;
  /// Appends the steps of `layout` over rows x columns indices to `map`, and
  /// sets `columns` to those of the slots.
  static Result append(const Layout &layout, int64_t rows, int64_t &columns,
                       LayoutMap &map);

private:
  static Result tile(const Layout &layout, int64_t rows, int64_t columns,
                     LayoutMap &map);
  static Result interleave(const Layout &layout, int64_t rows, int64_t &columns,
                           LayoutMap &map);
  static Result swizzle(const Layout &layout, int64_t rows, int64_t columns,
                        LayoutMap &map);
  static Result perm(const Layout &layout, int64_t rows, int64_t columns,
                     LayoutMap &map);
  static Result pad(const Layout &layout, int64_t rows, int64_t &columns,
                    LayoutMap &map);
  static bool pads(const Layout &layout);
};

} // namespace grit

static tl::unexpected<Error> misfit(const Layout &layout, int64_t rows,
                                    int64_t columns, std::string needs,
                                    std::string cause = {}) {
  return makeError(Status::SizeMismatch,
                   std::string(layoutKindName(layout.kind())) +
                       " does not fit a matrix of " + std::to_string(rows) +
                       " x " + std::to_string(columns),
                   "layout", std::move(needs),
                   std::to_string(rows) + " x " + std::to_string(columns),
                   std::move(cause), "use a layout that fits, or RowMajor");
}

/// `divisor` divides `number`; 0 divides nothing.
static bool divides(int64_t divisor, int64_t number) {
  return divisor != 0 && number % divisor == 0;
}

LayoutMapper::Result LayoutMapper::append(const Layout &layout, int64_t rows,
                                          int64_t &columns, LayoutMap &map) {
  switch (layout.which) {
  case Layout::Kind::RowMajor:
    return {};
  case Layout::Kind::ColMajor:
    map.append(DigitMove{{{columns, rows}, {rows, 1}}, rows * columns});
    return {};
  case Layout::Kind::Tile:
    return tile(layout, rows, columns, map);
  case Layout::Kind::Interleave:
    return interleave(layout, rows, columns, map);
  case Layout::Kind::Swizzle:
    return swizzle(layout, rows, columns, map);
  case Layout::Kind::Perm:
    return perm(layout, rows, columns, map);
  case Layout::Kind::Pad:
    return pad(layout, rows, columns, map);
  case Layout::Kind::Compose:
    return append(layout.parts[1], rows, columns, map).and_then([&] {
      return append(layout.parts[0], rows, columns, map);
    });
  case Layout::Kind::Opaque:
    break;
  }
  return makeError(Status::PlacementUnknown,
                   "an opaque layout has no map from index to slot", "layout",
                   {}, layout.str(), "only " + layout.vendor + " knows it",
                   "relayout the array where its layout is known");
}

bool LayoutMapper::pads(const Layout &layout) {
  if (layout.which == Layout::Kind::Pad)
    return true;
  for (const Layout &part : layout.parts)
    if (pads(part))
      return true;
  return false;
}

LayoutMapper::Result LayoutMapper::tile(const Layout &layout, int64_t rows,
                                        int64_t columns, LayoutMap &map) {
  int64_t height = layout.numbers[0], width = layout.numbers[1];
  if (!divides(height, rows) || !divides(width, columns))
    return misfit(layout, rows, columns,
                  "a multiple of " + std::to_string(height) + " x " +
                      std::to_string(width));
  if (pads(layout.parts[0]))
    return misfit(layout, rows, columns, "an order of tiles without Pad",
                  "Pad inside Tile would leave whole tiles empty");
  int64_t down = rows / height, across = columns / width;
  int64_t wide = across;
  LayoutMap tiles = LayoutMap::identity(down * across);
  if (Result inner = append(layout.parts[0], down, wide, tiles); !inner)
    return inner;
  // An empty matrix has no tiles, and their size may be anything.
  if (rows == 0 || columns == 0)
    return {};
  int64_t size = height * width;
  map.append(DigitMove{
      {{width, 1}, {across, size}, {height, width}, {down, across * size}},
      rows * columns});
  LayoutMap whole = tiles.ofBlocks(size);
  for (const LayoutStep &step : whole.steps())
    map.append(step);
  return {};
}

LayoutMapper::Result LayoutMapper::interleave(const Layout &layout,
                                              int64_t rows, int64_t &columns,
                                              LayoutMap &map) {
  if (Result inner = append(layout.parts[0], rows, columns, map); !inner)
    return inner;
  int64_t streams = layout.numbers[0], slots = rows * columns;
  if (!divides(streams, slots))
    return misfit(layout, rows, columns,
                  "a multiple of " + std::to_string(streams) + " slots");
  map.append(DigitMove{{{slots / streams, streams}, {streams, 1}}, slots});
  return {};
}

LayoutMapper::Result LayoutMapper::swizzle(const Layout &layout, int64_t rows,
                                           int64_t columns, LayoutMap &map) {
  int64_t bits = layout.numbers[0], low = layout.numbers[1],
          shift = layout.numbers[2], count = rows * columns;
  if (bits == 0 || shift == 0)
    return misfit(layout, rows, columns, "at least 1 bit and a shift of 1");
  if (count == 0)
    return {};
  if (bits > 62 || low > 62 || shift > 62 || bits + low + shift > 62 ||
      !divides(int64_t(1) << (bits + low + shift), count))
    return misfit(layout, rows, columns,
                  "a multiple of 2^(" + join(layout.numbers, " + ") +
                      ") items");
  // Bit i of the high part changes bit i - shift.
  BitMix mix{int64_t(1) << low, {}};
  for (int64_t bit = 0; bit < bits + shift; ++bit)
    mix.images.push_back(uint64_t(1) << bit |
                         (bit >= shift ? uint64_t(1) << (bit - shift) : 0));
  map.append(std::move(mix));
  return {};
}

LayoutMapper::Result LayoutMapper::perm(const Layout &layout, int64_t rows,
                                        int64_t columns, LayoutMap &map) {
  size_t count = layout.numbers.size();
  SlotTable table{1, std::vector<uint32_t>(count)};
  std::vector<bool> seen(count);
  for (size_t slot = 0; slot < count; ++slot) {
    auto index = static_cast<size_t>(layout.numbers[slot]);
    if (index >= count || seen[index])
      return misfit(layout, rows, columns,
                    "each of the numbers 0 to " + std::to_string(count - 1) +
                        " once",
                    std::to_string(index) +
                        (index >= count ? " is too large" : " occurs twice"));
    seen[index] = true;
    table.slots[index] = static_cast<uint32_t>(slot);
  }
  if (!divides(static_cast<int64_t>(count), rows * columns))
    return misfit(layout, rows, columns,
                  "a multiple of " + std::to_string(count) + " items");
  map.append(std::move(table));
  return {};
}

LayoutMapper::Result LayoutMapper::pad(const Layout &layout, int64_t rows,
                                       int64_t &columns, LayoutMap &map) {
  int64_t align = layout.numbers[0], wide = 0, slots = 0;
  if (align == 0)
    return misfit(layout, rows, columns, "a multiple of at least 1");
  int64_t runs = columns / align + (columns % align != 0);
  if (__builtin_mul_overflow(runs, align, &wide) ||
      __builtin_mul_overflow(rows, wide, &slots))
    return misfit(layout, rows, columns, "fewer than 2^63 slots",
                  "rows are padded to multiples of " + std::to_string(align));
  map.append(DigitMove{{{columns, 1}, {rows, wide}}, slots});
  columns = wide;
  return {};
}

Expected<LayoutMap> Layout::map(int64_t rows, int64_t columns) const {
  int64_t count = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &count))
    return makeError(Status::SizeMismatch,
                     "a matrix of " + std::to_string(rows) + " x " +
                         std::to_string(columns) + " items cannot exist",
                     "layout", "extents >= 0 whose product fits 63 bits",
                     std::to_string(rows) + " x " + std::to_string(columns));
  LayoutMap result = LayoutMap::identity(count);
  if (LayoutMapper::Result steps =
          LayoutMapper::append(*this, rows, columns, result);
      !steps)
    return tl::unexpected(steps.error());
  return result;
}
