//===- LayerRowsOfOthers.cpp - layers with records beside them -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerFamilies.h"

using namespace grit;
using namespace grit::scan;

using enum Count;
using enum Presence;

static FamilyRow bnbRow(std::string_view title, std::string_view state,
                        std::string_view contract) {
  return {
      .name = "bitsandbytes",
      .title = title,
      .bits = "4",
      .parts = {{"weight", Use::Plane, Mark, "U8", {AllBytes}},
                {"weight.absmax", Use::Plane, Mark, "F32", {AllGroups}},
                {state, Use::State, Required, "U8", {Any}},
                {"weight.quant_map", Use::Levels, Required, "F32", {Levels}},
                {"weight.nested_absmax", Use::Plane, Absent, "", {}}},
      .spellings = {{"F32", "", contract}}};
}

static FamilyRow bnbDoubleRow(std::string_view title, std::string_view state,
                              std::string_view contract) {
  FamilyRow row = bnbRow(title, state, contract);
  row.group = 64;
  row.parts[1].types = "U8";
  row.parts[4] = {"weight.nested_absmax", Use::Plane, Mark, "F32", {AllNested}};
  row.parts.push_back({"weight.nested_quant_map",
                       Use::ScaleLevels,
                       Required,
                       "F32",
                       {ScaleLevels}});
  row.spellings = {{"U8", "", contract}};
  row.stated = "offset";
  return row;
}

//===----------------------------------------------------------------------===//
// HQQ
//===----------------------------------------------------------------------===//

static FamilyRow hqqRow(std::string_view bits, std::string_view data) {
  // Numbers are I32, and were U8 in older versions.
  constexpr std::string_view kNumbers = "I32 I64 U8";
  FamilyRow row = {
      .name = "hqq",
      .title = "HQQ, `axis` 1",
      .bits = bits,
      .parts =
          {{"W_q", Use::Plane, Mark, "U8", {AllBytes}},
           {"scale", Use::Plane, Required, "F16", {AllGroups}},
           {"zero", Use::Plane, Required, "F16", {AllGroups}},
           {"shape", Use::Shape, Required, "I64 I32", {Any}},
           {"nbits", Use::Bits, Required, kNumbers, {One}},
           {"axis", Use::Constant, Required, kNumbers, {One}, 1},
           {"group_size", Use::GroupSize, Optional, kNumbers, {One}},
           {"packing", Use::Packing, Optional, "U8", {Any}, 0, "{b}bit_u8"}},
      .spellings = {{"F16", "", "hqq.q{b}(group={g})"}},
      .data = data};
  for (std::string_view suffix :
       {"channel_wise", "compute_dtype", "encoded_state_dict", "offload_meta",
        "optimize", "quant_scale", "quant_zero", "round_zero",
        "stores_quant_config", "unpack_view_dtype", "view_as_float"})
    row.parts.push_back({suffix, Use::Aside, Optional, "U8 I32 I64", {Any}});
  return row;
}

/// Ten codes of a word, the first in bits 27 to 29; parts of the array lie side
/// by side, and the last may be filled up.
static FamilyRow hqqThreeRow() {
  FamilyRow row = hqqRow("3", "");
  row.title = "HQQ, 3 bits, `axis` 1";
  row.parts[0] = {"W_q", Use::Plane, Mark, "I32", {TenthGroups, Group}};
  row.parts[0].stored = "p0:3@27+i%{T}*32+i/{T}*-3";
  row.parts[7].stored = "{b}bit_32";
  return row;
}

/// Groups along the other axis: the array is [G, N K / G], a group a column.
static FamilyRow alongRows(FamilyRow row, std::string_view title) {
  row.title = title;
  row.parts[5].constant = 0;
  row.arrayShape = {Group, LineGroups};
  row.axis = 0;
  row.spellings = {{"F16", "", "hqq.q{b}_axis0"}};
  return row;
}

static std::vector<FamilyRow> hqqRows() {
  constexpr std::string_view kParts = "layout(Interleave(RowMajor,{p}))";
  FamilyRow three = alongRows(hqqThreeRow(), "HQQ, 3 bits, `axis` 0");
  three.parts[0].shape = {TenthGroup, LineGroups};
  return {hqqRow("1 2 4", kParts),
          hqqRow("8", ""),
          hqqThreeRow(),
          alongRows(hqqRow("1 2 4", kParts), "HQQ, `axis` 0"),
          alongRows(hqqRow("8", ""), "HQQ, `axis` 0"),
          std::move(three)};
}

std::vector<FamilyRow> grit::scan::rowsOfOthers() {
  constexpr std::string_view nf4 = "weight.quant_state.bitsandbytes__nf4";
  constexpr std::string_view fp4 = "weight.quant_state.bitsandbytes__fp4";
  std::vector<FamilyRow> rows = {
      bnbRow("bitsandbytes NF4", nf4, "bnb.nf4(block={g})"),
      bnbRow("bitsandbytes FP4", fp4, "bnb.fp4(block={g})"),
      bnbDoubleRow("bitsandbytes NF4, double quantization", nf4,
                   "bnb.nf4_double"),
      bnbDoubleRow("bitsandbytes FP4, double quantization", fp4,
                   "bnb.fp4_double")};
  for (FamilyRow &row : hqqRows())
    rows.push_back(std::move(row));
  return rows;
}
