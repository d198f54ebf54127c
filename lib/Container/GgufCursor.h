//===- GgufCursor.h - the primitive values of a GGUF header -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_GGUFCURSOR_H
#define GRIT_LIB_CONTAINER_GGUFCURSOR_H

#include "grit/Container/Gguf.h"
#include <bit>
#include <string>
#include <string_view>

namespace grit {

inline constexpr uint64_t kMaxGgufString = uint64_t(1) << 26;
inline constexpr uint64_t kMaxGgufArray = uint64_t(1) << 24;

/// Reads values one after the other and never past the end.
class GgufCursor {
public:
  explicit GgufCursor(ByteSpan bytes) : bytes(bytes) {}

  /// Version 1 has lengths and counts of 32 bits, later versions of 64.
  void setNarrow(bool value) { narrow = value; }
  /// Little-endian until then.
  void setOrder(std::endian value) { order = value; }
  uint64_t position() const { return at; }
  uint64_t remaining() const { return bytes.size() - at; }
  void skip(uint64_t count) { at += count; }

  template <typename UInt> Expected<UInt> read(const char *field) {
    if (remaining() < sizeof(UInt))
      return endOfFile(field, sizeof(UInt));
    UInt value = 0;
    for (unsigned i = 0; i < sizeof(UInt); ++i) {
      unsigned place = order == std::endian::little ? i : sizeof(UInt) - 1 - i;
      value |=
          static_cast<UInt>(static_cast<UInt>(bytes[at + i]) << (8 * place));
    }
    at += sizeof(UInt);
    return value;
  }
  /// A length or a count.
  Expected<uint64_t> readLength(const char *field);
  Expected<std::string> readString(const char *field, uint64_t limit);
  Expected<GgufKeyValue> readPair();

private:
  /// Copies a value into `out` as version 3 stores it.
  std::optional<Error> readValue(GgufValueType type, unsigned depth,
                                 std::string &out);
  std::optional<Error> readArray(unsigned depth, std::string &out);
  /// Copies `count` numbers of `width` bytes, which are there.
  void copyNumbers(uint64_t count, unsigned width, std::string &out);
  Expected<GgufValueType> readType();
  tl::unexpected<Error> endOfFile(const char *field, uint64_t needed) const;

  ByteSpan bytes;
  uint64_t at = 0;
  bool narrow = false;
  std::endian order = std::endian::little;
};

/// Bytes of a number of this type; 0 for strings and arrays.
unsigned ggufWidth(GgufValueType type);
std::string ggufTypeText(const GgufKeyValue &pair);
/// The value for people; long strings and arrays are shortened.
std::string ggufValueText(const GgufKeyValue &pair);

/// Appends the low `bytes` bytes of `value`, in this order.
void appendNumber(std::string &out, uint64_t value, unsigned bytes,
                  std::endian order = std::endian::little);
/// The value as a file of this order stores it.
std::string ggufValueBytes(const GgufKeyValue &pair, std::endian order);

} // namespace grit

#endif // GRIT_LIB_CONTAINER_GGUFCURSOR_H
