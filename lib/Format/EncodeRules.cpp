//===- EncodeRules.cpp - what the encoders of all formats share -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

#include <algorithm>
#include <cstdio>
#include <limits>

using namespace grit;

tl::unexpected<Error> grit::refuseRule(std::string_view rule, std::string field,
                                       std::string declared,
                                       std::string found) {
  return makeError(Status::GradeUnknown,
                   "the encode rule " + std::string(rule) +
                       " is not defined for this format",
                   std::move(field), std::move(declared), std::move(found),
                   "the format can be stored and decoded, but its text gives "
                   "this rule no meaning",
                   "encode into a registered format");
}

std::optional<Error> grit::checkScaled(const FormatDescription &format,
                                       std::string_view rule, Level::Kind kind,
                                       size_t scales) {
  if (format.scales.size() != scales)
    return refuseRule(rule, "scales", std::to_string(scales),
                      std::to_string(format.scales.size()))
        .value();
  if (format.offset.kind != Offset::Kind::None)
    return refuseRule(rule, "offset", "none", "a zero point or a minimum")
        .value();
  if (format.level.kind != kind)
    return refuseRule(rule, "level",
                      kind == Level::Kind::Table ? "a table" : "a number",
                      kind == Level::Kind::Table ? "a number" : "a table")
        .value();
  return std::nullopt;
}

Expected<StepTable> grit::elementTable(const FormatDescription &format,
                                       std::string_view rule) {
  const Level &level = format.level;
  if (level.bias != 0 || level.number.exp2 != 0)
    return refuseRule(rule, "level", "a number without a bias or a shift",
                      "one with");
  return StepTable::forWord(level.number.word, format.encoding.rounding,
                            format.encoding.saturation);
}

std::string grit::numberText(float x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(x));
  return buffer;
}

float grit::absMax(std::span<const float> values) {
  float result = 0;
  for (float v : values)
    result = std::fabs(v) > result ? std::fabs(v) : result;
  return result;
}

bool grit::allFinite(std::span<const float> values) {
  bool finite = true;
  for (float v : values)
    finite &= std::fabs(v) <= std::numeric_limits<float>::max();
  return finite;
}

uint32_t grit::wordCode(const Number &number, float x,
                        const Encoding &encoding) {
  // Only a NaN fails, and no rule asks for the code of one.
  return encodeWord(number.word, std::ldexp(x, -number.exp2), encoding.rounding,
                    encoding.saturation)
      .value_or(0);
}

uint32_t grit::positiveCode(const Number &number, float x,
                            const Encoding &encoding) {
  uint32_t code = wordCode(number, x, encoding);
  // Codes rise with the value, and only code 0 can stand for zero.
  return number.decode(code) > 0 ? code : 1;
}

std::optional<uint32_t> grit::nanCode(const Number &number) {
  auto code = encodeWord(number.word, std::numeric_limits<float>::quiet_NaN());
  return code ? std::optional<uint32_t>(*code) : std::nullopt;
}

Error grit::searchOverflow(const EncodeUnit &unit) {
  return makeError(
             Status::GradeUnknown, "the search for a scale overflows binary32",
             "values[" + std::to_string(unit.first) + "] and after",
             "magnitudes below about 1e12", numberText(absMax(unit.values)),
             "squares and cubes of the values are summed",
             "scale the tensor down, or encode into another contract")
      .value();
}
