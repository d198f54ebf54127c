//===- ForeignFormats.h - formats that are no grades -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They are written as text, in lib/Format/Formats, which the build embeds.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_FOREIGNFORMATS_H
#define GRIT_LIB_FORMAT_FOREIGNFORMATS_H

#include "grit/Format/FormatText.h"
#include <span>
#include <string_view>

namespace grit {

/// A format of somebody else, or a family of them with one integer parameter.
struct ForeignFormat {
  std::string_view text;
  NamedFormat format; ///< with the default of the parameter

  /// The parameter, or null for a format without one.
  const FormatParameter *parameter() const {
    return format.parameters.empty() ? nullptr : &format.parameters.front();
  }
};

/// The texts that the build embeds, one for each format.
std::span<const std::string_view> foreignTexts();

/// All of them, in the order of the documentation; read once.
std::span<const ForeignFormat> foreignFormats();

} // namespace grit

#endif // GRIT_LIB_FORMAT_FOREIGNFORMATS_H
