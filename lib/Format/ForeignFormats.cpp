//===- ForeignFormats.cpp - reads the texts of formats that are no grades -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignFormats.h"

using namespace grit;

/// The files of lib/Format/Formats, in the order of its CMakeLists.txt.
static constexpr std::string_view kTexts[] = {
#include "ForeignFormats.inc"
};

std::span<const std::string_view> grit::foreignTexts() { return kTexts; }

std::span<const ForeignFormat> grit::foreignFormats() {
  static const std::vector<ForeignFormat> formats = [] {
    std::vector<ForeignFormat> all;
    // A text that cannot be read is no format; a test reads each.
    for (std::string_view text : kTexts)
      if (Expected<NamedFormat> format = parseFormat(text))
        all.push_back({text, std::move(*format)});
    return all;
  }();
  return formats;
}
