//===- Json.cpp - writing JSON -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Json.h"
#include <charconv>
#include <cmath>

using namespace grit;

/// The length of the well-formed UTF-8 sequence at the start of `text`; 0 when
/// there is none.
static size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F))
    return 0;
  return length;
}

std::string grit::jsonQuote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    unsigned char lead = static_cast<unsigned char>(text.front());
    if (length == 0) {
      quoted += "\\ufffd";
      length = 1;
    } else if (lead == '"' || lead == '\\') {
      quoted += '\\';
      quoted += static_cast<char>(lead);
    } else if (lead < 0x20 || lead == 0x7F) {
      quoted += "\\u00";
      quoted += kHex[lead >> 4];
      quoted += kHex[lead & 15];
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return quoted + '"';
}

void JsonWriter::newline() {
  if (!indent)
    return;
  text += '\n';
  text.append(indent * empty.size(), ' ');
}

void JsonWriter::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (empty.empty())
    return;
  if (!empty.back())
    text += ',';
  empty.back() = false;
  newline();
}

JsonWriter &JsonWriter::open(char bracket) {
  separate();
  text += bracket;
  empty.push_back(true);
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  bool nothing = empty.back();
  empty.pop_back();
  if (!nothing)
    newline();
  text += bracket;
  return *this;
}

JsonWriter &JsonWriter::raw(std::string_view token) {
  separate();
  text += token;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  separate();
  text += jsonQuote(name);
  text += indent ? ": " : ":";
  afterKey = true;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view content) {
  return raw(jsonQuote(content));
}
JsonWriter &JsonWriter::value(int64_t number) {
  return raw(std::to_string(number));
}
JsonWriter &JsonWriter::value(uint64_t number) {
  return raw(std::to_string(number));
}
JsonWriter &JsonWriter::value(bool flag) {
  return raw(flag ? "true" : "false");
}
JsonWriter &JsonWriter::null() { return raw("null"); }

JsonWriter &JsonWriter::value(double number) {
  if (!std::isfinite(number))
    return null(); // JSON has no such number.
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), number).ptr;
  return raw({buffer, static_cast<size_t>(end - buffer)});
}

JsonWriter &JsonWriter::value(std::span<const int64_t> numbers) {
  std::string list = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    list += (i ? (indent ? ", " : ",") : "") + std::to_string(numbers[i]);
  return raw(list + "]");
}
