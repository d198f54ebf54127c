//===- LayerDocumentation.cpp - the families of layers for people -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerFamilies.h"
#include "grit/Scan/LayerArray.h"

using namespace grit;
using namespace grit::scan;

/// "[G, N K / G]".
static std::string extentsText(const std::vector<Count> &shape) {
  std::string text;
  for (Count count : shape)
    text += (text.empty() ? "" : ", ") + std::string(countText(count));
  return "[" + text + "]";
}

/// "`scales` F16 [K / G, N]".
static std::string partText(const FamilyRow &family, const PartRow &row) {
  std::string text = "`" + std::string(row.suffix) + "` ";
  for (char c : row.types)
    text += c == ' ' ? std::string(" or ") : std::string(1, c);
  std::string shape;
  bool isStacked = family.stacked && row.use == Use::Plane &&
                   row.shape != std::vector{Count::One};
  for (Count count : row.shape)
    if (count != Count::Any)
      shape += (shape.empty() ? "" : ", ") + std::string(countText(count));
  if (!shape.empty())
    text += " [" + std::string(isStacked ? "…, " : "") + shape + "]";
  if (row.use == Use::Constant)
    text += ", " + std::to_string(row.constant);
  if (row.use == Use::Plane && !row.stored.empty())
    text += ", copied";
  if (row.presence == Presence::Optional)
    text += ", if any";
  return text;
}

static std::string contractsText(const FamilyRow &family) {
  std::string text;
  for (const Spelling &spelling : family.spellings) {
    text += (text.empty() ? "`" : ", `") + std::string(spelling.contract) + "`";
    if (!spelling.version.empty())
      text += " (" + std::string(spelling.version) + ")";
  }
  return text.empty() ? "none" : text;
}

/// Of the planes that do not lie as the contract's own placements say.
static std::string placementsText(const FamilyRow &family) {
  std::string text;
  for (auto [name, placement] :
       {std::pair("data", family.data), std::pair("scale", family.scale),
        std::pair("meta", family.meta)})
    if (!placement.empty())
      text += (text.empty() ? "" : "; ") + std::string(name) + " `" +
              std::string(placement) + "`";
  return text;
}

std::string grit::scan::layerDocumentation() {
  std::string text =
      "| Checkpoint | `quant_method` | b | G | Tensors | Contract "
      "| Placements |\n|---|---|---|---|---|---|---|\n";
  for (const FamilyRow &family : layerFamilies()) {
    std::string tensors;
    for (const PartRow &row : family.parts)
      if (row.presence != Presence::Absent && row.use != Use::Aside)
        tensors += (tensors.empty() ? "" : "; ") + partText(family, row);
    std::string title(family.title);
    if (!family.arrayShape.empty())
      title += ", array " + extentsText(family.arrayShape);
    for (std::string_view cell :
         {std::string_view(title), family.methods, family.bits})
      text += "| " + std::string(cell) + " ";
    text += "| " + (family.group ? std::to_string(family.group) : "") + " | " +
            tensors + " | " + contractsText(family) + " | " +
            placementsText(family) + " |\n";
  }
  return text;
}
