//===- LayerStates.cpp - tensors that describe other tensors -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonValue.h"
#include "LayerArrays.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>

using namespace grit;
using namespace grit::scan;

static Error stateError(const PartRow &row, std::string message,
                        std::string declared, std::string found,
                        std::string cause, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message),
                   std::string(row.suffix), std::move(declared),
                   std::move(found), std::move(cause), std::move(fix))
      .value();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static uint64_t wordAt(ByteSpan bytes, size_t index, size_t size) {
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i)
    word |= uint64_t(bytes[index * size + i]) << (8 * i);
  return word;
}

/// The integers of an I32, I64 or U8 tensor.
static std::vector<int64_t> integersOf(const TensorInfo &info) {
  size_t size = info.dtype == "I64" ? 8 : info.dtype == "I32" ? 4 : 1;
  std::vector<int64_t> numbers(info.bytes.size() / size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint64_t word = wordAt(info.bytes, i, size);
    numbers[i] = size == 4 ? int64_t(static_cast<int32_t>(word))
                           : static_cast<int64_t>(word);
  }
  return numbers;
}

static std::optional<Error> takeShape(const PartRow &row,
                                      const std::vector<int64_t> &shape,
                                      LayerSizes &sizes) {
  bool valid = !shape.empty() && shape.size() <= kMaxRank;
  for (int64_t extent : shape)
    valid &= extent > 0;
  sizes.shape = shape;
  if (valid && sizes.total() != 0)
    return std::nullopt;
  return stateError(row, "the shape of the layer cannot be used",
                    "positive extents", shapeText(shape),
                    "the tensor is damaged", "fetch the checkpoint again");
}

/// Takes over a single number, or compares it with what is known.
static std::optional<Error> takeNumber(const FoundPart &part, int64_t &known) {
  std::vector<int64_t> numbers = integersOf(*part.info);
  if (numbers.size() == 1 && numbers[0] > 0 &&
      (!known || numbers[0] == known)) {
    known = numbers[0];
    return std::nullopt;
  }
  return stateError(
      *part.row, "a number that describes the layer cannot be used",
      known ? std::to_string(known) : "one positive number", shapeText(numbers),
      "the layer has a variant that no contract describes",
      "convert the layer with the tool that wrote it");
}

static std::optional<Error> takeConstant(const FoundPart &part) {
  std::vector<int64_t> numbers = integersOf(*part.info);
  if (numbers == std::vector<int64_t>{part.row->constant})
    return std::nullopt;
  return stateError(*part.row, "the layer is stored in another way",
                    std::to_string(part.row->constant), shapeText(numbers),
                    "another version or option of the tool wrote it",
                    "convert the layer with the tool that wrote it");
}

//===----------------------------------------------------------------------===//
// A record in JSON
//===----------------------------------------------------------------------===//

namespace {
/// The record of bitsandbytes.
struct QuantState {
  std::vector<int64_t> shape;
  int64_t block = 0, nestedBlock = 0;
  std::optional<double> nestedOffset;
};
} // namespace

static std::string_view textOf(const TensorInfo &info) {
  return {reinterpret_cast<const char *>(info.bytes.data()), info.bytes.size()};
}

static std::optional<QuantState> parseState(std::string_view text,
                                            std::string &error) {
  std::optional<JsonText> json = JsonText::parse(text, error);
  if (!json)
    return std::nullopt;
  QuantState state;
  auto integer = [&](std::string_view key, int64_t &into) {
    std::optional<JsonElement> value = member(json->root(), key);
    return value && !value->get(into);
  };
  JsonArray shape;
  std::optional<JsonElement> extents = member(json->root(), "shape");
  error = "a blocksize and a shape of integers are missing";
  if (!integer("blocksize", state.block) || !extents || extents->get(shape))
    return std::nullopt;
  for (JsonElement item : shape) {
    int64_t extent;
    if (item.get(extent))
      return std::nullopt;
    state.shape.push_back(extent);
  }
  integer("nested_blocksize", state.nestedBlock);
  double offset;
  if (std::optional<JsonElement> value = member(json->root(), "nested_offset");
      value && !value->get(offset))
    state.nestedOffset = offset;
  return state;
}

static std::optional<Error> takeState(const FamilyRow &family,
                                      const FoundPart &part, LayerSizes &sizes,
                                      std::optional<float> &stated) {
  constexpr int64_t kNestedBlock = 256;
  constexpr uint64_t kMostBytes = uint64_t(1) << 16;
  std::string error = "it is longer than a record may be";
  std::optional<QuantState> state;
  if (part.info->bytes.size() <= kMostBytes)
    state = parseState(textOf(*part.info), error);
  if (!state)
    return stateError(*part.row, "the record of the layer cannot be read",
                      "JSON with blocksize and shape", error,
                      "the tensor is damaged", "fetch the checkpoint again");
  if (auto refused = takeShape(*part.row, state->shape, sizes))
    return refused;
  if (family.group && state->block != family.group)
    return stateError(*part.row, "blocks of this size have no contract",
                      std::to_string(family.group),
                      std::to_string(state->block),
                      "the layer was quantized with another blocksize",
                      "quantize again with the default");
  sizes.group = state->block;
  if (family.stated.empty())
    return std::nullopt;
  if (!state->nestedOffset || state->nestedBlock != kNestedBlock)
    return stateError(
        *part.row, "the record lacks what nested scales need",
        "nested_offset, and nested_blocksize " + std::to_string(kNestedBlock),
        state->nestedOffset
            ? "nested_blocksize " + std::to_string(state->nestedBlock)
            : "no nested_offset",
        "another version wrote it", "quantize again with the default");
  stated = static_cast<float>(*state->nestedOffset);
  if (static_cast<double>(*stated) != *state->nestedOffset)
    return stateError(*part.row, "nested_offset is no binary32 number",
                      "a number that binary32 holds",
                      std::to_string(*state->nestedOffset),
                      "another type was used for nested scales",
                      "quantize again with the default");
  return std::nullopt;
}

std::optional<Error> grit::scan::readStated(const FamilyRow &family,
                                            const FoundPart &part,
                                            LayerSizes &sizes,
                                            std::optional<float> &stated) {
  switch (part.row->use) {
  case Use::Shape:
    return takeShape(*part.row, integersOf(*part.info), sizes);
  case Use::Bits:
    return takeNumber(part, sizes.bits);
  case Use::GroupSize:
    return takeNumber(part, sizes.group);
  case Use::Constant:
    return takeConstant(part);
  case Use::State:
    return takeState(family, part, sizes, stated);
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static std::optional<Error> checkOrder(const FoundPart &part, int64_t group) {
  std::vector<int64_t> groups = integersOf(*part.info);
  if (part.row->use == Use::LooseOrder && std::ranges::count(groups, -1) != 0)
    return std::nullopt;
  for (size_t k = 0; k < groups.size(); ++k) {
    int64_t expected = static_cast<int64_t>(k) / group;
    if (groups[k] != expected)
      return stateError(*part.row,
                        "the columns of a group are no neighbours (act-order)",
                        "group " + std::to_string(expected) + " for column " +
                            std::to_string(k),
                        std::to_string(groups[k]),
                        "the layer was quantized with desc_act or actorder",
                        "quantize again without act-order");
  }
  return std::nullopt;
}

static std::optional<Error> checkTable(const FoundPart &part,
                                       const std::vector<float> &table) {
  for (size_t i = 0; i < table.size(); ++i) {
    uint32_t expected = std::bit_cast<uint32_t>(table[i]);
    uint32_t found = static_cast<uint32_t>(wordAt(part.info->bytes, i, 4));
    if (found != expected)
      return stateError(*part.row, "the layer brings a table of its own",
                        hexWord(expected, 8) + " for code " + std::to_string(i),
                        hexWord(found, 8),
                        "another version or machine made the table",
                        "quantize again with the usual table");
  }
  return std::nullopt;
}

std::optional<Error> grit::scan::checkStated(const FoundPart &part,
                                             const LayerSizes &sizes,
                                             const Contract &contract) {
  const FormatDescription &description = contract.description();
  switch (part.row->use) {
  case Use::Order:
  case Use::LooseOrder:
    return checkOrder(part, sizes.group);
  case Use::Levels:
    return checkTable(part, description.level.number.table);
  case Use::ScaleLevels:
    return checkTable(part, description.scales.front().number.table);
  case Use::Packing: {
    std::string expected = fillIn(part.row->stored, {{'b', sizes.bits}});
    if (textOf(*part.info) == expected)
      return std::nullopt;
    return stateError(*part.row, "the codes are packed in another way",
                      expected, quoteText(textOf(*part.info)),
                      "another packing was chosen",
                      "quantize again with the usual packing");
  }
  default:
    return std::nullopt;
  }
}
