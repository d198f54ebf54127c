//===- Importance.cpp - reading llama.cpp's importance matrices -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Importance.h"
#include "GgufCursor.h"
#include "grit/Format/Text.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace grit;

namespace grit {

/// Fills an ImportanceFile from either form.
class ImportanceReader {
public:
  explicit ImportanceReader(ImportanceFile &out) : out(out) {}

  std::optional<Error> readPlain(ByteSpan bytes);
  std::optional<Error> readGguf(MappedFile file);

private:
  std::optional<Error> readEntry(GgufCursor &cursor, ByteSpan bytes);
  std::optional<Error> readEnd(GgufCursor &cursor);
  std::optional<Error> readSums(const GgufReader &file, const TensorInfo &sums);
  std::optional<Error> add(ImportanceFile::Entry entry);

  ImportanceFile &out;
};

} // namespace grit

static constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";

static Error refuse(std::string message, std::string field,
                    std::string declared, std::string found) {
  return makeError(Status::SizeMismatch, std::move(message), std::move(field),
                   std::move(declared), std::move(found),
                   "the file is damaged, or is no importance matrix",
                   "write it again with llama-imatrix")
      .value();
}

std::optional<Error> ImportanceReader::add(ImportanceFile::Entry entry) {
  for (size_t i = 0; i < entry.weights.size(); ++i)
    if (!(entry.weights[i] >= 0) || !std::isfinite(entry.weights[i]))
      return inTensor(refuse("an importance is out of range",
                             "importance[" + std::to_string(i) + "]",
                             "a finite number, 0 or more",
                             std::to_string(entry.weights[i])),
                      entry.name);
  if (!out.index.emplace(entry.name, out.list.size()).second)
    return inTensor(refuse("a tensor has importance twice", "name",
                           "each name once", quoteText(entry.name)),
                    entry.name);
  out.list.push_back(std::move(entry));
  return std::nullopt;
}

static std::vector<float> floatsAt(ByteSpan bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) // Hosts are little-endian.
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

//===----------------------------------------------------------------------===//
// The form without a header
//===----------------------------------------------------------------------===//

/// A count, name, number of calls, number of values and values: every count is
/// a signed number of 32 bits.
std::optional<Error> ImportanceReader::readEntry(GgufCursor &cursor,
                                                 ByteSpan bytes) {
  Expected<uint32_t> length = cursor.read<uint32_t>("length of the name");
  if (!length)
    return length.error();
  if (*length == 0 || *length > kMaxNameBytes || *length > cursor.remaining())
    return refuse(
        "a name does not fit the file", "length of the name",
        "1 to " + std::to_string(std::min(kMaxNameBytes, cursor.remaining())),
        std::to_string(*length));
  ImportanceFile::Entry entry;
  entry.name.assign(reinterpret_cast<const char *>(bytes.data()) +
                        cursor.position(),
                    *length);
  cursor.skip(*length);
  Expected<uint32_t> calls = cursor.read<uint32_t>("number of calls");
  if (!calls)
    return inTensor(calls.error(), entry.name);
  Expected<uint32_t> count = cursor.read<uint32_t>("number of values");
  if (!count)
    return inTensor(count.error(), entry.name);
  if (*count == 0 || *count > cursor.remaining() / sizeof(float))
    return inTensor(
        refuse("the values do not fit the file", "number of values",
               "1 to " + std::to_string(cursor.remaining() / sizeof(float)),
               std::to_string(*count)),
        entry.name);
  const uint64_t size = uint64_t(*count) * sizeof(float);
  entry.weights = floatsAt(bytes.subspan(cursor.position(), size));
  cursor.skip(size);
  if (const auto divisor = static_cast<int32_t>(*calls); divisor > 0)
    for (float &weight : entry.weights)
      weight /= static_cast<float>(divisor);
  return add(std::move(entry));
}

/// What newer writers append: the number of chunks, then the data set's name
/// after its length.
std::optional<Error> ImportanceReader::readEnd(GgufCursor &cursor) {
  if (cursor.remaining() == 0)
    return std::nullopt;
  Expected<uint32_t> chunks = cursor.read<uint32_t>("number of chunks");
  if (!chunks)
    return chunks.error();
  if (cursor.remaining() == 0)
    return std::nullopt;
  Expected<uint32_t> length = cursor.read<uint32_t>("length of the data set");
  if (!length)
    return length.error();
  if (*length != cursor.remaining())
    return refuse("bytes after the last entry are not the data set's name",
                  "length of the data set", std::to_string(cursor.remaining()),
                  std::to_string(*length));
  return std::nullopt;
}

std::optional<Error> ImportanceReader::readPlain(ByteSpan bytes) {
  GgufCursor cursor(bytes);
  Expected<uint32_t> count = cursor.read<uint32_t>("number of entries");
  if (!count)
    return count.error();
  // An entry has a name, two counts and a value.
  constexpr uint64_t kLeastEntry = 4 + 1 + 4 + 4 + 4;
  if (*count == 0 || *count > cursor.remaining() / kLeastEntry)
    return refuse("the entries do not fit the file", "number of entries",
                  "1 to " + std::to_string(cursor.remaining() / kLeastEntry),
                  std::to_string(*count));
  for (uint32_t i = 0; i < *count; ++i)
    if (std::optional<Error> error = readEntry(cursor, bytes)) {
      error->field = "entry " + std::to_string(i) + ": " + error->field;
      return error;
    }
  return readEnd(cursor);
}

//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

static std::optional<Error> checkFloats(const TensorInfo &tensor) {
  if (tensor.dtype == "F32")
    return std::nullopt;
  return inTensor(
      refuse("the tensor does not hold floats", "dtype", "F32", tensor.dtype),
      tensor.name);
}

/// Sums of squares over the number of rows that were summed, which each matrix
/// of a tensor has of its own. A matrix that saw no row counts evenly.
std::optional<Error> ImportanceReader::readSums(const GgufReader &file,
                                                const TensorInfo &sums) {
  ImportanceFile::Entry entry;
  entry.name = sums.name.substr(0, sums.name.size() - kSums.size());
  const TensorInfo *counted = file.find(entry.name + std::string(kCounts));
  if (!counted)
    return inTensor(refuse("sums come without counts", "tensors",
                           quoteText(entry.name + std::string(kCounts)),
                           "none"),
                    sums.name);
  for (const TensorInfo *tensor : {&sums, counted})
    if (std::optional<Error> error = checkFloats(*tensor))
      return error;
  entry.weights = floatsAt(sums.bytes);
  const std::vector<float> counts = floatsAt(counted->bytes);
  const size_t columns =
      sums.shape.empty() ? 0 : static_cast<size_t>(sums.shape.back());
  if (columns == 0 || counts.size() != entry.weights.size() / columns ||
      counts.empty())
    return inTensor(
        refuse("sums and counts do not go together", "number of counts",
               columns ? std::to_string(entry.weights.size() / columns)
                       : "at least 1",
               std::to_string(counts.size())),
        sums.name);
  for (size_t i = 0; i < entry.weights.size(); ++i) {
    const float count = counts[i / columns];
    entry.weights[i] = count > 0 ? entry.weights[i] / count : 1;
  }
  return add(std::move(entry));
}

std::optional<Error> ImportanceReader::readGguf(MappedFile mapped) {
  auto file = GgufReader::open(std::move(mapped));
  if (!file)
    return file.error();
  std::string_view type;
  for (const GgufKeyValue &pair : (*file)->keyValues())
    if (pair.key == "general.type")
      type = pair.asString().value_or("");
  if (type != "imatrix")
    return refuse("the file is no importance matrix", "general.type",
                  "'imatrix'", type.empty() ? "none" : quoteText(type));
  for (const TensorInfo &tensor : (*file)->tensors()) {
    const bool isSums = tensor.name.ends_with(kSums);
    if (!isSums && !tensor.name.ends_with(kCounts))
      return refuse("the tensor is none of an importance matrix",
                    "tensor " + quoteText(tensor.name),
                    "a name that ends in " + std::string(kSums) + " or " +
                        std::string(kCounts),
                    quoteText(tensor.name));
    if (isSums)
      if (std::optional<Error> error = readSums(**file, tensor))
        return error;
  }
  if (out.list.empty())
    return refuse("the file has importance for no tensor", "tensors",
                  "at least one", "none");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Expected<ImportanceFile> ImportanceFile::read(MappedFile file) {
  ImportanceFile result;
  result.name = file.path();
  ImportanceReader reader(result);
  ByteSpan bytes = file.bytes();
  const bool isGguf =
      bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
  std::optional<Error> error =
      isGguf ? reader.readGguf(std::move(file)) : reader.readPlain(bytes);
  if (error)
    return tl::unexpected(std::move(*error));
  return result;
}

Expected<ImportanceFile> ImportanceFile::open(const std::string &path) {
  return MappedFile::open(path).and_then(
      [](MappedFile file) { return read(std::move(file)); });
}

const ImportanceFile::Entry *
ImportanceFile::find(std::string_view tensor) const {
  auto found = index.find(std::string(tensor));
  return found == index.end() ? nullptr : &list[found->second];
}

Expected<std::span<const float>> grit::importanceOf(const ImportanceFile *file,
                                                    std::string_view tensor,
                                                    const ArraySpec &spec,
                                                    bool isSearched) {
  const ImportanceUse use = importanceUse(spec.contract);
  if (use == ImportanceUse::None && !isSearched)
    return std::span<const float>();
  const ImportanceFile::Entry *entry = file ? file->find(tensor) : nullptr;
  if (!entry && use != ImportanceUse::Needed)
    return std::span<const float>();
  auto failed = [&](Error error) {
    return tl::unexpected(inTensor(std::move(error), tensor));
  };
  if (!entry)
    return failed(
        makeError(Status::GradeUnknown,
                  "the encoder of this contract needs importance", "importance",
                  "weights for the columns of this tensor",
                  file ? "none in " + file->path() : "no importance matrix",
                  file ? "the matrix was made of another model, or this tensor "
                         "is multiplied with no sample data"
                       : spec.contract.displayName() +
                             " spends its few bits where weights say",
                  file ? "exclude the tensor, or choose another contract"
                       : "give an importance matrix of llama.cpp")
            .value());
  const int64_t columns = spec.shape.empty() ? 0 : spec.shape.back();
  int64_t matrices = 1;
  for (size_t i = 0; i + 2 < spec.shape.size(); ++i)
    matrices *= spec.shape[i];
  const auto count = static_cast<int64_t>(entry->weights.size());
  if (count != columns && count != columns * matrices)
    return failed(
        makeError(Status::SizeMismatch,
                  "the importance does not fit the tensor", "importance",
                  std::to_string(columns) + " weights" +
                      (matrices > 1
                           ? ", or " + std::to_string(columns * matrices)
                           : ""),
                  std::to_string(count) + " weights",
                  "the matrix was made of another model",
                  "give the matrix of this model")
            .value());
  return std::span<const float>(entry->weights);
}
