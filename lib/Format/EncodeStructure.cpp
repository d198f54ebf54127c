//===- EncodeStructure.cpp - what a format must be to have a rule ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeRules.h"

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

/// A rule that writes its factors through `wordCode` can negate them.
static bool mayNegate(EncodeRule rule) {
  return rule == EncodeRule::GgmlMinMax || rule == EncodeRule::MlxEdge;
}

/// A rule for factors that are joined in other ways, or have groups of other
/// kinds, looks at them itself.
static bool checksItsFactors(EncodeRule rule) {
  return rule == EncodeRule::AbsMax || rule == EncodeRule::TableAbsMaxNested;
}

/// A rule that chooses vectors of a grid. It asks for the structure it knows.
static bool choosesVectors(EncodeRule rule) {
  switch (rule) {
  case EncodeRule::GgmlGridSearch:
  case EncodeRule::GgmlGridSearchAside:
  case EncodeRule::GgmlGridSearchShrunk:
  case EncodeRule::GgmlGridSearch31:
  case EncodeRule::GgmlGridSearchStretched:
  case EncodeRule::GgmlGridSplit:
  case EncodeRule::GgmlGridSplitFit:
    return true;
  default:
    return false;
  }
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
  bool isLine = factor.group == kWholeAxis && rule == EncodeRule::RowAbsMax;
  if ((factor.group == kWholeAxis || factor.order == ElementOrder::Block) &&
      !isLine)
    return refuse("groups of a fixed size", "lines or blocks");
  const Number &number = factor.number;
  if (choosesVectors(rule) && (isZero || factor.group != 0))
    return std::nullopt;
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
  const EncodeRule rule = format.encoding.rule;
  if (level.vector > 1 && !choosesVectors(rule))
    return refuse("level", "a code for each element", "codes of vectors");
  if (level.vector == 1 && choosesVectors(rule))
    return refuse("level", "codes of vectors", "a code for each element");
  if (level.signs && !choosesVectors(rule))
    return refuse("signs", "none", "signs beside the codes");
  if (level.book)
    return refuse("book", "none", "a table in the array");
  if (format.codes.radix &&
      (rule != EncodeRule::GgmlAbsMax || format.codes.slices.size() != 1))
    return refuse("codes", "bits of their own", "digits that share bits");
  if (format.scales.empty())
    return refuse("scales", "at least one", "none");
  if (checksItsFactors(rule))
    return std::nullopt;
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
