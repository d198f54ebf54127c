//===- SafetensorsReader.cpp - reading safetensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GritMetadata.h"
#include "JsonReader.h"
#include "Layout.h"
#include "grit/Container/Safetensors.h"
#include <cstring>
#include <unordered_set>

using namespace grit;
using simdjson::dom::element;
using simdjson::dom::object;

static constexpr size_t kPrefix = 8; ///< the header length, u64 little-endian

namespace grit {

/// Fills a reader from its file. Steps return an error only when the file
/// cannot be walked any further or problems are not collected.
class SafetensorsParser {
public:
  SafetensorsParser(SafetensorsReader &reader, const OpenOptions &options)
      : reader(reader), options(options), bytes(reader.file.bytes()) {}

  std::optional<Error> run();

private:
  std::optional<Error> report(Error error) {
    return reportProblem(options, std::move(error));
  }
  Expected<std::string_view> headerText();
  std::optional<Error> readMetadata(element value);
  std::optional<Error> readTensor(std::string_view name, element value);
  Expected<TensorInfo> tensor(std::string_view name, element value);
  std::optional<Error> attachArray(TensorInfo &info);

  SafetensorsReader &reader;
  const OpenOptions &options;
  ByteSpan bytes, data;
  std::map<std::string, ArrayRecord> records;
  std::vector<TensorInfo> tensors;
  std::vector<Extent> extents;
};

} // namespace grit

static tl::unexpected<Error> refuse(Status status, std::string message,
                                    std::string field, std::string declared,
                                    std::string found, std::string cause = {},
                                    std::string fix = {}) {
  return makeError(status, std::move(message), std::move(field),
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix));
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

Expected<std::string_view> SafetensorsParser::headerText() {
  if (bytes.size() < kPrefix)
    return refuse(
        Status::SizeMismatch, "the file is too short", "header length",
        "8 bytes", std::to_string(bytes.size()) + " bytes",
        "the file was cut short, or is something else", "fetch the file again");
  uint64_t length = 0;
  for (unsigned i = 0; i < kPrefix; ++i)
    length |= uint64_t(bytes[i]) << (8 * i);
  uint64_t rest = bytes.size() - kPrefix;
  if (length > kMaxSafetensorsHeader)
    return refuse(Status::SizeMismatch, "the header is too long",
                  "header length",
                  "at most " + std::to_string(kMaxSafetensorsHeader) + " bytes",
                  std::to_string(length), "this is not a safetensors file",
                  "name a safetensors or GGUF file");
  if (length > rest)
    return refuse(Status::SizeMismatch, "the file ends inside its header",
                  "header length", std::to_string(length) + " bytes",
                  std::to_string(rest) + " bytes after the length",
                  "the file was cut short", "copy or download it again");
  if (length == 0 || bytes[kPrefix] != '{')
    return refuse(
        Status::GradeUnknown, "the header is not a JSON object", "header",
        "'{' as its first byte", length == 0 ? "no header" : "another byte",
        "this is not a safetensors file", "name a safetensors or GGUF file");
  data = bytes.subspan(kPrefix + length);
  return std::string_view(reinterpret_cast<const char *>(&bytes[kPrefix]),
                          length);
}

std::optional<Error> SafetensorsParser::readMetadata(element value) {
  object fields;
  if (value.get(fields))
    return report(refuse(Status::GradeUnknown, "__metadata__ is not an object",
                         "__metadata__", "an object of strings",
                         jsonText(value))
                      .value());
  std::unordered_set<std::string_view> seen;
  for (auto field : fields) {
    if (!seen.insert(field.key).second) {
      if (auto error = report(
              withCode(ErrorCode::DuplicateName,
                       refuse(Status::GradeUnknown,
                              "a key of __metadata__ appears twice",
                              "__metadata__", "each key once",
                              quoteText(field.key), "two writers edited it",
                              "write the file again"))
                  .value()))
        return error;
      continue;
    }
    std::string_view text;
    std::string inlined;
    bool isGrit = field.key == "__grit__";
    if (field.value.get(text)) {
      // Some writers put the object itself where its text belongs.
      if (!isGrit || !field.value.is_object()) {
        if (auto error =
                report(refuse(Status::GradeUnknown,
                              "a value of __metadata__ is not a string",
                              "__metadata__." + std::string(field.key),
                              "a string", jsonText(field.value))
                           .value()))
          return error;
        continue;
      }
      inlined = simdjson::minify(field.value);
      text = inlined;
    }
    if (!isGrit) {
      reader.texts.emplace(field.key, text);
      continue;
    }
    auto parsed = parseGritMetadata(text);
    if (parsed)
      records = std::move(*parsed);
    else if (auto error = report(parsed.error()))
      return error;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Expected<std::vector<int64_t>> integers(element value, const char *field,
                                               size_t limit) {
  simdjson::dom::array list;
  if (value.get(list))
    return refuse(Status::GradeUnknown,
                  std::string(field) + " is not a list of integers", field,
                  "a list of integers", jsonText(value));
  std::vector<int64_t> numbers;
  for (element item : list) {
    int64_t number;
    if (item.get(number) || number < 0)
      return withCode(
          ErrorCode::MalformedEntry,
          refuse(Status::SizeMismatch,
                 std::string(field) + " holds something else than a size",
                 field, "integers from 0 to 2^63 - 1", jsonText(item)));
    if (numbers.size() == limit)
      return withCode(ErrorCode::MalformedEntry,
                      refuse(Status::SizeMismatch,
                             std::string(field) + " has too many entries",
                             field, "at most " + std::to_string(limit),
                             jsonText(value)));
    numbers.push_back(number);
  }
  return numbers;
}

/// The three fields of a tensor. Others are left for other readers.
static Expected<std::array<element, 3>> tensorFields(element value) {
  constexpr const char *kNames[] = {"dtype", "shape", "data_offsets"};
  object fields;
  if (value.get(fields))
    return refuse(Status::GradeUnknown, "the entry is not an object", "",
                  "an object", jsonText(value));
  std::array<element, 3> found;
  std::array<bool, 3> present{};
  for (auto field : fields)
    for (size_t i = 0; i < 3; ++i) {
      if (field.key != kNames[i])
        continue;
      if (present[i])
        return refuse(Status::GradeUnknown, "a key appears twice", kNames[i],
                      "once", "twice");
      present[i] = true;
      found[i] = field.value;
    }
  for (size_t i = 0; i < 3; ++i)
    if (!present[i])
      return refuse(Status::GradeUnknown, "a key is missing", kNames[i],
                    "dtype, shape and data_offsets", "nothing");
  return found;
}

static tl::unexpected<Error> unknownType(std::string_view dtype) {
  std::vector<std::string_view> tokens;
  for (const ElementType &type : elementTypes())
    tokens.push_back(type.token);
  std::string near = didYouMean(dtype, tokens);
  return refuse(Status::GradeUnknown, "unknown dtype", "dtype",
                "a type of safetensors", quoteText(dtype),
                near.empty() ? "the file is newer than this program"
                             : "the writer misspelt it, or the file is newer "
                               "than this program",
                near.empty() ? "use a newer grit" : near);
}

Expected<TensorInfo> SafetensorsParser::tensor(std::string_view name,
                                               element value) {
  TensorInfo info;
  info.name = name;
  if (std::optional<Error> error = checkTensorName(name))
    return tl::unexpected(*error);
  Expected<std::array<element, 3>> fields = tensorFields(value);
  if (!fields)
    return tl::unexpected(fields.error());
  std::string_view dtype;
  if ((*fields)[0].get(dtype))
    return refuse(Status::GradeUnknown, "dtype is not a string", "dtype",
                  "a string", jsonText((*fields)[0]));
  info.dtype = dtype;
  auto shape = integers((*fields)[1], "shape", kMaxRank);
  auto offsets = integers((*fields)[2], "data_offsets", 2);
  if (!shape || !offsets)
    return tl::unexpected(!shape ? shape.error() : offsets.error());
  info.shape = std::move(*shape);
  if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return withCode(ErrorCode::MalformedEntry,
                    refuse(Status::SizeMismatch, "data_offsets is not a range",
                           "data_offsets", "[begin, end] with begin <= end",
                           jsonText((*fields)[2])));
  uint64_t begin = static_cast<uint64_t>((*offsets)[0]);
  uint64_t end = static_cast<uint64_t>((*offsets)[1]);
  extents.push_back({begin, end, std::string(name)});
  if (end > data.size())
    return withCode(
        ErrorCode::Truncated,
        refuse(Status::SizeMismatch, "the file ends inside the tensor",
               "data_offsets", std::to_string(end) + " bytes of data",
               std::to_string(data.size()) + " bytes", "the file was cut short",
               "copy or download it again"));
  info.bytes = data.subspan(begin, end - begin);
  info.element = lookupElementType(dtype);
  if (!info.element)
    return withCode(ErrorCode::UnknownType, unknownType(dtype));
  return info;
}

static std::optional<Error> checkPlainSize(const TensorInfo &info) {
  Expected<int64_t> size = byteSize(*info.element, info.shape);
  if (!size)
    return size.error();
  if (static_cast<uint64_t>(*size) == info.bytes.size())
    return std::nullopt;
  return refuse(Status::SizeMismatch, "shape and bytes do not fit",
                "data_offsets",
                std::to_string(*size) + " bytes for " + info.dtype + " " +
                    shapeText(info.shape),
                std::to_string(info.bytes.size()) + " bytes",
                "the shape counts something else than elements, or the offsets "
                "are wrong",
                "write the file again")
      .value();
}

/// Makes an array of a tensor that `__grit__` describes.
std::optional<Error> SafetensorsParser::attachArray(TensorInfo &info) {
  auto entry = records.find(info.name);
  if (entry == records.end())
    return checkPlainSize(info);
  const ArrayRecord record = std::move(entry->second);
  records.erase(entry);
  if (!record.isFlat()) {
    if (std::optional<Error> error = checkPlainSize(info))
      return error;
    if (info.dtype != "U8" || info.shape.size() != 1)
      return refuse(Status::SizeMismatch, "an array is not stored as bytes",
                    "dtype and shape", "U8 [number of bytes]",
                    info.dtype + " " + shapeText(info.shape))
          .value();
  }
  Expected<ArraySpec> spec = record.resolve(info.shape);
  if (!spec)
    return spec.error();
  if (std::optional<Error> error = checkArrayBytes(*spec, info.bytes.size()))
    return error;
  info.shape = spec->shape;
  info.array = std::move(*spec);
  info.digest = record.digest;
  info.element.reset();
  return std::nullopt;
}

std::optional<Error> SafetensorsParser::readTensor(std::string_view name,
                                                   element value) {
  Expected<TensorInfo> info = tensor(name, value);
  std::optional<Error> error;
  if (!info)
    error = info.error();
  else
    error = attachArray(*info);
  if (error)
    return report(inTensor(std::move(*error), name));
  if (options.level >= 2)
    if (std::optional<Error> mismatch = checkPlanes(*info))
      if (auto first = report(std::move(*mismatch)))
        return first;
  tensors.push_back(std::move(*info));
  return std::nullopt;
}

std::optional<Error> SafetensorsParser::run() {
  Expected<std::string_view> text = headerText();
  if (!text)
    return text.error();
  Expected<JsonDocument> document = JsonDocument::parse(*text, "header");
  if (!document)
    return document.error();
  object root = document->root();
  element metadata;
  if (!root.at_key("__metadata__").get(metadata))
    if (auto error = readMetadata(metadata))
      return error;

  std::unordered_set<std::string_view> names;
  size_t entries = 0;
  for (auto field : root) {
    entries += field.key != "__metadata__";
    if (!names.insert(field.key).second) {
      if (auto error = report(inTensor(
              withCode(ErrorCode::DuplicateName,
                       refuse(Status::GradeUnknown, "the name appears twice",
                              "", "each name once", "twice"))
                  .value(),
              field.key)))
        return error;
      continue;
    }
    if (field.key == "__metadata__")
      continue;
    if (names.size() > kMaxTensors)
      return refuse(Status::SizeMismatch, "too many tensors", "header",
                    "at most " + std::to_string(kMaxTensors), "more")
          .value();
    if (auto error = readTensor(field.key, field.value))
      return error;
  }
  for (const auto &[name, record] : records)
    if (!names.contains(name))
      if (auto error = report(
              inTensor(withCode(ErrorCode::OrphanRecord,
                                refuse(Status::SizeMismatch,
                                       "__grit__ describes a tensor that is "
                                       "not there",
                                       "", "a tensor of the file", "nothing"))
                           .value(),
                       name)))
        return error;
  bool complete = extents.size() == entries;
  if (auto error = checkLayout(std::move(extents), data.size(), options,
                               /*alignment=*/1, complete))
    return error;
  reader.finish(std::move(tensors));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<SafetensorsReader>>
SafetensorsReader::open(MappedFile file, const OpenOptions &options) {
  std::unique_ptr<SafetensorsReader> reader(
      new SafetensorsReader(std::move(file)));
  if (std::optional<Error> error = SafetensorsParser(*reader, options).run())
    return tl::unexpected(withUsualCause(std::move(*error)));
  return reader;
}

std::vector<MetadataEntry> SafetensorsReader::metadata() const {
  std::vector<MetadataEntry> entries;
  for (const auto &[key, text] : texts)
    entries.push_back({key, "string", text});
  return entries;
}
