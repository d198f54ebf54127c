//===- CheckpointItems.cpp - tensors and layers alike ---------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointItems.h"
#include "Output.h"
#include <algorithm>
#include <cstdio>
#include <map>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;
using scan::LayerArray;

Plan grit::tool::planOf(const CheckpointFiles &checkpoint) {
  Plan plan;
  std::map<const TensorInfo *, const LayerArray *> layerOf;
  for (const LayerArray &layer : checkpoint.layers()) {
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
