//===- Layers.cpp - finding quantized modules -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "grit/Format/Text.h"
#include <bit>
#include <filesystem>

using namespace grit;
using namespace grit::scan;

std::string Recognition::pathOf(const TensorInfo &tensor) const {
  auto entry = checkpoint.tensors.find(tensor.name);
  return entry == checkpoint.tensors.end() ? checkpoint.path
                                           : entry->second.file->path;
}

void Recognition::add(Id id, const Module &module, const TensorInfo &tensor,
                      std::string message, std::string declared,
                      std::string found, std::string cause) const {
  collector.add(id, pathOf(tensor), module.name, std::move(message),
                std::move(declared), std::move(found), std::move(cause));
}

bool Recognition::mayHave(const Module &module, std::string_view part) const {
  return checkpoint.mayHave(module.name.empty()
                                ? std::string(part)
                                : module.name + "." + std::string(part));
}

/// Group sizes that quantizers use.
static bool isUsualGroup(int64_t group) {
  return group >= 8 && std::has_single_bit(static_cast<uint64_t>(group));
}
static bool isUsualWidth(int64_t bits) {
  return bits == 2 || bits == 3 || bits == 4 || bits == 5 || bits == 6 ||
         bits == 8;
}

int64_t Recognition::judgeGroups(const Module &module, const TensorInfo &codes,
                                 int64_t units, int64_t groups,
                                 int64_t unitBits, std::optional<int64_t> bits,
                                 std::optional<int64_t> group) const {
  constexpr int64_t kLargest = int64_t(1) << 40;
  if (units <= 0 || groups <= 0 || units > kLargest || groups > kLargest)
    return 0;
  if (bits && (*bits < 1 || *bits > unitBits))
    bits.reset();
  if (group && *group > kLargest)
    group.reset();
  int64_t codeBits = units * unitBits;
  int64_t columns = bits ? codeBits / *bits : 0;
  bool whole = !group || *group <= 0; // -1: one group per row
  if (bits && columns % groups == 0) {
    int64_t implied = columns / groups;
    if (whole || implied == *group || (groups == 1 && implied <= *group))
      return implied;
  } else if (bits && !whole && (columns + *group - 1) / *group == groups) {
    return *group; // The last group is short.
  }
  if (!bits)
    return 0;
  std::string declared = std::to_string(*bits) + " bits";
  if (!whole)
    declared += ", groups of " + std::to_string(*group);
  std::string found = std::to_string(columns) + " codes per row in " +
                      std::to_string(groups) + " groups";
  int64_t impliedBits = 0;
  if (!whole && groups <= kLargest / *group &&
      codeBits % (groups * *group) == 0)
    impliedBits = codeBits / (groups * *group);
  if (impliedBits != *bits && isUsualWidth(impliedBits)) {
    add(Id::PackedBits, module, codes,
        "codes and scales imply " + std::to_string(impliedBits) + " bits",
        declared, found);
    return *group;
  }
  if (columns % groups == 0 && isUsualGroup(columns / groups)) {
    add(Id::GroupSize, module, codes,
        "the scales imply groups of " + std::to_string(columns / groups),
        declared, found);
    return columns / groups;
  }
  std::string message = "codes and scales do not fit the declared width";
  if (!whole) {
    char implied[32];
    std::snprintf(
        implied, sizeof(implied), "%.3g",
        static_cast<double>(codeBits) /
            (static_cast<double>(groups) * static_cast<double>(*group)));
    message = "codes and scales imply " + std::string(implied) + " bits";
  }
  add(Id::PackedBits, module, codes, message, declared, found);
  return 0;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The module and the part that a tensor belongs to.
static std::pair<std::string_view, std::string_view>
moduleOf(std::string_view name) {
  // bitsandbytes: "a.weight.absmax", "a.weight.quant_state.bitsandbytes__nf4".
  for (std::string_view key :
       {".weight.absmax", ".weight.quant_map", ".weight.quant_state.",
        ".weight.nested_absmax", ".weight.nested_quant_map"})
    if (size_t at = name.find(key); at != std::string_view::npos)
      return {name.substr(0, at), name.substr(at + 1)};
  auto [module, part] = splitName(name);
  // Experts in one tensor: "mlp.experts.gate_up_proj_blocks".
  for (std::string_view suffix : {"_blocks", "_scales"})
    if (part.ends_with(suffix) && part.size() > suffix.size())
      return {name.substr(0, name.size() - suffix.size()), suffix};
  return {module, part};
}

/// A configuration names a method; it does not say where a bit lies.
static std::string causeOfInference(const QuantConfig &config) {
  if (!config.isDeclared())
    return "neither a record in the file nor a configuration beside it states "
           "the contract";
  return std::filesystem::path(config.path).filename().string() +
         " declares the method " + quoteText(config.method) +
         ", and no record states the contract of each tensor";
}

std::map<std::string_view, Module>
grit::scan::modulesOf(const Checkpoint &checkpoint) {
  std::map<std::string_view, Module> modules;
  for (const auto &[name, tensor] : checkpoint.tensors) {
    if (tensor.file->file->format() != "safetensors" || tensor.info->array ||
        tensor.file->records.contains(name))
      continue;
    auto [module, part] = moduleOf(name);
    Module &entry = modules[module];
    entry.name = module;
    entry.parts.emplace(part, tensor.info);
  }
  return modules;
}

std::vector<Layer> grit::scan::findLayers(const Checkpoint &checkpoint,
                                          Collector &collector) {
  Recognition scan{checkpoint, collector};
  std::vector<Layer> layers;
  for (const auto &[name, module] : modulesOf(checkpoint)) {
    for (auto recognize : {recognizeWords, recognizeFloats, recognizeOthers})
      if (std::optional<Layer> layer = recognize(scan, module)) {
        layer->name = name;
        layers.push_back(std::move(*layer));
        break;
      }
  }
  for (const Layer &layer : layers) {
    std::string path = scan.pathOf(*layer.codes);
    if (layer.certainty == Certainty::NotExpressible)
      collector.add(Id::NotExpressible, path, layer.name, layer.label, {}, {},
                    layer.reason);
    else
      collector.add(Id::FormatInferred, path, layer.name, layer.label, {}, {},
                    causeOfInference(checkpoint.config));
  }
  return layers;
}
