//===- GgufReader.cpp - reading GGUF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GgufCursor.h"
#include "Layout.h"
#include "grit/Container/Gguf.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

using namespace grit;

namespace grit {

/// Fills a reader from its file, step by step; see SafetensorsParser.
class GgufParser {
public:
  GgufParser(GgufReader &reader, const OpenOptions &options)
      : reader(reader), options(options), cursor(reader.file.bytes()) {}

  std::optional<Error> run();

private:
  struct Record {
    std::string name;
    std::vector<int64_t> shape; ///< row-major
    uint32_t type = 0;
    uint64_t offset = 0;
  };

  std::optional<Error> report(Error error) {
    return reportProblem(options, std::move(error));
  }
  std::optional<Error> readVersion();
  std::optional<Error> readPairs(uint64_t count);
  std::optional<Error> readAlignment();
  Expected<Record> readRecord();
  Expected<TensorInfo> tensor(const Record &record, uint64_t dataStart);
  Expected<ByteSpan> dataOf(const GgmlType &type, uint64_t begin, size_t size);
  std::optional<Error> readTensors(const std::vector<Record> &records);

  GgufReader &reader;
  const OpenOptions &options;
  GgufCursor cursor;
  std::vector<Extent> extents;
  uint64_t copied = 0; ///< bytes of a big-endian file
};

} // namespace grit

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

std::optional<Error> GgufParser::readVersion() {
  cursor.skip(4); // the magic, checked by `open`
  Expected<uint32_t> version = cursor.read<uint32_t>("version");
  if (!version)
    return version.error();
  // Nothing else in the header tells the order of bytes.
  if (*version != 0 && (*version & 0xFFFF) == 0) {
    reader.order = std::endian::big;
    cursor.setOrder(std::endian::big);
    *version = __builtin_bswap32(*version);
  }
  if (*version >= 1 && *version <= 3) {
    reader.fileVersion = *version;
    cursor.setNarrow(*version == 1);
    return std::nullopt;
  }
  return makeError(Status::GradeUnknown, "unknown version of GGUF", "version",
                   "1, 2 or 3", std::to_string(*version), {},
                   "use a newer grit")
      .value();
}

std::optional<Error> GgufParser::readPairs(uint64_t count) {
  std::unordered_set<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) {
    Expected<GgufKeyValue> pair = cursor.readPair();
    if (!pair) {
      Error error = pair.error();
      error.field = "metadata " + std::to_string(i) + ": " + error.field;
      return error;
    }
    if (!keys.insert(pair->key).second) {
      if (auto error =
              report(withCode(ErrorCode::DuplicateName,
                              makeError(Status::GradeUnknown,
                                        "a metadata key appears twice", "key",
                                        "each key once", quoteText(pair->key)))
                         .value()))
        return error;
      continue;
    }
    reader.pairs.push_back(std::move(*pair));
  }
  return std::nullopt;
}

std::optional<Error> GgufParser::readAlignment() {
  for (const GgufKeyValue &pair : reader.pairs) {
    if (pair.key != "general.alignment")
      continue;
    std::optional<uint64_t> value = pair.asUnsigned();
    if (pair.type == GgufValueType::Uint32 && std::has_single_bit(*value)) {
      reader.dataAlignment = *value;
      return std::nullopt;
    }
    return makeError(Status::SizeMismatch, "the alignment is not usable",
                     "general.alignment", "a uint32 that is a power of two",
                     value ? std::to_string(*value) : "another type",
                     "a writer that does not follow the format",
                     "write the file again")
        .value();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Expected<GgufParser::Record> GgufParser::readRecord() {
  Record record;
  Expected<std::string> name = cursor.readString("name", kMaxNameBytes);
  if (!name)
    return tl::unexpected(name.error());
  record.name = std::move(*name);
  auto failed = [&](Error error) {
    return tl::unexpected(inTensor(std::move(error), record.name));
  };
  Expected<uint32_t> rank = cursor.read<uint32_t>("number of dimensions");
  if (!rank)
    return failed(rank.error());
  if (*rank > static_cast<uint32_t>(kMaxRank))
    return failed(makeError(Status::SizeMismatch, "too many dimensions",
                            "number of dimensions", "at most 8",
                            std::to_string(*rank))
                      .value());
  record.shape.resize(*rank);
  for (uint32_t i = 0; i < *rank; ++i) {
    Expected<uint64_t> extent = cursor.readLength("dimension");
    if (!extent)
      return failed(extent.error());
    if (*extent > static_cast<uint64_t>(INT64_MAX))
      return failed(makeError(Status::SizeMismatch, "a dimension is too large",
                              "dimension " + std::to_string(i),
                              "less than 2^63", std::to_string(*extent))
                        .value());
    // The file lists the fastest axis first.
    record.shape[*rank - 1 - i] = static_cast<int64_t>(*extent);
  }
  Expected<uint32_t> type = cursor.read<uint32_t>("type");
  if (!type)
    return failed(type.error());
  record.type = *type;
  Expected<uint64_t> offset = cursor.read<uint64_t>("offset");
  if (!offset)
    return failed(offset.error());
  record.offset = *offset;
  return record;
}

/// The bytes of a tensor of this type. Blocks run along the last axis.
static Expected<int64_t> tensorBytes(const GgmlType &type,
                                     std::span<const int64_t> shape) {
  Expected<int64_t> count = elementCount(shape);
  if (!count)
    return count;
  int64_t row = shape.empty() ? 1 : shape.back();
  if (row % type.elements != 0)
    return makeError(
        Status::SizeMismatch,
        "rows do not divide into blocks of " + std::string(type.name),
        "dimension 0", "a multiple of " + std::to_string(type.elements),
        std::to_string(row), "the type or the shape is wrong");
  int64_t size;
  if (__builtin_mul_overflow(*count / type.elements, type.bytes, &size))
    return makeError(Status::SizeMismatch, "the size overflows 63 bits",
                     "dimensions", "a size below 2^63 bytes", shapeText(shape));
  return size;
}

Error grit::noBigEndianForm(const GgmlType &type) {
  return makeError(Status::GradeUnknown, "the type has no big-endian form",
                   "byte order", "little-endian, for " + std::string(type.name),
                   "big-endian",
                   "ggml reads its tables of vectors as the bytes of words: on "
                   "a big-endian machine the numbers change places",
                   "use the little-endian file")
      .value();
}

/// The bytes of a tensor, little-endian.
Expected<ByteSpan> GgufParser::dataOf(const GgmlType &type, uint64_t begin,
                                      size_t size) {
  ByteSpan rest = reader.file.bytes().subspan(begin, size);
  if (reader.order == std::endian::little)
    return rest;
  if (!type.byteOrder)
    return tl::unexpected(noBigEndianForm(type));
  // Tensors that overlap would be copied again and again.
  copied += size;
  if (copied > reader.fileBytes())
    return withCode(
        ErrorCode::Overlap,
        makeError(Status::SizeMismatch, "tensors overlap", "size",
                  "tensors that fit into the file beside each other",
                  std::to_string(copied) + " bytes of tensors in a file of " +
                      std::to_string(reader.fileBytes()),
                  "the header was changed without moving the data",
                  "write the file again with a current writer"));
  // The copy has the offsets of the file, so that tensors keep their order.
  if (reader.native.bytes().empty()) {
    Expected<ScratchFile> native = ScratchFile::create(reader.fileBytes());
    if (!native)
      return tl::unexpected(native.error());
    reader.native = std::move(*native);
  }
  const size_t unit = static_cast<size_t>(type.byteOrder->unitBytes());
  const size_t most = unit * std::max<size_t>((size_t(1) << 20) / unit, 1);
  std::vector<uint8_t> piece;
  for (uint64_t at = begin; !rest.empty(); at += piece.size()) {
    piece.assign(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(
                                                  std::min(rest.size(), most)));
    rest = rest.subspan(piece.size());
    type.byteOrder->swap(piece);
    if (auto written = reader.native.writeAt(at, piece); !written)
      return tl::unexpected(written.error());
    reader.release(reader.file.bytes().subspan(at, piece.size()));
  }
  return reader.native.bytes().subspan(begin, size);
}

Expected<TensorInfo> GgufParser::tensor(const Record &record,
                                        uint64_t dataStart) {
  if (std::optional<Error> error = checkTensorName(record.name))
    return tl::unexpected(*error);
  const GgmlType *type = lookupGgmlType(record.type);
  if (!type) {
    std::string hint(ggmlTypeHint(record.type));
    return withCode(
        hint.empty() ? ErrorCode::UnknownType : ErrorCode::RetiredType,
        makeError(
            Status::GradeUnknown,
            hint.empty() ? "unknown tensor type" : "retired tensor type",
            "type", "a type id of ggml, 0 to 42", std::to_string(record.type),
            hint.empty() ? "a newer ggml, or a fork with its own types" : hint,
            hint.empty() ? "use a newer grit"
                         : "convert the model again with a current "
                           "llama.cpp"));
  }
  Expected<int64_t> size = tensorBytes(*type, record.shape);
  if (!size)
    return tl::unexpected(size.error());
  if (record.offset % reader.dataAlignment != 0)
    return withCode(
        ErrorCode::MalformedEntry,
        makeError(Status::SizeMismatch, "the tensor is not aligned", "offset",
                  "a multiple of " + std::to_string(reader.dataAlignment),
                  std::to_string(record.offset),
                  "general.alignment was changed after writing"));
  uint64_t fileBytes = reader.fileBytes();
  uint64_t dataBytes = fileBytes > dataStart ? fileBytes - dataStart : 0;
  uint64_t end;
  if (__builtin_add_overflow(record.offset, static_cast<uint64_t>(*size), &end))
    end = UINT64_MAX;
  extents.push_back({record.offset, end, record.name});
  if (end > dataBytes)
    return withCode(
        ErrorCode::Truncated,
        makeError(
            Status::SizeMismatch, "the file ends inside the tensor", "size",
            std::to_string(*size) + " bytes at offset " +
                std::to_string(record.offset),
            std::to_string(dataBytes > record.offset ? dataBytes - record.offset
                                                     : 0) +
                " of them are there",
            "the file was cut short", "copy or download it again"));
  TensorInfo info;
  info.name = record.name;
  info.dtype = type->name;
  info.element = type->element;
  info.shape = record.shape;
  if (*size > 0) {
    Expected<ByteSpan> bytes =
        dataOf(*type, dataStart + record.offset, static_cast<size_t>(*size));
    if (!bytes)
      return tl::unexpected(bytes.error());
    info.bytes = *bytes;
  }
  // Plain numbers are elements, whoever else has a contract for them.
  if (type->element || !type->contract)
    return info;
  Expected<ArraySpec> spec = ArraySpec::get(*type->contract, record.shape);
  if (!spec)
    return tl::unexpected(spec.error());
  if (std::optional<Error> error = checkArrayBytes(*spec, info.bytes.size()))
    return tl::unexpected(*error);
  info.array = std::move(*spec);
  return info;
}

std::optional<Error>
GgufParser::readTensors(const std::vector<Record> &records) {
  uint64_t rest = cursor.position() % reader.dataAlignment;
  uint64_t padding = rest ? reader.dataAlignment - rest : 0;
  uint64_t dataStart = cursor.position() + padding;
  std::unordered_set<std::string_view> names;
  std::vector<TensorInfo> infos;
  for (const Record &record : records) {
    std::optional<Error> error;
    if (!names.insert(record.name).second) {
      error = withCode(ErrorCode::DuplicateName,
                       makeError(Status::GradeUnknown, "the name appears twice",
                                 "name", "each name once", "twice"))
                  .value();
    } else if (Expected<TensorInfo> info = tensor(record, dataStart)) {
      if (options.level >= 2)
        if (std::optional<Error> mismatch = checkPlanes(*info))
          if (auto first = report(std::move(*mismatch)))
            return first;
      infos.push_back(std::move(*info));
    } else {
      error = info.error();
    }
    if (error)
      if (auto first = report(inTensor(std::move(*error), record.name)))
        return first;
  }
  uint64_t fileBytes = reader.fileBytes();
  uint64_t dataBytes = fileBytes > dataStart ? fileBytes - dataStart : 0;
  // Without tensors nothing asks for the padding, and nothing may follow it.
  bool complete = extents.size() == records.size();
  if (auto error = checkLayout(std::move(extents), dataBytes, options,
                               reader.dataAlignment, complete))
    return error;
  reader.finish(std::move(infos));
  return std::nullopt;
}

std::optional<Error> GgufParser::run() {
  if (std::optional<Error> error = readVersion())
    return error;
  Expected<uint64_t> tensors = cursor.readLength("number of tensors");
  if (!tensors)
    return tensors.error();
  Expected<uint64_t> pairs = cursor.readLength("number of metadata entries");
  if (!pairs)
    return pairs.error();
  for (auto [count, what] : {std::pair(*tensors, "number of tensors"),
                             std::pair(*pairs, "number of metadata entries")})
    if (count > kMaxTensors)
      return makeError(Status::SizeMismatch, "the header counts too much", what,
                       "at most " + std::to_string(kMaxTensors),
                       std::to_string(count),
                       "this is not a GGUF file of this version")
          .value();
  if (std::optional<Error> error = readPairs(*pairs))
    return error;
  if (std::optional<Error> error = readAlignment())
    return error;
  std::vector<Record> records;
  for (uint64_t i = 0; i < *tensors; ++i) {
    Expected<Record> record = readRecord();
    if (!record) {
      Error error = record.error();
      error.field = "tensor entry " + std::to_string(i) + ": " + error.field;
      return error;
    }
    records.push_back(std::move(*record));
  }
  return readTensors(records);
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<GgufReader>>
GgufReader::open(MappedFile file, const OpenOptions &options) {
  ByteSpan bytes = file.bytes();
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0)
    return makeError(Status::GradeUnknown, "this is not a GGUF file", "magic",
                     "'GGUF'", "something else");
  std::unique_ptr<GgufReader> reader(new GgufReader(std::move(file)));
  if (std::optional<Error> error = GgufParser(*reader, options).run())
    return tl::unexpected(withUsualCause(std::move(*error)));
  return reader;
}

std::vector<MetadataEntry> GgufReader::metadata() const {
  std::vector<MetadataEntry> entries;
  for (const GgufKeyValue &pair : pairs)
    entries.push_back({pair.key, ggufTypeText(pair), ggufValueText(pair)});
  return entries;
}
