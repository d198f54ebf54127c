//===- LoadFile.cpp - structure and records of one file -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonValue.h"
#include "Model.h"
#include "grit/Container/Gguf.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::scan;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static std::optional<DescriptorBytes> fromHex(std::string_view text) {
  DescriptorBytes bytes{};
  if (text.size() != 2 * bytes.size())
    return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    char c = text[i] >= 'A' && text[i] <= 'F' ? char(text[i] + 32) : text[i];
    size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos)
      return std::nullopt;
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4 | digit);
  }
  return bytes;
}

/// Adds the descriptors of a `__grit__` object, in either form.
static void collectRecords(JsonElement grit, LoadedFile &file) {
  JsonObject records;
  std::optional<JsonElement> tensors = member(grit, "tensors");
  bool isFlat = !tensors || !tensors->is_object();
  if ((isFlat ? grit : *tensors).get(records))
    return;
  for (auto field : records) {
    std::optional<JsonElement> text =
        isFlat ? std::optional<JsonElement>(field.value)
               : member(field.value, "desc");
    file.records.emplace(field.key);
    if (!text)
      continue;
    if (auto hex = stringOf(*text))
      if (auto bytes = fromHex(*hex))
        file.descriptors.emplace(field.key, *bytes);
  }
}

/// The reader keeps only what it understands; notes are in the descriptors.
static void readSafetensorsRecords(const MappedFile &mapped, LoadedFile &file) {
  ByteSpan bytes = mapped.bytes();
  uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i)
    length |= uint64_t(bytes[i]) << (8 * i);
  std::string_view header(reinterpret_cast<const char *>(bytes.data()) + 8,
                          static_cast<size_t>(length));
  if (header.find("__grit__") == std::string_view::npos)
    return;
  std::string error;
  std::optional<JsonText> json = JsonText::parse(header, error);
  std::optional<JsonElement> metadata =
      json ? member(json->root(), "__metadata__") : std::nullopt;
  std::optional<JsonElement> grit =
      metadata ? member(*metadata, "__grit__") : std::nullopt;
  if (!grit)
    return;
  if (auto text = stringOf(*grit)) {
    if (std::optional<JsonText> inner = JsonText::parse(*text, error))
      collectRecords(inner->root(), file);
  } else {
    collectRecords(*grit, file);
  }
}

static void readGgufRecords(const GgufReader &reader, LoadedFile &file) {
  constexpr std::string_view kPrefix = "grit.desc.";
  for (const GgufKeyValue &pair : reader.keyValues()) {
    if (!pair.key.starts_with(kPrefix))
      continue;
    std::string name = pair.key.substr(kPrefix.size());
    file.records.insert(name);
    if (auto text = pair.asString())
      if (auto bytes = fromHex(*text))
        file.descriptors.emplace(name, *bytes);
  }
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// The text between the quotes of "tensor 'name': field", with its quotes.
static std::string quotedTensor(const std::string &field) {
  constexpr std::string_view kPrefix = "tensor ";
  if (!field.starts_with(kPrefix))
    return {};
  size_t end = field.find("': ");
  return end == std::string::npos
             ? field.substr(kPrefix.size())
             : field.substr(kPrefix.size(), end + 1 - kPrefix.size());
}

static Id classify(const Error &error, bool hasRecord) {
  switch (error.code) {
  case ErrorCode::Truncated:
    return Id::Truncated;
  case ErrorCode::TrailingBytes:
    return Id::TrailingBytes;
  case ErrorCode::Overlap:
    return Id::Overlap;
  case ErrorCode::Gap:
    return Id::Gap;
  case ErrorCode::DuplicateName:
    return Id::DuplicateName;
  case ErrorCode::MalformedEntry:
    return Id::MalformedEntry;
  case ErrorCode::UnknownType:
    return Id::UnknownType;
  case ErrorCode::RetiredType:
    return Id::RetiredType;
  case ErrorCode::OrphanRecord:
    return Id::OrphanRecord;
  case ErrorCode::UnknownGradeId:
    return Id::UnregisteredGrade;
  case ErrorCode::MalformedRecord:
    return Id::ContractRefused;
  case ErrorCode::IndicesUnordered:
  case ErrorCode::IllegalCode:
  case ErrorCode::IllegalFactor:
  case ErrorCode::CodeUnderZeroScale:
  case ErrorCode::NotTensorFile:
  case ErrorCode::Other:
    break;
  }
  bool isSize = error.status == Status::SizeMismatch;
  if (hasRecord)
    return isSize ? Id::ContractSize : Id::ContractRefused;
  return isSize ? Id::ShapeBytes : Id::MalformedEntry;
}

static void reportProblems(LoadedFile &file, Collector &collector) {
  // A file that was cut short lacks everything behind the cut: one finding,
  // with the numbers of its first tensor.
  const Error *firstCut = nullptr;
  for (const Error &error : file.problems) {
    std::string quoted = quotedTensor(error.field);
    std::string name =
        quoted.size() < 2 ? std::string() : quoted.substr(1, quoted.size() - 2);
    if (!quoted.empty())
      file.troubled.insert(quoted);
    const Error *words = &error;
    if (error.code == ErrorCode::Truncated)
      words = firstCut = firstCut ? firstCut : &error;
    collector.add(classify(error, file.records.contains(name)), file.path, name,
                  words->message, words->declared, words->found, words->cause,
                  words->fix);
  }
}

std::unique_ptr<LoadedFile> grit::scan::loadFile(const std::string &path,
                                                 Collector &collector,
                                                 Report &report) {
  auto loaded = std::make_unique<LoadedFile>();
  loaded->path = path;
  loaded->index = report.files.size();
  report.files.push_back({path, "", 0});
  OpenOptions options;
  options.problems = &loaded->problems;
  Expected<std::unique_ptr<TensorFile>> file = openTensorFile(path, options);
  if (!file) {
    const Error &error = file.error();
    // "'path' is neither ..." names the path that the finding has already.
    std::string message = error.message;
    if (message.starts_with("'" + path + "' "))
      message = "the file " + message.substr(path.size() + 3);
    collector.add(Id::Unreadable, path, "", message, error.declared,
                  error.found, error.cause, error.fix);
    return nullptr;
  }
  loaded->file = std::move(*file);
  report.files.back().format = loaded->file->format();
  report.files.back().bytes = loaded->file->fileBytes();
  if (auto *gguf = dynamic_cast<const GgufReader *>(loaded->file.get())) {
    readGgufRecords(*gguf, *loaded);
  } else if (Expected<MappedFile> mapped = MappedFile::open(path)) {
    readSafetensorsRecords(*mapped, *loaded);
  }
  reportProblems(*loaded, collector);
  return loaded;
}
