//===- Text.h - text for messages -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_TEXT_H
#define GRIT_FORMAT_TEXT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace grit {

/// "0x" and at least `digits` lower-case hex digits.
std::string hexWord(uint64_t value, unsigned digits);

/// Text from outside in single quotes, fit for a terminal: bytes that do not
/// print become \xNN, and long text is cut.
std::string quoteText(std::string_view text);

/// ASCII lower case; other bytes stay.
std::string toLower(std::string_view text);

/// "did you mean 'x'?" for the candidate nearest to `text` by edit distance, or
/// "" when none is near.
std::string didYouMean(std::string_view text,
                       std::span<const std::string_view> candidates);

/// "[2, 64]".
std::string shapeText(std::span<const int64_t> shape);

} // namespace grit

#endif // GRIT_FORMAT_TEXT_H
