//===- LayoutParser.cpp - reads layout expressions -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/ByteOrderMark.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Text.h"
#include <array>

using namespace grit;

static constexpr std::array<std::string_view, 9> kNames = {
    "RowMajor", "ColMajor", "Tile",    "Interleave", "Swizzle",
    "Perm",     "Pad",      "Compose", "Opaque"};

std::string_view grit::layoutKindName(Layout::Kind kind) {
  return kNames[static_cast<size_t>(kind)];
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); }
static bool isVendorChar(char c) {
  return isLetter(c) || isDigit(c) || c == '_' || c == '.' || c == '-';
}

namespace grit {

/// Recursive descent over the grammar of section 5.3.
class LayoutParser {
public:
  explicit LayoutParser(std::string_view text) : text(text) {}
  Expected<Layout> run();

private:
  using Result = tl::expected<void, Error>;

  Expected<Layout> expression(unsigned depth);
  Expected<Layout::Kind> name();
  Result arguments(Layout &layout, unsigned depth);
  Result part(Layout &layout, unsigned depth);
  Result number(Layout &layout);
  Result list(Layout &layout, size_t count);
  Result opaque(Layout &layout);
  /// Takes `c`, which is there for `purpose`.
  Result take(char c, std::string_view purpose);

  char peek() const { return at < text.size() ? text[at] : '\0'; }
  template <typename Predicate> std::string_view takeWhile(Predicate fits) {
    size_t begin = at;
    while (at < text.size() && fits(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  }
  tl::unexpected<Error> refuse(size_t position, std::string message,
                               std::string expected, std::string cause = {},
                               std::string fix = {}) const;

  std::string_view text;
  size_t at = 0;
};

} // namespace grit

tl::unexpected<Error> LayoutParser::refuse(size_t position, std::string message,
                                           std::string expected,
                                           std::string cause,
                                           std::string fix) const {
  std::string found = position < text.size()
                          ? quoteText(text.substr(position, 24)) + " at byte " +
                                std::to_string(position)
                          : "the end, at byte " + std::to_string(position);
  if (position == 0 && startsWithBom(text)) {
    cause = kBomCause;
    fix = kBomFix;
  }
  if (cause.empty())
    cause = "the expression was mistyped or cut short";
  if (fix.empty())
    fix = "correct it; section 5.3 of spec/grit-v1.md has the grammar";
  return makeError(Status::PlacementUnknown,
                   std::move(message) + " at byte " + std::to_string(position) +
                       " of a layout expression",
                   "layout", std::move(expected), std::move(found),
                   std::move(cause), std::move(fix));
}

LayoutParser::Result LayoutParser::take(char c, std::string_view purpose) {
  if (peek() == c && at < text.size()) {
    ++at;
    return {};
  }
  return refuse(at, "missing '" + std::string(1, c) + "'",
                "'" + std::string(1, c) + "' " + std::string(purpose));
}

Expected<Layout> LayoutParser::run() {
  if (text.size() > Layout::kMaxTextBytes)
    return refuse(Layout::kMaxTextBytes, "too long a text",
                  "at most " + std::to_string(Layout::kMaxTextBytes) + " bytes",
                  "the text has " + std::to_string(text.size()) + " bytes");
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))
      return refuse(i, "white space", "no white space",
                    "the text is hashed as it is, so there is one spelling",
                    "remove the white space");
    if (static_cast<unsigned char>(text[i]) < 0x21 ||
        static_cast<unsigned char>(text[i]) > 0x7E)
      return refuse(i, "a byte that no expression has",
                    "printable ASCII characters");
  }
  Expected<Layout> layout = expression(1);
  if (layout && at != text.size())
    return refuse(at, "text after the expression", "the end");
  return layout;
}

Expected<Layout> LayoutParser::expression(unsigned depth) {
  if (depth > Layout::kMaxDepth)
    return refuse(at, "too deep nesting",
                  "at most " + std::to_string(Layout::kMaxDepth) +
                      " expressions inside each other");
  Expected<Layout::Kind> kind = name();
  if (!kind)
    return tl::unexpected(kind.error());
  Layout layout;
  layout.which = *kind;
  std::string owner(layoutKindName(*kind));
  if (*kind == Layout::Kind::RowMajor || *kind == Layout::Kind::ColMajor) {
    if (peek() == '(')
      return refuse(at, "arguments of " + owner, owner + " alone",
                    owner + " takes no arguments");
    return layout;
  }
  if (Result open = take('(', "before the arguments of " + owner); !open)
    return tl::unexpected(open.error());
  if (Result inside = arguments(layout, depth); !inside)
    return tl::unexpected(inside.error());
  if (peek() == ',')
    return refuse(at, "too many arguments of " + owner,
                  "')' after the arguments of " + owner);
  if (Result close = take(')', "after the arguments of " + owner); !close)
    return tl::unexpected(close.error());
  return layout;
}

Expected<Layout::Kind> LayoutParser::name() {
  size_t begin = at;
  std::string_view word = takeWhile(isLetter);
  std::string all = "RowMajor, ColMajor, Tile, Interleave, Swizzle, Perm, Pad, "
                    "Compose or Opaque";
  if (word.empty())
    return refuse(begin, "no name of a layout", all);
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == word)
      return static_cast<Layout::Kind>(i);
  for (std::string_view name : kNames)
    if (toLower(name) == toLower(word))
      return refuse(begin, "wrong case of a name", std::string(name),
                    "names are hashed as they are written",
                    "write '" + std::string(name) + "'");
  return refuse(begin, "unknown name of a layout", all, {},
                didYouMean(word, kNames));
}

LayoutParser::Result LayoutParser::arguments(Layout &layout, unsigned depth) {
  std::string owner(layoutKindName(layout.which));
  auto comma = [&] {
    return take(',', "before the next argument of " + owner);
  };
  switch (layout.which) {
  case Layout::Kind::Tile:
    return part(layout, depth).and_then(comma).and_then([&] {
      return list(layout, 2);
    });
  case Layout::Kind::Interleave:
    return part(layout, depth).and_then(comma).and_then([&] {
      return number(layout);
    });
  case Layout::Kind::Compose:
    return part(layout, depth).and_then(comma).and_then([&] {
      return part(layout, depth);
    });
  case Layout::Kind::Swizzle:
    return number(layout)
        .and_then(comma)
        .and_then([&] { return number(layout); })
        .and_then(comma)
        .and_then([&] { return number(layout); });
  case Layout::Kind::Perm:
    return list(layout, 0);
  case Layout::Kind::Pad:
    return number(layout);
  default:
    return opaque(layout);
  }
}

LayoutParser::Result LayoutParser::part(Layout &layout, unsigned depth) {
  Expected<Layout> inner = expression(depth + 1);
  if (!inner)
    return tl::unexpected(inner.error());
  layout.parts.push_back(std::move(*inner));
  return {};
}

LayoutParser::Result LayoutParser::number(Layout &layout) {
  size_t begin = at;
  if (peek() == '-' || peek() == '+')
    return refuse(begin, "a sign", "decimal digits",
                  "numbers are not negative and have no sign");
  std::string_view digits = takeWhile(isDigit);
  if (digits.empty())
    return refuse(begin, "no number", "decimal digits");
  if (digits.size() > 1 && digits.front() == '0')
    return refuse(begin, "a leading zero", "a number without leading zeros",
                  "the text is hashed as it is, so there is one spelling");
  int64_t value = 0;
  for (char c : digits)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, c - '0', &value))
      return refuse(begin, "too large a number", "a number below 2^63");
  layout.numbers.push_back(value);
  return {};
}

LayoutParser::Result LayoutParser::list(Layout &layout, size_t count) {
  std::string owner(layoutKindName(layout.which));
  if (Result open = take('[', "before the numbers of " + owner); !open)
    return open;
  while (true) {
    if (layout.numbers.size() == Layout::kMaxPermNumbers)
      return refuse(at, "too many numbers",
                    "at most " + std::to_string(Layout::kMaxPermNumbers) +
                        " numbers");
    if (Result next = number(layout); !next)
      return next;
    if (peek() != ',')
      break;
    if (layout.numbers.size() == count)
      return refuse(at, "too many extents",
                    "']' after the " + std::to_string(count) + " extents of " +
                        owner);
    ++at;
  }
  if (layout.numbers.size() < count)
    return refuse(at, "too few extents",
                  std::to_string(count) + " extents of " + owner,
                  "a tile has rows and columns");
  return take(']', "after the numbers of " + owner);
}

LayoutParser::Result LayoutParser::opaque(Layout &layout) {
  size_t begin = at;
  layout.vendor = takeWhile(isVendorChar);
  if (layout.vendor.empty())
    return refuse(begin, "no vendor", "letters, digits, '_', '.' or '-'");
  if (Result comma = take(',', "between vendor and blob"); !comma)
    return comma;
  begin = at;
  layout.blob = takeWhile(isHexDigit);
  if (peek() >= 'A' && peek() <= 'F')
    return refuse(at, "an upper-case digit", "lower-case hexadecimal digits",
                  "the text is hashed as it is, so there is one spelling");
  if (layout.blob.size() % 2 != 0)
    return refuse(begin, "half a byte", "an even number of hexadecimal digits",
                  "the blob has " + std::to_string(layout.blob.size()) +
                      " digits");
  return {};
}

Expected<Layout> Layout::parse(std::string_view text) {
  return LayoutParser(text).run();
}
