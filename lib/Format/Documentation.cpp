//===- Documentation.cpp - tables for people, from the descriptions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Documentation.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Text.h"
#include <cstdio>

using namespace grit;

/// "144 B per 256", "4 B": what a plane holds.
static std::string planeText(const PlaneInfo &plane) {
  bool wholeBytes = plane.bits % 8 == 0;
  std::string text = wholeBytes ? std::to_string(plane.bits / 8) + " B"
                                : std::to_string(plane.bits) +
                                      (plane.bits == 1 ? " bit" : " bits");
  if (plane.elements == 1)
    text += " each";
  else if (plane.elements)
    text += " per " + std::to_string(plane.elements);
  return plane.name + ": " + text;
}

static std::string wordText(const Number &number) {
  std::string text = number.word.str();
  if (number.exp2)
    text += " x 2^" + std::to_string(number.exp2);
  return text;
}

static std::string levelText(const FormatDescription &description) {
  const Level &level = description.level;
  if (level.kind == Level::Kind::Table)
    return "table of " + std::to_string(level.table.size());
  std::string text = wordText(level.number);
  if (level.bias)
    text += " - " + std::to_string(level.bias);
  if (const auto &sparsity = description.sparsity)
    text += ", " + std::to_string(sparsity->n) + ":" +
            std::to_string(sparsity->m) + " sparse";
  return text;
}

static std::string factorsText(const std::vector<Factor> &factors) {
  std::string text;
  for (const Factor &factor : factors) {
    text += text.empty() ? "" : " x ";
    text += factor.name + " (" + wordText(factor.number) + ", ";
    text += factor.group == 0 ? "whole array"
                              : "per " + std::to_string(factor.group);
    if (factor.order == ElementOrder::AxisFastest)
      text += " of the axis";
    text += ")";
  }
  return text;
}

static std::string offsetText(const Offset &offset) {
  switch (offset.kind) {
  case Offset::Kind::None:
    return "";
  case Offset::Kind::ZeroPoint:
    return "zero point " + factorsText(offset.factors) +
           (offset.addend ? " + " + std::to_string(offset.addend) : "");
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
    planes += (planes.empty() ? "" : "; ") + planeText(plane);
  return "| `" + contract.name() + "` | " + bits + " | " + planes + " | " +
         std::to_string(description.axisMultiple) + " | " +
         levelText(description) + " | " + factorsText(description.scales) +
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
