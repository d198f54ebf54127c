//===- TensorFile.cpp - what every container of tensors offers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/TensorFile.h"
#include "grit/Container/Gguf.h"
#include "grit/Container/Safetensors.h"
#include "grit/Format/ByteOrderMark.h"
#include "grit/Format/Check.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <cstring>
#include <tuple>

using namespace grit;

Error grit::inTensor(Error error, std::string_view name) {
  error.field = "tensor " + quoteText(name) +
                (error.field.empty() ? "" : ": " + error.field);
  return error;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::vector<ByteSpan> TensorInfo::planes() const {
  std::vector<ByteSpan> spans;
  size_t offset = 0;
  // The sizes were compared with `bytes` when the file was opened.
  const PlaneSizes sizes = *array->planeSizes();
  for (int64_t size : sizes) {
    spans.push_back(bytes.subspan(offset, static_cast<size_t>(size)));
    offset += static_cast<size_t>(size);
  }
  return spans;
}

std::optional<Error> grit::checkPlanes(const TensorInfo &tensor, int level,
                                       std::vector<Warning> *warnings) {
  if (!tensor.array)
    return std::nullopt;
  Expected<PlaneSizes> sizes = tensor.array->planeSizes();
  if (!sizes)
    return inTensor(sizes.error(), tensor.name);
  std::vector<const uint8_t *> pointers;
  for (ByteSpan plane : tensor.planes())
    pointers.push_back(plane.empty() ? nullptr : plane.data());
  std::optional<Error> error =
      check(*tensor.array, *sizes, level, pointers, tensor.digest, warnings);
  if (error)
    return inTensor(std::move(*error), tensor.name);
  return std::nullopt;
}

const TensorInfo *TensorFile::find(std::string_view name) const {
  auto entry = index.find(name);
  return entry == index.end() ? nullptr : &infos[entry->second];
}

void TensorFile::finish(std::vector<TensorInfo> tensors) {
  infos = std::move(tensors);
  auto key = [](const TensorInfo &tensor) {
    return std::tuple(reinterpret_cast<uintptr_t>(tensor.bytes.data()),
                      tensor.bytes.size(), std::string_view(tensor.name));
  };
  std::sort(infos.begin(), infos.end(),
            [&](const TensorInfo &a, const TensorInfo &b) {
              return key(a) < key(b);
            });
  for (size_t i = 0; i < infos.size(); ++i)
    index.emplace(infos[i].name, i);
}

std::string grit::nearTensors(const TensorFile &file, std::string_view name) {
  // Comparing with every name of a hostile file is not worth the time.
  constexpr size_t kMostCompared = 100'000, kMostNamed = 3;
  std::vector<std::string_view> names;
  std::string parts;
  size_t count = 0;
  for (const TensorInfo &tensor : file.tensors()) {
    if (names.size() == kMostCompared)
      break;
    names.push_back(tensor.name);
    if (!name.empty() && tensor.name.find(name) != std::string::npos &&
        count++ < kMostNamed)
      parts += (parts.empty() ? "" : ", ") + quoteText(tensor.name);
  }
  if (count)
    return "names that contain it: " + parts +
           (count > kMostNamed ? ", ..." : "");
  std::string near = didYouMean(name, names);
  return near.empty() ? "grit inspect lists the tensors" : near;
}

Error grit::noArrayError(const TensorFile &file, std::string_view name) {
  const TensorInfo *tensor = file.find(name);
  Error error;
  error.field = "tensor " + quoteText(name);
  if (!tensor) {
    error.message = "the file has no tensor of this name";
    error.declared = "the name of one of its " +
                     std::to_string(file.tensors().size()) + " tensors";
    error.found = quoteText(name);
    error.cause = "the name is misspelt, or the tensor is in another file";
    error.fix = nearTensors(file, name);
    return error;
  }
  error.message = "the tensor has no contract";
  error.declared = "an array under a contract";
  error.found = tensor->dtype + " " + shapeText(tensor->shape);
  error.cause = "nothing in the file states a contract for it";
  error.fix = "grit scan says what names and shapes suggest";
  return error;
}

//===----------------------------------------------------------------------===//
// Opening by the first bytes
//===----------------------------------------------------------------------===//

namespace {
/// What other files begin with, so that the refusal can say what they are.
struct Signature {
  std::string_view magic;
  std::string_view what;
  std::string_view fix;
};
} // namespace

static constexpr std::string_view kConvert =
    "convert it to safetensors or GGUF first";
static constexpr Signature kSignatures[] = {
    {"PK\x03\x04", "a zip archive (a PyTorch checkpoint or .npz)", kConvert},
    {"\x80\x02", "a Python pickle", kConvert},
    {"\x80\x04", "a Python pickle", kConvert},
    {"\x89HDF", "an HDF5 file", kConvert},
    {"\x93NUMPY", "a NumPy array", kConvert},
    {"lmgg", "a GGML file older than GGUF", kConvert},
    {"tjgg", "a GGML file older than GGUF", kConvert},
    {"fmgg", "a GGML file older than GGUF", kConvert},
    {"FUGG", "a GGUF file with its bytes swapped", kConvert},
    {"version https://git-lfs", "a Git LFS pointer, not the file itself",
     "fetch the file with git lfs pull"},
    {"<!DOCTYPE", "a web page", "download the file itself"},
    {"<html", "a web page", "download the file itself"},
    {"{", "JSON, perhaps an index of several files",
     "name one of the files that it lists"},
};

static Error unknownFile(const MappedFile &file) {
  ByteSpan bytes = file.bytes();
  std::string_view head(reinterpret_cast<const char *>(bytes.data()),
                        std::min<size_t>(bytes.size(), 32));
  Error error;
  error.message = "'" + file.path() + "' is neither safetensors nor GGUF";
  error.field = "first bytes";
  error.declared = "'GGUF', or an 8-byte header length and '{'";
  error.found = bytes.empty()
                    ? "an empty file"
                    : toHex(bytes.first(std::min<size_t>(bytes.size(), 9)));
  error.cause = bytes.empty() ? "a download or a copy that failed"
                              : "a file of another format, or a damaged one";
  error.fix = bytes.empty() ? "fetch the file again"
                            : "name a safetensors or GGUF file";
  error.code = ErrorCode::NotTensorFile;
  if (head.size() > 8 && startsWithBom(head.substr(8))) {
    error.cause = "a byte order mark (U+FEFF) stands before the header of a "
                  "safetensors file";
    error.fix = "write the header without the mark";
  }
  for (const Signature &signature : kSignatures) {
    if (!head.starts_with(signature.magic))
      continue;
    error.cause = "this is " + std::string(signature.what);
    error.fix = signature.fix;
    break;
  }
  return error;
}

template <typename T>
static Expected<std::unique_ptr<TensorFile>>
upcast(Expected<std::unique_ptr<T>> file) {
  if (!file)
    return tl::unexpected(std::move(file.error()));
  return std::unique_ptr<TensorFile>(std::move(*file));
}

Expected<std::unique_ptr<TensorFile>>
grit::openTensorFile(MappedFile file, const OpenOptions &options) {
  ByteSpan bytes = file.bytes();
  if (bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0)
    return upcast(GgufReader::open(std::move(file), options));
  if (bytes.size() > 8 && bytes[8] == '{')
    return upcast(SafetensorsReader::open(std::move(file), options));
  return tl::unexpected(unknownFile(file));
}

Expected<std::unique_ptr<TensorFile>>
grit::openTensorFile(const std::string &path, const OpenOptions &options) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  return openTensorFile(std::move(*file), options);
}
