//===- JsonValue.h - reading JSON of unknown origin -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_JSONVALUE_H
#define GRIT_LIB_SCAN_JSONVALUE_H

#include "grit/Format/ByteOrderMark.h"
#include "grit/Format/Status.h"
#include <algorithm>
#include <memory>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>

namespace grit::scan {

using JsonElement = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

/// A parsed text of bounded depth; its elements live as long as it does.
class JsonText {
public:
  /// Nothing when the text is not JSON, with the reason in `error`.
  static std::optional<JsonText> parse(std::string_view text,
                                       std::string &error) {
    constexpr size_t kDepth = 64;
    JsonText result;
    simdjson::error_code code = result.parser->allocate(
        std::max<size_t>(text.size(), simdjson::SIMDJSON_PADDING), kDepth);
    if (!code)
      code = result.parser->parse(text.data(), text.size()).get(result.element);
    if (!code)
      return result;
    error = startsWithBom(text) ? std::string(kBomCause)
                                : simdjson::error_message(code);
    return std::nullopt;
  }

  JsonElement root() const { return element; }

private:
  std::unique_ptr<simdjson::dom::parser> parser =
      std::make_unique<simdjson::dom::parser>();
  JsonElement element;
};

/// The member of an object; nothing when it is absent or null.
inline std::optional<JsonElement> member(JsonElement parent,
                                         std::string_view key) {
  JsonObject object;
  JsonElement value;
  if (parent.get(object) || object.at_key(key).get(value) || value.is_null())
    return std::nullopt;
  return value;
}

inline std::optional<std::string_view> stringOf(JsonElement value) {
  std::string_view text;
  if (value.get(text))
    return std::nullopt;
  return text;
}

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_JSONVALUE_H
