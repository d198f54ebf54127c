//===- LayersFuzzer.cpp - any bytes as a checkpoint of layers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a configuration, a NUL and a safetensors file. What is made of
// its layers is an array that can be decoded, or a refusal that explains
// itself.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Scan/LayerArrays.h"
#include "ContainerFuzzer.h"
#include "grit/Format/Codec.h"
#include <algorithm>
#include <functional>
#include <numeric>

using namespace grit;
using namespace grit::fuzz;
using namespace grit::scan;

static void checkRefusal(const Error &error) {
  require(!error.message.empty() && !error.field.empty());
  require(!inLayer(error, {}).field.empty());
}

/// An array has its planes, and numbers unless its contents are refused.
static void checkArray(const LayerArray &layer) {
  const ArraySpec &spec = *layer.array;
  require(!spec.verify());
  int64_t count = spec.numElements();
  require(count == std::accumulate(layer.shape.begin(), layer.shape.end(),
                                   int64_t(1), std::multiplies<>()));
  Expected<LayerPlanes> planes = readPlanes(layer);
  require(bool(planes));
  PlaneSizes sizes;
  for (ByteSpan plane : planes->spans)
    sizes.push_back(static_cast<int64_t>(plane.size()));
  require(!spec.checkPlaneSizes(sizes));
  std::optional<Error> refusal = checkContents(layer);
  if (refusal)
    checkRefusal(*refusal);
  constexpr int64_t kMostValues = 1 << 15;
  if (count > kMostValues)
    return;
  std::vector<float> values(static_cast<size_t>(count));
  Expected<void> decoded = decode(spec, planes->spans, values);
  require(decoded || refusal);
  // What level 2 refuses, the contents of a layer do too.
  require(!checkPlanes(layer) || refusal);
}

static void checkLayers(const Checkpoint &checkpoint) {
  for (const LayerArray &layer : arraysOf(checkpoint)) {
    require(layer.array.has_value() != layer.refusal.has_value());
    require(!layer.family.empty() && layer.parts.size() <= 32);
    for (const TensorInfo *part : layer.parts)
      require(checkpoint.find(part->name) == part);
    if (layer.refusal)
      checkRefusal(*layer.refusal);
    else
      checkArray(layer);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *split = std::find(data, data + size, uint8_t(0));
  if (split == data + size)
    return 0;
  std::vector<Error> problems;
  auto file = openTensorFile(
      MappedFile::ofBytes(std::vector<uint8_t>(split + 1, data + size), "fuzz"),
      {.level = 1, .problems = &problems});
  if (!file)
    return 0;
  LoadedFile loaded;
  loaded.path = "fuzz";
  loaded.file = std::move(*file);
  Checkpoint checkpoint;
  checkpoint.files = {&loaded};
  for (const TensorInfo &info : loaded.file->tensors())
    checkpoint.tensors.emplace(info.name, TensorRef{&loaded, &info, 0});
  std::vector<std::string> messages;
  checkpoint.config = parseConfig(
      {reinterpret_cast<const char *>(data), static_cast<size_t>(split - data)},
      "config.json", messages);
  // What a configuration leaves open, a user may say.
  for (const char *format : {"", "gptq", "gptq_v2"}) {
    checkpoint.config.statedFormat = format;
    checkLayers(checkpoint);
  }
  return 0;
}
