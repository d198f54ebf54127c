//===- TextCursor.h - a place in the text of a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading stops at the first fault: after it everything reads as absent, so
// that a reader can go on to its end and ask once.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_TEXTCURSOR_H
#define GRIT_LIB_FORMAT_TEXTCURSOR_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace grit {

class TextCursor {
public:
  explicit TextCursor(std::string_view text) : text(text) {}

  /// Takes `token` when it comes next, white space and comments aside.
  bool take(std::string_view token);
  /// Takes `token`, or it is a fault that it does not come.
  void expect(std::string_view token);
  bool comesNext(std::string_view token);
  /// True where a digit comes next.
  bool digitComesNext();
  bool atEnd();

  /// A run of letters, digits, '_' and '.', or nothing.
  std::string_view takeWord();
  /// A run of characters that are none of these, white space or a comment.
  std::string_view takeUntil(std::string_view ends);
  /// Text in double quotes, without them.
  std::string_view expectQuoted();
  /// Decimal digits.
  std::optional<int64_t> takeDigits();

  /// Where the next token begins.
  size_t position();

  /// A fault here, or at `place`.
  void fail(std::string expected) { failAt(position(), std::move(expected)); }
  void failAt(size_t place, std::string expected);
  const std::optional<Error> &fault() const { return error; }

  /// "line 2, column 7".
  std::string location(size_t place) const;

private:
  void skipSpace();

  std::string_view text;
  size_t next = 0;
  std::optional<Error> error;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_TEXTCURSOR_H
