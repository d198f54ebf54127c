//===- FormatText.cpp - reads the text of a format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/FormatText.h"
#include "FormatReader.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <tuple>

using namespace grit;

//===----------------------------------------------------------------------===//
// Words of the text
//===----------------------------------------------------------------------===//

static constexpr std::string_view kDerivedRules[] = {"sum", "scaled_sum"};

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {

/// One text: its parts, separated by commas, in any order but that what is
/// named comes before its use.
class FormatParser {
public:
  FormatParser(std::string_view text, std::span<const ParameterValue> values)
      : cursor(text), reader(cursor, format.description.planes, parameters),
        values(values) {}

  Expected<NamedFormat> run();

private:
  using Place = std::pair<std::string_view, size_t>;
  struct Part {
    std::string_view key;
    void (FormatParser::*read)();
    bool isNeeded = false;
  };
  static const Part kParts[];

  void readPart();
  bool isSeen(std::string_view key) const {
    return std::ranges::find(seen, key, &Place::first) != seen.end();
  }
  std::string placeOf(std::string_view fault) const;
  void readParameter();
  void readName() { format.name = cursor.takeWord(); }
  void readSummary();
  void readPlaces();
  void readEncoding();
  void readDerived();
  void readPlanes() { reader.readPlanes(format.description.planes); }
  void readCodes() { format.description.codes = reader.readField(); }
  void readLevel();
  void readSigns();
  void readBook() { format.description.level.book = reader.readField(); }
  void readScales() {
    format.description.scales = reader.readFactors("scale", "s");
  }
  void readZero();
  void readMinimum();
  void readSparsity();
  void readOrder() { format.description.order = reader.readField(); }
  void readProjection();
  void readAxis() { format.description.axisMultiple = reader.integer(); }
  void readArray() { format.description.arrayMultiple = reader.integer(); }
  void readIllegal();
  void choosePlaces();

  TextCursor cursor;
  NamedFormat format;
  std::vector<ParameterValue> parameters;
  FormatReader reader;
  std::span<const ParameterValue> values;
  std::vector<Place> seen; ///< the parts, and where they begin
  bool hasPlaces = false;
};

const FormatParser::Part FormatParser::kParts[] = {
    {"name", &FormatParser::readName},
    {"summary", &FormatParser::readSummary},
    {"place", &FormatParser::readPlaces},
    {"encode", &FormatParser::readEncoding},
    {"derived", &FormatParser::readDerived},
    {"planes", &FormatParser::readPlanes, true},
    {"codes", &FormatParser::readCodes, true},
    {"level", &FormatParser::readLevel, true},
    {"signs", &FormatParser::readSigns},
    {"book", &FormatParser::readBook},
    {"scales", &FormatParser::readScales, true},
    {"zero", &FormatParser::readZero},
    {"min", &FormatParser::readMinimum},
    {"sparse", &FormatParser::readSparsity},
    {"order", &FormatParser::readOrder},
    {"into", &FormatParser::readProjection},
    {"axis", &FormatParser::readAxis},
    {"array", &FormatParser::readArray},
    {"illegal", &FormatParser::readIllegal},
};

} // namespace

/// "param block = 64 in 8..2147483648 powers of two", after its first word.
/// It goes to terminals and tables as it is.
void FormatParser::readSummary() {
  size_t place = cursor.position();
  format.summary = cursor.expectQuoted();
  bool isPrinted = std::ranges::none_of(
      format.summary, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (!isPrinted)
    cursor.failAt(place, "one line, without control characters");
}

void FormatParser::readParameter() {
  size_t place = cursor.position();
  std::string_view name = cursor.takeWord();
  // A single letter could be an index, and these words stand in the place of an
  // integer.
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  bool isName = name.size() > 1 && name[0] >= 'a' && name[0] <= 'z' &&
                std::ranges::all_of(name, fits);
  for (std::string_view word : {"all", "axis", "lin", "pos"})
    isName &= !name.starts_with(word);
  if (!isName)
    cursor.failAt(place, "a name of a parameter: two or more of a-z, 0-9 and "
                         "_, a letter first, not beginning with all, axis, "
                         "lin or pos");
  // A member of the family is named by one value, "mine(block=128)".
  if (!format.parameters.empty())
    cursor.failAt(place, "one parameter in all");
  cursor.expect("=");
  FormatParameter parameter{std::string(name)};
  parameter.byDefault = reader.integer();
  cursor.expect("in");
  parameter.least = reader.integer();
  cursor.expect("..");
  parameter.most = reader.integer();
  for (std::string_view word : {"powers", "of", "two"})
    cursor.expect(word);
  if (!parameter.accepts(parameter.byDefault))
    cursor.failAt(place, "a default that is a power of two within the limits");
  int64_t value = parameter.byDefault;
  for (const ParameterValue &given : values)
    if (given.name == name)
      value = given.value;
  if (!parameter.accepts(value))
    cursor.failAt(place, "a value that is a power of two within the limits, "
                         "not " +
                             std::to_string(value));
  format.parameters.push_back(std::move(parameter));
  parameters.push_back({name, value});
}

void FormatParser::readPart() {
  size_t place = cursor.position();
  std::string_view key = cursor.takeWord();
  if (key == "param")
    return readParameter();
  auto part = std::ranges::find(kParts, key, &Part::key);
  if (part == std::end(kParts)) {
    std::string known = "param";
    for (const Part &other : kParts)
      known += ", " + std::string(other.key) + "=";
    return cursor.failAt(place, "a part: " + known);
  }
  if (isSeen(key))
    return cursor.failAt(place, "each part once");
  seen.emplace_back(key, place);
  cursor.expect("=");
  (this->*part->read)();
}

void FormatParser::readPlaces() {
  hasPlaces = true;
  Placement *words[] = {&format.placements.data, &format.placements.scale,
                        &format.placements.meta};
  for (Placement *word : words) {
    size_t place = cursor.position();
    Expected<Placement> parsed = Placement::parse(cursor.takeWord());
    if (!parsed)
      return cursor.failAt(place, "the name of a placement");
    *word = *parsed;
    if (!cursor.take(":"))
      return;
  }
}

void FormatParser::readEncoding() {
  format.description.encoding = reader.readEncoding();
}

void FormatParser::readDerived() {
  cursor.expect("[");
  do {
    std::vector<Derived> &all = format.description.derived;
    std::string name = "x" + std::to_string(all.size());
    Derived &derived = all.emplace_back();
    derived.rule = static_cast<DerivedRule>(reader.choice(kDerivedRules));
    derived.field = reader.readFactor("derived", std::move(name));
  } while (cursor.take(","));
  cursor.expect("]");
}

void FormatParser::readLevel() {
  Level &level = format.description.level;
  std::tie(level.number, level.vector) = reader.readLevel();
}

void FormatParser::readSigns() {
  Signs signs;
  signs.group = reader.smallInteger();
  cursor.expect(":");
  signs.parity = cursor.take("parity");
  if (!signs.parity)
    cursor.expect("each");
  cursor.expect(":");
  signs.bits = reader.readField();
  format.description.level.signs = std::move(signs);
}

void FormatParser::readZero() {
  Offset &offset = format.description.offset;
  if (offset.kind != Offset::Kind::None)
    return cursor.fail("a zero point or a minimum, not both");
  offset.kind = Offset::Kind::ZeroPoint;
  offset.factors = {reader.readFactor("offset", "z0")};
}

void FormatParser::readMinimum() {
  Offset &offset = format.description.offset;
  if (offset.kind != Offset::Kind::None)
    return cursor.fail("a zero point or a minimum, not both");
  offset.kind = Offset::Kind::Minimum;
  offset.factors = reader.readFactors("offset", "m");
}

void FormatParser::readSparsity() {
  Sparsity sparsity;
  sparsity.n = reader.smallInteger();
  cursor.expect(":");
  sparsity.m = reader.smallInteger();
  cursor.expect(":");
  sparsity.ascending = cursor.take("asc");
  if (!sparsity.ascending)
    cursor.expect("any");
  cursor.expect(":");
  sparsity.indices = reader.readField();
  format.description.sparsity = std::move(sparsity);
}

void FormatParser::readProjection() {
  Projection &into = format.description.projection;
  into.format = reader.readWord();
  cursor.expect(":");
  reader.readRounding(into.rounding, into.saturation);
}

void FormatParser::readIllegal() {
  cursor.expect("[");
  do
    format.description.illegalCodes.push_back(reader.smallInteger());
  while (cursor.take(","));
  cursor.expect("]");
}

/// Without a word of the text: one plane of several elements is blocks, all
/// others lie in row-major order.
void FormatParser::choosePlaces() {
  const std::vector<PlaneInfo> &planes = format.description.planes;
  if (planes.size() == 1 && planes[0].elements > 1 && planes[0].rows == 0) {
    format.placements.data = placements::BlockAos;
    return;
  }
  Placement *words[] = {&format.placements.data, &format.placements.scale,
                        &format.placements.meta};
  for (const PlaneInfo &plane : planes)
    *words[std::min(plane.placement, 2u)] = placements::RowMajor;
}

/// Where the text says what validate finds wrong.
std::string FormatParser::placeOf(std::string_view fault) const {
  static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"sparsity", "sparse"},
      {"projection", "into"},
      {"offset", "zero"},
      {"offset", "min"}};
  for (const auto &[name, place] : reader.places())
    if (name == fault)
      return cursor.location(place);
  for (const auto &[key, place] : seen) {
    bool isMeant = key == fault;
    for (const auto &[name, other] : kKeys)
      isMeant |= name == fault && other == key;
    if (isMeant)
      return cursor.location(place);
  }
  return {};
}

Expected<NamedFormat> FormatParser::run() {
  cursor.expect("gritfmt1");
  cursor.expect("(");
  do
    readPart();
  while (cursor.take(","));
  cursor.expect(")");
  if (!cursor.atEnd())
    cursor.fail("nothing after the format");
  for (const Part &part : kParts)
    if (part.isNeeded && !isSeen(part.key))
      cursor.fail("the part " + std::string(part.key) + "=");
  for (const ParameterValue &given : values)
    if (std::ranges::find(format.parameters, given.name,
                          &FormatParameter::name) == format.parameters.end())
      cursor.fail("a parameter " + quoteText(given.name));
  if (cursor.fault())
    return tl::unexpected(*cursor.fault());
  if (!hasPlaces)
    choosePlaces();
  if (std::optional<Error> error = validate(format.description)) {
    if (std::string place = placeOf(error->field); !place.empty())
      error->message += " (" + place + ")";
    return tl::unexpected(std::move(*error));
  }
  return std::move(format);
}

Expected<NamedFormat>
grit::parseFormat(std::string_view text,
                  std::span<const ParameterValue> values) {
  return FormatParser(text, values).run();
}

Expected<BitField> grit::parseField(std::string_view text) {
  TextCursor cursor(text);
  std::vector<PlaneInfo> planes(1);
  std::vector<ParameterValue> parameters;
  FormatReader reader(cursor, planes, parameters);
  BitField field = reader.readField();
  if (!cursor.atEnd())
    cursor.fail("nothing after the field");
  if (cursor.fault())
    return tl::unexpected(*cursor.fault());
  return field;
}
