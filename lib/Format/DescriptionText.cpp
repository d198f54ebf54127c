//===- DescriptionText.cpp - the canonical text of a description -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar is in spec/gritfmt1.md. Names of planes and factors, the encoder
// and everything else that does not decide what bytes mean is left out.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Description.h"
#include <bit>
#include <cstdint>
#include <optional>

using namespace grit;

static std::string text(const Digit &digit) {
  std::string out = "+i";
  if (digit.div != 1)
    out += "/" + std::to_string(digit.div);
  if (digit.mod)
    out += "%" + std::to_string(digit.mod);
  for (size_t i = 0; i < digit.table.size(); ++i)
    out += (i ? "," : "[") + std::to_string(digit.table[i]);
  if (!digit.table.empty())
    out += "]";
  return out + "*" + std::to_string(digit.stride);
}

/// "4@16+i/32*144+i%16*8<<4": four bits at that bit, shifted left by four.
static std::string text(const BitSlice &slice) {
  std::string out =
      std::to_string(slice.width) + "@" + std::to_string(slice.base);
  for (const Digit &digit : slice.digits)
    out += text(digit);
  if (slice.shift)
    out += "<<" + std::to_string(slice.shift);
  return out;
}

static std::string text(const BitField &field) {
  std::string out = "p" + std::to_string(field.plane) + ":";
  if (field.isMsbStream())
    return out + std::to_string(field.msbStreamWidth) + "@msb";
  if (field.radix) {
    out += "base" + std::to_string(field.radix->base) + "^(";
    for (const Digit &digit : field.radix->place)
      out += text(digit);
    out += "):";
  }
  for (size_t i = 0; i < field.slices.size(); ++i)
    out += (i ? "|" : "") + text(field.slices[i]);
  return out;
}

/// The low `digits` hex digits of a word.
static void appendHex(std::string &out, uint32_t word, int digits) {
  while (digits-- > 0)
    out += "0123456789abcdef"[word >> 4 * digits & 15];
}

/// The table as bytes, or nothing when an entry is no integer from -128 to 127.
static std::optional<std::string> byteText(const std::vector<float> &table) {
  std::string out;
  out.reserve(2 * table.size());
  for (float value : table) {
    if (!(value >= -128 && value <= 127))
      return std::nullopt;
    auto byte = static_cast<int8_t>(value);
    if (std::bit_cast<uint32_t>(static_cast<float>(byte)) !=
        std::bit_cast<uint32_t>(value))
      return std::nullopt;
    appendHex(out, static_cast<uint8_t>(byte), 2);
  }
  return out;
}

static std::string text(const Number &number) {
  std::string out;
  for (size_t i = 0; i < number.table.size(); ++i) {
    out += i ? "," : "[";
    appendHex(out, std::bit_cast<uint32_t>(number.table[i]), 8);
  }
  if (number.isTable())
    return out + "]";
  out = number.word.str();
  if (number.times != 1)
    out += "*" + std::to_string(number.times);
  if (number.plus)
    out += (number.plus > 0 ? "+" : "") + std::to_string(number.plus);
  if (number.exp2)
    out += "*2^" + std::to_string(number.exp2);
  return out;
}

/// "all", "lin/32", "axis/64", "axis" or "128x128": the elements of a group.
static std::string groupText(const Factor &factor) {
  if (factor.group == 0)
    return "all";
  if (factor.group == kWholeAxis)
    return "axis";
  std::string group = std::to_string(factor.group);
  switch (factor.order) {
  case ElementOrder::RowMajor:
    return "lin/" + group;
  case ElementOrder::AxisFastest:
    return "axis/" + group;
  case ElementOrder::Block:
    return std::to_string(factor.rows) + "x" + group;
  }
  return "";
}

static std::string text(const Factor &factor) {
  static constexpr std::string_view ops[] = {"", "/", "+"};
  std::string out = factor.afterLevel ? ">" : "";
  out += ops[static_cast<unsigned>(factor.op)];
  out += "(" + text(factor.number) + "," + groupText(factor) + ",";
  out += text(factor.bits);
  for (size_t i = 0; i < std::size(kDemandNames); ++i)
    if (factor.demands.has(static_cast<Demand>(i)))
      (out += ",") += kDemandNames[i];
  return out + ")";
}

static std::string text(const std::vector<Factor> &factors) {
  std::string out = "[";
  for (size_t i = 0; i < factors.size(); ++i)
    out += (i ? "," : "") + text(factors[i]);
  return out + "]";
}

/// The number, its vectors, signs and book. A table of vectors of small
/// integers is written as bytes, which keeps grids readable.
static std::string text(const Level &level) {
  std::string out;
  std::optional<std::string> bytes;
  if (level.vector > 1) {
    out = "v" + std::to_string(level.vector) + ":";
    if (level.number.isTable())
      bytes = byteText(level.number.table);
  }
  out += bytes ? "s8[" + *bytes + "]" : text(level.number);
  if (level.signs)
    out += ",signs=" + std::to_string(level.signs->group) +
           (level.signs->parity ? ":parity:" : ":each:") +
           text(level.signs->bits);
  if (level.book)
    out += ",book=" + text(*level.book);
  return out;
}

static std::string text(const Offset &offset) {
  switch (offset.kind) {
  case Offset::Kind::None:
    return "";
  case Offset::Kind::ZeroPoint:
    return ",zero=" + text(offset.factors.front());
  case Offset::Kind::Minimum:
    return ",min=" + text(offset.factors);
  }
  return "";
}

static std::string text(const PlaneInfo &plane) {
  std::string elements = plane.elements == kWholeAxis ? "axis"
                         : plane.elements == kAxisPositions
                             ? "pos"
                             : std::to_string(plane.elements);
  if (plane.rows)
    elements = std::to_string(plane.rows) + "x" + elements;
  return std::to_string(plane.bits) + "/" + elements + "@" +
         std::to_string(plane.placement);
}

static std::string_view text(Rounding rounding) {
  static constexpr std::string_view names[] = {"rne", "rna", "rtz", "rtp",
                                               "rtn"};
  return names[static_cast<unsigned>(rounding)];
}

static std::string_view text(Saturation saturation) {
  static constexpr std::string_view names[] = {"satfinite", "satmax", "ovfinf"};
  return names[static_cast<unsigned>(saturation)];
}

std::string grit::canonicalText(const FormatDescription &description) {
  std::string out = "gritfmt1(planes=[";
  for (size_t i = 0; i < description.planes.size(); ++i)
    out += (i ? "," : "") + text(description.planes[i]);
  out += "],codes=" + text(description.codes);
  out += ",level=" + text(description.level);
  out += ",scales=" + text(description.scales);
  out += text(description.offset);
  if (const auto &sparsity = description.sparsity)
    out += ",sparse=" + std::to_string(sparsity->n) + ":" +
           std::to_string(sparsity->m) + ":" +
           (sparsity->ascending ? "asc:" : "any:") + text(sparsity->indices);
  if (description.order)
    out += ",order=" + text(*description.order);
  if (const Projection &into = description.projection; !into.isIdentity()) {
    out += ",into=" + into.format.str() + ":";
    out += text(into.rounding);
    out += ":";
    out += text(into.saturation);
  }
  if (description.axisMultiple != 1)
    out += ",axis=" + std::to_string(description.axisMultiple);
  if (description.arrayMultiple != 1)
    out += ",array=" + std::to_string(description.arrayMultiple);
  for (size_t i = 0; i < description.illegalCodes.size(); ++i)
    out +=
        (i ? "," : ",illegal=[") + std::to_string(description.illegalCodes[i]);
  if (!description.illegalCodes.empty())
    out += "]";
  return out + ")";
}
