//===- GgmlTypes.cpp - the tensor types of GGUF files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Gguf.h"

using namespace grit;

namespace {
/// Elements and bytes of a block, as ggml defines them.
struct Row {
  uint32_t id;
  std::string_view name;
  int64_t elements, bytes;
  /// Bits of codes that ggml keeps in a number of several bytes: no field of
  /// the description fills it.
  std::optional<ByteOrder::Word> packed = std::nullopt;
};
} // namespace

static constexpr Row kRows[] = {
    {0, "F32", 1, 4},
    {1, "F16", 1, 2},
    {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22, {{2, 4}}},
    {7, "Q5_1", 32, 24, {{4, 4}}},
    {8, "Q8_0", 32, 34},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},
    {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136, {{2, 2}}},
    {24, "I8", 1, 1},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4},
    {27, "I64", 1, 8},
    {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
    {42, "Q2_0", 64, 18},
};

/// None where the levels are vectors: ggml reads those as the bytes of words in
/// its tables, so that a big-endian machine finds other numbers in them.
static std::optional<ByteOrder> byteOrder(const GgmlType &type,
                                          const Row &row) {
  ByteOrder order(type.bytes);
  if (!type.contract) {
    if (type.bytes > 1)
      order.add({0, type.bytes});
    return order;
  }
  const FormatDescription &format = type.contract->description();
  if (format.level.vector > 1)
    return std::nullopt;
  order = ByteOrder::of(format, 0);
  if (row.packed)
    order.add(*row.packed);
  return order;
}

static GgmlType makeType(const Row &row) {
  GgmlType type;
  type.id = row.id;
  type.name = row.name;
  type.elements = row.elements;
  type.bytes = row.bytes;
  type.element = lookupElementType(row.name);
  if (Expected<Contract> parsed =
          Contract::parse("gguf." + toLower(row.name))) {
    const PlaneInfo &blocks = parsed->description().planes.front();
    type.elements = blocks.elements;
    type.bytes = blocks.bits / 8;
    type.contract = std::move(*parsed);
  }
  type.byteOrder = byteOrder(type, row);
  return type;
}

std::span<const GgmlType> grit::ggmlTypes() {
  static const std::vector<GgmlType> types = [] {
    std::vector<GgmlType> all;
    for (const Row &row : kRows)
      all.push_back(makeType(row));
    return all;
  }();
  return types;
}

const GgmlType *grit::lookupGgmlType(uint32_t id) {
  for (const GgmlType &type : ggmlTypes())
    if (type.id == id)
      return &type;
  return nullptr;
}

const GgmlType *grit::ggmlTypeOf(const Contract &contract) {
  for (const GgmlType &type : ggmlTypes())
    if (type.contract && *type.contract == contract)
      return &type;
  return nullptr;
}

const GgmlType *grit::ggmlTypeOf(const ElementType &element) {
  for (const GgmlType &type : ggmlTypes())
    if (type.element && *type.element == element)
      return &type;
  return nullptr;
}

std::string_view grit::ggmlTypeHint(uint32_t id) {
  switch (id) {
  case 4:
    return "4 is the retired id of Q4_2; some forks and other run times use it "
           "for MXFP4, whose id is 39";
  case 5:
    return "5 is the retired id of Q4_3";
  case 31:
  case 32:
  case 33:
    return "31 to 33 are the retired ids of Q4_0_4_4, Q4_0_4_8 and Q4_0_8_8 "
           "(repacked Q4_0)";
  case 36:
  case 37:
  case 38:
    return "36 to 38 are the retired ids of IQ4_NL_4_4, IQ4_NL_4_8 and "
           "IQ4_NL_8_8 (repacked IQ4_NL); a BitNet fork uses 36 for its own "
           "ternary type";
  default:
    return "";
  }
}
