//===- Ninfer.cpp - NInfer's registry and the sizes of payloads -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NinferLayout.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using namespace grit::ninfer;

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

static constexpr std::string_view kLayouts[] = {
    "contiguous_le_v1", "row_split_k128_v1",  "block_scale_k16_m128x4_v1",
    "row_scale_v1",     "row_interleaved_v1", "gguf_blocks_v1"};

static constexpr Format kFormats[] = {
    {"bf16", "gguf.bf16", kLayouts[0]},
    {"fp32", "gguf.f32", kLayouts[0]},
    {"int32", "gguf.i32", kLayouts[0]},
    {"q2_g64_fp16", "ninfer.q2_g64_fp16", kLayouts[1]},
    {"q4_g64_fp16", "ninfer.q4_g64_fp16", kLayouts[1]},
    {"q5_g64_fp16", "ninfer.q5_g64_fp16", kLayouts[1]},
    {"q6_g64_fp16", "ninfer.q6_g64_fp16", kLayouts[1]},
    {"q8_g32_fp16", "ninfer.q8_g32_fp16", kLayouts[1]},
    {"t2_g128_fp16", "ninfer.t2_g128_fp16", kLayouts[1]},
    {"nvfp4", "ninfer.nvfp4", kLayouts[2]},
    {"fp8_e4m3fn_row_bf16", "ninfer.fp8_e4m3fn_row_bf16", kLayouts[3]},
    {"fp8_e4m3fn_row_fp16", "ninfer.fp8_e4m3fn_row_fp16", kLayouts[4]},
    {"gguf_q8_0", "gguf.q8_0", kLayouts[5]},
    {"gguf_q4_0", "gguf.q4_0", kLayouts[5]},
    {"gguf_q5_0", "gguf.q5_0", kLayouts[5]},
    {"gguf_q2_0", "gguf.q2_0", kLayouts[5]},
    {"gguf_q2_k", "gguf.q2_k", kLayouts[5]},
    {"gguf_q3_k", "gguf.q3_k", kLayouts[5]},
    {"gguf_q4_k", "gguf.q4_k", kLayouts[5]},
    {"gguf_q5_k", "gguf.q5_k", kLayouts[5]},
    {"gguf_q6_k", "gguf.q6_k", kLayouts[5]},
    {"gguf_iq2_xxs", "gguf.iq2_xxs", kLayouts[5]},
    {"gguf_iq2_xs", "gguf.iq2_xs", kLayouts[5]},
    {"gguf_iq3_xxs", "gguf.iq3_xxs", kLayouts[5]},
    {"gguf_iq1_s", "gguf.iq1_s", kLayouts[5]},
    {"gguf_iq4_nl", "gguf.iq4_nl", kLayouts[5]},
    {"gguf_iq3_s", "gguf.iq3_s", kLayouts[5]},
    {"gguf_iq2_s", "gguf.iq2_s", kLayouts[5]},
    {"gguf_iq4_xs", "gguf.iq4_xs", kLayouts[5]},
    {"gguf_iq1_m", "gguf.iq1_m", kLayouts[5]}};

std::span<const Format> ninfer::formats() { return kFormats; }

const Format *ninfer::findFormat(std::string_view name) {
  auto found = std::ranges::find(kFormats, name, &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

std::optional<LayoutKind> ninfer::findLayout(std::string_view name) {
  auto found = std::ranges::find(kLayouts, name);
  if (found == std::end(kLayouts))
    return std::nullopt;
  return static_cast<LayoutKind>(found - std::begin(kLayouts));
}

Error ninfer::recordError(std::string message, std::string field,
                          std::string declared, std::string found,
                          std::string cause, std::string fix) {
  return {Status::SizeMismatch, std::move(message),
          std::move(field),     std::move(declared),
          std::move(found),     std::move(cause),
          std::move(fix),       -1};
}

static std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// The format, whose layout is that of the record.
static Expected<const Format *> formatOf(const Record &record) {
  const Format *format = findFormat(record.format);
  auto refuse = [](std::string message, std::string field, std::string declared,
                   const std::string &found, std::string fix) {
    return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                     std::move(declared), quoteText(found),
                     "the file belongs to another version or fork",
                     std::move(fix));
  };
  if (!format) {
    std::vector<std::string_view> names;
    for (const Format &known : kFormats)
      names.push_back(known.name);
    return refuse("no tensor format has this name", "format", joined(names),
                  record.format, didYouMean(record.format, names));
  }
  if (!findLayout(record.layout))
    return refuse("no storage layout has this name", "layout", joined(kLayouts),
                  record.layout,
                  "write " + std::string(format->layout) + " for " +
                      record.format);
  if (record.layout != format->layout)
    return refuse("the layout does not store this format", "layout",
                  std::string(format->layout) + " for " + record.format,
                  record.layout, "correct the format or the layout");
  return format;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string str(int64_t value) { return std::to_string(value); }

static std::optional<Error> checkExtents(const Record &record,
                                         LayoutKind kind) {
  const std::vector<int64_t> &shape = record.shape;
  constexpr size_t kMaxDirectRank = 16;
  bool isMatrix = kind != LayoutKind::Contiguous;
  if (isMatrix ? shape.size() != 2 : shape.size() > kMaxDirectRank)
    return recordError("the layout does not take this rank", "rank",
                       isMatrix ? "2" : "0 to 16", str(shape.size()), {},
                       isMatrix ? "store the tensor as a matrix"
                                : "merge axes");
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 1)
      return recordError("an extent is not positive", "shape[" + str(i) + "]",
                         "1 or more", str(shape[i]), "the record is damaged",
                         "correct the shape " + shapeText(shape));
  return std::nullopt;
}

static std::optional<Error> checkMultiple(const Record &record, size_t axis,
                                          int64_t multiple) {
  if (record.shape[axis] % multiple == 0)
    return std::nullopt;
  return recordError("the layout does not take this extent",
                     "shape[" + str(axis) + "]",
                     "a multiple of " + str(multiple), str(record.shape[axis]),
                     {}, "pad the matrix, or choose another format");
}

static std::optional<Error> checkDivisors(const Record &record,
                                          LayoutKind kind) {
  auto refuse = [&](std::string declared, std::string cause) {
    return recordError("the divisors do not fit the matrix", "divisors",
                       std::move(declared), str(record.divisors),
                       std::move(cause), "correct the record");
  };
  if (record.divisors < 1)
    return refuse("1 or more", "the record is damaged");
  if (record.divisors == 1)
    return std::nullopt;
  if (kind != LayoutKind::BlockScale)
    return refuse("1", record.layout + " has no divisors");
  if (record.shape[0] % record.divisors != 0)
    return refuse("a divisor of the " + str(record.shape[0]) + " rows",
                  "stacked matrices have equal rows");
  if (record.shape[0] / record.divisors % 128 != 0)
    return refuse("matrices of a multiple of 128 rows",
                  str(record.shape[0] / record.divisors) + " rows each");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {

/// Sections one after the other, in numbers that remember an overflow.
class SectionWriter {
public:
  /// a * b * c more bytes, from the next multiple of `alignment`. No section
  /// for none.
  void add(std::string_view name, int64_t a, int64_t b, int64_t c,
           int64_t alignment = 1) {
    int64_t bytes = times(times(a, b), c);
    if (bytes == 0)
      return;
    int64_t start = plus(end, (alignment - end % alignment) % alignment);
    geometry.sections.push_back({name, start, bytes});
    end = plus(start, bytes);
  }
  std::optional<Geometry> finish() {
    geometry.bytes = end;
    if (overflowed)
      return std::nullopt;
    return std::move(geometry);
  }
  int64_t times(int64_t a, int64_t b) {
    int64_t product = 0;
    overflowed |= __builtin_mul_overflow(a, b, &product);
    return overflowed ? 0 : product;
  }
  int64_t plus(int64_t a, int64_t b) {
    int64_t sum = 0;
    overflowed |= __builtin_add_overflow(a, b, &sum);
    return overflowed ? 0 : sum;
  }

  Geometry geometry;

private:
  int64_t end = 0;
  bool overflowed = false;
};

} // namespace

SplitGroup ninfer::splitGroupOf(const FormatDescription &description) {
  SplitGroup group{description.scales[0].group};
  const int64_t width = description.codes.width();
  const int64_t base = 8 % width == 0 ? width : 4;
  group.base = group.elements * base / 8;
  group.high = group.elements * (width - base) / 8;
  return group;
}

static void addRowSplit(SectionWriter &writer, const Record &record,
                        const FormatDescription &description) {
  constexpr int64_t kRow = 128;
  const int64_t rows = record.shape[0], columns = record.shape[1];
  const int64_t padded = writer.plus(columns, (kRow - columns % kRow) % kRow);
  const SplitGroup group = splitGroupOf(description);
  const int64_t groups = padded / group.elements;
  writer.add("base", rows, groups, group.base);
  writer.add("high", rows, groups, group.high, kAlignment);
  writer.add("scales", rows, groups, 2, kAlignment);
  writer.geometry.storedShape = {rows, padded};
}

static void addSections(SectionWriter &writer, const Record &record,
                        LayoutKind kind, const FormatDescription &description) {
  writer.geometry.storedShape = record.shape;
  const PlaneInfo &data = description.planes[0];
  if (kind == LayoutKind::Contiguous) {
    int64_t count = 1;
    for (int64_t extent : record.shape)
      count = writer.times(count, extent);
    return writer.add("words", count, data.bits / 8, 1);
  }
  const int64_t rows = record.shape[0], columns = record.shape[1];
  switch (kind) {
  case LayoutKind::Contiguous:
    return;
  case LayoutKind::RowSplit:
    return addRowSplit(writer, record, description);
  case LayoutKind::BlockScale:
    writer.add("codes", rows, columns / 2, 1);
    writer.add("scales", rows, columns / 16, 1, kAlignment);
    return writer.add("divisors", record.divisors, 4, 1);
  case LayoutKind::RowScale:
    writer.add("codes", rows, columns, 1);
    return writer.add("scales", rows, 2, 1, kAlignment);
  case LayoutKind::RowInterleaved:
    return writer.add("rows", rows, writer.plus(columns, 2), 1);
  case LayoutKind::Blocks:
    return writer.add("blocks", rows, columns / data.elements, data.bits / 8);
  }
}

Expected<Geometry> ninfer::geometryOf(const Record &record) {
  Expected<const Format *> format = formatOf(record);
  if (!format)
    return tl::unexpected(format.error());
  const LayoutKind kind = *findLayout(record.layout);
  Expected<Contract> contract = Contract::parse((*format)->contract);
  if (!contract)
    return tl::unexpected(contract.error());
  const FormatDescription &description = contract->description();
  if (auto error = checkExtents(record, kind))
    return tl::unexpected(std::move(*error));
  if (kind == LayoutKind::BlockScale)
    if (auto error = checkMultiple(record, 0, 128))
      return tl::unexpected(std::move(*error));
  if (kind == LayoutKind::BlockScale || kind == LayoutKind::Blocks)
    if (auto error = checkMultiple(record, 1, description.axisMultiple))
      return tl::unexpected(std::move(*error));
  if (auto error = checkDivisors(record, kind))
    return tl::unexpected(std::move(*error));
  SectionWriter writer;
  addSections(writer, record, kind, description);
  if (std::optional<Geometry> geometry = writer.finish())
    return std::move(*geometry);
  return tl::unexpected(
      recordError("the sizes of the tensor exceed 63 bits", "shape",
                  "a payload of less than 2^63 bytes", shapeText(record.shape),
                  "the record is damaged", "correct the shape"));
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

/// Stacked matrices: the same format with blocks of so many rows.
static Expected<Contract> stackedContract(int64_t rows) {
  Expected<Contract> member = Contract::parse("ninfer.nvfp4_stacked");
  if (!member)
    return member;
  FormatDescription description = member->description();
  for (PlaneInfo &plane : description.planes)
    plane.rows = plane.rows ? rows : 0;
  for (Factor &factor : description.scales)
    factor.rows = factor.rows ? rows : 0;
  return Contract::parse(canonicalText(description));
}

/// An axis at least, and not more than arrays have.
static std::vector<int64_t> arrayShape(std::vector<int64_t> shape) {
  if (shape.empty())
    return {1};
  while (shape.size() > kMaxRank) {
    shape[1] *= shape[0];
    shape.erase(shape.begin());
  }
  return shape;
}

Expected<ArraySpec> ninfer::arrayOf(const Record &record) {
  Expected<Geometry> geometry = geometryOf(record);
  if (!geometry)
    return tl::unexpected(geometry.error());
  Expected<Contract> contract =
      record.divisors > 1
          ? stackedContract(record.shape[0] / record.divisors)
          : Contract::parse(findFormat(record.format)->contract);
  if (!contract)
    return tl::unexpected(contract.error());
  Placements placements = contract->canonicalPlacements();
  if (findLayout(record.layout) == LayoutKind::BlockScale)
    placements.scale = placements::Swizzle128x4B;
  return ArraySpec::get(std::move(*contract), arrayShape(geometry->storedShape),
                        -1, placements);
}
