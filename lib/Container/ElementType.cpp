//===- ElementType.cpp - the plain number types of tensor files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/ElementType.h"
#include "grit/Format/FormatWord.h"
#include "grit/Format/Text.h"
#include <array>
#include <bit>
#include <cstring>
#include <string>

using namespace grit;

static constexpr ElementType kTypes[] = {
    {"U64", 64},        {"I64", 64},    {"F64", 64},    {"C64", 64},
    {"F32", 32},        {"U32", 32},    {"I32", 32},    {"BF16", 16},
    {"F16", 16},        {"U16", 16},    {"I16", 16},    {"F8_E5M2FNUZ", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E8M0", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"I8", 8},          {"U8", 8},      {"BOOL", 8},    {"F6_E3M2", 6},
    {"F6_E2M3", 6},     {"F4", 4},
};

std::span<const ElementType> grit::elementTypes() { return kTypes; }

std::optional<ElementType> grit::lookupElementType(std::string_view token) {
  for (const ElementType &type : kTypes)
    if (type.token == token)
      return type;
  return std::nullopt;
}

Expected<int64_t> grit::elementCount(std::span<const int64_t> shape) {
  // A zero makes the product zero whatever overflows beside it, but a file that
  // says so is not honest: the product of the other extents must fit too.
  int64_t product = 1;
  bool zero = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return makeError(Status::SizeMismatch, "an extent is negative", "shape",
                       "extents of 0 or more", shapeText(shape));
    zero |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product))
      return makeError(Status::SizeMismatch,
                       "the number of elements overflows 63 bits", "shape",
                       "a product below 2^63", shapeText(shape));
  }
  return zero ? 0 : product;
}

Expected<int64_t> grit::byteSize(const ElementType &type,
                                 std::span<const int64_t> shape) {
  Expected<int64_t> count = elementCount(shape);
  if (!count)
    return count;
  int64_t total;
  if (__builtin_mul_overflow(*count, int64_t(type.bits), &total))
    return makeError(Status::SizeMismatch,
                     "the number of bits overflows 63 bits", "shape",
                     "a size below 2^63", shapeText(shape));
  if (total % 8 != 0)
    return makeError(
        Status::SizeMismatch,
        "elements of " + std::string(type.token) + " do not fill whole bytes",
        "shape",
        "a multiple of " + std::to_string(type.bits == 4 ? 2 : 4) + " elements",
        std::to_string(*count) + ", " + shapeText(shape),
        "the shape counts bytes or words, not elements",
        "write the number of elements in the last axis");
  return total / 8;
}

bool grit::isPlainFloat(const ElementType &type) {
  return type.token == "F32" || type.token == "F16" || type.token == "BF16" ||
         type.token == "F64";
}

static uint16_t load16(const uint8_t *bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

template <typename UInt> static UInt loadLE(const uint8_t *bytes) {
  UInt value = 0;
  for (unsigned i = 0; i < sizeof(UInt); ++i)
    value |= static_cast<UInt>(bytes[i]) << (8 * i);
  return value;
}

/// All 65536 binary16 values.
static const std::array<float, 65536> &halfTable() {
  static const std::array<float, 65536> table = [] {
    std::array<float, 65536> values;
    for (uint32_t code = 0; code < values.size(); ++code)
      values[code] = decodeWord(words::Binary16, code);
    return values;
  }();
  return table;
}

Expected<void> grit::toFloat32(const ElementType &type,
                               std::span<const uint8_t> bytes,
                               std::span<float> out) {
  if (!isPlainFloat(type))
    return makeError(Status::GradeUnknown,
                     std::string(type.token) + " is not converted to binary32",
                     "dtype", "F64, F32, F16 or BF16", std::string(type.token));
  size_t width = type.bits / 8;
  if (bytes.size() / width != out.size() || bytes.size() % width != 0)
    return makeError(Status::SizeMismatch, "sizes differ", "bytes",
                     std::to_string(out.size()) + " numbers",
                     std::to_string(bytes.size()) + " bytes");
  const uint8_t *data = bytes.data();
  if (type.token == "F32") {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = std::bit_cast<float>(loadLE<uint32_t>(data + 4 * i));
  } else if (type.token == "BF16") {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = std::bit_cast<float>(uint32_t(load16(data + 2 * i)) << 16);
  } else if (type.token == "F16") {
    const auto &table = halfTable();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = table[load16(data + 2 * i)];
  } else {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>(
          std::bit_cast<double>(loadLE<uint64_t>(data + 8 * i)));
  }
  return {};
}
