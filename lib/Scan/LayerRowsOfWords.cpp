//===- LayerRowsOfWords.cpp - layers with codes in words of 32 bits -*- C++
//-*-===//
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

//===----------------------------------------------------------------------===//
// GPTQ
//===----------------------------------------------------------------------===//

static FamilyRow gptqRow() {
  return {.name = "gptq",
          .title = "GPTQ",
          .methods = "gptq",
          .bits = "2 4 8",
          .parts = {{"qweight", Use::Plane, Mark, "I32", {ColumnWords, Rows}},
                    {"scales", Use::Plane, Required, "F16", {Groups, Rows}},
                    {"qzeros", Use::Plane, Required, "I32", {Groups, RowWords}},
                    {"g_idx", Use::Order, Optional, "I32 I64", {Columns}}},
          .spellings = {{"F16", "gptq", "gptq.q{b}(group={g})"},
                        {"F16", "gptq_v2", "gptq.q{b}_v2(group={g})"}},
          .data = "layout(Tile(ColMajor,[1,{w}]))",
          .scale = "col_major",
          .meta = "col_major"};
}

/// Codes of 3 bits go on in the next word of a column: they are copied into a
/// stream per row.
static FamilyRow gptqThreeRow() {
  // Bit 0 of code k of a column is bit 3 k of the column's words; bits 1 and 2
  // follow. Entries are words and bits for k mod 32.
  constexpr std::string_view kColumns =
      "p0:1@0+i/{K}*32+i/32%{Q}*{C}"
      "+i%32[0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2,2,2]"
      "*{W}"
      "+i%32[0,3,6,9,12,15,18,21,24,27,30,1,4,7,10,13,16,19,22,25,28,31,2,5,8,"
      "11,14,17,20,23,26,29]*1"
      "|1@0+i/{K}*32+i/32%{Q}*{C}"
      "+i%32[0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2,2,2,2]"
      "*{W}"
      "+i%32[1,4,7,10,13,16,19,22,25,28,31,2,5,8,11,14,17,20,23,26,29,0,3,6,9,"
      "12,15,18,21,24,27,30]*1<<1"
      "|1@0+i/{K}*32+i/32%{Q}*{C}"
      "+i%32[0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2,2,2,2]"
      "*{W}"
      "+i%32[2,5,8,11,14,17,20,23,26,29,0,3,6,9,12,15,18,21,24,27,30,1,4,7,10,"
      "13,16,19,22,25,28,31]*1<<2";
  FamilyRow row = gptqRow();
  row.title = "GPTQ, 3 bits";
  row.bits = "3";
  row.parts[0].stored = kColumns;
  row.data = {};
  return row;
}

/// Act-order: the group of each column is a plane of the array.
static FamilyRow withOrder(FamilyRow row, std::string_view title,
                           std::string_view suffix,
                           std::vector<Spelling> spellings) {
  row.title = title;
  for (PartRow &part : row.parts)
    if (part.suffix == suffix)
      part = {suffix, Use::Plane, Mark, "I32", {Columns}};
  row.spellings = std::move(spellings);
  return row;
}

static FamilyRow gptqOrderRow(FamilyRow row, std::string_view title) {
  return withOrder(std::move(row), title, "g_idx",
                   {{"F16", "gptq", "gptq.q{b}_order(group={g})"},
                    {"F16", "gptq_v2", "gptq.q{b}_v2_order(group={g})"}});
}

//===----------------------------------------------------------------------===//
// AWQ
//===----------------------------------------------------------------------===//

static FamilyRow awqRow() {
  constexpr std::string_view kOrder =
      "layout(Compose(Perm([0,2,4,6,1,3,5,7]),ColMajor))";
  return {.name = "awq",
          .title = "AWQ",
          .methods = "awq",
          .formats = "gemm",
          .bits = "4",
          .parts = {{"qweight", Use::Plane, Mark, "I32", {Columns, RowWords}},
                    {"scales", Use::Plane, Required, "F16", {Groups, Rows}},
                    {"qzeros", Use::Plane, Required, "I32", {Groups, RowWords}},
                    {"g_idx", Use::Order, Absent, "", {}}},
          .spellings = {{"F16", "", "gptq.q{b}_v2(group={g})"}},
          .data = kOrder,
          .scale = "col_major",
          .meta = kOrder};
}

static FamilyRow awqRowsRow() {
  return {.name = "awq",
          .title = "AWQ, `version` gemv",
          .methods = "awq",
          .formats = "gemv",
          .needsFormat = true,
          .bits = "4",
          .declaresGroup = true,
          .parts = {{"qweight", Use::Plane, Mark, "I32", {Rows, ColumnWords}},
                    {"scales", Use::Plane, Required, "F16", {Rows, Groups}},
                    {"qzeros", Use::Plane, Required, "I32", {Rows, GroupWords}},
                    {"g_idx", Use::Order, Absent, "", {}}},
          .spellings = {{"F16", "", "gptq.q{b}_v2(group={g})"}}};
}

/// Rows of scales and zero points are filled up to whole words.
static FamilyRow awqPaddedRow() {
  FamilyRow row = awqRowsRow();
  row.title = "AWQ, `version` gemv, padded";
  row.parts[1] = {"scales", Use::Plane, Required, "F16", {Rows, Padded}};
  row.parts[1].stored = "p0:16@0+i/{G}*{S}+i%{G}*16";
  row.parts[2] = {"qzeros", Use::Plane, Required, "I32", {Rows, PaddedWords}};
  row.parts[2].stored = "p0:4@0+i/{G}*{Z}+i%{G}*4";
  return row;
}

/// Four rows share a word of 16 bits; behind the groups there may be others.
static FamilyRow awqFastRow() {
  return {
      .name = "awq",
      .title = "AWQ, `version` gemv_fast",
      .methods = "awq",
      .formats = "gemv_fast",
      .needsFormat = true,
      .bits = "4",
      .declaresGroup = true,
      .parts = {{"qweight", Use::Plane, Mark, "I16", {RowQuads, Columns}},
                {"scales", Use::Plane, Required, "F16", {Padded, Rows}},
                {"scaled_zeros", Use::Plane, Required, "F16", {Padded, Rows}},
                {"qzeros", Use::Plane, Absent, "", {}}},
      .spellings = {{"F16", "", "mlx.q{b}_f16(group={g})"}},
      .data = "layout(Compose(Perm([0,8,16,24,1,9,17,25,2,10,18,26,3,11,19,27,"
              "4,12,20,28,5,13,21,29,6,14,22,30,7,15,23,31]),"
              "Tile(RowMajor,[4,64])))",
      .scale = "col_major",
      .meta = "col_major"};
}

//===----------------------------------------------------------------------===//
// compressed-tensors
//===----------------------------------------------------------------------===//

static FamilyRow packedRow() {
  return {
      .name = "compressed-tensors",
      .title = "compressed-tensors `pack-quantized`, symmetric",
      .symmetry = Symmetry::Symmetric,
      .bits = "4 8",
      .parts =
          {{"weight_packed", Use::Plane, Mark, "I32", {Rows, ColumnWords}},
           {"weight_scale", Use::Plane, Required, "BF16 F16", {Rows, Groups}},
           {"weight_zero_point", Use::Plane, Absent, "", {}},
           {"weight_shape", Use::Shape, Optional, "I64 I32", {Any}},
           {"weight_g_idx", Use::LooseOrder, Optional, "I32 I64", {Columns}}},
      .spellings = {{"BF16", "", "ct.int{b}(group={g})"},
                    {"F16", "", "ct.int{b}_f16(group={g})"}}};
}

static FamilyRow packedZeroRow() {
  FamilyRow row = packedRow();
  row.title = "compressed-tensors `pack-quantized`, asymmetric";
  row.symmetry = Symmetry::Asymmetric;
  row.parts[2] = {
      "weight_zero_point", Use::Plane, Mark, "I32", {RowWords, Groups}};
  row.spellings = {{"BF16", "", "ct.int{b}_zp(group={g})"},
                   {"F16", "", "gptq.q{b}_v2(group={g})"}};
  row.meta = "layout(Tile(RowMajor,[{w},1]))";
  return row;
}

static std::vector<FamilyRow> packedOrderRows() {
  return {
      withOrder(packedRow(),
                "compressed-tensors `pack-quantized`, symmetric, act-order",
                "weight_g_idx",
                {{"BF16", "", "ct.int{b}_order(group={g})"},
                 {"F16", "", "ct.int{b}_f16_order(group={g})"}}),
      withOrder(packedZeroRow(),
                "compressed-tensors `pack-quantized`, asymmetric, act-order",
                "weight_g_idx",
                {{"BF16", "", "ct.int{b}_zp_order(group={g})"},
                 {"F16", "", "gptq.q{b}_v2_order(group={g})"}})};
}

//===----------------------------------------------------------------------===//
// MLX
//===----------------------------------------------------------------------===//

static FamilyRow mlxRow() {
  return {
      .name = "mlx",
      .title = "MLX, affine",
      .modes = "affine",
      .bits = "2 3 4 5 6 8",
      .stacked = true,
      .parts = {{"weight", Use::Plane, Mark, "U32", {Rows, ColumnWords}},
                {"scales", Use::Plane, Mark, "BF16 F16", {Rows, Groups}},
                {"biases", Use::Plane, Required, "BF16 F16", {Rows, Groups}}},
      .spellings = {{"BF16", "", "mlx.q{b}_bf16(group={g})"},
                    {"F16", "", "mlx.q{b}_f16(group={g})"}}};
}

/// Scales are floats of 8 bits, and there is nothing beside them.
static FamilyRow mlxFloatRow(std::string_view title, std::string_view mode,
                             std::string_view bits, int64_t group,
                             std::string_view contract, int forbidden) {
  return {.name = "mlx",
          .title = title,
          .modes = mode,
          .bits = bits,
          .group = group,
          .stacked = true,
          .parts = {{"weight", Use::Plane, Mark, "U32", {Rows, ColumnWords}},
                    {"scales", Use::Plane, Mark, "U8", {Rows, Groups}},
                    {"biases", Use::Plane, Absent, "", {}},
                    {"global_scale", Use::Plane, Absent, "", {}}},
          .spellings = {{"U8", "", contract}},
          .forbiddenScale = forbidden};
}

std::vector<FamilyRow> grit::scan::rowsOfWords() {
  // A power of two that is no number elsewhere is an infinity here.
  constexpr int kNone = -1, kInfinity = 255;
  std::vector<FamilyRow> rows = {
      gptqRow(),
      gptqThreeRow(),
      gptqOrderRow(gptqRow(), "GPTQ, act-order"),
      gptqOrderRow(gptqThreeRow(), "GPTQ, 3 bits, act-order"),
      awqRow(),
      awqRowsRow(),
      awqPaddedRow(),
      awqFastRow(),
      packedRow(),
      packedZeroRow()};
  for (FamilyRow &row : packedOrderRows())
    rows.push_back(std::move(row));
  rows.push_back(mlxRow());
  rows.push_back(
      mlxFloatRow("MLX, `mode` mxfp4", "mxfp4", "4", 32, "mxfp4", kInfinity));
  rows.push_back(mlxFloatRow("MLX, `mode` mxfp8", "mxfp8", "8", 32,
                             "mxfp8_e4m3", kInfinity));
  rows.push_back(
      mlxFloatRow("MLX, `mode` nvfp4", "nvfp4", "4", 16, "mlx.nvfp4", kNone));
  return rows;
}
