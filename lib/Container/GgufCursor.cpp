//===- GgufCursor.cpp - the primitive values of a GGUF header -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GgufCursor.h"
#include <algorithm>
#include <bit>
#include <charconv>

using namespace grit;

static constexpr uint32_t kTypeCount = 13;

static constexpr std::string_view kTypeNames[kTypeCount] = {
    "uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
    "bool",  "string", "array",  "uint64", "int64",  "float64"};

unsigned grit::ggufWidth(GgufValueType type) {
  constexpr unsigned kWidths[kTypeCount] = {1, 1, 2, 2, 4, 4, 4,
                                            1, 0, 0, 8, 8, 8};
  return kWidths[static_cast<uint32_t>(type)];
}

void grit::appendNumber(std::string &out, uint64_t value, unsigned bytes,
                        std::endian order) {
  for (unsigned i = 0; i < bytes; ++i)
    out += static_cast<char>(
        value >> (8 * (order == std::endian::little ? i : bytes - 1 - i)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

tl::unexpected<Error> GgufCursor::endOfFile(const char *field,
                                            uint64_t needed) const {
  return makeError(
      Status::SizeMismatch, "the file ends inside its header", field,
      std::to_string(needed) + " bytes at byte " + std::to_string(at),
      std::to_string(remaining()) + " bytes", "the file was cut short",
      "copy or download it again");
}

Expected<uint64_t> GgufCursor::readLength(const char *field) {
  if (!narrow)
    return read<uint64_t>(field);
  Expected<uint32_t> value = read<uint32_t>(field);
  if (!value)
    return tl::unexpected(value.error());
  return uint64_t(*value);
}

Expected<std::string> GgufCursor::readString(const char *field,
                                             uint64_t limit) {
  Expected<uint64_t> length = readLength(field);
  if (!length)
    return tl::unexpected(length.error());
  if (*length > limit)
    return makeError(Status::SizeMismatch, "a string is too long", field,
                     "at most " + std::to_string(limit) + " bytes",
                     std::to_string(*length));
  if (*length > remaining())
    return endOfFile(field, *length);
  std::string text(reinterpret_cast<const char *>(bytes.data()) + at, *length);
  at += *length;
  return text;
}

Expected<GgufValueType> GgufCursor::readType() {
  Expected<uint32_t> type = read<uint32_t>("value type");
  if (!type)
    return tl::unexpected(type.error());
  if (*type >= kTypeCount)
    return makeError(Status::GradeUnknown, "unknown type of metadata value",
                     "value type", "0 to 12", std::to_string(*type));
  return static_cast<GgufValueType>(*type);
}

/// Turns the bytes of numbers of `width` bytes round.
static void swapNumbers(std::string &text, size_t from, unsigned width) {
  for (size_t i = from; i < text.size(); i += width)
    std::reverse(text.begin() + static_cast<ptrdiff_t>(i),
                 text.begin() + static_cast<ptrdiff_t>(i + width));
}

void GgufCursor::copyNumbers(uint64_t count, unsigned width, std::string &out) {
  const size_t before = out.size();
  out.append(reinterpret_cast<const char *>(bytes.data()) + at, count * width);
  at += count * width;
  if (order != std::endian::little)
    swapNumbers(out, before, width);
}

std::optional<Error> GgufCursor::readArray(unsigned depth, std::string &out) {
  // Arrays of arrays are legal and rare; the depth bounds the recursion.
  constexpr unsigned kDepth = 4;
  if (depth == kDepth)
    return makeError(Status::SizeMismatch, "arrays are nested too deeply",
                     "array", "at most 4 levels", "more")
        .value();
  Expected<GgufValueType> type = readType();
  if (!type)
    return type.error();
  Expected<uint64_t> count = readLength("array length");
  if (!count)
    return count.error();
  if (*count > kMaxGgufArray)
    return makeError(Status::SizeMismatch, "an array is too long",
                     "array length", "at most " + std::to_string(kMaxGgufArray),
                     std::to_string(*count))
        .value();
  appendNumber(out, static_cast<uint32_t>(*type), 4);
  appendNumber(out, *count, 8);
  if (unsigned width = ggufWidth(*type)) {
    uint64_t size = *count * width; // below 2^27
    if (size > remaining())
      return endOfFile("array", size).value();
    copyNumbers(*count, width, out);
    return std::nullopt;
  }
  for (uint64_t i = 0; i < *count; ++i)
    if (std::optional<Error> error = readValue(*type, depth + 1, out))
      return error;
  return std::nullopt;
}

std::optional<Error> GgufCursor::readValue(GgufValueType type, unsigned depth,
                                           std::string &out) {
  if (type == GgufValueType::Array)
    return readArray(depth, out);
  if (type == GgufValueType::String) {
    Expected<std::string> text = readString("string", kMaxGgufString);
    if (!text)
      return text.error();
    appendNumber(out, text->size(), 8);
    out += *text;
    return std::nullopt;
  }
  unsigned width = ggufWidth(type);
  if (width > remaining())
    return endOfFile("value", width).value();
  copyNumbers(1, width, out);
  return std::nullopt;
}

Expected<GgufKeyValue> GgufCursor::readPair() {
  GgufKeyValue pair;
  Expected<std::string> key = readString("key", kMaxNameBytes);
  if (!key)
    return tl::unexpected(key.error());
  pair.key = std::move(*key);
  Expected<GgufValueType> type = readType();
  std::optional<Error> error;
  if (type) {
    pair.type = *type;
    error = readValue(*type, /*depth=*/0, pair.value);
  } else {
    error = type.error();
  }
  if (!error)
    return pair;
  error->field = "key " + quoteText(pair.key) + ": " + error->field;
  return tl::unexpected(std::move(*error));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static uint64_t loadLE(std::string_view text, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i)
    value |= uint64_t(static_cast<unsigned char>(text[i])) << (8 * i);
  return value;
}

GgufKeyValue GgufKeyValue::ofUint32(std::string key, uint32_t value) {
  GgufKeyValue pair{std::move(key), GgufValueType::Uint32, {}};
  appendNumber(pair.value, value, 4);
  return pair;
}

GgufKeyValue GgufKeyValue::ofString(std::string key, std::string_view value) {
  GgufKeyValue pair{std::move(key), GgufValueType::String, {}};
  appendNumber(pair.value, value.size(), 8);
  pair.value += value;
  return pair;
}

std::optional<uint64_t> GgufKeyValue::asUnsigned() const {
  switch (type) {
  case GgufValueType::Uint8:
  case GgufValueType::Uint16:
  case GgufValueType::Uint32:
  case GgufValueType::Uint64:
    return loadLE(value, ggufWidth(type));
  default:
    return std::nullopt;
  }
}

std::optional<std::string_view> GgufKeyValue::asString() const {
  if (type != GgufValueType::String)
    return std::nullopt;
  return std::string_view(value).substr(8);
}

/// Takes a value off the front of `rest`.
static void appendValue(GgufValueType type, std::string_view &rest,
                        std::endian order, std::string &out) {
  auto number = [&](unsigned width) {
    const uint64_t value = loadLE(rest, width);
    appendNumber(out, value, width, order);
    rest.remove_prefix(width);
    return value;
  };
  if (unsigned width = ggufWidth(type)) {
    number(width);
  } else if (type == GgufValueType::String) {
    const uint64_t length = number(8);
    out += rest.substr(0, length);
    rest.remove_prefix(length);
  } else {
    const auto element = static_cast<GgufValueType>(number(4));
    for (uint64_t count = number(8); count > 0; --count)
      appendValue(element, rest, order, out);
  }
}

std::string grit::ggufValueBytes(const GgufKeyValue &pair, std::endian order) {
  if (order == std::endian::little)
    return pair.value;
  std::string out;
  out.reserve(pair.value.size());
  std::string_view rest = pair.value;
  appendValue(pair.type, rest, order, out);
  return out;
}

std::string grit::ggufTypeText(const GgufKeyValue &pair) {
  std::string name(kTypeNames[static_cast<uint32_t>(pair.type)]);
  if (pair.type == GgufValueType::Array)
    name += " of " + std::string(kTypeNames[loadLE(pair.value, 4)]);
  return name;
}

/// The shortest text that reads back as the same number.
template <typename Float> static std::string floatText(Float value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

static std::string numberText(GgufValueType type, std::string_view text) {
  uint64_t bits = loadLE(text, ggufWidth(type));
  switch (type) {
  case GgufValueType::Bool:
    return bits ? "true" : "false";
  case GgufValueType::Int8:
    return std::to_string(static_cast<int8_t>(bits));
  case GgufValueType::Int16:
    return std::to_string(static_cast<int16_t>(bits));
  case GgufValueType::Int32:
    return std::to_string(static_cast<int32_t>(bits));
  case GgufValueType::Int64:
    return std::to_string(static_cast<int64_t>(bits));
  case GgufValueType::Float32:
    return floatText(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  case GgufValueType::Float64:
    return floatText(std::bit_cast<double>(bits));
  default:
    return std::to_string(bits);
  }
}

std::string grit::ggufValueText(const GgufKeyValue &pair) {
  constexpr size_t kLongest = 100, kShown = 6;
  if (std::optional<std::string_view> text = pair.asString())
    return text->size() <= kLongest
               ? std::string(*text)
               : std::string(text->substr(0, kLongest)) + "...";
  if (pair.type != GgufValueType::Array)
    return numberText(pair.type, pair.value);

  std::string_view rest = pair.value;
  auto type = static_cast<GgufValueType>(loadLE(rest, 4));
  uint64_t count = loadLE(rest.substr(4), 8);
  unsigned width = ggufWidth(type);
  if (!width)
    return std::to_string(count) + " entries";
  std::string list = "[";
  for (uint64_t i = 0; i < count && i < kShown; ++i)
    list += (i ? ", " : "") + numberText(type, rest.substr(12 + i * width));
  if (count > kShown)
    list += ", ... " + std::to_string(count) + " entries";
  return list + "]";
}
