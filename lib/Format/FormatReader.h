//===- FormatReader.h - the pieces of the text of a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_FORMATREADER_H
#define GRIT_LIB_FORMAT_FORMATREADER_H

#include "TextCursor.h"
#include "grit/Format/FormatText.h"

namespace grit {

/// Reads planes, fields, numbers and factors. Where an integer stands, the name
/// of a parameter may.
class FormatReader {
public:
  FormatReader(TextCursor &cursor, const std::vector<PlaneInfo> &planes,
               const std::vector<ParameterValue> &parameters)
      : cursor(cursor), planes(planes), parameters(parameters) {}

  void readPlanes(std::vector<PlaneInfo> &into);
  BitField readField();
  FormatWord readWord();
  /// The number of a level and the length of its vectors.
  std::pair<Number, unsigned> readLevel();
  /// `kind` is "scale" or "offset".
  Factor readFactor(std::string_view kind, std::string name);
  /// Factors without a name get `prefix` and their number.
  std::vector<Factor> readFactors(std::string_view kind,
                                  std::string_view prefix);

  /// How codes are chosen: a rule, and what it goes by.
  Encoding readEncoding();
  /// "rne:satfinite".
  void readRounding(Rounding &rounding, Saturation &saturation);
  /// The number of the word that follows among `names`.
  size_t choice(std::span<const std::string_view> names);

  /// Where the planes and factors are, "plane 'blocks'", "scale 'd'", as
  /// validate calls them.
  const std::vector<std::pair<std::string, size_t>> &places() const {
    return found;
  }

  /// An integer that is not negative.
  int64_t integer();
  /// One that fits in 32 bits.
  unsigned smallInteger();
  /// An integer with an optional minus sign.
  int64_t signedInteger();
  /// A decimal number that binary32 holds exactly, or eight hex digits.
  float readEntry();

private:
  /// "NAME =", or nothing.
  std::string_view takeName();
  PlaneInfo readPlane();
  unsigned readPlaneOfField();
  std::vector<Digit> readDigits();
  BitSlice readSlice();
  Number readNumber();
  void readArithmetic(Number &number);
  std::vector<float> readTable();
  std::vector<float> readBytes();
  void readGroup(Factor &factor);
  void readDemand(Demands &demands);
  void readStep(AbsMaxSteps &steps);
  void keepPlace(std::string_view kind, std::string_view name, size_t place) {
    found.emplace_back(std::string(kind) + " '" + std::string(name) + "'",
                       place);
  }

  TextCursor &cursor;
  const std::vector<PlaneInfo> &planes;
  const std::vector<ParameterValue> &parameters;
  std::vector<std::pair<std::string, size_t>> found;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_FORMATREADER_H
