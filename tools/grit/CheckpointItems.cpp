//===- CheckpointItems.cpp - tensors and layers alike ---------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointItems.h"
#include "Output.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cstdio>
#include <map>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;
using scan::LayerArray;

/// Whether a pattern names what the layer decodes to, or one of its tensors.
static bool isNamed(const LayerArray &layer,
                    const std::vector<std::string> &patterns) {
  return matchesAny(patterns, layer.tensor) ||
         std::ranges::any_of(layer.parts, [&](const TensorInfo *part) {
           return matchesAny(patterns, part->name);
         });
}

Plan grit::tool::planOf(const CheckpointFiles &checkpoint,
                        const std::vector<std::string> &patterns) {
  Plan plan;
  std::map<const TensorInfo *, const LayerArray *> layerOf;
  for (const LayerArray &layer : checkpoint.layers()) {
    if (!patterns.empty() && !matchesAny(patterns, layer.tensor))
      continue;
    std::optional<Error> refusal =
        layer.refusal ? layer.refusal : checkContents(layer);
    if (refusal)
      plan.refusals.emplace_back(&layer, std::move(*refusal));
    else
      for (const TensorInfo *part : layer.parts)
        layerOf.emplace(part, &layer);
  }
  for (const auto &file : checkpoint.files())
    for (const TensorInfo &tensor : file->tensors()) {
      auto layer = layerOf.find(&tensor);
      if (layer == layerOf.end())
        plan.items.push_back({&tensor, nullptr});
      else if (layer->second->parts.front() == &tensor)
        plan.items.push_back({nullptr, layer->second});
    }
  return plan;
}

Plan grit::tool::planOfTensors(const CheckpointFiles &checkpoint) {
  Plan plan;
  for (const auto &file : checkpoint.files())
    for (const TensorInfo &tensor : file->tensors())
      plan.items.push_back({&tensor, nullptr});
  return plan;
}

void grit::tool::keepWanted(Plan &plan,
                            const std::vector<std::string> &patterns) {
  if (!patterns.empty())
    std::erase_if(plan.refusals, [&](const auto &refusal) {
      return !isNamed(*refusal.first, patterns);
    });
}

std::optional<Error>
grit::tool::checkPatterns(const std::vector<std::string> &patterns,
                          const Plan &plan, const CheckpointFiles &checkpoint) {
  for (const std::string &pattern : patterns) {
    auto isMeant = [&](const Item &item) {
      return matches(pattern, item.name());
    };
    if (std::ranges::any_of(plan.items, isMeant))
      continue;
    for (const Item &item : plan.items)
      if (item.layer && isNamed(*item.layer, {pattern}))
        return makeError(
                   Status::GradeUnknown, "only a part of a layer matches",
                   "--tensor", "the name of a tensor or a layer",
                   quoteText(pattern), "several tensors are one array here",
                   "name what they decode to: " + quoteText(item.layer->tensor))
            .value();
    return noMatchError("--tensor", pattern, *checkpoint.files().front());
  }
  return std::nullopt;
}

void grit::tool::release(const CheckpointFiles &checkpoint, ByteSpan part) {
  for (const auto &file : checkpoint.files())
    file->release(part);
}

void grit::tool::release(const CheckpointFiles &checkpoint, const Item &item) {
  if (!item.layer)
    return release(checkpoint, item.tensor->bytes);
  // Of a plane that is a copy, what it was copied from.
  for (ByteSpan plane : item.layer->planes)
    release(checkpoint, plane);
}

std::vector<std::string> grit::tool::inputsOf(const CheckpointFiles &checkpoint,
                                              std::vector<std::string> others) {
  for (const auto &file : checkpoint.files())
    others.push_back(file->path());
  return others;
}

void grit::tool::addCheckpointOptions(CLI::App &app,
                                      scan::CheckpointOptions &options) {
  app.add_option("--checkpoint-format", options.checkpointFormat,
                 "What GPTQ's zero points are where no configuration states "
                 "it: gptq (stored less one) or gptq_v2 (as they are)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"gptq", "gptq_v2"}));
}

bool grit::tool::acceptRefusals(const Plan &plan, bool keep) {
  constexpr size_t kMostPrinted = 8;
  for (size_t i = 0; i < std::min(plan.refusals.size(), kMostPrinted); ++i) {
    Error error = inLayer(plan.refusals[i].second, *plan.refusals[i].first);
    keep ? printWarning(error) : printError(error);
  }
  if (plan.refusals.size() > kMostPrinted)
    std::fprintf(stderr, "%zu more layers were refused\n",
                 plan.refusals.size() - kMostPrinted);
  return keep || plan.refusals.empty();
}
