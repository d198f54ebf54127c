//===- TextCursor.cpp - a place in the text of a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextCursor.h"
#include "grit/Format/ByteOrderMark.h"
#include "grit/Format/Text.h"
#include <charconv>

using namespace grit;

static bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) ||
         c == '_' || c == '.';
}

void TextCursor::skipSpace() {
  while (next < text.size() && (isSpace(text[next]) || text[next] == '#')) {
    if (text[next] == '#')
      while (next < text.size() && text[next] != '\n')
        ++next;
    else
      ++next;
  }
}

size_t TextCursor::position() {
  skipSpace();
  return next;
}

bool TextCursor::comesNext(std::string_view token) {
  return !error && text.substr(position()).starts_with(token);
}

bool TextCursor::digitComesNext() {
  return !error && position() < text.size() && isDigit(text[next]);
}

bool TextCursor::take(std::string_view token) {
  if (!comesNext(token))
    return false;
  next += token.size();
  return true;
}

void TextCursor::expect(std::string_view token) {
  if (!take(token))
    fail(quoteText(token));
}

bool TextCursor::atEnd() { return error || position() == text.size(); }

std::string_view TextCursor::takeWord() {
  size_t start = position();
  if (error)
    return {};
  while (next < text.size() && isWordPart(text[next]))
    ++next;
  return text.substr(start, next - start);
}

std::string_view TextCursor::takeUntil(std::string_view ends) {
  size_t start = position();
  if (error)
    return {};
  while (next < text.size() && !isSpace(text[next]) && text[next] != '#' &&
         ends.find(text[next]) == std::string_view::npos)
    ++next;
  return text.substr(start, next - start);
}

std::string_view TextCursor::expectQuoted() {
  expect("\"");
  size_t end = error ? std::string_view::npos : text.find('"', next);
  if (end == std::string_view::npos) {
    fail("text in double quotes");
    return {};
  }
  std::string_view result = text.substr(next, end - next);
  next = end + 1;
  return result;
}

std::optional<int64_t> TextCursor::takeDigits() {
  if (!digitComesNext())
    return std::nullopt;
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(text.data() + next, text.data() + text.size(), value);
  if (code != std::errc()) {
    fail("an integer below 2^63");
    return std::nullopt;
  }
  next = static_cast<size_t>(end - text.data());
  return value;
}

std::string TextCursor::location(size_t place) const {
  size_t line = 1, column = 1;
  for (char c : text.substr(0, place)) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

void TextCursor::failAt(size_t place, std::string expected) {
  if (error)
    return;
  constexpr size_t kShown = 24;
  bool isBom = place == 0 && startsWithBom(text);
  error = Error{Status::GradeUnknown,
                "the text of the format cannot be read",
                location(place),
                std::move(expected),
                place < text.size() ? quoteText(text.substr(place, kShown))
                                    : "the end of the text",
                isBom ? std::string(kBomCause) : std::string(),
                isBom ? std::string(kBomFix)
                      : "correct the text; spec/gritfmt1.md has its grammar",
                -1};
}
