//===- GgufWriter.cpp - writing GGUF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GgufCursor.h"
#include "Layout.h"
#include "grit/Container/Gguf.h"
#include <bit>
#include <unordered_set>

using namespace grit;

/// The most dimensions that ggml reads.
static constexpr size_t kGgmlRank = 4;

static uint64_t padTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

static Expected<uint64_t> alignmentOf(const std::vector<GgufKeyValue> &pairs) {
  for (const GgufKeyValue &pair : pairs) {
    if (pair.key != "general.alignment")
      continue;
    std::optional<uint64_t> value = pair.asUnsigned();
    if (pair.type == GgufValueType::Uint32 && std::has_single_bit(*value))
      return *value;
    return makeError(Status::SizeMismatch, "the alignment is not usable",
                     "general.alignment", "a uint32 that is a power of two",
                     value ? std::to_string(*value) : "another type");
  }
  return 32;
}

static Expected<uint64_t> entryBytes(const GgufEntry &entry) {
  if (std::optional<Error> error = checkTensorName(entry.name))
    return tl::unexpected(std::move(*error));
  if (entry.shape.size() > kGgmlRank)
    return makeError(Status::SizeMismatch, "too many dimensions for GGUF",
                     "shape", "at most 4", shapeText(entry.shape), {},
                     "write safetensors instead");
  Expected<int64_t> count = elementCount(entry.shape);
  if (!count)
    return tl::unexpected(count.error());
  int64_t row = entry.shape.empty() ? 1 : entry.shape.back();
  if (row % entry.type->elements != 0)
    return makeError(Status::SizeMismatch, "rows do not divide into blocks",
                     "shape",
                     "a last extent that is a multiple of " +
                         std::to_string(entry.type->elements),
                     shapeText(entry.shape));
  int64_t size;
  if (__builtin_mul_overflow(*count / entry.type->elements, entry.type->bytes,
                             &size) ||
      size > INT64_MAX / 4)
    return makeError(Status::SizeMismatch, "the tensor is too large", "shape",
                     "less than 2^61 bytes", shapeText(entry.shape));
  return static_cast<uint64_t>(size);
}

namespace {
/// A header on its way to a file of one byte order.
struct Header {
  std::endian order;
  std::string text = "GGUF";

  void number(uint64_t value, unsigned bytes) {
    appendNumber(text, value, bytes, order);
  }
  void string(std::string_view value) {
    number(value.size(), 8);
    text += value;
  }
};
} // namespace

static Expected<const ByteOrder *> wordsOf(const GgufEntry &entry,
                                           std::endian order) {
  static const ByteOrder kBytes;
  if (order == std::endian::little)
    return &kBytes;
  if (entry.type->byteOrder)
    return &*entry.type->byteOrder;
  return tl::unexpected(noBigEndianForm(*entry.type));
}

/// Adds an entry to the header; its offset counts from the end of that.
static Expected<uint64_t> addEntry(Header &header, const GgufEntry &entry,
                                   uint64_t offset) {
  Expected<uint64_t> size = entryBytes(entry);
  if (!size)
    return size;
  if (offset > UINT64_MAX / 4)
    return makeError(Status::SizeMismatch, "the file would be too large",
                     "file size", "less than 2^62 bytes", "more");
  header.string(entry.name);
  header.number(entry.shape.size(), 4);
  for (size_t i = entry.shape.size(); i-- > 0;)
    header.number(static_cast<uint64_t>(entry.shape[i]), 8);
  header.number(entry.type->id, 4);
  header.number(offset, 8);
  return size;
}

Expected<std::unique_ptr<GgufWriter>>
GgufWriter::create(const std::string &path, std::vector<GgufEntry> entries,
                   std::vector<GgufKeyValue> pairs, std::endian order) {
  Expected<uint64_t> alignment = alignmentOf(pairs);
  if (!alignment)
    return tl::unexpected(alignment.error());
  Header header{order};
  header.number(3, 4);
  header.number(entries.size(), 8);
  header.number(pairs.size(), 8);
  for (const GgufKeyValue &pair : pairs) {
    header.string(pair.key);
    header.number(static_cast<uint32_t>(pair.type), 4);
    header.text += ggufValueBytes(pair, order);
  }

  std::vector<Slot> slots;
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const GgufEntry &entry : entries) {
    Expected<const ByteOrder *> words = wordsOf(entry, order);
    Expected<uint64_t> size = addEntry(header, entry, offset);
    if (size && !words)
      size = tl::unexpected(words.error());
    if (size && !names.insert(entry.name).second)
      size = makeError(Status::GradeUnknown, "the name appears twice", "name",
                       "each name once", "twice");
    if (!size)
      return tl::unexpected(inTensor(size.error(), entry.name));
    Slot slot;
    slot.name = entry.name;
    slot.offset = offset;
    slot.size = *size;
    slot.order = *words;
    slots.push_back(std::move(slot));
    offset = padTo(offset + *size, *alignment);
  }
  header.text.resize(padTo(header.text.size(), *alignment), '\0');

  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return tl::unexpected(file.error());
  std::unique_ptr<GgufWriter> writer(new GgufWriter(std::move(*file)));
  for (Slot &slot : slots)
    slot.offset += header.text.size();
  writer->slots = std::move(slots);
  writer->fileSize = header.text.size() + offset;
  writer->header = std::move(header.text);
  return writer;
}

Expected<void> GgufWriter::writeHeader() {
  return file.writeAt(
      0, {reinterpret_cast<const uint8_t *>(header.data()), header.size()});
}
