//===- LayerAttempt.cpp - a module, tried as one family -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerAttempt.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using namespace grit::scan;

std::string LayerAttempt::fullName(std::string_view suffix) const {
  bool isJoined = module.name.empty() || suffix.starts_with('_');
  return module.name + (isJoined ? "" : ".") + std::string(suffix);
}

std::string LayerAttempt::outputName() const {
  return family.isTensorName ? module.name : fullName("weight");
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::optional<Error> LayerAttempt::checkPart(const PartRow &row) {
  const TensorInfo *info = module.get(row.suffix);
  std::string field = "tensor " + quoteText(fullName(row.suffix));
  if (row.presence == Presence::Absent) {
    if (info)
      return refuseLayer("a tensor of the layer has no place in its contract",
                         std::move(field), "nothing",
                         info->dtype + " " + shapeText(info->shape),
                         "the layer has a variant that no contract describes",
                         "quantize again without it");
    return std::nullopt;
  }
  if (!info) {
    if (row.presence == Presence::Optional)
      return std::nullopt;
    return refuseLayer("a tensor of the layer is missing", std::move(field),
                       std::string(row.types), "nothing",
                       "it lies in another shard, or was left out",
                       "name the directory of the checkpoint, with all shards");
  }
  if (!listHas(row.types, info->dtype))
    return refuseLayer(
        "no contract has a tensor of this type here", std::move(field),
        std::string(row.types), info->dtype,
        "another tool or version stored the layer",
        "convert the tensor to one of these types, if that is exact");
  parts.push_back({&row, info});
  return std::nullopt;
}

std::optional<Error> LayerAttempt::collect() {
  for (const PartRow &row : family.parts) {
    if (std::optional<Error> error = checkPart(row))
      return error;
    ++steps;
  }
  bool isReordered = config.reordered.value_or(false);
  const PartRow *order = nullptr;
  for (const PartRow &row : family.parts)
    if (row.use == Use::Order || row.use == Use::LooseOrder)
      order = &row;
  if (order && isReordered && !module.get(order->suffix))
    return refuseLayer("act-order is declared, and no tensor states the order",
                       "tensor " + quoteText(fullName(order->suffix)),
                       std::string(order->types), "nothing",
                       "it lies in another shard, or was left out",
                       "name the directory of the checkpoint, with all shards");
  for (const FoundPart &part : parts)
    layer.parts.push_back(part.info);
  return std::nullopt;
}

std::optional<Error> LayerAttempt::readSizes() {
  for (const FoundPart &part : parts)
    if (std::optional<Error> error = readStated(family, part, sizes, stated))
      return error;
  if (!sizes.bits)
    sizes.bits =
        std::clamp<int64_t>(config.bitsOf(module.name).value_or(0), 0, 32);
  if (family.declaresGroup) {
    std::optional<int64_t> group = config.groupSizeOf(module.name);
    if (!group || *group <= 0)
      return refuseLayer(
          "scales may be filled up, and nothing says how many are",
          "group_size", "a number", group ? std::to_string(*group) : "nothing",
          "the configuration was edited, or is of another checkpoint",
          "fetch the checkpoint again, with its configuration");
    sizes.group = *group;
  }
  if (config.block.size() == 2 && family.anyBlock) {
    sizes.blockRows = config.block[0];
    sizes.blockColumns = config.block[1];
  }
  if (!sizes.bits && family.bits.size() == 1)
    sizes.bits = family.bits.front() - '0';
  if (sizes.bits && !listHas(family.bits, std::to_string(sizes.bits)))
    return widthError();
  if (std::optional<Error> error = solveSizes(family, parts, sizes)) {
    if (!sizes.bits)
      return widthError();
    error->field = "tensor " + quoteText(fullName(error->field)) + ": shape";
    return error;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

std::optional<Error> LayerAttempt::chooseContract() {
  if (family.spellings.empty())
    return refuseLayer("no contract describes this family", "family",
                       "a family with a contract", std::string(family.title),
                       "its arithmetic is none that a format here has",
                       "dequantize it with the tool that wrote it");
  // The scales are the second plane of every family.
  std::string_view type = parts[1].info->dtype;
  std::string versions;
  for (const Spelling &spelling : family.spellings) {
    if (!listHas(spelling.types, type))
      continue;
    if (!spelling.version.empty() && spelling.version != config.knownFormat()) {
      versions +=
          (versions.empty() ? "" : " or ") + quoteText(spelling.version);
      continue;
    }
    Expected<Contract> parsed =
        Contract::parse(fillIn(spelling.contract, {{'b', sizes.bits},
                                                   {'g', sizes.group},
                                                   {'r', sizes.blockRows},
                                                   {'c', sizes.blockColumns}}));
    if (!parsed) {
      Error error = parsed.error();
      error.field = "group_size";
      error.cause = "the layer was quantized in groups of another size";
      return error;
    }
    contract = std::move(*parsed);
    return std::nullopt;
  }
  return refuseLayer(
      "two conventions fit the zero points, and nothing says which",
      "checkpoint_format", versions,
      config.checkpointFormat.empty() ? "nothing"
                                      : quoteText(config.checkpointFormat),
      "the tool is older than the field (the first convention, then), or the "
      "configuration was edited",
      "add checkpoint_format to the configuration, or say which it is "
      "(--checkpoint-format)");
}

std::optional<Error> LayerAttempt::place() {
  Placements placements = contract->canonicalPlacements();
  const std::pair<std::string_view, Placement *> words[] = {
      {family.data, &placements.data},
      {family.scale, &placements.scale},
      {family.meta, &placements.meta}};
  for (const auto &[text, placement] : words) {
    if (text.empty())
      continue;
    Expected<Placement> parsed = Placement::parse(
        fillIn(text, {{'w', 32 / sizes.bits}, {'p', 8 / sizes.bits}}));
    if (!parsed)
      return parsed.error();
    *placement = *parsed;
  }
  layer.shape = sizes.full();
  std::vector<int64_t> shape = layer.shape;
  if (!family.arrayShape.empty()) {
    shape.clear();
    for (Count count : family.arrayShape)
      shape.push_back(extentOf(count, sizes).value_or(0));
  }
  Expected<ArraySpec> spec =
      ArraySpec::get(*contract, std::move(shape), family.axis, placements);
  if (!spec)
    return spec.error();
  if (std::optional<Error> error = addPlanes(*spec))
    return error;
  layer.array = std::move(*spec);
  return std::nullopt;
}

std::optional<Error> LayerAttempt::checkRest() {
  for (const FoundPart &part : parts)
    if (auto error = checkStated(part, sizes, *contract)) {
      error->field = "tensor " + quoteText(fullName(error->field));
      return error;
    }
  auto other = checkpoint.tensors.find(outputName());
  if (other == checkpoint.tensors.end() ||
      std::ranges::find(layer.parts, other->second.info) != layer.parts.end())
    return std::nullopt;
  return refuseLayer("a tensor has the name of what the layer decodes to",
                     "tensor " + quoteText(outputName()), "nothing",
                     other->second.info->dtype + " " +
                         shapeText(other->second.info->shape),
                     "the layer is stored twice", "remove one of them");
}

std::optional<Error> LayerAttempt::run() {
  // What is declared counts more than how much of another family fits.
  if (family.methods.empty() || method.empty() ||
      listHas(family.methods, method))
    steps = 100;
  for (auto step : {&LayerAttempt::collect, &LayerAttempt::checkMethod,
                    &LayerAttempt::checkSymmetry, &LayerAttempt::checkBlocks,
                    &LayerAttempt::readSizes, &LayerAttempt::checkDeclared,
                    &LayerAttempt::chooseContract, &LayerAttempt::place,
                    &LayerAttempt::checkRest}) {
    if (std::optional<Error> error = (this->*step)())
      return error;
    ++steps;
  }
  return std::nullopt;
}

LayerArray LayerAttempt::take(std::optional<Error> refusal) {
  layer.layer = module.name;
  layer.tensor = outputName();
  layer.family = family.name;
  layer.forbiddenScale = family.forbiddenScale;
  layer.refusal = std::move(refusal);
  if (layer.refusal) {
    layer.array.reset();
    layer.planes.clear();
    layer.copies.clear();
    layer.number.reset();
  }
  return std::move(layer);
}
