//===- TensorFile.h - what every container of tensors offers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_TENSORFILE_H
#define GRIT_CONTAINER_TENSORFILE_H

#include "grit/Container/ElementType.h"
#include "grit/Container/MappedFile.h"
#include "grit/Format/Check.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Text.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace grit {

/// Limits that every reader keeps, whatever a file says.
inline constexpr uint64_t kMaxTensors = uint64_t(1) << 22;
inline constexpr uint64_t kMaxNameBytes = uint64_t(1) << 16;

/// One tensor of an open file.
struct TensorInfo {
  std::string name;
  /// The type in the file's own words: "F32", "U8", "Q4_K".
  std::string dtype;
  /// Set when the bytes are plain numbers.
  std::optional<ElementType> element;
  /// Row-major, the last axis fastest (a GGUF file lists it the other way
  /// round). Of a quantized array: the shape of what it decodes to.
  std::vector<int64_t> shape;
  /// Points into the file.
  ByteSpan bytes;
  /// Set when the bytes are an array under a contract. Its sizes were checked.
  std::optional<ArraySpec> array;
  /// What the planes must hash to, where the file says so.
  std::optional<std::array<uint8_t, 16>> digest;

  /// The planes of an array, in order; one for array-of-structs formats. The
  /// tensor must have one.
  std::vector<ByteSpan> planes() const;
};

/// A key of the file with its value as text, shortened where it is long.
struct MetadataEntry {
  std::string key;
  std::string type; ///< "string", "uint32", "array of string", ...
  std::string value;
};

/// How a file is opened.
struct OpenOptions {
  /// 1 checks headers and sizes. 2 also reads the planes of every array, and
  /// compares digests where the file has them.
  int level = 1;
  /// When set, what is wrong with single tensors is appended here and those
  /// tensors are left out; only a file that cannot be walked is refused. When
  /// null, the first problem refuses the file.
  std::vector<Error> *problems = nullptr;
};

/// An open container: names, types, shapes and bytes, whatever the format.
/// Everything refers to the mapped file and lives as long as this object.
class TensorFile {
public:
  virtual ~TensorFile() = default;

  /// "safetensors" or "gguf".
  virtual std::string_view format() const = 0;
  /// What the file says about itself.
  virtual std::vector<MetadataEntry> metadata() const = 0;

  const std::string &path() const { return file.path(); }
  uint64_t fileBytes() const { return file.bytes().size(); }
  /// In the order of their bytes in the file.
  const std::vector<TensorInfo> &tensors() const { return infos; }
  /// Gives memory back after bytes of the file were read.
  void release(ByteSpan part) const { file.release(part); }
  /// Null when there is none of this name.
  const TensorInfo *find(std::string_view name) const;

protected:
  explicit TensorFile(MappedFile file) : file(std::move(file)) {}
  /// Sorts the tensors by position and builds the index of names.
  void finish(std::vector<TensorInfo> tensors);

  MappedFile file;
  std::vector<TensorInfo> infos;

private:
  std::unordered_map<std::string_view, size_t> index;
};

/// Opens a safetensors or GGUF file. The first bytes decide which; the name
/// does not matter.
Expected<std::unique_ptr<TensorFile>>
openTensorFile(const std::string &path, const OpenOptions &options = {});
Expected<std::unique_ptr<TensorFile>>
openTensorFile(MappedFile file, const OpenOptions &options = {});

/// The same error, its field prefixed with "tensor 'name': ".
Error inTensor(Error error, std::string_view name);

/// Why `name` is no array of the file: there is no such tensor (with the names
/// that are near), or it holds plain numbers.
Error noArrayError(const TensorFile &file, std::string_view name);
/// "did you mean 'x'?" for the names of the file, or how to list them.
std::string nearTensors(const TensorFile &file, std::string_view name);

/// grit_check of an array: from level 2 on reads its planes, and compares their
/// digest with the recorded one, if any. Nothing for a tensor of plain numbers.
/// Where the check succeeds, its warnings are added to `warnings`.
std::optional<Error> checkPlanes(const TensorInfo &tensor, int level = 2,
                                 std::vector<Warning> *warnings = nullptr);

} // namespace grit

#endif // GRIT_CONTAINER_TENSORFILE_H
