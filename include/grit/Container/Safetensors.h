//===- Safetensors.h - reading and writing safetensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_SAFETENSORS_H
#define GRIT_CONTAINER_SAFETENSORS_H

#include "grit/Container/TensorFile.h"
#include "grit/Container/TensorWriter.h"
#include <map>

namespace grit {

/// The largest header that other readers of the format accept.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

/// A safetensors file. Quantized arrays are those that `__metadata__.__grit__`
/// describes (docs/Containers.md).
class SafetensorsReader : public TensorFile {
public:
  static Expected<std::unique_ptr<SafetensorsReader>>
  open(MappedFile file, const OpenOptions &options = {});

  std::string_view format() const override { return "safetensors"; }
  std::vector<MetadataEntry> metadata() const override;
  /// The strings of `__metadata__`, without `__grit__`.
  const std::map<std::string, std::string> &strings() const { return texts; }

private:
  explicit SafetensorsReader(MappedFile file) : TensorFile(std::move(file)) {}
  friend class SafetensorsParser;

  std::map<std::string, std::string> texts;
};

/// A tensor that will be written: plain numbers, or an array.
struct SafetensorsEntry {
  std::string name;
  /// For plain numbers.
  std::optional<ElementType> element;
  std::vector<int64_t> shape;
  /// For an array; stored as one U8 tensor of its planes.
  std::optional<ArraySpec> array;
};

/// Writes a safetensors file whose tensors are known beforehand; their bytes
/// may come in pieces and, tensor by tensor, in any order. The same input gives
/// the same file.
class SafetensorsWriter : public TensorWriter {
public:
  static Expected<std::unique_ptr<SafetensorsWriter>>
  create(const std::string &path, std::vector<SafetensorsEntry> entries,
         std::map<std::string, std::string> metadata = {});

private:
  explicit SafetensorsWriter(AtomicFile file) : TensorWriter(std::move(file)) {}
  Expected<void> writeHeader() override;
  Expected<std::string> header() const;

  std::vector<SafetensorsEntry> entries;
  std::vector<size_t> order; ///< entries by position in the file
  std::map<std::string, std::string> metadata;
};

} // namespace grit

#endif // GRIT_CONTAINER_SAFETENSORS_H
