//===- Limits.cpp - formats that the emitter has no code for -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "grit/KernelGen/KernelGen.h"

using namespace grit;
using namespace grit::kernelgen;

static Error refuse(std::string field, std::string declared,
                    std::string found) {
  return makeError(Status::GradeUnknown,
                   "no kernel is generated for this contract", std::move(field),
                   std::move(declared), std::move(found), {},
                   "decode it with the library (grit dequantize, "
                   "grit_dequantize), or use another contract")
      .value();
}

static std::string bitsText(unsigned count) {
  return std::to_string(count) + " bits";
}

/// A field is read as one 32-bit word, wherever its bits start.
static std::optional<Error> whyNotRead(const BitField &field,
                                       const std::string &name) {
  for (const BitSlice &slice : field.slices) {
    unsigned worstStart = 8 - static_cast<unsigned>(addressAlignment(slice));
    if (worstStart + slice.width > 32)
      return refuse(name, "bits that lie in four bytes",
                    bitsText(slice.width) + " at any bit of a byte");
  }
  return std::nullopt;
}

/// A number is put together in the fields of binary32.
static std::optional<Error> whyNotNumber(const Number &number,
                                         const std::string &name) {
  FormatWord word = number.word;
  if (word.isExponentOnly() || word == words::Binary32)
    return std::nullopt;
  if (word.isInteger()) {
    // Wider ones round when they become binary32, and again when scaled.
    if (number.exp2 != 0 && word.width() > 24)
      return refuse(name, "integers of at most 24 bits under a power of two",
                    bitsText(word.width()));
    return std::nullopt;
  }
  if (word.exponentBits() > 8 || word.mantissaBits() > 23)
    return refuse(name, "at most 8 bits of exponent and 23 of fraction",
                  word.str());
  return std::nullopt;
}

static std::optional<Error> whyNotField(const BitField &field,
                                        const std::string &name) {
  if (field.radix)
    return refuse(name, "bits of one value", "digits that share bits");
  for (const BitSlice &slice : field.slices)
    for (const Digit &digit : slice.digits)
      if (!digit.table.empty())
        return refuse(name, "addresses by arithmetic", "a table of addresses");
  return whyNotRead(field, name);
}

static std::optional<Error> whyNotLevel(const FormatDescription &description) {
  const Level &level = description.level;
  if (level.vector > 1)
    return refuse("e", "a code for each element",
                  "codes of " + std::to_string(level.vector) + " elements");
  if (level.signs)
    return refuse("signs", "none", "signs beside the codes");
  if (level.book)
    return refuse("book", "none", "a table of levels in each array");
  constexpr unsigned kWidestTableCode = 8;
  if (!level.number.isTable())
    return whyNotNumber(level.number, "e");
  if (description.codes.width() > kWidestTableCode)
    return refuse("codes", "at most " + bitsText(kWidestTableCode),
                  bitsText(description.codes.width()));
  return std::nullopt;
}

static std::optional<Error> whyNotFactor(const Factor &factor) {
  if (factor.number.isTable())
    return refuse(factor.name, "the number of a format word", "a table");
  if (factor.op != FactorOp::Multiply)
    return refuse(factor.name, "a factor that multiplies",
                  factor.op == FactorOp::Divide ? "one that divides"
                                                : "one that is added");
  if (factor.afterLevel)
    return refuse(factor.name, "a factor of S", "one that follows the level");
  if (factor.group == kWholeAxis)
    return refuse(factor.name, "groups of a fixed size", "one for each line");
  if (factor.order == ElementOrder::Block)
    return refuse(factor.name, "groups along one axis", "blocks of two axes");
  if (auto error = whyNotNumber(factor.number, factor.name))
    return error;
  return whyNotField(factor.bits, factor.name);
}

std::optional<Error>
kernelgen::whyNotEmitted(const FormatDescription &description) {
  if (!description.projection.isIdentity())
    return refuse("dt", "binary32", description.projection.format.str());
  if (auto error = whyNotLevel(description))
    return error;
  if (auto error = whyNotField(description.codes, "codes"))
    return error;
  if (description.scales.empty())
    return refuse("scales", "at least one", "none");
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      if (auto error = whyNotFactor(factor))
        return error;
  if (description.sparsity)
    return whyNotField(description.sparsity->indices, "indices");
  return std::nullopt;
}
