//===- TestFiles.h - files made byte by byte -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_CONTAINER_TESTFILES_H
#define GRIT_UNITTESTS_CONTAINER_TESTFILES_H

#include "grit/Container/Gguf.h"
#include "grit/Container/Safetensors.h"
#include "gtest/gtest.h"
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace grit::test {

using Bytes = std::vector<uint8_t>;

inline void append(Bytes &bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}
inline void appendLE(Bytes &bytes, uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// A safetensors file with this header and `dataBytes` bytes 0, 1, 2, ...
inline Bytes safetensors(std::string_view header, size_t dataBytes) {
  Bytes bytes;
  appendLE(bytes, header.size(), 8);
  append(bytes, header);
  for (size_t i = 0; i < dataBytes; ++i)
    bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

/// Builds GGUF files of any version, right or wrong.
struct GgufBuilder {
  uint32_t version = 3;
  std::endian order = std::endian::little;
  uint64_t alignment = 32;
  Bytes pairs, tensors;
  uint64_t numPairs = 0, numTensors = 0, dataBytes = 0;

  void number(Bytes &bytes, uint64_t value, unsigned count) const {
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(static_cast<uint8_t>(
          value >> (8 * (order == std::endian::little ? i : count - 1 - i))));
  }
  void length(Bytes &bytes, uint64_t value) const {
    number(bytes, value, version == 1 ? 4 : 8);
  }
  void string(Bytes &bytes, std::string_view text) const {
    length(bytes, text.size());
    append(bytes, text);
  }
  GgufBuilder &pair(std::string_view key, uint32_t type, const Bytes &value) {
    string(pairs, key);
    number(pairs, type, 4);
    pairs.insert(pairs.end(), value.begin(), value.end());
    ++numPairs;
    return *this;
  }
  GgufBuilder &pairUint32(std::string_view key, uint32_t word) {
    Bytes value;
    number(value, word, 4);
    return pair(key, 4, value);
  }
  GgufBuilder &pairString(std::string_view key, std::string_view text) {
    Bytes value;
    string(value, text);
    return pair(key, 8, value);
  }
  /// `dims` in the order of the file, fastest first.
  GgufBuilder &tensor(std::string_view name, std::vector<uint64_t> dims,
                      uint32_t type, uint64_t offset) {
    string(tensors, name);
    number(tensors, dims.size(), 4);
    for (uint64_t dim : dims)
      length(tensors, dim);
    number(tensors, type, 4);
    number(tensors, offset, 8);
    ++numTensors;
    return *this;
  }
  GgufBuilder &data(uint64_t bytes) {
    dataBytes = bytes;
    return *this;
  }
  Bytes build() const {
    Bytes bytes;
    append(bytes, "GGUF");
    number(bytes, version, 4);
    length(bytes, numTensors);
    length(bytes, numPairs);
    bytes.insert(bytes.end(), pairs.begin(), pairs.end());
    bytes.insert(bytes.end(), tensors.begin(), tensors.end());
    while (bytes.size() % alignment)
      bytes.push_back(0);
    for (uint64_t i = 0; i < dataBytes; ++i)
      bytes.push_back(static_cast<uint8_t>(i));
    return bytes;
  }
};

inline Expected<std::unique_ptr<TensorFile>>
open(Bytes bytes, const OpenOptions &options = {}) {
  return openTensorFile(MappedFile::ofBytes(std::move(bytes), "test"), options);
}

/// Expects that a refusal names everything that a user needs.
inline void expectComplete(const Error &error) {
  for (const std::string *part : {&error.message, &error.field, &error.declared,
                                  &error.found, &error.cause, &error.fix})
    EXPECT_FALSE(part->empty()) << error.str();
}

/// The refusal of `bytes`, which must be refused.
inline Error refusal(Bytes bytes, const OpenOptions &options = {}) {
  auto file = open(std::move(bytes), options);
  EXPECT_FALSE(file) << "the file was accepted";
  if (file)
    return Error();
  expectComplete(file.error());
  return file.error();
}

/// A directory that goes away with the test.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "grit-test-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(std::string_view name) const {
    return (path / name).string();
  }
  size_t numEntries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path), {}));
  }

private:
  std::filesystem::path path;
};

inline Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_CONTAINER_TESTFILES_H
