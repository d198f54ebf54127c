//===- Codec.cpp - scalar decode, from the description -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Codec.h"
#include "GroupOrder.h"
#include "Parallel.h"
#include "PlacedField.h"
#include "ValueSteps.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

using namespace grit;

//===----------------------------------------------------------------------===//
// Bit fields
//===----------------------------------------------------------------------===//

/// The bit of its byte that bit `t` of a stream is, most significant first.
static unsigned bitOfStream(int64_t t) { return 7 - t % 8; }

uint32_t grit::readField(const BitField &field, int64_t index,
                         std::span<const ByteSpan> planes) {
  const uint8_t *bytes = planes[field.plane].data();
  uint32_t value = 0;
  if (int64_t width = field.msbStreamWidth) {
    for (int64_t t = index * width; t < (index + 1) * width; ++t)
      value = value << 1 | (bytes[t / 8] >> bitOfStream(t) & 1);
    return value;
  }
  for (const BitSlice &slice : field.slices) {
    int64_t bit = slice.at(index);
    uint64_t window = 0;
    int64_t first = bit / 8, last = (bit + slice.width - 1) / 8;
    for (int64_t byte = last; byte >= first; --byte)
      window = window << 8 | bytes[byte];
    window >>= bit % 8;
    window &= (uint64_t(1) << slice.width) - 1;
    value |= static_cast<uint32_t>(window) << slice.shift;
  }
  if (field.radix)
    return field.radix->digit(value, field.storedWidth(), index);
  return value;
}

void grit::writeField(const BitField &field, int64_t index, uint32_t value,
                      std::span<const std::span<uint8_t>> planes) {
  uint8_t *bytes = planes[field.plane].data();
  if (int64_t width = field.msbStreamWidth) {
    for (int64_t t = (index + 1) * width; t-- > index * width; value >>= 1) {
      uint8_t mask = static_cast<uint8_t>(1 << bitOfStream(t));
      bytes[t / 8] =
          static_cast<uint8_t>((bytes[t / 8] & ~mask) | (value & 1 ? mask : 0));
    }
    return;
  }
  for (const BitSlice &slice : field.slices) {
    int64_t bit = slice.at(index);
    uint64_t mask = ((uint64_t(1) << slice.width) - 1) << bit % 8;
    uint64_t window = (uint64_t(value) >> slice.shift) << bit % 8 & mask;
    for (int64_t byte = bit / 8; mask; ++byte, mask >>= 8, window >>= 8)
      bytes[byte] = static_cast<uint8_t>((bytes[byte] & ~mask) | window);
  }
}

static bool isInside(const BitField &field, int64_t index, size_t bytes) {
  int64_t size = 8 * static_cast<int64_t>(bytes);
  return std::ranges::all_of(field.slices, [&](const BitSlice &slice) {
    int64_t bit = slice.at(index);
    return bit >= 0 && bit <= size - static_cast<int64_t>(slice.width);
  });
}

bool grit::copyField(const BitField &from, ByteSpan source, const BitField &to,
                     std::span<uint8_t> target, int64_t count) {
  BitField in = from, out = to;
  in.plane = out.plane = 0;
  // Values of two threads must not share a byte.
  constexpr int64_t kGrain = 1 << 14;
  std::atomic<bool> allInside = true;
  parallelFor(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (!isInside(in, i, source.size()) || !isInside(out, i, target.size()))
        return allInside.store(false);
      writeField(out, i, readField(in, i, {&source, 1}), {&target, 1});
    }
  });
  return allInside;
}

/// The block that element `index` is in, blocks counted matrix by matrix.
static int64_t blockIndex(const Factor &factor, int64_t index,
                          const ArraySpec &spec) {
  size_t rank = spec.shape.size();
  int64_t columns = spec.shape[rank - 1];
  int64_t rows = rank > 1 ? spec.shape[rank - 2] : 1;
  int64_t across = (columns - 1) / factor.group + 1;
  int64_t down = (rows - 1) / factor.rows + 1;
  int64_t row = index / columns;
  return (row / rows * down + row % rows / factor.rows) * across +
         index % columns / factor.group;
}

int64_t grit::groupIndex(const Factor &factor, int64_t index,
                         const ArraySpec &spec) {
  if (factor.group == 0)
    return 0;
  if (factor.order == ElementOrder::RowMajor)
    return index / factor.group;
  if (factor.order == ElementOrder::Block)
    return blockIndex(factor, index, spec);
  int64_t axis = spec.shape[spec.axis], inner = 1;
  for (size_t i = spec.axis + 1; i < spec.shape.size(); ++i)
    inner *= spec.shape[i];
  int64_t position = index / inner % axis;
  int64_t line = index / (inner * axis) * inner + index % inner;
  if (factor.group == kWholeAxis)
    return line;
  return (line * axis + position) / factor.group;
}

//===----------------------------------------------------------------------===//
// Reading an array
//===----------------------------------------------------------------------===//

namespace {

/// A factor with the value of the group that was read last.
class FactorReader {
public:
  static Expected<FactorReader> get(const ArraySpec &spec,
                                    const Factor &factor);

  const Factor &description() const { return *factor; }
  float at(int64_t element, const GroupOrder &order,
           std::span<const ByteSpan> planes) {
    int64_t group = order.groupOf(*factor, element);
    if (group != current) {
      current = group;
      value = factor->number.decode(field.read(group, planes));
    }
    return value;
  }

private:
  const Factor *factor = nullptr;
  PlacedField field;
  int64_t current = -1;
  float value = 0;
};

/// Decodes an array element by element, in order.
class Decoder {
public:
  static Expected<Decoder> get(const ArraySpec &spec,
                               std::span<const ByteSpan> planes);
  bool isSparse() const { return desc.sparsity.has_value(); }
  /// Elements `begin` to `end` - 1; of a sparse array, all of them.
  void run(std::span<float> out, int64_t begin, int64_t end);

private:
  Decoder(const ArraySpec &spec, std::span<const ByteSpan> planes)
      : desc(spec.contract.description()), planes(planes), order(spec) {}

  static Expected<std::vector<FactorReader>>
  readers(const ArraySpec &spec, const std::vector<Factor> &factors);
  float join(float value, FactorReader &factor, int64_t element);
  float product(std::vector<FactorReader> &factors, int64_t element);
  float level(int64_t index, int64_t code);
  float scaled(float level, int64_t index);
  float element(int64_t index, int64_t code);
  uint32_t survivors(int64_t run) const;

  const FormatDescription &desc;
  std::span<const ByteSpan> planes;
  PlacedField codes, indices, signs, book;
  GroupOrder order;
  bool hasScale = false; ///< a factor before the level
  std::vector<FactorReader> scales, offsets;
};

} // namespace

Expected<FactorReader> FactorReader::get(const ArraySpec &spec,
                                         const Factor &factor) {
  Expected<PlacedField> field = PlacedField::of(spec, fieldOf(factor, spec));
  if (!field)
    return tl::make_unexpected(field.error());
  FactorReader reader;
  reader.factor = &factor;
  reader.field = *field;
  return reader;
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

Expected<std::vector<FactorReader>>
Decoder::readers(const ArraySpec &spec, const std::vector<Factor> &factors) {
  std::vector<FactorReader> result;
  for (const Factor &factor : factors) {
    Expected<FactorReader> reader = FactorReader::get(spec, factor);
    if (!reader)
      return tl::make_unexpected(reader.error());
    result.push_back(*reader);
  }
  return result;
}

Expected<Decoder> Decoder::get(const ArraySpec &spec,
                               std::span<const ByteSpan> planes) {
  Decoder decoder(spec, planes);
  const FormatDescription &desc = decoder.desc;
  if (auto error = decoder.order.read(planes))
    return tl::make_unexpected(std::move(*error));
  if (desc.sparsity) {
    auto indices = PlacedField::of(spec, indicesOf(*desc.sparsity));
    if (!indices)
      return tl::make_unexpected(indices.error());
    decoder.indices = *indices;
  }
  auto codes = PlacedField::of(spec, codesOf(desc));
  if (!codes)
    return tl::make_unexpected(codes.error());
  decoder.codes = *codes;
  if (desc.level.signs) {
    auto signs = PlacedField::of(
        spec, {&desc.level.signs->bits, desc.level.signs->group});
    if (!signs)
      return tl::make_unexpected(signs.error());
    decoder.signs = *signs;
  }
  if (desc.level.book) {
    auto book = PlacedField::of(spec, {&*desc.level.book, 0});
    if (!book)
      return tl::make_unexpected(book.error());
    decoder.book = *book;
  }
  for (const Factor &factor : desc.scales)
    decoder.hasScale |= !factor.afterLevel;
  auto scales = readers(spec, desc.scales);
  if (!scales)
    return tl::make_unexpected(scales.error());
  decoder.scales = std::move(*scales);
  auto offsets = readers(spec, desc.offset.factors);
  if (!offsets)
    return tl::make_unexpected(offsets.error());
  decoder.offsets = std::move(*offsets);
  return decoder;
}

float Decoder::join(float value, FactorReader &factor, int64_t element) {
  return joinFactor(factor.description().op, value,
                    factor.at(element, order, planes));
}

/// Outermost first, rounded to binary32 after each step; factors that follow
/// the level are not part of it.
float Decoder::product(std::vector<FactorReader> &factors, int64_t element) {
  float result = 0;
  bool isFirst = true;
  for (FactorReader &factor : factors) {
    if (factor.description().afterLevel)
      continue;
    result = isFirst ? factor.at(element, order, planes)
                     : join(result, factor, element);
    isFirst = false;
  }
  return result;
}

/// The level of element `index`, whose code is number `code`.
float Decoder::level(int64_t index, int64_t code) {
  const Level &level = desc.level;
  int64_t vector = level.vector;
  uint32_t entry = codes.read(code / vector, planes);
  if (vector > 1)
    entry = entry * level.vector + static_cast<uint32_t>(code % vector);
  float value = level.decode(level.book ? book.read(entry, planes) : entry);
  if (!level.signs)
    return value;
  int64_t group = level.signs->group;
  uint32_t bits = signs.read(index / group, planes);
  return level.signs->isNegative(bits, static_cast<unsigned>(index % group))
             ? -value
             : value;
}

/// f32(S * level), then the factors that follow the level.
float Decoder::scaled(float level, int64_t index) {
  float value = hasScale ? product(scales, index) * level : level;
  for (FactorReader &factor : scales)
    if (factor.description().afterLevel)
      value = join(value, factor, index);
  return value;
}

float Decoder::element(int64_t index, int64_t code) {
  float value = level(index, code);
  switch (desc.offset.kind) {
  case Offset::Kind::None:
    return scaled(value, index);
  case Offset::Kind::ZeroPoint:
    return scaled(value - offsets.front().at(index, order, planes), index);
  case Offset::Kind::Minimum:
    return scaled(value, index) - product(offsets, index);
  }
  return 0;
}

/// The positions kept in a run of M, as a set. A duplicated index counts once,
/// and one beyond M not at all.
uint32_t Decoder::survivors(int64_t run) const {
  uint32_t kept = 0;
  for (unsigned slot = 0; slot < desc.sparsity->n; ++slot) {
    uint32_t position = indices.read(run * desc.sparsity->n + slot, planes);
    if (position < desc.sparsity->m)
      kept |= uint32_t(1) << position;
  }
  return kept;
}

float grit::projectValue(const Projection &into, float value) {
  constexpr uint32_t kCanonicalNaN = 0x7FC00000;
  if (std::isnan(value))
    return std::bit_cast<float>(kCanonicalNaN);
  if (into.isIdentity())
    return value;
  // Only a NaN and an invalid word have no code.
  uint32_t code = encodeWord(into.format, value, into.rounding, into.saturation)
                      .value_or(0);
  return decodeWord(into.format, code);
}

void Decoder::run(std::span<float> out, int64_t begin, int64_t end) {
  int64_t cursor = 0; // survivors so far, over the whole array
  uint32_t kept = 0;
  for (int64_t index = begin; index < end; ++index) {
    if (desc.sparsity) {
      int64_t position = index % desc.sparsity->m;
      if (position == 0)
        kept = survivors(index / desc.sparsity->m);
      if (!(kept >> position & 1)) {
        out[index] = 0; // before any scale is read: a NaN does not reach it
        continue;
      }
    }
    out[index] = projectValue(desc.projection,
                              element(index, desc.sparsity ? cursor++ : index));
  }
}

Expected<void> grit::decode(const ArraySpec &spec,
                            std::span<const ByteSpan> planes,
                            std::span<float> out) {
  if (auto error = spec.verify())
    return tl::make_unexpected(std::move(*error));
  PlaneSizes sizes;
  for (ByteSpan plane : planes)
    sizes.push_back(static_cast<int64_t>(plane.size()));
  if (auto error = spec.checkPlaneSizes(sizes))
    return tl::make_unexpected(std::move(*error));
  if (static_cast<int64_t>(out.size()) != spec.numElements())
    return makeError(
        Status::SizeMismatch, "the output does not have the shape's elements",
        "out", std::to_string(spec.numElements()), std::to_string(out.size()),
        {}, "give room for all of " + shapeText(spec.shape));
  if (out.empty())
    return {};
  Expected<Decoder> decoder = Decoder::get(spec, planes);
  if (!decoder)
    return tl::make_unexpected(decoder.error());
  const int64_t count = static_cast<int64_t>(out.size());
  // Where survivors lie depends on all runs before; 2^14 elements are worth a
  // thread.
  const int64_t grain = decoder->isSparse() ? count : 1 << 14;
  parallelFor(count, grain, [&](int64_t begin, int64_t end) {
    Decoder(*decoder).run(out, begin, end);
  });
  return {};
}
