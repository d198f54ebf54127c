//===- ByteOrderMark.h - U+FEFF before a text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some editors put it there. No text that grit reads may begin with it, and it
// does not show, so that the refusal must name it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_BYTEORDERMARK_H
#define GRIT_FORMAT_BYTEORDERMARK_H

#include <string_view>

namespace grit {

inline bool startsWithBom(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF");
}

inline constexpr std::string_view kBomCause =
    "a byte order mark (U+FEFF) stands before the text";
inline constexpr std::string_view kBomFix =
    "save the text as UTF-8 without the mark";

} // namespace grit

#endif // GRIT_FORMAT_BYTEORDERMARK_H
