//===- EncodeRules.cpp - what the encoders of all formats share -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"
#include "grit/Format/FormatText.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

using namespace grit;

//===----------------------------------------------------------------------===//
// Choice of the rule
//===----------------------------------------------------------------------===//

/// Only a search knows what to do with scales below 0.
static std::optional<Error> checkOptions(const Contract &contract,
                                         const EncodeOptions &options,
                                         EncodeRule rule) {
  if (!options.negativeScales || rule == EncodeRule::GroupedSearch)
    return std::nullopt;
  return makeError(Status::GradeUnknown,
                   "the encoder of this contract takes no negative scales",
                   "negative_scales", "false", "true",
                   contract.displayName() + " is encoded by " +
                       std::string(encodeRuleName(rule)),
                   "leave the option out, or ask for the rule grouped_search")
      .value();
}

Expected<RulePtr> grit::makeRule(const Contract &contract,
                                 const EncodeOptions &options) {
  FormatDescription format = contract.description();
  format.encoding.rule = options.rule.value_or(format.encoding.rule);
  if (format.encoding.rule != EncodeRule::None)
    if (auto error = checkStructure(format))
      return tl::unexpected(std::move(*error));
  if (auto error = checkOptions(contract, options, format.encoding.rule))
    return tl::unexpected(std::move(*error));
  switch (format.encoding.rule) {
  case EncodeRule::None:
    break;
  case EncodeRule::GroupedAbsMax:
  case EncodeRule::GroupedSearch:
    return makeGroupedRule(format, options.negativeScales);
  case EncodeRule::RowAbsMax:
    return makeRowAbsMaxRule(format);
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
  case EncodeRule::GgmlGridSearch:
  case EncodeRule::GgmlGridSearchAside:
  case EncodeRule::GgmlGridSearchShrunk:
  case EncodeRule::GgmlGridSearch31:
  case EncodeRule::GgmlGridSearchStretched:
    return makeGgmlGridSearchRule(format);
  case EncodeRule::GgmlGridSplit:
  case EncodeRule::GgmlGridSplitFit:
    return makeGgmlGridSplitRule(format);
  case EncodeRule::TableAbsMax:
    return makeTableAbsMaxRule(format);
  case EncodeRule::TableAbsMaxNested:
    return makeTableAbsMaxNestedRule(format);
  case EncodeRule::AbsMax:
    return makeAbsMaxRule(format);
  case EncodeRule::ZeroPointMinMax:
    return makeZeroPointMinMaxRule(format);
  case EncodeRule::GptqSymmetric:
    return makeGptqSymmetricRule(format);
  case EncodeRule::HqqMinMax:
    return makeHqqMinMaxRule(format);
  case EncodeRule::MlxEdge:
    return makeMlxEdgeRule(format);
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
// Codes of elements
//===----------------------------------------------------------------------===//

Expected<ElementCoder> ElementCoder::get(const FormatDescription &format,
                                         std::string_view rule) {
  const Number &number = format.level.number;
  if (number.isTable() || number.times != 1 ||
      (number.plus && !number.word.isInteger()))
    return refuseRule(rule, "level",
                      "a number, a bias of an integer and a power of two",
                      "a table or other multiples");
  ElementCoder coder(number, format.encoding);
  if (!(coder.largest() > 0) || std::isinf(coder.largest()))
    return refuseRule(rule, "level", "a largest number, above 0",
                      numberText(coder.largest()));
  if (number.word.width() > 8)
    return coder;
  // Formats without a sign, integers apart, hold the magnitude.
  coder.dropsSign = number.word.isUnsigned() && !number.word.isInteger();
  if (number.isPlain() && !number.exp2) {
    Expected<StepTable> table = StepTable::forWord(
        number.word, format.encoding.rounding, format.encoding.saturation);
    if (!table)
      return tl::unexpected(table.error());
    coder.table = *table;
    return coder;
  }
  coder.table = StepTable::build([&coder](float x) {
    if (coder.dropsSign && x < 0)
      x = 0;
    return static_cast<uint8_t>(coder.codeOf(x).value_or(0));
  });
  return coder;
}

/// Integers are rounded before the bias is taken away: a tie goes to the even
/// number, and not to the even code.
Expected<uint32_t> ElementCoder::codeOf(float x) const {
  x = std::ldexp(x, -number.exp2);
  if (!number.plus)
    return encodeWord(number.word, x, encoding.rounding, encoding.saturation);
  constexpr FormatWord whole{0x03F7}; // integers of 24 bits with a sign
  Expected<uint32_t> rounded =
      encodeWord(whole, x, encoding.rounding, Saturation::SatFinite);
  if (!rounded)
    return rounded;
  float code = decodeWord(whole, *rounded) - static_cast<float>(number.plus);
  return encodeWord(number.word, code, Rounding::RNE, encoding.saturation);
}

float ElementCoder::largest() const {
  return std::ldexp(maxFinite(number.word) + static_cast<float>(number.plus),
                    number.exp2);
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
    Expected<uint32_t> code = codeOf(quotient(unit.values[i], scale));
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
    std::optional<uint32_t> nan = nanCode(number);
    if (!nan)
      return notANumber(unit);
    std::ranges::fill(unit.codes, static_cast<uint8_t>(*nan));
    return std::nullopt;
  }
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] = code(quotient(unit.values[i], scale));
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

bool WordRounder::isFor(FormatWord word) {
  return word.isFloat() && !word.isUnsigned() && word.exponentBits() > 0 &&
         word.exponentBits() <= 8 && word.mantissaBits() <= 23;
}

WordRounder::WordRounder(FormatWord word)
    : mantissaBits(static_cast<int>(word.mantissaBits())),
      minExponent(1 - word.bias()), largest(maxFinite(word)) {}

float WordRounder::operator()(float x) const {
  if (!std::isfinite(x))
    return x;
  const int exponent =
      std::max(static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 0xFF) - 127,
               minExponent);
  // What is added leaves the bits above the last place of the word.
  const double shift = std::bit_cast<double>(
      uint64_t(1023 + 52 + exponent - mantissaBits) << 52 | uint64_t(1) << 51);
  const double rounded = (static_cast<double>(x) + shift) - shift;
  if (std::fabs(rounded) > largest)
    return std::copysign(std::numeric_limits<float>::infinity(), x);
  return std::copysign(static_cast<float>(rounded), x);
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
