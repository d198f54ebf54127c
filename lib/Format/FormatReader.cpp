//===- FormatReader.cpp - the pieces of the text of a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatReader.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

using namespace grit;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

int64_t FormatReader::integer() {
  if (std::optional<int64_t> digits = cursor.takeDigits())
    return *digits;
  size_t place = cursor.position();
  std::string_view name = cursor.takeWord();
  for (const ParameterValue &parameter : parameters)
    if (parameter.name == name)
      return parameter.value;
  cursor.failAt(place, parameters.empty() ? "an integer"
                                          : "an integer or a parameter");
  return 0;
}

unsigned FormatReader::smallInteger() {
  size_t place = cursor.position();
  int64_t value = integer();
  if (value > std::numeric_limits<unsigned>::max()) {
    cursor.failAt(place, "an integer below 2^32");
    return 0;
  }
  return static_cast<unsigned>(value);
}

int64_t FormatReader::signedInteger() {
  return cursor.take("-") ? -integer() : integer();
}

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

std::string_view FormatReader::takeName() {
  TextCursor ahead = cursor;
  std::string_view name = ahead.takeWord();
  if (name.empty() || !ahead.take("="))
    return {};
  cursor = ahead;
  return name;
}

/// "blocks = 144/32@0": bits, elements, placement word.
PlaneInfo FormatReader::readPlane() {
  PlaneInfo plane;
  plane.name = takeName();
  plane.bits = integer();
  cursor.expect("/");
  if (cursor.take("axis")) {
    plane.elements = kWholeAxis;
  } else if (cursor.take("pos")) {
    plane.elements = kAxisPositions;
  } else {
    plane.elements = integer();
    if (cursor.take("x")) {
      plane.rows = plane.elements;
      plane.elements = integer();
    }
  }
  cursor.expect("@");
  plane.placement = smallInteger();
  return plane;
}

void FormatReader::readPlanes(std::vector<PlaneInfo> &into) {
  cursor.expect("[");
  do {
    size_t place = cursor.position();
    PlaneInfo plane = readPlane();
    if (plane.name.empty())
      plane.name = "p" + std::to_string(into.size());
    keepPlace("plane", plane.name, place);
    into.push_back(std::move(plane));
  } while (cursor.take(","));
  cursor.expect("]");
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// The name of a plane, or "p" and its number.
unsigned FormatReader::readPlaneOfField() {
  size_t place = cursor.position();
  std::string_view name = cursor.takeWord();
  for (unsigned i = 0; i < planes.size(); ++i)
    if (planes[i].name == name || "p" + std::to_string(i) == name)
      return i;
  std::string known;
  for (const PlaneInfo &plane : planes)
    known += (known.empty() ? "" : ", ") + plane.name;
  cursor.failAt(place, planes.empty() ? "the part planes= before a field"
                                      : "one of the planes " + known);
  return 0;
}

std::vector<Digit> FormatReader::readDigits() {
  std::vector<Digit> digits;
  while (cursor.take("+")) {
    Digit digit;
    cursor.expect("i");
    if (cursor.take("/"))
      digit.div = integer();
    if (cursor.take("%")) {
      size_t place = cursor.position();
      digit.mod = integer();
      if (digit.mod == 0)
        cursor.failAt(place, "1 or more");
    }
    if (cursor.take("[")) {
      do
        digit.table.push_back(signedInteger());
      while (cursor.take(","));
      cursor.expect("]");
    }
    cursor.expect("*");
    digit.stride = signedInteger();
    digits.push_back(std::move(digit));
  }
  return digits;
}

BitSlice FormatReader::readSlice() {
  BitSlice slice;
  slice.width = smallInteger();
  cursor.expect("@");
  slice.base = signedInteger();
  slice.digits = readDigits();
  if (cursor.take("<<"))
    slice.shift = smallInteger();
  return slice;
}

BitField FormatReader::readField() {
  BitField field;
  field.plane = readPlaneOfField();
  cursor.expect(":");
  if (cursor.take("base")) {
    Radix radix;
    radix.base = smallInteger();
    cursor.expect("^");
    cursor.expect("(");
    radix.place = readDigits();
    cursor.expect(")");
    cursor.expect(":");
    field.radix = std::move(radix);
  } else if (cursor.digitComesNext()) {
    TextCursor ahead = cursor;
    std::optional<int64_t> width = ahead.takeDigits();
    if (width && ahead.take("@") && ahead.take("msb")) {
      cursor = ahead;
      if (*width < 1 || *width > 32)
        cursor.fail("a stream of values of 1 to 32 bits");
      return BitField::msbStream(field.plane, static_cast<unsigned>(*width));
    }
  }
  do
    field.slices.push_back(readSlice());
  while (cursor.take("|"));
  return field;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

FormatWord FormatReader::readWord() {
  size_t place = cursor.position();
  std::string_view token = cursor.takeWord();
  if (std::optional<FormatWord> known = lookupWord(token))
    return *known;
  uint16_t bits = 0;
  if (token.size() == 6 && token.starts_with("0x")) {
    auto [end, code] =
        std::from_chars(token.data() + 2, token.data() + 6, bits, 16);
    if (code == std::errc() && end == token.data() + 6)
      return FormatWord(bits);
  }
  cursor.failAt(place, "a number format: a token of GRIT v1, or 0x and four "
                       "hex digits");
  return {};
}

/// A word of binary32 in eight hex digits, or a decimal number that binary32
/// holds exactly.
float FormatReader::readEntry() {
  size_t place = cursor.position();
  std::string_view token = cursor.takeUntil(",]");
  const char *first = token.data(), *last = first + token.size();
  uint32_t word = 0;
  auto [hexEnd, hexCode] = std::from_chars(first, last, word, 16);
  if (token.size() == 8 && hexEnd == last && hexCode == std::errc())
    return std::bit_cast<float>(word);
  double real = 0;
  auto [end, code] = std::from_chars(first, last, real);
  auto rounded = static_cast<float>(real);
  if (token.empty() || end != last || code != std::errc() ||
      !std::isfinite(real) || static_cast<double>(rounded) != real) {
    cursor.failAt(place, "a number of binary32: eight hex digits, or a decimal "
                         "number that it holds exactly");
    return 0;
  }
  return rounded;
}

std::vector<float> FormatReader::readTable() {
  std::vector<float> table;
  do
    table.push_back(readEntry());
  while (!cursor.fault() && cursor.take(","));
  cursor.expect("]");
  return table;
}

/// Bytes in two's complement, two hex digits each, in pieces of any length.
std::vector<float> FormatReader::readBytes() {
  std::vector<float> table;
  while (!cursor.atEnd() && !cursor.comesNext("]")) {
    size_t place = cursor.position();
    std::string_view piece = cursor.takeUntil("]");
    for (size_t i = 0; i < piece.size(); i += 2) {
      uint8_t byte = 0;
      const char *first = piece.data() + i;
      bool isWhole = i + 2 <= piece.size();
      if (!isWhole ||
          std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
        cursor.failAt(place + i, "two hex digits for each byte");
        return table;
      }
      table.push_back(static_cast<int8_t>(byte));
    }
  }
  cursor.expect("]");
  return table;
}

/// What follows the word: "*3", "+1" or "-1", "*2^-3", each at most once.
void FormatReader::readArithmetic(Number &number) {
  bool hasTimes = false, hasPlus = false;
  while (!cursor.fault()) {
    if (!hasPlus && (cursor.comesNext("+") || cursor.comesNext("-"))) {
      hasPlus = true;
      number.plus = cursor.take("+") ? integer() : signedInteger();
      continue;
    }
    if (!cursor.take("*"))
      return;
    size_t place = cursor.position();
    int64_t value = signedInteger();
    if (cursor.take("^")) {
      if (value != 2)
        cursor.failAt(place, "a power of two");
      int64_t exponent = signedInteger();
      constexpr int64_t kMost = 1 << 20;
      if (exponent < -kMost || exponent > kMost)
        cursor.failAt(place, "an exponent within 2^20");
      number.exp2 = static_cast<int>(exponent);
      return;
    }
    if (hasTimes || hasPlus)
      return cursor.failAt(place, "a power of two");
    hasTimes = true;
    number.times = value;
  }
}

Number FormatReader::readNumber() {
  Number number;
  if (cursor.take("[")) {
    number.table = readTable();
    return number;
  }
  number.word = readWord();
  readArithmetic(number);
  return number;
}

std::pair<Number, unsigned> FormatReader::readLevel() {
  unsigned vector = 1;
  if (cursor.take("v")) {
    vector = smallInteger();
    cursor.expect(":");
  }
  TextCursor ahead = cursor;
  if (!ahead.take("s8") || !ahead.take("["))
    return {readNumber(), vector};
  cursor = ahead;
  Number number;
  number.table = readBytes();
  return {std::move(number), vector};
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

void FormatReader::readGroup(Factor &factor) {
  if (cursor.take("all"))
    return;
  if (cursor.take("lin")) {
    cursor.expect("/");
    factor.group = integer();
    return;
  }
  if (cursor.take("axis")) {
    factor.order = ElementOrder::AxisFastest;
    factor.group = cursor.take("/") ? integer() : kWholeAxis;
    return;
  }
  if (!cursor.digitComesNext() && parameters.empty())
    return cursor.fail("all, lin/N, axis/N, axis or RxN");
  factor.order = ElementOrder::Block;
  factor.rows = integer();
  cursor.expect("x");
  factor.group = integer();
}

void FormatReader::readDemand(Demands &demands) {
  size_t place = cursor.position();
  std::string_view word = cursor.takeWord();
  auto found = std::ranges::find(kDemandNames, word);
  if (found == std::end(kDemandNames)) {
    std::string expected;
    for (std::string_view name : kDemandNames)
      expected += (expected.empty() ? "" : ", ") + std::string(name);
    return cursor.failAt(place, "one of " + expected);
  }
  auto demand = static_cast<Demand>(found - std::begin(kDemandNames));
  if (demands.has(demand))
    return cursor.failAt(place, "each demand once");
  demands.add(demand);
}

Factor FormatReader::readFactor(std::string_view kind, std::string name) {
  Factor factor;
  size_t place = cursor.position();
  std::string_view given = takeName();
  factor.name = given.empty() ? std::move(name) : std::string(given);
  keepPlace(kind, factor.name, place);
  factor.afterLevel = cursor.take(">");
  if (cursor.take("/"))
    factor.op = FactorOp::Divide;
  else if (cursor.take("+"))
    factor.op = FactorOp::Add;
  cursor.expect("(");
  factor.number = readNumber();
  cursor.expect(",");
  readGroup(factor);
  cursor.expect(",");
  factor.bits = readField();
  while (cursor.take(","))
    readDemand(factor.demands);
  cursor.expect(")");
  return factor;
}

std::vector<Factor> FormatReader::readFactors(std::string_view kind,
                                              std::string_view prefix) {
  std::vector<Factor> factors;
  cursor.expect("[");
  if (cursor.take("]"))
    return factors;
  do
    factors.push_back(
        readFactor(kind, std::string(prefix) + std::to_string(factors.size())));
  while (cursor.take(","));
  cursor.expect("]");
  return factors;
}
