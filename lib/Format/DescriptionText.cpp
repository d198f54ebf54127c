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
#include <cstdio>

using namespace grit;

static std::string text(const Digit &digit) {
  std::string out = "+i";
  if (digit.div != 1)
    out += "/" + std::to_string(digit.div);
  if (digit.mod)
    out += "%" + std::to_string(digit.mod);
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
  for (size_t i = 0; i < field.slices.size(); ++i)
    out += (i ? "|" : "") + text(field.slices[i]);
  return out;
}

static std::string text(const Number &number) {
  std::string out = number.word.str();
  if (number.exp2)
    out += "*2^" + std::to_string(number.exp2);
  return out;
}

static std::string text(const Factor &factor) {
  std::string out = "(" + text(factor.number) + ",";
  if (factor.group == 0)
    out += "all";
  else
    out += (factor.order == ElementOrder::RowMajor ? "lin/" : "axis/") +
           std::to_string(factor.group);
  return out + "," + text(factor.bits) + ")";
}

static std::string text(const std::vector<Factor> &factors) {
  std::string out = "[";
  for (size_t i = 0; i < factors.size(); ++i)
    out += (i ? "," : "") + text(factors[i]);
  return out + "]";
}

static std::string text(const Level &level) {
  if (level.kind == Level::Kind::Number) {
    std::string out = text(level.number);
    if (level.bias)
      out += "-" + std::to_string(level.bias);
    return out;
  }
  std::string out = "[";
  for (size_t i = 0; i < level.table.size(); ++i) {
    char word[9];
    std::snprintf(word, sizeof(word), "%08x",
                  std::bit_cast<uint32_t>(level.table[i]));
    out += (i ? "," : "") + std::string(word);
  }
  return out + "]";
}

static std::string text(const Offset &offset) {
  switch (offset.kind) {
  case Offset::Kind::None:
    return "";
  case Offset::Kind::ZeroPoint: {
    std::string out = ",zero=" + text(offset.factors.front());
    return offset.addend ? out + "+" + std::to_string(offset.addend) : out;
  }
  case Offset::Kind::Minimum:
    return ",min=" + text(offset.factors);
  }
  return "";
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
  for (size_t i = 0; i < description.planes.size(); ++i) {
    const PlaneInfo &plane = description.planes[i];
    out += (i ? "," : "") + std::to_string(plane.bits) + "/" +
           std::to_string(plane.elements) + "@" +
           std::to_string(plane.placement);
  }
  out += "],codes=" + text(description.codes);
  out += ",level=" + text(description.level);
  out += ",scales=" + text(description.scales);
  out += text(description.offset);
  if (const auto &sparsity = description.sparsity)
    out += ",sparse=" + std::to_string(sparsity->n) + ":" +
           std::to_string(sparsity->m) + ":" +
           (sparsity->ascending ? "asc:" : "any:") + text(sparsity->indices);
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
  return out + ")";
}
