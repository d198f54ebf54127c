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

static std::optional<Error> whyNotLevel(const FormatDescription &description) {
  const Level &level = description.level;
  bool isPlain = level.vector == 1 && !level.signs && !level.book;
  if (description.sparsity && !isPlain)
    return refuse("sparse", "a code for each element", "vectors or signs");
  constexpr unsigned kWidestTableCode = 8;
  if (!level.number.isTable())
    return whyNotNumber(level.number, "e");
  if (isPlain && description.codes.width() > kWidestTableCode)
    return refuse("codes", "at most " + bitsText(kWidestTableCode),
                  bitsText(description.codes.width()));
  return std::nullopt;
}

static std::optional<Error> whyNotFactor(const Factor &factor) {
  if (!factor.number.isTable())
    if (auto error = whyNotNumber(factor.number, factor.name))
      return error;
  return whyNotRead(factor.bits, factor.name);
}

std::optional<Error>
kernelgen::whyNotEmitted(const FormatDescription &description) {
  if (!description.projection.isIdentity())
    return refuse("dt", "binary32", description.projection.format.str());
  if (auto error = whyNotLevel(description))
    return error;
  if (auto error = whyNotRead(description.codes, "codes"))
    return error;
  if (const auto &signs = description.level.signs)
    if (auto error = whyNotRead(signs->bits, "signs"))
      return error;
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      if (auto error = whyNotFactor(factor))
        return error;
  if (description.order)
    if (auto error = whyNotRead(*description.order, "order"))
      return error;
  if (description.sparsity)
    return whyNotRead(description.sparsity->indices, "indices");
  return std::nullopt;
}
