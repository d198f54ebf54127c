//===- LayerArrays.cpp - from recognized tensors to arrays -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerArrays.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>

using namespace grit;
using namespace grit::scan;

static Error refuse(std::string message, std::string field,
                    std::string declared, std::string found, std::string cause,
                    std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix))
      .value();
}

namespace {
/// One module, tried as one family. Members are filled from step to step;
/// `steps` counts those that went well, for the choice among refusals.
class Attempt {
public:
  Attempt(const FamilyRow &family, const Module &module,
          const Checkpoint &checkpoint)
      : family(family), module(module), checkpoint(checkpoint),
        config(checkpoint.config),
        // What parseConfig calls a declaration without quant_method.
        method(config.method == "unnamed" ? "" : config.method) {}

  std::optional<Error> run();
  LayerArray take(std::optional<Error> refusal);
  unsigned numSteps() const { return steps; }

private:
  std::optional<Error> checkMethod();
  std::optional<Error> checkSymmetry();
  std::optional<Error> collect();
  std::optional<Error> checkPart(const PartRow &row);
  std::optional<Error> readSizes();
  std::optional<Error> checkDeclared();
  std::optional<Error> chooseContract();
  std::optional<Error> place();
  std::optional<Error> checkRest();

  Error widthError() const;
  std::string fullName(std::string_view suffix) const;
  std::string outputName() const;

  const FamilyRow &family;
  const Module &module;
  const Checkpoint &checkpoint;
  const QuantConfig &config;
  const std::string method;
  std::vector<FoundPart> parts;
  LayerSizes sizes;
  std::optional<float> stated;
  std::optional<Contract> contract;
  LayerArray layer;
  unsigned steps = 0;
};
} // namespace

std::string Attempt::fullName(std::string_view suffix) const {
  bool isJoined = module.name.empty() || suffix.starts_with('_');
  return module.name + (isJoined ? "" : ".") + std::string(suffix);
}

std::string Attempt::outputName() const {
  return family.isTensorName ? module.name : fullName("weight");
}

//===----------------------------------------------------------------------===//
// What the configuration says
//===----------------------------------------------------------------------===//

/// The methods of the families that the module could be.
static std::string methodsOf(const Module &module);

std::optional<Error> Attempt::checkMethod() {
  if (!family.methods.empty() && !listHas(family.methods, method))
    return refuse(
        "the tensors of the layer do not say how it is packed", "quant_method",
        methodsOf(module), method.empty() ? "nothing" : quoteText(method),
        config.path.empty() ? "there is no configuration beside the file"
                            : "the configuration is of another checkpoint",
        "put the checkpoint's config.json beside its files");
  for (const std::string &format : {config.version, config.checkpointFormat})
    if (!family.formats.empty() && !format.empty() &&
        !listHas(family.formats, format))
      return refuse("this packing has no description", "version",
                    std::string(family.formats), quoteText(format),
                    "the layer was packed for one kind of kernel",
                    "quantize again for the usual packing");
  return std::nullopt;
}

std::optional<Error> Attempt::checkSymmetry() {
  bool wanted = family.symmetry == Symmetry::Symmetric;
  if (family.symmetry == Symmetry::Any || !config.symmetric ||
      *config.symmetric == wanted)
    return std::nullopt;
  return refuse("the zero points and what is declared about them differ",
                "symmetric", *config.symmetric ? "true" : "false",
                wanted ? "no zero points" : "zero points",
                "a tensor is missing, or the configuration is of another "
                "checkpoint",
                "fetch the checkpoint again, with its configuration");
}

Error Attempt::widthError() const {
  if (!sizes.bits)
    return refuse("the tensors do not say how wide the codes are", "bits",
                  std::string(family.bits), "nothing",
                  "there is no configuration beside the file, or it does not "
                  "state the width",
                  "put the checkpoint's config.json beside its files");
  return refuse("codes of this width have no contract", "bits",
                std::string(family.bits), std::to_string(sizes.bits),
                "the layer was quantized to another width",
                "quantize again to one of these widths");
}

std::optional<Error> Attempt::checkDeclared() {
  if (!listHas(family.bits, std::to_string(sizes.bits)))
    return widthError();
  std::optional<int64_t> group = config.groupSizeOf(module.name);
  bool isWhole = group && *group <= 0;
  bool hasGroups = std::ranges::any_of(parts, [](const FoundPart &part) {
    return std::ranges::count(part.row->shape, Count::Groups) != 0;
  });
  if (hasGroups && group && config.strategy != "channel" &&
      sizes.group != (isWhole ? sizes.columns : *group))
    return refuse("the group size differs from the declared one", "group_size",
                  std::to_string(*group), std::to_string(sizes.group),
                  "the scales were cut short, or the configuration is of "
                  "another checkpoint",
                  "fetch the checkpoint again, with its configuration");
  bool hasBlocks = std::ranges::any_of(parts, [](const FoundPart &part) {
    return std::ranges::count(part.row->shape, Count::RowBlocks) != 0;
  });
  if (hasBlocks && config.block != std::vector<int64_t>{128, 128})
    return refuse("blocks of this size have no contract", "weight_block_size",
                  "[128, 128]",
                  config.block.empty() ? "nothing" : shapeText(config.block),
                  config.block.empty()
                      ? "there is no configuration beside the file"
                      : "the layer was quantized in other blocks",
                  config.block.empty()
                      ? "put the checkpoint's config.json beside its files"
                      : "quantize again in blocks of 128 x 128");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::optional<Error> Attempt::checkPart(const PartRow &row) {
  const TensorInfo *info = module.get(row.suffix);
  std::string field = "tensor " + quoteText(fullName(row.suffix));
  if (row.presence == Presence::Absent) {
    if (info)
      return refuse("a tensor of the layer has no place in its contract",
                    std::move(field), "nothing",
                    info->dtype + " " + shapeText(info->shape),
                    "the layer has a variant that no contract describes",
                    "quantize again without it");
    return std::nullopt;
  }
  if (!info) {
    if (row.presence == Presence::Optional)
      return std::nullopt;
    return refuse("a tensor of the layer is missing", std::move(field),
                  std::string(row.types), "nothing",
                  "it lies in another shard, or was left out",
                  "name the directory of the checkpoint, with all shards");
  }
  if (!listHas(row.types, info->dtype))
    return refuse("no contract has a tensor of this type here",
                  std::move(field), std::string(row.types), info->dtype,
                  "another tool or version stored the layer",
                  "convert the tensor to one of these types, if that is exact");
  parts.push_back({&row, info});
  return std::nullopt;
}

std::optional<Error> Attempt::collect() {
  for (const PartRow &row : family.parts) {
    if (std::optional<Error> error = checkPart(row))
      return error;
    ++steps;
  }
  bool isReordered = config.reordered.value_or(false);
  const PartRow *order = nullptr;
  for (const PartRow &row : family.parts)
    if (row.use == Use::Order)
      order = &row;
  if (order && isReordered && !module.get(order->suffix))
    return refuse("act-order is declared, and no tensor states the order",
                  "tensor " + quoteText(fullName(order->suffix)),
                  std::string(order->types), "nothing",
                  "it lies in another shard, or was left out",
                  "name the directory of the checkpoint, with all shards");
  for (const FoundPart &part : parts)
    layer.parts.push_back(part.info);
  return std::nullopt;
}

std::optional<Error> Attempt::readSizes() {
  for (const FoundPart &part : parts)
    if (std::optional<Error> error = readStated(family, part, sizes, stated))
      return error;
  if (!sizes.bits)
    sizes.bits =
        std::clamp<int64_t>(config.bitsOf(module.name).value_or(0), 0, 32);
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

std::optional<Error> Attempt::chooseContract() {
  if (family.spellings.empty())
    return refuse("no contract describes this family", "family",
                  "a family with a contract", std::string(family.title),
                  "its arithmetic is none that a format here has",
                  "dequantize it with the tool that wrote it");
  // The scales are the second plane of every family.
  std::string_view type = parts[1].info->dtype;
  std::string versions;
  for (const Spelling &spelling : family.spellings) {
    if (!listHas(spelling.types, type))
      continue;
    if (!spelling.version.empty() &&
        spelling.version != config.checkpointFormat) {
      versions +=
          (versions.empty() ? "" : " or ") + quoteText(spelling.version);
      continue;
    }
    Expected<Contract> parsed = Contract::parse(
        fillIn(spelling.contract, {{'b', sizes.bits}, {'g', sizes.group}}));
    if (!parsed) {
      Error error = parsed.error();
      error.field = "group_size";
      error.cause = "the layer was quantized in groups of another size";
      return error;
    }
    contract = std::move(*parsed);
    return std::nullopt;
  }
  return refuse(
      "two conventions fit the zero points, and nothing says which",
      "checkpoint_format", versions,
      config.checkpointFormat.empty() ? "nothing"
                                      : quoteText(config.checkpointFormat),
      "the tool is older than the field (the first convention, then), or the "
      "configuration was edited",
      "add checkpoint_format to the configuration");
}

static std::vector<uint8_t> bytesOf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  std::vector<uint8_t> bytes(4);
  for (unsigned i = 0; i < 4; ++i)
    bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
  return bytes;
}

std::optional<Error> Attempt::place() {
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
  Expected<ArraySpec> spec =
      ArraySpec::get(*contract, sizes.full(), -1, placements);
  if (!spec)
    return spec.error();
  for (const FoundPart &part : parts)
    if (part.row->use == Use::Plane)
      layer.planes.push_back(part.info->bytes);
  if (stated) {
    layer.copiedName = family.stated;
    layer.copied = std::make_shared<std::vector<uint8_t>>(bytesOf(*stated));
    layer.planes.push_back(*layer.copied);
  }
  PlaneSizes found;
  for (ByteSpan plane : layer.planes)
    found.push_back(static_cast<int64_t>(plane.size()));
  if (std::optional<Error> error = spec->checkPlaneSizes(found))
    return error;
  layer.array = std::move(*spec);
  return std::nullopt;
}

std::optional<Error> Attempt::checkRest() {
  for (const FoundPart &part : parts)
    if (auto error = checkStated(part, sizes, *contract)) {
      error->field = "tensor " + quoteText(fullName(error->field));
      return error;
    }
  auto other = checkpoint.tensors.find(outputName());
  if (other == checkpoint.tensors.end() ||
      std::ranges::find(layer.parts, other->second.info) != layer.parts.end())
    return std::nullopt;
  return refuse("a tensor has the name of what the layer decodes to",
                "tensor " + quoteText(outputName()), "nothing",
                other->second.info->dtype + " " +
                    shapeText(other->second.info->shape),
                "the layer is stored twice", "remove one of them");
}

std::optional<Error> Attempt::run() {
  // What is declared counts more than how much of another family fits.
  if (family.methods.empty() || method.empty() ||
      listHas(family.methods, method))
    steps = 100;
  for (auto step :
       {&Attempt::collect, &Attempt::checkMethod, &Attempt::checkSymmetry,
        &Attempt::readSizes, &Attempt::checkDeclared, &Attempt::chooseContract,
        &Attempt::place, &Attempt::checkRest}) {
    if (std::optional<Error> error = (this->*step)())
      return error;
    ++steps;
  }
  return std::nullopt;
}

LayerArray Attempt::take(std::optional<Error> refusal) {
  layer.layer = module.name;
  layer.tensor = outputName();
  layer.family = family.name;
  layer.forbiddenScale = family.forbiddenScale;
  layer.refusal = std::move(refusal);
  if (layer.refusal) {
    layer.array.reset();
    layer.planes.clear();
  }
  return std::move(layer);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// True when all marks of the family are there. The codes must have one of its
/// types.
static bool bears(const FamilyRow &family, const Module &module) {
  for (const PartRow &row : family.parts) {
    if (row.presence != Presence::Mark)
      continue;
    const TensorInfo *info = module.get(row.suffix);
    if (!info ||
        (&row == &family.parts.front() && !listHas(row.types, info->dtype)))
      return false;
  }
  return true;
}

static std::string methodsOf(const Module &module) {
  std::string methods;
  for (const FamilyRow &family : layerFamilies())
    if (!family.methods.empty() && bears(family, module))
      methods += (methods.empty() ? "" : " or ") + std::string(family.methods);
  return methods;
}

std::optional<LayerArray> grit::scan::arrayOf(const Module &module,
                                              const Checkpoint &checkpoint) {
  std::optional<LayerArray> best;
  unsigned bestSteps = 0;
  for (const FamilyRow &family : layerFamilies()) {
    if (!bears(family, module))
      continue;
    Attempt attempt(family, module, checkpoint);
    std::optional<Error> refusal = attempt.run();
    if (!refusal)
      return attempt.take(std::nullopt);
    if (!best || attempt.numSteps() > bestSteps) {
      bestSteps = attempt.numSteps();
      best = attempt.take(std::move(refusal));
    } else if (attempt.numSteps() == bestSteps &&
               refusal->field == best->refusal->field &&
               refusal->message == best->refusal->message &&
               refusal->declared != best->refusal->declared) {
      best->refusal->declared += " or " + refusal->declared;
    }
  }
  return best;
}

std::vector<LayerArray> grit::scan::arraysOf(const Checkpoint &checkpoint) {
  std::vector<LayerArray> layers;
  for (const auto &[name, module] : modulesOf(checkpoint))
    if (std::optional<LayerArray> layer = arrayOf(module, checkpoint))
      layers.push_back(std::move(*layer));
  return layers;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

uint64_t LayerArray::bytes() const {
  uint64_t total = 0;
  for (const TensorInfo *part : parts)
    total += part->bytes.size();
  return total;
}

std::optional<Error> grit::scan::checkContents(const LayerArray &layer) {
  if (!layer.array || layer.forbiddenScale < 0)
    return std::nullopt;
  ByteSpan scales = layer.planes[1];
  auto byte = static_cast<uint8_t>(layer.forbiddenScale);
  auto met = std::ranges::find(scales, byte);
  if (met == scales.end())
    return std::nullopt;
  return refuse("a scale has a byte that the contract reads in another way",
                "tensor " + quoteText(layer.parts[1]->name),
                "no byte " + hexWord(byte, 2),
                "group " + std::to_string(met - scales.begin()),
                "a value of the layer overflowed when it was quantized",
                "quantize the layer again");
}
