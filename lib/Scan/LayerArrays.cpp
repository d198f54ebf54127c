//===- LayerArrays.cpp - from recognized tensors to arrays -*- C++ -*-===//
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

Error grit::scan::refuseLayer(std::string message, std::string field,
                              std::string declared, std::string found,
                              std::string cause, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix))
      .value();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool grit::scan::bears(const FamilyRow &family, const Module &module) {
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

std::string grit::scan::methodsOf(const Module &module) {
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
    LayerAttempt attempt(family, module, checkpoint);
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

Error grit::scan::inLayer(Error error, const LayerArray &layer) {
  error.field = "layer " + quoteText(layer.layer) + ": " + error.field;
  return error;
}
