//===- Gguf.h - reading and writing GGUF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_GGUF_H
#define GRIT_CONTAINER_GGUF_H

#include "grit/Container/ScratchFile.h"
#include "grit/Container/TensorFile.h"
#include "grit/Container/TensorWriter.h"
#include "grit/Format/ByteOrder.h"
#include <bit>

namespace grit {

/// A tensor type of ggml: `elements` numbers in `bytes` bytes.
struct GgmlType {
  uint32_t id = 0;
  std::string_view name; ///< "Q4_K"
  int64_t elements = 1, bytes = 0;
  std::optional<ElementType> element; ///< for plain numbers
  std::optional<Contract> contract;   ///< "gguf.q4_k", where registered
  /// The words of a block; none where big-endian blocks have no meaning.
  std::optional<ByteOrder> byteOrder;
};

/// The types that GGUF files hold. A type whose name, after "gguf.", is a
/// registered contract takes its block from that contract.
std::span<const GgmlType> ggmlTypes();
const GgmlType *lookupGgmlType(uint32_t id);
/// The type whose blocks are the arrays of `contract`, or null.
const GgmlType *ggmlTypeOf(const Contract &contract);
const GgmlType *ggmlTypeOf(const ElementType &element);
/// Why tensors of a type without `byteOrder` are in no big-endian file.
Error noBigEndianForm(const GgmlType &type);
/// "retired id of Q4_2 ..." for an id that meant something once, or an empty
/// text.
std::string_view ggmlTypeHint(uint32_t id);

/// The types of metadata values.
enum class GgufValueType : uint32_t {
  Uint8,
  Int8,
  Uint16,
  Int16,
  Uint32,
  Int32,
  Float32,
  Bool,
  String,
  Array,
  Uint64,
  Int64,
  Float64,
};

/// A key with its value as version 3 stores it, after the type: numbers
/// little-endian, strings with a 64-bit length, arrays with element type and
/// 64-bit count.
struct GgufKeyValue {
  std::string key;
  GgufValueType type = GgufValueType::Uint32;
  std::string value;

  static GgufKeyValue ofUint32(std::string key, uint32_t value);
  static GgufKeyValue ofString(std::string key, std::string_view value);
  /// The value, when this is an unsigned number of at most 64 bits.
  std::optional<uint64_t> asUnsigned() const;
  std::optional<std::string_view> asString() const;
};

/// A GGUF file, versions 1 to 3. Of a big-endian file, tensors are those of a
/// little-endian copy, made when it is opened: in memory for a small file, else
/// in a file without a name (see ScratchFile).
class GgufReader : public TensorFile {
public:
  static Expected<std::unique_ptr<GgufReader>>
  open(MappedFile file, const OpenOptions &options = {});

  std::string_view format() const override { return "gguf"; }
  std::vector<MetadataEntry> metadata() const override;
  uint32_t version() const { return fileVersion; }
  std::endian byteOrder() const { return order; }
  uint64_t alignment() const { return dataAlignment; }
  const std::vector<GgufKeyValue> &keyValues() const { return pairs; }

private:
  explicit GgufReader(MappedFile file) : TensorFile(std::move(file)) {}
  friend class GgufParser;

  uint32_t fileVersion = 3;
  std::endian order = std::endian::little;
  ScratchFile native; ///< the copy of a big-endian file
  uint64_t dataAlignment = 32;
  std::vector<GgufKeyValue> pairs;
};

/// A tensor that will be written, shape row-major.
struct GgufEntry {
  std::string name;
  std::vector<int64_t> shape;
  const GgmlType *type = nullptr;
};

/// Writes a GGUF file of version 3. Tensors lie in the order of the entries;
/// the same input gives the same file. `general.alignment` among the pairs sets
/// the alignment, 32 otherwise. Whatever the order of the file, bytes are given
/// to it little-endian.
class GgufWriter : public TensorWriter {
public:
  static Expected<std::unique_ptr<GgufWriter>>
  create(const std::string &path, std::vector<GgufEntry> entries,
         std::vector<GgufKeyValue> pairs = {},
         std::endian order = std::endian::little);

private:
  explicit GgufWriter(AtomicFile file) : TensorWriter(std::move(file)) {}
  Expected<void> writeHeader() override;

  std::string header;
};

} // namespace grit

#endif // GRIT_CONTAINER_GGUF_H
