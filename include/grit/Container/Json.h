//===- Json.h - writing JSON -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_JSON_H
#define GRIT_CONTAINER_JSON_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// Builds a JSON text, keys in the order in which they are given. Strings that
/// are not UTF-8 get U+FFFD for each byte that fits nowhere: the text is always
/// valid.
class JsonWriter {
public:
  /// `indent` spaces per level; 0 writes one line without spaces.
  explicit JsonWriter(unsigned indent = 0) : indent(indent) {}

  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view name);
  JsonWriter &value(std::string_view text);
  JsonWriter &value(const char *text) { return value(std::string_view(text)); }
  JsonWriter &value(int64_t number);
  JsonWriter &value(uint64_t number);
  JsonWriter &value(int number) { return value(int64_t(number)); }
  JsonWriter &value(double number);
  JsonWriter &value(bool flag);
  JsonWriter &value(std::span<const int64_t> numbers);
  JsonWriter &null();
  template <typename T>
  JsonWriter &field(std::string_view name, const T &content) {
    key(name);
    return value(content);
  }

  /// The text so far; complete once every object and array is closed.
  const std::string &str() const { return text; }

private:
  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  JsonWriter &raw(std::string_view token);
  void separate();
  void newline();

  unsigned indent;
  std::string text;
  std::vector<bool> empty; ///< per open bracket: nothing written inside yet
  bool afterKey = false;
};

/// `text` as a JSON string, with its quotes.
std::string jsonQuote(std::string_view text);

} // namespace grit

#endif // GRIT_CONTAINER_JSON_H
