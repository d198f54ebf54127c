//===- OutputFile.cpp - files that commands write -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"
#include "Command.h"
#include "grit/Container/AtomicFile.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <filesystem>
#include <span>

using namespace grit;
using namespace grit::tool;

bool grit::tool::isGgufPath(const std::string &path) {
  return toLower(path).ends_with(".gguf");
}

std::string grit::tool::defaultOutput(const std::string &source,
                                      const std::string &suffix) {
  std::string name;
  for (char c : suffix)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_'
                ? c
                : '-';
  name.erase(name.find_last_not_of('-') + 1);
  std::error_code ignored;
  std::filesystem::path path(source);
  if (std::filesystem::is_directory(path, ignored))
    path = std::filesystem::weakly_canonical(path, ignored);
  else
    path.replace_extension();
  return path.string() + "." + name + ".safetensors";
}

uint64_t grit::tool::planeBytes(const ArraySpec &spec) {
  const PlaneSizes sizes = *spec.planeSizes();
  uint64_t total = 0;
  for (int64_t size : sizes)
    total += static_cast<uint64_t>(size);
  return total;
}

std::string grit::tool::checkOutputName(const std::string &path) {
  if (path.empty())
    return "the name of the file is empty";
  if (path == "-")
    return "this does not go to standard output: name a file ('./-' for one of "
           "this name)";
  return {};
}

bool grit::tool::replacesInput(const std::string &output,
                               const std::string &input) {
  std::error_code ignored;
  return std::filesystem::equivalent(output, input, ignored);
}

bool grit::tool::isSameOutput(const std::string &a, const std::string &b) {
  std::error_code error;
  auto place = [&](const std::string &path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path),
                                             error);
  };
  auto first = place(a), second = place(b);
  return error ? a == b : first == second;
}

Error grit::tool::replacesInputError(const std::string &output) {
  return makeError(Status::SizeMismatch, "the output would replace the input",
                   "output file", "another file", output, {},
                   "name another file")
      .value();
}

std::optional<Error>
grit::tool::checkOutput(const std::string &path,
                        const std::vector<std::string> &inputs) {
  for (const std::string &input : inputs)
    if (replacesInput(path, input))
      return replacesInputError(path);
  return std::nullopt;
}

std::optional<Error> grit::tool::checkHolds(const std::string &path,
                                            const Contract &contract) {
  if (isGgufPath(path) && !ggmlTypeOf(contract))
    return makeError(Status::GradeUnknown, "GGUF has no type for this contract",
                     "contract", "a gguf.* contract", contract.displayName(),
                     {}, "write a .safetensors file")
        .value();
  return std::nullopt;
}

static Expected<const GgmlType *> ggmlType(const OutputTensor &tensor) {
  const GgmlType *type = nullptr;
  std::string what = tensor.dtype;
  if (tensor.array) {
    what = tensor.array->contract.displayName();
    type = ggmlTypeOf(tensor.array->contract);
  } else if (tensor.element) {
    what = tensor.element->token;
    type = ggmlTypeOf(*tensor.element);
  } else {
    for (const GgmlType &candidate : ggmlTypes())
      if (candidate.name == tensor.dtype)
        type = &candidate;
  }
  if (type)
    return type;
  return makeError(Status::GradeUnknown, "GGUF has no such type", "dtype",
                   "a type of ggml", what,
                   tensor.array ? "no type of GGUF has this contract"
                                : "GGUF has fewer types of plain numbers",
                   tensor.array ? "write a .safetensors file, or convert the "
                                  "array to a gguf.* contract"
                                : "write a .safetensors file");
}

/// Metadata for the output: that of the source, less what describes tensors of
/// other types than these.
static std::vector<GgufKeyValue>
pairsOf(const TensorFile *source, const std::vector<GgufEntry> &tensors) {
  std::vector<GgufKeyValue> pairs;
  if (source && source->format() == "gguf")
    pairs = static_cast<const GgufReader &>(*source).keyValues();
  bool isCopy = source && std::ranges::all_of(tensors, [&](const auto &entry) {
                  const TensorInfo *tensor = source->find(entry.name);
                  return tensor && tensor->dtype == entry.type->name;
                });
  if (isCopy)
    return pairs;
  std::erase_if(pairs, [](const GgufKeyValue &pair) {
    return pair.key == "general.file_type" ||
           pair.key == "general.quantization_version";
  });
  if (std::ranges::any_of(
          tensors, [](const GgufEntry &entry) { return !entry.type->element; }))
    pairs.push_back(GgufKeyValue::ofUint32("general.quantization_version", 2));
  return pairs;
}

static Expected<std::unique_ptr<TensorWriter>>
createGguf(const std::string &path, const TensorFile *source,
           const std::vector<OutputTensor> &tensors, std::endian order) {
  std::vector<GgufEntry> entries;
  for (const OutputTensor &tensor : tensors) {
    Expected<const GgmlType *> type = ggmlType(tensor);
    if (!type)
      return tl::unexpected(inTensor(type.error(), tensor.name));
    entries.push_back({tensor.name, tensor.shape, *type});
  }
  std::vector<GgufKeyValue> pairs = pairsOf(source, entries);
  return GgufWriter::create(path, std::move(entries), std::move(pairs), order)
      .map([](auto writer) -> std::unique_ptr<TensorWriter> { return writer; });
}

static Expected<std::unique_ptr<TensorWriter>>
createSafetensors(const std::string &path, const TensorFile *source,
                  const std::vector<OutputTensor> &tensors) {
  std::vector<SafetensorsEntry> entries;
  for (const OutputTensor &tensor : tensors) {
    if (!tensor.array && !tensor.element)
      return tl::unexpected(
          inTensor(makeError(Status::GradeUnknown,
                             "no contract describes this type of GGUF", "dtype",
                             "a type with a contract (grit formats)",
                             tensor.dtype, {}, "write a .gguf file")
                       .value(),
                   tensor.name));
    entries.push_back(
        {tensor.name, tensor.element, tensor.shape, tensor.array});
  }
  std::map<std::string, std::string> metadata;
  if (source && source->format() == "safetensors")
    metadata = static_cast<const SafetensorsReader &>(*source).strings();
  return SafetensorsWriter::create(path, std::move(entries),
                                   std::move(metadata))
      .map([](auto writer) -> std::unique_ptr<TensorWriter> { return writer; });
}

Expected<std::unique_ptr<TensorWriter>>
grit::tool::createOutput(const std::string &path, const TensorFile *source,
                         const std::vector<OutputTensor> &tensors,
                         std::endian order) {
  return isGgufPath(path) ? createGguf(path, source, tensors, order)
                          : createSafetensors(path, source, tensors);
}

Expected<void> grit::tool::writeTextFile(const std::string &path,
                                         const std::string &text) {
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return tl::unexpected(file.error());
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(text.data()),
                                 text.size());
  if (Expected<void> written = file->writeAt(0, bytes); !written)
    return written;
  return file->commit(bytes.size());
}

int grit::tool::writerExitCode(const Error &error) {
  return error.field == "output file" ? kOutputFailed : kRefused;
}
