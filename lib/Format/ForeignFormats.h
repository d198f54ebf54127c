//===- ForeignFormats.h - formats that are no grades -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_FOREIGNFORMATS_H
#define GRIT_LIB_FORMAT_FOREIGNFORMATS_H

#include "grit/Format/Description.h"
#include "grit/Format/Placement.h"
#include <span>
#include <string_view>

namespace grit {

/// A format of somebody else, or a family of them with one integer parameter.
struct ForeignFormat {
  std::string_view name;
  std::string_view summary;
  Placements placements;
  /// "block", or empty for a format without a parameter.
  std::string_view parameter;
  /// Powers of two from `least` to `most` are accepted.
  int64_t byDefault = 0, least = 0, most = 0;
  /// The description for a value of the parameter (ignored without one).
  FormatDescription (*describe)(int64_t parameter);
};

/// All of them, in the order of the documentation.
std::span<const ForeignFormat> foreignFormats();

} // namespace grit

#endif // GRIT_LIB_FORMAT_FOREIGNFORMATS_H
