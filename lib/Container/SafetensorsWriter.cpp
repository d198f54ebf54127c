//===- SafetensorsWriter.cpp - writing safetensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GritMetadata.h"
#include "Layout.h"
#include "grit/Container/Json.h"
#include "grit/Container/Safetensors.h"
#include <algorithm>
#include <numeric>
#include <unordered_set>

using namespace grit;

/// Bytes of an entry as a file stores it.
static Expected<int64_t> storedSize(const SafetensorsEntry &entry) {
  if (!entry.array)
    return byteSize(*entry.element, entry.shape);
  Expected<PlaneSizes> sizes = entry.array->planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  return std::accumulate(sizes->begin(), sizes->end(), int64_t(0));
}

static unsigned alignmentBits(const SafetensorsEntry &entry) {
  return entry.array ? 8 : entry.element->bits;
}

static std::optional<Error>
checkEntries(const std::vector<SafetensorsEntry> &entries,
             const std::map<std::string, std::string> &metadata) {
  std::unordered_set<std::string_view> names;
  for (const SafetensorsEntry &entry : entries) {
    std::optional<Error> error = checkTensorName(entry.name);
    if (!error && entry.name == "__metadata__")
      error = makeError(Status::GradeUnknown, "the name is reserved", "name",
                        "another name", entry.name)
                  .value();
    if (!error && !names.insert(entry.name).second)
      error = makeError(Status::GradeUnknown, "the name appears twice", "name",
                        "each name once", "twice")
                  .value();
    if (error)
      return inTensor(std::move(*error), entry.name);
  }
  if (metadata.contains("__grit__"))
    return makeError(Status::GradeUnknown, "the metadata key is reserved",
                     "__metadata__.__grit__", "written from the arrays",
                     "given by the caller")
        .value();
  return std::nullopt;
}

Expected<std::unique_ptr<SafetensorsWriter>>
SafetensorsWriter::create(const std::string &path,
                          std::vector<SafetensorsEntry> entries,
                          std::map<std::string, std::string> metadata) {
  if (std::optional<Error> error = checkEntries(entries, metadata))
    return tl::unexpected(std::move(*error));
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return tl::unexpected(file.error());
  std::unique_ptr<SafetensorsWriter> writer(
      new SafetensorsWriter(std::move(*file)));
  writer->entries = std::move(entries);
  writer->metadata = std::move(metadata);

  // Widest first, so that every tensor is aligned to its element; then by name.
  std::vector<size_t> &order = writer->order;
  order.resize(writer->entries.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const SafetensorsEntry &x = writer->entries[a], &y = writer->entries[b];
    unsigned p = alignmentBits(x), q = alignmentBits(y);
    return p != q ? p > q : x.name < y.name;
  });

  writer->slots.resize(writer->entries.size());
  uint64_t offset = 0;
  for (size_t i : order) {
    const SafetensorsEntry &entry = writer->entries[i];
    Expected<int64_t> size = storedSize(entry);
    if (!size)
      return tl::unexpected(inTensor(size.error(), entry.name));
    Slot &slot = writer->slots[i];
    slot.name = entry.name;
    slot.offset = offset;
    slot.size = static_cast<uint64_t>(*size);
    if (entry.array)
      slot.planes = digestSizes(*entry.array, *entry.array->planeSizes());
    if (__builtin_add_overflow(offset, slot.size, &offset) ||
        offset > INT64_MAX / 2)
      return makeError(Status::SizeMismatch, "the file would be too large",
                       "file size", "less than 2^62 bytes", "more");
  }
  // Digests have a fixed length: the header's size is known before its content.
  Expected<std::string> header = writer->header();
  if (!header)
    return tl::unexpected(header.error());
  for (Slot &slot : writer->slots)
    slot.offset += header->size();
  writer->fileSize = header->size() + offset;
  return writer;
}

Expected<std::string> SafetensorsWriter::header() const {
  JsonWriter records;
  records.beginObject().field("version", 1).key("tensors").beginObject();
  bool anyArray = false;
  for (size_t i : order) {
    if (!entries[i].array)
      continue;
    anyArray = true;
    records.key(entries[i].name);
    writeArrayRecord(records, *entries[i].array, slots[i].hash.finish());
  }
  records.endObject().endObject();

  JsonWriter json;
  json.beginObject();
  if (anyArray || !metadata.empty()) {
    json.key("__metadata__").beginObject();
    if (anyArray)
      json.field("__grit__", records.str());
    for (const auto &[key, text] : metadata)
      json.field(key, text);
    json.endObject();
  }
  uint64_t begin = 0;
  for (size_t i : order) {
    int64_t size = static_cast<int64_t>(slots[i].size);
    int64_t bounds[] = {static_cast<int64_t>(begin),
                        static_cast<int64_t>(begin) + size};
    begin += slots[i].size;
    json.key(entries[i].name).beginObject();
    json.field("dtype", entries[i].array ? "U8" : entries[i].element->token);
    json.key("shape");
    json.value(entries[i].array ? std::span<const int64_t>(&size, 1)
                                : std::span<const int64_t>(entries[i].shape));
    json.field("data_offsets", std::span<const int64_t>(bounds));
    json.endObject();
  }
  json.endObject();

  std::string text = json.str();
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMaxSafetensorsHeader)
    return makeError(
        Status::SizeMismatch, "the header would be too long", "header length",
        "at most " + std::to_string(kMaxSafetensorsHeader) + " bytes",
        std::to_string(text.size()), "too many tensors", "write several files");
  std::string prefix;
  for (unsigned i = 0; i < 8; ++i)
    prefix += static_cast<char>(uint64_t(text.size()) >> (8 * i));
  return prefix + text;
}

Expected<void> SafetensorsWriter::writeHeader() {
  Expected<std::string> text = header();
  if (!text)
    return tl::unexpected(text.error());
  return file.writeAt(
      0, {reinterpret_cast<const uint8_t *>(text->data()), text->size()});
}
