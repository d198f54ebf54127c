//===- Dequantize.cpp - grit dequantize -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointItems.h"
#include "Command.h"
#include "Output.h"
#include "OutputFile.h"
#include "grit/Format/Codec.h"
#include "grit/Scan/LayerArray.h"
#include <bit>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;
using scan::LayerArray;

namespace {
struct Options {
  std::string file, output;
  Registrations registrations;
  scan::CheckpointOptions checkpoint;
  bool json = false, keepRefused = false;
};
} // namespace

/// Decodes an array into little-endian binary32.
static Expected<std::vector<uint8_t>> decodeArray(const Item &item) {
  const ArraySpec &spec = *item.array();
  std::vector<float> values(static_cast<size_t>(spec.numElements()));
  Expected<scan::LayerPlanes> planes = item.planes();
  if (!planes)
    return tl::unexpected(inTensor(planes.error(), item.name()));
  Expected<void> decoded = decode(spec, planes->spans, values);
  if (!decoded)
    return tl::unexpected(inTensor(decoded.error(), item.name()));
  std::vector<uint8_t> bytes(values.size() * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    for (unsigned b = 0; b < 4; ++b)
      bytes[4 * i + b] = static_cast<uint8_t>(bits >> (8 * b));
  }
  return bytes;
}

static std::vector<OutputTensor> outputsOf(const Plan &plan) {
  std::vector<OutputTensor> outputs;
  for (const Item &item : plan.items) {
    OutputTensor output{
        item.name(), "F32", {}, lookupElementType("F32"), std::nullopt};
    output.shape = item.shape();
    if (!item.array()) {
      output.dtype = item.tensor->dtype;
      output.element = item.tensor->element;
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

static Expected<void> write(const CheckpointFiles &checkpoint, const Plan &plan,
                            const std::string &path) {
  auto writer =
      createOutput(path, checkpoint.files().front().get(), outputsOf(plan));
  if (!writer)
    return tl::unexpected(writer.error());
  uint64_t total = 0;
  for (const Item &item : plan.items)
    total += item.bytes();
  Progress progress("decoding", total);
  for (size_t i = 0; i < plan.items.size(); ++i) {
    const Item &item = plan.items[i];
    Expected<std::vector<uint8_t>> decoded;
    ByteSpan bytes;
    if (item.array()) {
      decoded = decodeArray(item);
      if (!decoded)
        return tl::unexpected(decoded.error());
      bytes = *decoded;
    } else {
      bytes = item.tensor->bytes;
    }
    if (auto written = (*writer)->write(i, bytes); !written)
      return written;
    release(checkpoint, item);
    progress.add(item.bytes());
  }
  return (*writer)->finish();
}

static void reportJson(const CheckpointFiles &checkpoint, const Plan &plan,
                       const std::string &path) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("input", checkpoint.path());
  json.field("output", path).key("tensors").beginArray();
  for (const Item &item : plan.items) {
    const ArraySpec *spec = item.array();
    json.beginObject().field("name", item.name());
    json.field("action", spec ? "decoded" : "copied");
    json.field("shape", std::span<const int64_t>(item.shape()));
    if (spec)
      json.field("contract", spec->contract.name());
    if (item.layer) {
      json.key("parts").beginArray();
      for (const TensorInfo *part : item.layer->parts)
        json.value(part->name);
      json.endArray();
    }
    json.endObject();
  }
  json.endArray().key("refused").beginArray();
  for (const auto &[layer, error] : plan.refusals)
    writeError(json, inLayer(error, *layer));
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static void reportText(const Plan &plan, const std::string &path) {
  size_t numArrays = 0, numLayers = 0, numParts = 0;
  for (const Item &item : plan.items) {
    numArrays += item.array() != nullptr;
    numLayers += item.layer != nullptr;
    numParts += item.layer ? item.layer->parts.size() : 0;
  }
  std::printf("%s: %zu of %zu tensors decoded to F32", path.c_str(), numArrays,
              plan.items.size());
  if (numLayers == 1)
    std::printf("; 1 of them is a layer of %zu tensors", numParts);
  else if (numLayers)
    std::printf("; %zu of them are layers of %zu tensors in all", numLayers,
                numParts);
  std::printf("\n");
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  auto checkpoint = CheckpointFiles::open(options.file, options.checkpoint);
  if (!checkpoint) {
    printError(checkpoint.error());
    return kRefused;
  }
  std::string path = options.output.empty() ? defaultOutput(options.file, "f32")
                                            : options.output;
  if (auto error = checkOutput(
          path,
          inputsOf(**checkpoint, options.registrations.inputs(options.file)))) {
    printError(*error);
    return kRefused;
  }
  Plan plan = planOf(**checkpoint);
  if (!acceptRefusals(plan, options.keepRefused))
    return kRefused;
  if (auto written = write(**checkpoint, plan, path); !written) {
    printError(written.error());
    return writerExitCode(written.error());
  }
  if (options.json)
    reportJson(**checkpoint, plan, path);
  else
    reportText(plan, path);
  return finishOutput(kOk);
}

Command grit::tool::addDequantize(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "dequantize", "Decodes the arrays of a file, and the layers of a "
                    "checkpoint, to F32 and copies the rest");
  app->add_option("FILE", options->file,
                  "A safetensors or GGUF file, an index of several, or the "
                  "directory of a checkpoint")
      ->required();
  app->add_option("-o,--output", options->output,
                  "The file to write, GGUF when it ends in .gguf (default: "
                  "FILE.f32.safetensors)")
      ->type_name("OUT")
      ->check(checkOutputName);
  addRegistrations(*app, options->registrations);
  addCheckpointOptions(*app, options->checkpoint);
  app->add_flag("--keep-refused", options->keepRefused,
                "Copy the tensors of layers that no contract describes");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options] { return run(*options); }};
}
