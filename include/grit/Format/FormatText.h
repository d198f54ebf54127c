//===- FormatText.h - formats as text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text in which formats are written: spec/gritfmt1.md. The canonical text
// of a description is one spelling of it. What people write may have white
// space, comments, names, an encoder and parameters beside it.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_FORMATTEXT_H
#define GRIT_FORMAT_FORMATTEXT_H

#include "grit/Format/Description.h"
#include "grit/Format/Placement.h"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// An integer that stands for a name in the text: a power of two from `least`
/// to `most`.
struct FormatParameter {
  std::string name;
  int64_t byDefault = 0, least = 0, most = 0;

  bool accepts(int64_t value) const {
    return value >= least && value <= most && (value & (value - 1)) == 0;
  }
};

/// The value of a parameter.
struct ParameterValue {
  std::string_view name;
  int64_t value;
};

/// A format with everything that its text says of it.
struct NamedFormat {
  std::string name;    ///< empty where the text gives none
  std::string summary; ///< one line, or empty
  FormatDescription description;
  Placements placements;
  std::vector<FormatParameter> parameters;
};

/// Characters of a text that are read: enough for any description of a format,
/// and short enough for any caller.
inline constexpr size_t kMaxFormatText = 1 << 16;

/// Reads a field alone, "p0:4@16+i/32*144|...", of a plane that has no name.
/// Nothing is proved of its addresses.
Expected<BitField> parseField(std::string_view text);

/// Reads the text of one format. Parameters that are not given have their
/// defaults. What is returned is well-formed; an error says line and column,
/// what was expected and what was found.
Expected<NamedFormat> parseFormat(std::string_view text,
                                  std::span<const ParameterValue> values = {});

/// "ggml_exp2", ...: an encode rule in the text of a format.
std::string_view encodeRuleName(EncodeRule rule);
/// The rule of a name, or an error with the names.
Expected<EncodeRule> parseEncodeRule(std::string_view name);

} // namespace grit

#endif // GRIT_FORMAT_FORMATTEXT_H
