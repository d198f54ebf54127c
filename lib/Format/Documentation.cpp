//===- Documentation.cpp - tables for people, from the descriptions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Documentation.h"
#include "grit/Format/Text.h"
#include <cstdio>
#include <cstdlib>

using namespace grit;

std::string grit::describePlane(const PlaneInfo &plane) {
  bool wholeBytes = plane.bits % 8 == 0;
  std::string text = wholeBytes ? std::to_string(plane.bits / 8) + " B"
                                : std::to_string(plane.bits) +
                                      (plane.bits == 1 ? " bit" : " bits");
  if (plane.rows)
    text += " per block of " + std::to_string(plane.rows) + " x " +
            std::to_string(plane.elements);
  else if (plane.elements == kWholeAxis)
    text += " per line";
  else if (plane.elements == kAxisPositions)
    text += " per position of the axis";
  else if (plane.elements == 1)
    text += " each";
  else if (plane.elements)
    text += " per " + std::to_string(plane.elements);
  return text;
}

std::string grit::describeNumber(const Number &number) {
  if (number.isTable())
    return "table of " + std::to_string(number.table.size());
  std::string text = number.word.str();
  if (number.times == -1 && number.plus == 0)
    text = "-" + text;
  else if (number.times != 1)
    text = std::to_string(number.times) + " " + text;
  if (number.plus)
    text += (number.plus < 0 ? " - " : " + ") +
            std::to_string(std::abs(number.plus));
  if (number.exp2)
    text = (number.plus ? "(" + text + ")" : text) + " x 2^" +
           std::to_string(number.exp2);
  return text;
}

std::string grit::describeLevel(const FormatDescription &description) {
  const Level &level = description.level;
  std::string text = describeNumber(level.number);
  if (level.vector > 1)
    text += " in vectors of " + std::to_string(level.vector);
  if (level.signs)
    text += level.signs->parity ? ", signs with a parity" : ", signs";
  if (level.book)
    text += ", a book per array";
  if (description.codes.radix)
    text += ", digits to base " + std::to_string(description.codes.radix->base);
  if (const auto &sparsity = description.sparsity)
    text += ", " + std::to_string(sparsity->n) + ":" +
            std::to_string(sparsity->m) + " sparse";
  if (description.order)
    text += ", groups in an order of the array's own";
  return text;
}

std::string grit::describeGroup(const Factor &factor) {
  if (factor.group == 0)
    return "whole array";
  if (factor.group == kWholeAxis)
    return "per line";
  if (factor.order == ElementOrder::Block)
    return "per block of " + std::to_string(factor.rows) + " x " +
           std::to_string(factor.group);
  std::string text = "per " + std::to_string(factor.group);
  return factor.order == ElementOrder::AxisFastest ? text + " of the axis"
                                                   : text;
}

static std::string factorsText(const std::vector<Factor> &factors) {
  static constexpr std::string_view ops[] = {" x ", " / ", " + "};
  std::string text;
  for (const Factor &factor : factors) {
    if (!text.empty() || factor.op != FactorOp::Multiply)
      text += ops[static_cast<unsigned>(factor.op)];
    text += factor.name + " (" + describeNumber(factor.number) + ", " +
            describeGroup(factor) +
            (factor.afterLevel ? ", after the level)" : ")");
  }
  return text;
}

static std::string offsetText(const Offset &offset) {
  switch (offset.kind) {
  case Offset::Kind::None:
    return "";
  case Offset::Kind::ZeroPoint:
    return "zero point " + factorsText(offset.factors);
  case Offset::Kind::Minimum:
    return factorsText(offset.factors);
  }
  return "";
}

static std::string rowText(const Contract &contract) {
  const FormatDescription &description = contract.description();
  char bits[32];
  std::snprintf(bits, sizeof(bits), "%g", description.bitsPerElement());
  std::string planes;
  for (const PlaneInfo &plane : description.planes)
    planes +=
        (planes.empty() ? "" : "; ") + plane.name + ": " + describePlane(plane);
  return "| `" + contract.name() + "` | " + bits + " | " + planes + " | " +
         std::to_string(description.axisMultiple) + " | " +
         describeLevel(description) + " | " + factorsText(description.scales) +
         " | " + offsetText(description.offset) + " | `" +
         hexWord(contract.id(), 16) + "` |\n";
}

std::string grit::documentationTable() {
  std::string text = "| Name | Bits per element | Planes | Axis multiple | "
                     "Level | Scale | Minus | Id |\n"
                     "|---|---|---|---|---|---|---|---|\n";
  for (const std::string &name : registeredContractNames())
    if (Expected<Contract> contract = Contract::parse(name))
      text += rowText(*contract);
  return text;
}
