//===- LayerRowsOfBytes.cpp - layers with codes of 8 bits -*- C++ -*-===//
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

/// Bytes, and scales of several types: one contract for each.
static FamilyRow bytesRow(std::string_view name, std::string_view title,
                          std::string_view type, std::string_view scale,
                          std::string_view scaleTypes, std::vector<Count> shape,
                          std::vector<Spelling> spellings) {
  return {.name = name,
          .title = title,
          .bits = "8",
          .stacked = shape.size() == 2,
          .parts = {{"weight", Use::Plane, Mark, type, {Rows, Columns}},
                    {scale, Use::Plane, Mark, scaleTypes, std::move(shape)},
                    {"weight_zero_point", Use::Plane, Absent, "", {}}},
          .spellings = std::move(spellings)};
}

//===----------------------------------------------------------------------===//
// FP8
//===----------------------------------------------------------------------===//

static std::vector<FamilyRow> wholeRows() {
  return {bytesRow("fp8", "FP8, one scale", "F8_E4M3", "weight_scale",
                   "F32 BF16", {One},
                   {{"F32", "", "ct.fp8_tensor"},
                    {"BF16", "", "ct.fp8_tensor_bf16"}}),
          bytesRow("fp8", "FP8, a scale per row", "F8_E4M3", "weight_scale",
                   "F32 BF16", {Rows, One},
                   {{"F32", "", "ct.fp8_channel"},
                    {"BF16", "", "ct.fp8_channel_bf16"}}),
          bytesRow("fp8", "FP8 FNUZ, one scale", "F8_E4M3FNUZ", "weight_scale",
                   "F32", {One}, {{"F32", "", "fnuz.fp8_tensor"}}),
          bytesRow("fp8", "FP8 FNUZ, a scale per row", "F8_E4M3FNUZ",
                   "weight_scale", "F32", {Rows, One},
                   {{"F32", "", "fnuz.fp8_channel"}})};
}

static FamilyRow blockRow(std::string_view title, std::string_view scale) {
  return bytesRow("fp8", title, "F8_E4M3", scale, "F32 BF16 F8_E8M0",
                  {RowBlocks, ColumnBlocks},
                  {{"F32", "", "deepseek.fp8"},
                   {"BF16", "", "deepseek.fp8_bf16"},
                   {"F8_E8M0", "", "deepseek.fp8_ue8m0"}});
}

/// Blocks of other extents have no name of their own: the contract is its text.
static FamilyRow anyBlockRow(std::string_view title, std::string_view scale) {
  FamilyRow row = blockRow(title, scale);
  row.anyBlock = true;
  row.spellings = {
      {"F32", "",
       "gritfmt1(planes=[8/1@0,32/{r}x{c}@1],codes=p0:8@0+i*8,level=e4m3,"
       "scales=[(binary32,{r}x{c},p1:32@0+i*32)])"},
      {"BF16", "",
       "gritfmt1(planes=[8/1@0,16/{r}x{c}@1],codes=p0:8@0+i*8,level=e4m3,"
       "scales=[(0x350f,{r}x{c},p1:16@0+i*16)])"},
      {"F8_E8M0", "",
       "gritfmt1(planes=[8/1@0,8/{r}x{c}@1],codes=p0:8@0+i*8,level=e4m3,"
       "scales=[(e8m0,{r}x{c},p1:8@0+i*8)])"}};
  return row;
}

static std::vector<FamilyRow> blockRows() {
  FamilyRow plain = blockRow("FP8, blocks of 128 x 128", "weight_scale");
  // Powers of two of this name may be those of groups.
  plain.parts[1].types = "F32 BF16";
  plain.spellings.pop_back();
  FamilyRow other = anyBlockRow("FP8, blocks of R x C", "weight_scale");
  other.parts[1].types = "F32 BF16";
  other.spellings.pop_back();
  return {std::move(plain),
          blockRow("DeepSeek and Qwen FP8", "weight_scale_inv"),
          blockRow("FP8 in blocks, scales named `scale`", "scale"),
          std::move(other),
          anyBlockRow("DeepSeek and Qwen FP8, blocks of R x C",
                      "weight_scale_inv")};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static std::vector<FamilyRow> integerRows() {
  return {bytesRow("int8", "compressed-tensors `int-quantized`, 8 bits", "I8",
                   "weight_scale", "F32 BF16", {Rows, One},
                   {{"F32", "", "ct.int8_channel"},
                    {"BF16", "", "ct.int8_channel_bf16"}}),
          bytesRow("int8", "compressed-tensors `int-quantized`, 8 bits, groups",
                   "I8", "weight_scale", "F32 BF16 F16", {Rows, Groups},
                   {{"F32", "", "ct.int8_group(group={g})"},
                    {"BF16", "", "ct.int8_group_bf16(group={g})"},
                    {"F16", "", "ct.int8_group_f16(group={g})"}})};
}

/// Zero points are signed bytes, one for each scale.
static FamilyRow withZeros(FamilyRow row, std::string_view title,
                           std::vector<Spelling> spellings) {
  row.title = title;
  row.symmetry = Symmetry::Asymmetric;
  row.parts[2] = {"weight_zero_point", Use::Plane, Mark, "I8",
                  row.parts[1].shape};
  row.spellings = std::move(spellings);
  return row;
}

static std::vector<FamilyRow> asymmetricRows() {
  std::vector<FamilyRow> rows = integerRows();
  return {withZeros(rows[0],
                    "compressed-tensors `int-quantized`, 8 bits, asymmetric",
                    {{"F32", "", "ct.int8_channel_zp"},
                     {"BF16", "", "ct.int8_channel_zp_bf16"}}),
          withZeros(
              rows[1],
              "compressed-tensors `int-quantized`, 8 bits, groups, asymmetric",
              {{"F32", "", "ct.int8_group_zp(group={g})"},
               {"BF16", "", "ct.int8_group_zp_bf16(group={g})"},
               {"F16", "", "ct.int8_group_zp_f16(group={g})"}})};
}

/// LLM.int8(): the product with the largest magnitude of the row is divided by
/// 127, as a multiplication.
static FamilyRow vectorwiseRow() {
  return {.name = "bitsandbytes",
          .title = "bitsandbytes, 8 bits (LLM.int8())",
          .bits = "8",
          .parts = {{"weight", Use::Plane, Mark, "I8", {Rows, Columns}},
                    {"SCB", Use::Plane, Mark, "F32", {Rows}},
                    // 0: in rows. Others are those of old kernels.
                    {"weight_format", Use::Constant, Optional, "U8", {One}, 0}},
          .spellings = {{"F32", "", "bnb.int8"}},
          .stated = "inverse",
          .statedNumber = 7.874015718698502e-3f};
}

std::vector<FamilyRow> grit::scan::rowsOfBytes() {
  std::vector<FamilyRow> rows = wholeRows();
  for (auto *part : {blockRows, integerRows, asymmetricRows})
    for (FamilyRow &row : part())
      rows.push_back(std::move(row));
  rows.push_back(vectorwiseRow());
  return rows;
}
