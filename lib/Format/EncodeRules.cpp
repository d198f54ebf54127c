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

//===----------------------------------------------------------------------===//
// Choice of the rule
//===----------------------------------------------------------------------===//

Expected<RulePtr> grit::makeRule(const Contract &contract) {
  const FormatDescription &format = contract.description();
  if (format.encoding.rule != EncodeRule::None)
    if (auto error = checkStructure(format))
      return tl::unexpected(std::move(*error));
  switch (format.encoding.rule) {
  case EncodeRule::None:
    break;
  case EncodeRule::Exp2Floor:
  case EncodeRule::Exp2Ceil:
  case EncodeRule::Exp2Rne:
    return makeExp2Rule(format);
  case EncodeRule::Ratio:
    return makeRatioRule(format);
  case EncodeRule::AffineMinMax:
    return makeAffineMinMaxRule(format);
  case EncodeRule::GgmlSignedMax:
  case EncodeRule::GgmlAbsMax:
  case EncodeRule::GgmlAbsMaxClamped:
    return makeGgmlMaxRule(format);
  case EncodeRule::GgmlReciprocalMax:
    return makeGgmlReciprocalMaxRule(format);
  case EncodeRule::GgmlMinMax:
    return makeGgmlMinMaxRule(format);
  case EncodeRule::GgmlMeanSign:
    return makeGgmlMeanSignRule(format);
  case EncodeRule::GgmlExp2:
    return makeGgmlExp2Rule(format);
  case EncodeRule::GgmlHalfUp:
    return makeGgmlHalfUpRule(format);
  case EncodeRule::GgmlAffineSearch:
  case EncodeRule::GgmlAffineSearch16:
  case EncodeRule::GgmlAffineSearchAbs:
    return makeGgmlAffineSearchRule(format);
  case EncodeRule::GgmlSymmetricSearch:
  case EncodeRule::GgmlSymmetricRefine:
    return makeGgmlSymmetricRule(format);
  case EncodeRule::GgmlTableSearch:
    return makeGgmlTableSearchRule(format);
  case EncodeRule::TableAbsMax:
    return makeTableAbsMaxRule(format);
  }
  return makeError(
      Status::GradeUnknown, "this contract can only be decoded", "encode rule",
      "a rule that grit knows", "none for " + contract.displayName(),
      contract.isGrade() ? "the rule is custom, or belongs to somebody else"
                         : "its description names no encoder",
      "encode into another contract; grit formats says which "
      "can be written");
}

//===----------------------------------------------------------------------===//
// What a format must be
//===----------------------------------------------------------------------===//

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

/// A rule that writes its factors through `wordCode` can negate them.
static bool mayNegate(EncodeRule rule) {
  return rule == EncodeRule::GgmlMinMax;
}

static bool isBiased(const Number &number) {
  return number.word.isInteger() && number.times == 1 && number.exp2 == 0;
}

static std::optional<Error> checkFactor(const Factor &factor, EncodeRule rule,
                                        bool isZero) {
  auto refuse = [&](std::string declared, std::string found) {
    return refuseRule("of this contract", factor.name, std::move(declared),
                      std::move(found))
        .value();
  };
  if (factor.op != FactorOp::Multiply || factor.afterLevel)
    return refuse("a factor of S", "another operation");
  if (factor.bits.radix)
    return refuse("bits of its own", "digits that share bits");
  if (factor.group == kWholeAxis || factor.order == ElementOrder::Block)
    return refuse("groups of a fixed size", "lines or blocks");
  const Number &number = factor.number;
  if (number.isTable()
          ? rule != EncodeRule::GgmlHalfUp
          : number.times != 1 && !(number.times == -1 && mayNegate(rule)))
    return refuse("the number of its word", "another");
  bool takesBias = isZero || rule == EncodeRule::GgmlSymmetricRefine ||
                   rule == EncodeRule::GgmlTableSearch;
  if (number.plus && !(takesBias && isBiased(number)))
    return refuse("the number of its word", "one with a bias");
  return std::nullopt;
}

std::optional<Error> grit::checkStructure(const FormatDescription &format) {
  auto refuse = [](std::string field, std::string declared, std::string found) {
    return refuseRule("of this contract", std::move(field), std::move(declared),
                      std::move(found))
        .value();
  };
  const Level &level = format.level;
  if (level.vector > 1)
    return refuse("level", "a code for each element", "codes of vectors");
  if (level.signs)
    return refuse("signs", "none", "signs beside the codes");
  if (level.book)
    return refuse("book", "none", "a table in the array");
  const EncodeRule rule = format.encoding.rule;
  if (format.codes.radix &&
      (rule != EncodeRule::GgmlAbsMax || format.codes.slices.size() != 1))
    return refuse("codes", "bits of their own", "digits that share bits");
  if (format.scales.empty())
    return refuse("scales", "at least one", "none");
  for (const Factor &factor : format.scales)
    if (auto error = checkFactor(factor, rule, false))
      return error;
  bool isZero = format.offset.kind == Offset::Kind::ZeroPoint;
  for (const Factor &factor : format.offset.factors)
    if (auto error = checkFactor(factor, rule, isZero))
      return error;
  return std::nullopt;
}

std::optional<Error> grit::checkScaled(const FormatDescription &format,
                                       std::string_view rule, LevelKind kind,
                                       size_t scales) {
  if (format.scales.size() != scales)
    return refuseRule(rule, "scales", std::to_string(scales),
                      std::to_string(format.scales.size()))
        .value();
  if (format.offset.kind != Offset::Kind::None)
    return refuseRule(rule, "offset", "none", "a zero point or a minimum")
        .value();
  bool wantsTable = kind == LevelKind::Table;
  if (format.level.number.isTable() != wantsTable)
    return refuseRule(rule, "level", wantsTable ? "a table" : "a number",
                      wantsTable ? "a number" : "a table")
        .value();
  return std::nullopt;
}

Expected<ElementCoder> ElementCoder::get(const FormatDescription &format,
                                         std::string_view rule) {
  const Level &level = format.level;
  if (!level.number.isPlain() || level.number.exp2 != 0)
    return refuseRule(rule, "level", "a number without a bias or a shift",
                      "one with");
  FormatWord word = level.number.word;
  ElementCoder coder(word, format.encoding);
  if (word.width() > 8)
    return coder;
  // Formats without a sign, integers apart, hold the magnitude.
  coder.dropsSign = word.isUnsigned() && !word.isInteger();
  Expected<StepTable> table = StepTable::forWord(word, format.encoding.rounding,
                                                 format.encoding.saturation);
  if (!table)
    return tl::unexpected(table.error());
  coder.table = *table;
  return coder;
}

static float quotient(float v, float scale) {
  return scale == 0 ? std::copysign(0.0f, v) : v / scale;
}

/// The values are finite, so this needs a scale that is not a number: infinity
/// times zero, where the saturation mode lets scales become infinite.
static Error notANumber(const EncodeUnit &unit) {
  return makeError(Status::GradeUnknown,
                   "a scale overflows, and the elements have no NaN",
                   "values[" + std::to_string(unit.first) + "] and after",
                   "magnitudes that the scales can hold",
                   numberText(absMax(unit.values)),
                   "es=ovfinf lets a scale become infinite",
                   "use es=satfinite, or scale the tensor down")
      .value();
}

static std::optional<Error>
checkFinite(const std::vector<Factor> &factors,
            const std::vector<std::span<uint32_t>> &codes,
            const EncodeUnit &unit) {
  for (size_t i = 0; i < factors.size(); ++i)
    for (uint32_t code : codes[i])
      if (!std::isfinite(factors[i].number.decode(code)))
        return makeError(
                   Status::GradeUnknown,
                   "a scale overflows, and what it scales would not be numbers",
                   "values[" + std::to_string(unit.first) + "] and after",
                   "magnitudes for which '" + factors[i].name + "' (" +
                       factors[i].number.word.str() + ") is finite",
                   numberText(absMax(unit.values)),
                   "the tensor holds outliers, or other bytes than were meant",
                   "scale the tensor down, or choose a contract with a wider "
                   "scale")
            .value();
  return std::nullopt;
}

std::optional<Error> grit::checkScalesFinite(const FormatDescription &format,
                                             const EncodeUnit &unit) {
  if (auto error = checkFinite(format.scales, unit.scales, unit))
    return error;
  return checkFinite(format.offset.factors, unit.offsets, unit);
}

std::optional<Error> ElementCoder::encodeWide(EncodeUnit &unit,
                                              float scale) const {
  for (size_t i = 0; i < unit.values.size(); ++i) {
    Expected<uint32_t> code =
        encodeWord(word, quotient(unit.values[i], scale), encoding.rounding,
                   encoding.saturation);
    if (!code)
      return notANumber(unit);
    unit.wideCodes[i] = *code;
  }
  return std::nullopt;
}

std::optional<Error> ElementCoder::encode(EncodeUnit &unit, float scale) const {
  if (!table)
    return encodeWide(unit, scale);
  if (std::isnan(scale)) {
    std::optional<uint32_t> nan = nanCode({word, 0});
    if (!nan)
      return notANumber(unit);
    std::ranges::fill(unit.codes, static_cast<uint8_t>(*nan));
    return std::nullopt;
  }
  for (size_t i = 0; i < unit.values.size(); ++i) {
    float x = quotient(unit.values[i], scale);
    unit.codes[i] = (*table)(dropsSign ? std::fabs(x) : x);
  }
  return std::nullopt;
}

void grit::clearCodes(EncodeUnit &unit) {
  std::ranges::fill(unit.codes, 0);
  std::ranges::fill(unit.wideCodes, 0);
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
  if (number.times == -1)
    x = -x;
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

bool grit::isByteInteger(const Number &number) {
  return number.isPlain() && number.word.isInteger() &&
         number.word.isUnsigned() && number.word.width() <= 8 &&
         number.exp2 == 0;
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
