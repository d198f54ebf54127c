//===- Roles.cpp - layers against the configuration and each other -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <array>

using namespace grit;
using namespace grit::scan;

static std::string pathOf(const Checkpoint &checkpoint,
                          const TensorInfo *tensor) {
  if (tensor)
    if (auto entry = checkpoint.tensors.find(tensor->name);
        entry != checkpoint.tensors.end())
      return entry->second.file->path;
  return checkpoint.path;
}

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

/// True when the families of a method include `family`, or the method is not
/// known here.
static bool methodAllows(std::string_view method, std::string_view family) {
  struct Entry {
    std::string_view method;
    std::vector<std::string_view> families;
  };
  static const std::vector<Entry> kMethods = {
      {"gptq", {"gptq", "gptq or awq"}},
      {"awq", {"awq", "gptq or awq"}},
      {"compressed-tensors",
       {"compressed-tensors", "nvfp4", "mxfp4", "mxfp8", "fp8", "int8", "fp4"}},
      {"modelopt", {"nvfp4", "mxfp4", "mxfp8", "fp8", "int8", "fp4"}},
      {"fp8", {"fp8", "mxfp8"}},
      {"mxfp4", {"mxfp4"}},
      {"bitsandbytes", {"bitsandbytes", "int8"}},
      {"hqq", {"hqq"}},
      {"mlx", {"mlx"}},
  };
  for (const Entry &entry : kMethods)
    if (entry.method == method)
      return std::ranges::find(entry.families, family) != entry.families.end();
  return true;
}

static bool hasArrays(const Checkpoint &checkpoint) {
  return std::ranges::any_of(checkpoint.files, [](const LoadedFile *file) {
    return !file->records.empty();
  });
}

void grit::scan::checkConfig(const Checkpoint &checkpoint,
                             const std::vector<Layer> &layers, bool deep,
                             Collector &collector) {
  const QuantConfig &config = checkpoint.config;
  if (!config.isDeclared())
    for (const Layer &layer : layers)
      collector.add(Id::Undeclared, pathOf(checkpoint, layer.codes), layer.name,
                    "no configuration declares these modules");
  bool isSafetensors =
      std::ranges::all_of(checkpoint.files, [](const LoadedFile *file) {
        return file->file->format() == "safetensors";
      });
  if (config.isDeclared() && layers.empty() && isSafetensors &&
      checkpoint.isWhole() && !hasArrays(checkpoint) &&
      config.method != "unnamed")
    collector.add(Id::NothingQuantized, config.path, "",
                  "no tensor shows the declared quantization", config.method,
                  "plain tensors");
  for (const Layer &layer : layers) {
    std::string path = pathOf(checkpoint, layer.codes);
    if (!methodAllows(config.method, layer.family))
      collector.add(Id::Method, path, layer.name,
                    "the tensors are not in the layout of the declared method",
                    config.method, layer.family);
    if (const std::string *entry = config.ignoring(layer.name))
      collector.add(Id::IgnoredModule, path, layer.name,
                    "the ignore list covers modules that are quantized",
                    "ignore " + quoteText(*entry), layer.family);
    // Whether an index is trivial is seen with --deep only.
    if (layer.index && !deep && config.reordered != false)
      collector.add(Id::ActOrder, path, layer.name,
                    "ambiguous: there is an index of groups, and it was not "
                    "read",
                    {}, layer.index->dtype);
    if (config.reordered == true && !layer.index &&
        (layer.family == "gptq" || layer.family == "compressed-tensors"))
      collector.add(Id::ReorderAbsent, path, layer.name,
                    "reordering is declared, and there is no index", "g_idx",
                    "nothing");
  }
}

//===----------------------------------------------------------------------===//
// Missing planes
//===----------------------------------------------------------------------===//

static void checkOrphans(const Checkpoint &checkpoint,
                         const std::vector<Layer> &layers,
                         Collector &collector) {
  size_t scaled = 0;
  for (const Layer &layer : layers)
    scaled += layer.family == "fp8" || layer.family == "mxfp8";
  if (scaled == 0)
    return;
  std::set<const TensorInfo *> known;
  for (const Layer &layer : layers)
    known.insert(layer.codes);
  for (const auto &[name, tensor] : checkpoint.tensors) {
    const TensorInfo &info = *tensor.info;
    auto [module, part] = splitName(name);
    if (part != "weight" || !info.dtype.starts_with("F8_E") ||
        info.dtype == "F8_E8M0" || info.array || known.contains(&info))
      continue;
    bool mayHave = false;
    for (const char *suffix : {".weight_scale", ".weight_scale_inv", ".scale"})
      mayHave |= checkpoint.mayHave(std::string(module) + suffix);
    if (!mayHave)
      collector.add(Id::OrphanWeight, tensor.file->path, module,
                    "8-bit weights without a scale, while " +
                        std::to_string(scaled) + " others have one",
                    "a scale", "nothing");
  }
}

static void checkOptional(const Checkpoint &checkpoint,
                          const std::vector<Layer> &layers,
                          const TensorInfo *Layer::*part, Id id,
                          std::initializer_list<std::string_view> names,
                          const std::string &what, Collector &collector) {
  std::map<std::string, size_t> having;
  for (const Layer &layer : layers)
    if (layer.*part)
      ++having[layer.family];
  for (const Layer &layer : layers) {
    if (layer.*part || !layer.scale || !having.contains(layer.family))
      continue;
    bool mayHave = false;
    for (std::string_view name : names)
      mayHave |= checkpoint.mayHave(layer.name + "." + std::string(name));
    if (!mayHave)
      collector.add(id, pathOf(checkpoint, layer.codes), layer.name,
                    layer.family + " modules without " + what + ", while " +
                        std::to_string(having[layer.family]) + " have it",
                    what, "nothing");
  }
}

//===----------------------------------------------------------------------===//
// Siblings and roles
//===----------------------------------------------------------------------===//

static void checkSiblings(const Checkpoint &checkpoint,
                          const std::vector<Layer> &layers,
                          Collector &collector) {
  std::map<std::string, std::vector<const Layer *>> groups;
  for (const Layer &layer : layers)
    if (std::string group = siblingGroup(layer.name); !group.empty())
      groups[group].push_back(&layer);
  for (const auto &[group, members] : groups)
    for (const Layer *layer : members)
      if (layer->label != members.front()->label) {
        collector.add(Id::SiblingContract, pathOf(checkpoint, layer->codes),
                      layer->name, "siblings have different formats",
                      members.front()->label, layer->label);
      }
}

/// The labels of each role, with one module that has them.
using RoleLabels =
    std::map<std::string, std::map<std::string, std::vector<std::string>>>;

static RoleLabels collectRoles(const Checkpoint &checkpoint,
                               const std::vector<Layer> &layers) {
  RoleLabels roles;
  for (const Layer &layer : layers)
    roles[roleOf(layer.name)][layer.label].push_back(layer.name);
  for (const auto &[name, tensor] : checkpoint.tensors)
    if (tensor.info->array && tensor.file->file->format() == "safetensors")
      roles[roleOf(splitName(name).first)][tensor.info->array->contract.name()]
          .push_back(std::string(splitName(name).first));
  return roles;
}

static void checkDrift(const Checkpoint &checkpoint, const RoleLabels &roles,
                       Collector &collector) {
  std::set<std::string> labels;
  bool drifts = false;
  for (const auto &[role, byLabel] : roles) {
    for (const auto &[label, modules] : byLabel)
      labels.insert(label);
    if (byLabel.size() < 2)
      continue;
    drifts = true;
    std::string found;
    for (const auto &[label, modules] : byLabel)
      found += (found.empty() ? "" : "; ") + label + " (" +
               std::to_string(modules.size()) + ", e.g. " + modules.front() +
               ")";
    collector.add(Id::RoleDrift, checkpoint.path, role,
                  "one role has " + std::to_string(byLabel.size()) +
                      " contracts",
                  "one contract", found);
  }
  if (drifts || labels.size() < 2)
    return;
  std::string found;
  for (const std::string &label : labels)
    found += (found.empty() ? "" : "; ") + label;
  collector.add(Id::ArtifactDrift, checkpoint.path, "",
                "the checkpoint holds " + std::to_string(labels.size()) +
                    " contracts",
                "one contract", found);
}

static void checkPartial(const Checkpoint &checkpoint, const RoleLabels &roles,
                         Collector &collector) {
  for (const auto &[name, tensor] : checkpoint.tensors) {
    const TensorInfo &info = *tensor.info;
    auto [module, part] = splitName(name);
    if (part != "weight" || info.shape.size() != 2 || !info.element ||
        !isPlainFloat(*info.element))
      continue;
    auto role = roles.find(roleOf(module));
    if (role != roles.end())
      collector.add(Id::Partial, tensor.file->path, module,
                    "modules of the role " + role->first +
                        " are not quantized, while others are",
                    role->second.begin()->first, info.dtype);
  }
}

std::string grit::scan::siblingGroup(std::string_view module) {
  constexpr std::array<std::array<std::string_view, 3>, 6> kGroups = {{
      {"q_proj", "k_proj", "v_proj"},
      {"gate_proj", "up_proj", ""},
      {"w1", "w3", ""},
      {"to_q", "to_k", "to_v"},
      {"wq", "wk", "wv"},
      {"query", "key", "value"},
  }};
  auto [parent, part] = splitName(module);
  if (part.empty())
    return {};
  for (const auto &group : kGroups)
    if (std::ranges::find(group, part) != group.end())
      return std::string(parent) + "." + std::string(group[0]);
  return {};
}

void grit::scan::checkRoles(const Checkpoint &checkpoint,
                            const std::vector<Layer> &layers,
                            Collector &collector) {
  checkOrphans(checkpoint, layers, collector);
  checkOptional(checkpoint, layers, &Layer::second, Id::MissingSecondScale,
                {"weight_scale_2", "weight_global_scale"}, "a tensor scale",
                collector);
  checkOptional(checkpoint, layers, &Layer::input, Id::MissingInputScale,
                {"input_scale", "input_global_scale"}, "an input scale",
                collector);
  // A module that lost a plane looks like one of another format.
  if (!checkpoint.isWhole())
    return;
  checkSiblings(checkpoint, layers, collector);
  RoleLabels roles = collectRoles(checkpoint, layers);
  checkDrift(checkpoint, roles, collector);
  checkPartial(checkpoint, roles, collector);
}
