//===- LayerFamilies.cpp - how checkpoints store layers, as a table -*- C++
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

static constexpr std::string_view kPowers = "U8 F8_E8M0";

//===----------------------------------------------------------------------===//
// Codes in words of 32 bits
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

static FamilyRow packedRow() {
  return {
      .name = "compressed-tensors",
      .title = "compressed-tensors `pack-quantized`, symmetric",
      .symmetry = Symmetry::Symmetric,
      .bits = "4",
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

static FamilyRow mlxRow() {
  return {
      .name = "mlx",
      .title = "MLX, affine",
      .bits = "2 3 4 5 6 8",
      .stacked = true,
      .parts = {{"weight", Use::Plane, Mark, "U32", {Rows, ColumnWords}},
                {"scales", Use::Plane, Mark, "BF16 F16", {Rows, Groups}},
                {"biases", Use::Plane, Required, "BF16 F16", {Rows, Groups}}},
      .spellings = {{"BF16", "", "mlx.q{b}_bf16(group={g})"},
                    {"F16", "", "mlx.q{b}_f16(group={g})"}}};
}

//===----------------------------------------------------------------------===//
// Floats of four bits
//===----------------------------------------------------------------------===//

static FamilyRow nvfp4DividingRow() {
  return {
      .name = "nvfp4",
      .title = "compressed-tensors `nvfp4-pack-quantized`",
      .bits = "4",
      .group = 16,
      .stacked = true,
      .parts =
          {{"weight_packed", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
           {"weight_scale", Use::Plane, Required, "F8_E4M3", {Rows, Groups}},
           {"weight_global_scale", Use::Plane, Mark, "F32", {One}},
           {"weight_shape", Use::Shape, Optional, "I64 I32", {Any}}},
      .spellings = {{"F8_E4M3", "", "ct.nvfp4"}}};
}

static FamilyRow nvfp4MultiplyingRow() {
  return {
      .name = "nvfp4",
      .title = "ModelOpt NVFP4",
      .bits = "4",
      .group = 16,
      .parts =
          {{"weight", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
           {"weight_scale", Use::Plane, Required, "F8_E4M3", {Rows, Groups}},
           {"weight_scale_2", Use::Plane, Mark, "F32", {One}}},
      .spellings = {{"F8_E4M3", "", "nvf4"}}};
}

static FamilyRow mxfp4Row() {
  return {
      .name = "mxfp4",
      .title = "compressed-tensors `mxfp4-pack-quantized`",
      .bits = "4",
      .group = 32,
      .stacked = true,
      .parts = {{"weight_packed", Use::Plane, Mark, "U8", {Rows, ColumnBytes}},
                {"weight_scale", Use::Plane, Required, kPowers, {Rows, Groups}},
                {"weight_global_scale", Use::Plane, Absent, "", {}},
                {"weight_shape", Use::Shape, Optional, "I64 I32", {Any}}},
      .spellings = {{kPowers, "", "mxfp4"}}};
}

static FamilyRow blocksRow() {
  return {
      .name = "mxfp4",
      .title = "gpt-oss",
      .bits = "4",
      .group = 32,
      .stacked = true,
      .parts = {{"_blocks", Use::Plane, Mark, "U8", {Rows, Groups, GroupBytes}},
                {"_scales", Use::Plane, Required, kPowers, {Rows, Groups}}},
      .spellings = {{kPowers, "", "mxfp4"}},
      .isTensorName = true,
      .forbiddenScale = 255};
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static FamilyRow mxfp8Row(std::string_view type, std::string_view contract) {
  return {
      .name = "mxfp8",
      .title = "MXFP8, scales in the order of rows",
      // Others may have the order of block-scaled instructions.
      .methods = "compressed-tensors modelopt mxfp8",
      .bits = "8",
      .group = 32,
      .stacked = true,
      .parts = {{"weight", Use::Plane, Mark, type, {Rows, Columns}},
                {"weight_scale", Use::Plane, Mark, kPowers, {Rows, Groups}}},
      .spellings = {{kPowers, "", contract}}};
}

static FamilyRow bytesRow(std::string_view name, std::string_view title,
                          std::string_view type, std::string_view scale,
                          std::vector<Count> shape,
                          std::vector<Spelling> spellings) {
  std::string_view types =
      spellings.size() == 3 ? "F32 BF16 F8_E8M0" : "F32 BF16";
  return {.name = name,
          .title = title,
          .bits = "8",
          .stacked = shape.size() == 2,
          .parts = {{"weight", Use::Plane, Mark, type, {Rows, Columns}},
                    {scale, Use::Plane, Mark, types, std::move(shape)},
                    {"weight_zero_point", Use::Plane, Absent, "", {}}},
          .spellings = std::move(spellings)};
}

static std::vector<FamilyRow> bytesRows() {
  return {bytesRow("fp8", "FP8, one scale", "F8_E4M3", "weight_scale", {One},
                   {{"F32", "", "ct.fp8_tensor"},
                    {"BF16", "", "ct.fp8_tensor_bf16"}}),
          bytesRow("fp8", "FP8, a scale per row", "F8_E4M3", "weight_scale",
                   {Rows, One},
                   {{"F32", "", "ct.fp8_channel"},
                    {"BF16", "", "ct.fp8_channel_bf16"}}),
          bytesRow(
              "fp8", "FP8, blocks of 128 x 128", "F8_E4M3", "weight_scale",
              {RowBlocks, ColumnBlocks},
              {{"F32", "", "deepseek.fp8"}, {"BF16", "", "deepseek.fp8_bf16"}}),
          bytesRow("fp8", "DeepSeek and Qwen FP8", "F8_E4M3",
                   "weight_scale_inv", {RowBlocks, ColumnBlocks},
                   {{"F32", "", "deepseek.fp8"},
                    {"BF16", "", "deepseek.fp8_bf16"},
                    {"F8_E8M0", "", "deepseek.fp8_ue8m0"}}),
          bytesRow("fp8", "FP8 in blocks, scales named `scale`", "F8_E4M3",
                   "scale", {RowBlocks, ColumnBlocks},
                   {{"F32", "", "deepseek.fp8"},
                    {"BF16", "", "deepseek.fp8_bf16"},
                    {"F8_E8M0", "", "deepseek.fp8_ue8m0"}}),
          bytesRow("int8", "compressed-tensors `int-quantized`, 8 bits", "I8",
                   "weight_scale", {Rows, One},
                   {{"F32", "", "ct.int8_channel"},
                    {"BF16", "", "ct.int8_channel_bf16"}}),
          bytesRow("int8", "bitsandbytes, 8 bits", "I8", "SCB", {Rows}, {})};
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

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

static FamilyRow hqqRow(std::string_view bits, std::string_view data) {
  // Numbers are I32, and were U8 in older versions.
  constexpr std::string_view kNumbers = "I32 I64 U8";
  FamilyRow row = {
      .name = "hqq",
      .title = "HQQ, `axis` 1",
      .bits = bits,
      .parts = {{"W_q", Use::Plane, Mark, "U8", {AllBytes}},
                {"scale", Use::Plane, Required, "F16", {AllGroups}},
                {"zero", Use::Plane, Required, "F16", {AllGroups}},
                {"shape", Use::Shape, Required, "I64 I32", {Any}},
                {"nbits", Use::Bits, Required, kNumbers, {One}},
                {"axis", Use::Axis, Required, kNumbers, {One}},
                {"group_size", Use::GroupSize, Optional, kNumbers, {One}},
                {"packing", Use::Packing, Optional, "U8", {Any}}},
      .spellings = {{"F16", "", "hqq.q{b}(group={g})"}},
      .data = data};
  for (std::string_view suffix :
       {"channel_wise", "compute_dtype", "encoded_state_dict", "offload_meta",
        "optimize", "quant_scale", "quant_zero", "round_zero",
        "stores_quant_config", "unpack_view_dtype", "view_as_float"})
    row.parts.push_back({suffix, Use::Aside, Optional, "U8 I32 I64", {Any}});
  return row;
}

const std::vector<FamilyRow> &grit::scan::layerFamilies() {
  static const std::vector<FamilyRow> rows = [] {
    constexpr std::string_view nf4 = "weight.quant_state.bitsandbytes__nf4";
    constexpr std::string_view fp4 = "weight.quant_state.bitsandbytes__fp4";
    std::vector<FamilyRow> all = {gptqRow(),
                                  awqRow(),
                                  packedRow(),
                                  packedZeroRow(),
                                  mlxRow(),
                                  nvfp4DividingRow(),
                                  nvfp4MultiplyingRow(),
                                  mxfp4Row(),
                                  blocksRow(),
                                  mxfp8Row("F8_E4M3", "mxfp8_e4m3"),
                                  mxfp8Row("F8_E5M2", "mxfp8_e5m2")};
    for (FamilyRow &row : bytesRows())
      all.push_back(std::move(row));
    all.push_back(bnbRow("bitsandbytes NF4", nf4, "bnb.nf4(block={g})"));
    all.push_back(bnbRow("bitsandbytes FP4", fp4, "bnb.fp4(block={g})"));
    all.push_back(bnbDoubleRow("bitsandbytes NF4, double quantization", nf4,
                               "bnb.nf4_double"));
    all.push_back(bnbDoubleRow("bitsandbytes FP4, double quantization", fp4,
                               "bnb.fp4_double"));
    all.push_back(hqqRow("2 4", "layout(Interleave(RowMajor,{p}))"));
    all.push_back(hqqRow("8", ""));
    return all;
  }();
  return rows;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool grit::scan::listHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    size_t end = list.find(' ');
    if (list.substr(0, end) == word)
      return true;
    list = end == std::string_view::npos ? "" : list.substr(end + 1);
  }
  return false;
}

std::string_view grit::scan::countText(Count count) {
  static constexpr std::string_view texts[] = {
      "1",     "N",         "K",       "N b / 32",   "K b / 32", "K b / 8",
      "K / G", "G b / 8",   "N / 128", "K / 128",    "2^b",      "256",
      "any",   "N K b / 8", "N K / G", "N K / 256 G"};
  return texts[static_cast<size_t>(count)];
}

std::string grit::scan::fillIn(
    std::string_view text,
    std::initializer_list<std::pair<char, int64_t>> replacements) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::pair<char, int64_t> *known = nullptr;
    if (text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}')
      for (const auto &replacement : replacements)
        if (replacement.first == text[i + 1])
          known = &replacement;
    result += known ? std::to_string(known->second) : std::string(1, text[i]);
    if (known)
      i += 2;
  }
  return result;
}
