//===- ElementType.h - the plain number types of tensor files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_ELEMENTTYPE_H
#define GRIT_CONTAINER_ELEMENTTYPE_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace grit {

/// A number type that needs nothing but its bits to be read. The token is that
/// of safetensors; GGUF uses the same spelling for those it has.
struct ElementType {
  std::string_view token;
  unsigned bits;

  friend bool operator==(const ElementType &a, const ElementType &b) {
    return a.token == b.token;
  }
};

/// Every type of safetensors, widest first (the order in which its files store
/// tensors, so that each is aligned).
std::span<const ElementType> elementTypes();
std::optional<ElementType> lookupElementType(std::string_view token);

/// The bytes of a tensor. Refuses negative extents, products beyond 2^63 - 1,
/// and sub-byte types whose elements do not fill whole bytes; rows may cross
/// them.
Expected<int64_t> byteSize(const ElementType &type,
                           std::span<const int64_t> shape);

/// The product of the extents; an error beyond 2^63 - 1 or below zero.
Expected<int64_t> elementCount(std::span<const int64_t> shape);

/// True for F64, F32, F16 and BF16, which `toFloat32` converts.
bool isPlainFloat(const ElementType &type);

/// Rounds stored little-endian numbers to binary32 (nearest, ties to even;
/// exact for all but F64). `bytes` holds out.size() of them.
Expected<void> toFloat32(const ElementType &type,
                         std::span<const uint8_t> bytes, std::span<float> out);

} // namespace grit

#endif // GRIT_CONTAINER_ELEMENTTYPE_H
