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

static std::string partText(const PartRow &row) {
  std::string text =
      "`" + std::string(row.suffix) + "` " + std::string(row.types) + " [";
  for (size_t i = 0; i < row.shape.size(); ++i)
    text += (i ? ", " : "") + std::string(countText(row.shape[i]));
  return text + "]" + (row.presence == Presence::Optional ? ", if any" : "");
}

static std::string orDash(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string grit::scan::layerDocumentation() {
  std::string text =
      "| Checkpoint | quant_method | Bits | Tensors | Contracts "
      "| Data | Scale | Meta |\n|---|---|---|---|---|---|---|---|\n";
  for (const FamilyRow &family : layerFamilies()) {
    std::string tensors, contracts;
    for (const PartRow &row : family.parts)
      if (row.presence != Presence::Absent)
        tensors += (tensors.empty() ? "" : "; ") + partText(row);
    for (const Spelling &spelling : family.spellings) {
      contracts += (contracts.empty() ? "`" : ", `") +
                   std::string(spelling.contract) + "`";
      if (!spelling.version.empty())
        contracts += " (" + std::string(spelling.version) + ")";
    }
    text += "| " + std::string(family.title) + " | " +
            std::string(family.methods) + " | " + std::string(family.bits) +
            " | " + tensors + " | " + contracts + " | " + orDash(family.data) +
            " | " + orDash(family.scale) + " | " + orDash(family.meta) + " |\n";
  }
  return text;
}
