//===- DescriptionFields.cpp - fields and numbers by themselves -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescriptionVerifier.h"
#include <bit>
#include <cmath>

using namespace grit;
using namespace grit::verifier;

static constexpr int64_t kMaxStride = int64_t(1) << 32;
static constexpr size_t kMaxDigits = 16;
/// Entries of the table of a digit.
static constexpr int64_t kMaxDigitTable = 4096;
/// Integers up to this are numbers of binary32.
static constexpr int64_t kMaxExact = int64_t(1) << 24;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static std::optional<Error> verifyDigits(const std::string &name,
                                         const std::vector<Digit> &digits) {
  if (digits.size() > kMaxDigits)
    return fault(name, "it has too many digits", "at most 16",
                 str(digits.size()));
  for (const Digit &digit : digits) {
    if (digit.div < 1 || digit.div > kMaxSize || digit.mod < 0 ||
        digit.mod > kMaxSize || exceeds(digit.stride, kMaxStride))
      return fault(name, "a digit is out of range",
                   "div 1 to 2^40, mod 0 to 2^40, stride within 2^32",
                   "div " + str(digit.div) + ", mod " + str(digit.mod) +
                       ", stride " + str(digit.stride));
    if (digit.table.empty())
      continue;
    if (digit.mod > kMaxDigitTable ||
        digit.mod != static_cast<int64_t>(digit.table.size()))
      return fault(name, "the table of a digit does not have an entry for each",
                   "mod, at most 4096, entries",
                   str(digit.table.size()) + " for mod " + str(digit.mod));
    for (int64_t entry : digit.table)
      if (exceeds(entry, kMaxStride))
        return fault(name, "an entry of the table of a digit is out of range",
                     "within 2^32", str(entry));
  }
  return std::nullopt;
}

static std::optional<Error> verifySlices(const std::string &name,
                                         const BitField &field) {
  if (field.slices.empty())
    return fault(name, "it has no bits");
  uint64_t covered = 0;
  for (const BitSlice &slice : field.slices) {
    if (slice.width < 1 || slice.width > 32 || slice.shift > 32 ||
        slice.width + slice.shift > 32)
      return fault(name, "a slice does not fit in 32 bits",
                   "width + shift at most 32",
                   str(slice.width) + " + " + str(slice.shift));
    uint64_t bits = ((uint64_t(1) << slice.width) - 1) << slice.shift;
    if (covered & bits)
      return fault(name, "two slices form the same bits of the value");
    covered |= bits;
    if (exceeds(slice.base, kMaxSize))
      return fault(name, "a slice has a base out of range", "within 2^40",
                   str(slice.base));
    if (auto error = verifyDigits(name, slice.digits))
      return error;
  }
  if (covered & (covered + 1))
    return fault(name, "its slices leave a gap in the value");
  return std::nullopt;
}

static std::optional<Error> verifyRadix(const std::string &name,
                                        const BitField &field) {
  const Radix &radix = *field.radix;
  if (radix.base < 2 || radix.base > 256)
    return fault(name, "the base of its digits is out of range", "2 to 256",
                 str(radix.base));
  if (field.storedWidth() < field.width())
    return fault(name, "its bits are too few for a digit",
                 "at least " + str(field.width()), str(field.storedWidth()));
  for (const Digit &digit : radix.place)
    if (digit.mod == 0)
      return fault(name, "the places of its digits never come again",
                   "a modulus in each part of a place", "none");
  return verifyDigits(name, radix.place);
}

std::optional<Error> verifier::verifyField(const FormatDescription &description,
                                           const Use &use) {
  const BitField &field = *use.bits;
  if (field.plane >= description.planes.size())
    return fault(use.name, "its plane does not exist",
                 "less than " + str(description.planes.size()),
                 str(field.plane));
  if (field.isMsbStream()) {
    if (field != BitField::msbStream(field.plane, field.msbStreamWidth) ||
        field.msbStreamWidth > 32)
      return fault(use.name, "a stream has a width up to 32 and no slices");
    return std::nullopt;
  }
  if (auto error = verifySlices(use.name, field))
    return error;
  return field.radix ? verifyRadix(use.name, field) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<Error> verifyTable(const std::string &name,
                                        const Number &number, unsigned width,
                                        unsigned vector) {
  if (!number.word.isAbsent() || number.exp2 || number.times != 1 ||
      number.plus)
    return fault(name, "a table has its numbers from itself alone",
                 "no word, multiple, addend or power of two", "one of them");
  if (width > kMaxTableBits)
    return fault(name, "codes are too wide for a table", "at most 16 bits",
                 str(width));
  size_t entries = (size_t(1) << width) * vector;
  if (number.table.size() != entries)
    return fault(name,
                 vector == 1
                     ? "the table does not have one entry per code"
                     : "the table does not have one entry per code and element",
                 str(entries), str(number.table.size()));
  return std::nullopt;
}

/// That `word * times + plus`, times a power of two, is exact for integers.
static std::optional<Error> verifyExact(const std::string &name,
                                        const Number &number) {
  FormatWord word = number.word;
  if (!word.isInteger()) {
    if (number.times != 1 && number.times != -1)
      return fault(name, "a multiple needs an integer word",
                   "an integer word, or the multiple -1", word.str());
    if (number.plus && (number.exp2 || exceeds(number.plus, kMaxExact)))
      return fault(name, "what is added to a float is out of range",
                   "an integer of at most 24 bits, and no power of two",
                   str(number.plus));
    return std::nullopt;
  }
  constexpr int kMaxShift = 100; // of 25 bits: neither subnormal nor infinite
  bool inRange = number.times != 0 && !exceeds(number.times, kMaxExact) &&
                 !exceeds(number.plus, kMaxExact) && word.width() <= 24 &&
                 !exceeds(number.exp2, kMaxShift);
  int64_t most = int64_t(1) << (word.width() - !word.isUnsigned());
  if (inRange)
    most = most * std::abs(number.times) + std::abs(number.plus);
  if (!inRange || most > kMaxExact)
    return fault(name, "its multiple and addend might not be exact",
                 "results of at most 24 bits, a power of two from -100 to 100",
                 word.str() + " times " + str(number.times) + " plus " +
                     str(number.plus) + ", exponent " + str(number.exp2));
  return std::nullopt;
}

std::optional<Error> verifier::verifyNumber(const std::string &name,
                                            const Number &number,
                                            unsigned width, unsigned vector) {
  if (number.isTable())
    return verifyTable(name, number, width, vector);
  if (number.word.isAbsent())
    return fault(name, "it has no format word");
  if (auto error = number.word.validate())
    return fault(name, error->message, error->declared, number.word.str());
  if (number.exp2 < -256 || number.exp2 > 256)
    return fault(name, "its power of two is out of range", "-256 to 256",
                 str(number.exp2));
  if (number.word.width() != width)
    return fault(name, "its width is not that of its bits", str(width),
                 str(number.word.width()));
  return number.isPlain() ? std::nullopt : verifyExact(name, number);
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

std::optional<Error>
verifier::verifyDemands(const FormatDescription &description,
                        const std::string &name, const Factor &factor,
                        bool isScale) {
  const Demands &demands = factor.demands;
  bool isUnsigned = demands.has(Demand::Unsigned);
  bool isPositive = demands.has(Demand::Positive);
  int signs = isUnsigned + isPositive + demands.has(Demand::NotNegative);
  if (signs > 1 ||
      (demands.has(Demand::PlusZero) && (isUnsigned || isPositive)))
    return fault(name, "one of its demands follows from another",
                 "one of unsigned, not_negative and positive, and plus_zero "
                 "with not_negative or without them",
                 "several");
  if (!demands.has(Demand::ZeroClears))
    return std::nullopt;
  if (!isScale || description.sparsity || isPositive)
    return fault(name, "its zeros have no level to clear",
                 "zero_clears of a scale that can be 0, without sparsity",
                 isPositive ? "positive"
                 : isScale  ? "sparsity"
                            : "an offset");
  return std::nullopt;
}

std::optional<Error>
verifier::verifyIllegalCodes(const FormatDescription &description) {
  const std::vector<uint32_t> &codes = description.illegalCodes;
  if (codes.empty())
    return std::nullopt;
  unsigned width = description.codes.width();
  if (width > kMaxTableBits)
    return fault("illegal", "codes are too wide to list some of them",
                 "at most 16 bits", str(width));
  for (size_t i = 1; i < codes.size(); ++i)
    if (codes[i] <= codes[i - 1])
      return fault("illegal", "its codes do not ascend",
                   "more than " + str(codes[i - 1]), str(codes[i]));
  if (codes.back() >> width)
    return fault("illegal", "no such code", "less than 2^" + str(width),
                 str(codes.back()));
  if (codes.size() == size_t(1) << width)
    return fault("illegal", "no code is legal", "at least one", "none");
  return std::nullopt;
}
