//===- JsonReader.h - a bounded JSON document -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_JSONREADER_H
#define GRIT_LIB_CONTAINER_JSONREADER_H

#include "grit/Format/ByteOrderMark.h"
#include "grit/Format/Status.h"
#include <algorithm>
#include <memory>
#include <simdjson.h>
#include <string>
#include <string_view>

namespace grit {

/// A parsed document; its elements live as long as it does.
class JsonDocument {
public:
  /// Parses `text`, whose root must be an object. `what` names it in errors.
  static Expected<JsonDocument> parse(std::string_view text,
                                      const std::string &what) {
    // Nothing that is read here nests deeper than five levels.
    constexpr size_t kDepth = 16;
    JsonDocument document;
    simdjson::error_code code = document.parser->allocate(
        std::max<size_t>(text.size(), simdjson::SIMDJSON_PADDING), kDepth);
    simdjson::dom::element element;
    if (!code)
      code = document.parser->parse(text.data(), text.size()).get(element);
    if (startsWithBom(text))
      return makeError(Status::GradeUnknown, what + " is not valid JSON", what,
                       "a JSON object", "a byte order mark",
                       std::string(kBomCause), std::string(kBomFix));
    if (code == simdjson::NUMBER_ERROR)
      return makeError(Status::GradeUnknown,
                       what + " holds a number that cannot be read", what,
                       "numbers of 64 bits", simdjson::error_message(code));
    if (code)
      return makeError(Status::GradeUnknown, what + " is not valid JSON", what,
                       "a JSON object", simdjson::error_message(code));
    if (element.get(document.object))
      return makeError(Status::GradeUnknown, what + " is not a JSON object",
                       what, "a JSON object", "another JSON value");
    return document;
  }

  simdjson::dom::object root() const { return object; }

private:
  /// Elements point into the parser, which therefore must not move.
  std::unique_ptr<simdjson::dom::parser> parser =
      std::make_unique<simdjson::dom::parser>();
  simdjson::dom::object object;
};

/// A short text of any JSON value, for errors.
inline std::string jsonText(simdjson::dom::element element) {
  std::string text = simdjson::minify(element);
  constexpr size_t kLongest = 80;
  if (text.size() > kLongest)
    text = text.substr(0, kLongest) + "...";
  return text;
}

} // namespace grit

#endif // GRIT_LIB_CONTAINER_JSONREADER_H
