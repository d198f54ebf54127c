//===- Inspect.cpp - grit inspect -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointItems.h"
#include "Command.h"
#include "Output.h"
#include "grit/Container/Gguf.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include "grit/Scan/LayerArray.h"
#include <filesystem>
#include <map>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;
using scan::LayerArray;

namespace {
struct Options {
  std::string file;
  std::vector<std::string> patterns;
  Registrations registrations;
  scan::CheckpointOptions checkpoint;
  bool json = false, verify = false, layers = false;
};
} // namespace

static std::string typeText(const TensorInfo &tensor) {
  return tensor.array ? tensor.array->contract.displayName() : tensor.dtype;
}

static std::vector<const TensorInfo *> select(const TensorFile &file,
                                              const Options &options) {
  std::vector<const TensorInfo *> chosen;
  for (const TensorInfo &tensor : file.tensors())
    if (options.patterns.empty() || matchesAny(options.patterns, tensor.name))
      chosen.push_back(&tensor);
  return chosen;
}

static bool isBigEndian(const TensorFile &file) {
  return file.format() == "gguf" &&
         static_cast<const GgufReader &>(file).byteOrder() == std::endian::big;
}

static void printText(const TensorFile &file,
                      const std::vector<const TensorInfo *> &tensors) {
  std::printf("%s: %s%s, %zu tensors, %s\n", file.path().c_str(),
              std::string(file.format()).c_str(),
              isBigEndian(file) ? " (big-endian)" : "", file.tensors().size(),
              sizeText(file.fileBytes()).c_str());
  for (const MetadataEntry &entry : file.metadata())
    std::printf("  %s = %s\n", printable(entry.key).c_str(),
                printable(entry.value).c_str());
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "type", "shape", "bytes"}};
  std::map<std::string, std::pair<size_t, uint64_t>> totals;
  for (const TensorInfo *tensor : tensors) {
    rows.push_back({printable(tensor->name), typeText(*tensor),
                    shapeText(tensor->shape),
                    std::to_string(tensor->bytes.size())});
    auto &[count, bytes] = totals[typeText(*tensor)];
    ++count;
    bytes += tensor->bytes.size();
  }
  printTable(rows, {3});
  for (const auto &[type, total] : totals)
    std::printf("%s: %zu tensors, %s\n", type.c_str(), total.first,
                sizeText(total.second).c_str());
}

static void printJson(const TensorFile &file,
                      const std::vector<const TensorInfo *> &tensors,
                      const std::vector<Error> &problems) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("path", file.path());
  json.field("format", file.format()).field("file_bytes", file.fileBytes());
  if (isBigEndian(file))
    json.field("byte_order", "big");
  json.key("metadata").beginArray();
  for (const MetadataEntry &entry : file.metadata())
    json.beginObject()
        .field("key", entry.key)
        .field("type", entry.type)
        .field("value", entry.value)
        .endObject();
  json.endArray().key("tensors").beginArray();
  for (const TensorInfo *tensor : tensors) {
    json.beginObject()
        .field("name", tensor->name)
        .field("dtype", tensor->dtype);
    json.field("shape", std::span<const int64_t>(tensor->shape));
    json.field("bytes", uint64_t(tensor->bytes.size()));
    if (tensor->array)
      writeArray(json, *tensor->array);
    if (tensor->digest)
      json.field("digest", toBase32(*tensor->digest));
    json.endObject();
  }
  json.endArray().key("problems").beginArray();
  for (const Error &problem : problems)
    writeError(json, problem);
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static std::optional<Error> verifyLayer(const LayerArray &layer) {
  if (std::optional<Error> error = checkContents(layer))
    return error;
  return checkPlanes(layer);
}

static void printLayers(const CheckpointFiles &checkpoint,
                        const std::vector<const LayerArray *> &layers) {
  std::printf("%s: %zu files, %zu layers\n", checkpoint.path().c_str(),
              checkpoint.files().size(), checkpoint.layers().size());
  if (checkpoint.layers().empty())
    std::printf("no layer consists of several tensors; grit inspect FILE lists "
                "the tensors of a file\n");
  if (layers.empty())
    return;
  std::vector<std::vector<std::string>> rows = {
      {"decodes to", "contract", "shape", "tensors", "bytes"}};
  for (const LayerArray *layer : layers)
    rows.push_back(
        {printable(layer->tensor), layer->array->contract.displayName(),
         shapeText(layer->shape), std::to_string(layer->parts.size()),
         std::to_string(layer->bytes())});
  printTable(rows, {3, 4});
}

static void writeLayer(JsonWriter &json, const LayerArray &layer) {
  json.beginObject().field("name", layer.tensor).field("layer", layer.layer);
  json.field("family", layer.family);
  json.field("shape", std::span<const int64_t>(layer.shape));
  if (layer.array->shape != layer.shape)
    json.field("array_shape", std::span<const int64_t>(layer.array->shape));
  json.field("bytes", layer.bytes());
  writeArray(json, *layer.array);
  json.key("parts").beginArray();
  for (const TensorInfo *part : layer.parts)
    json.value(part->name);
  json.endArray();
  if (std::vector<std::string> copied = layer.copiedPlanes(); !copied.empty()) {
    json.key("copied_planes").beginArray();
    for (const std::string &name : copied)
      json.value(name);
    json.endArray();
  }
  json.endObject();
}

static void printLayersJson(const CheckpointFiles &checkpoint,
                            const std::vector<const LayerArray *> &layers,
                            const std::vector<Error> &problems) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("path", checkpoint.path());
  json.key("files").beginArray();
  for (const auto &file : checkpoint.files())
    json.value(file->path());
  json.endArray().key("layers").beginArray();
  for (const LayerArray *layer : layers)
    writeLayer(json, *layer);
  json.endArray().key("problems").beginArray();
  for (const Error &problem : problems)
    writeError(json, problem);
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static Error noLayerError(const CheckpointFiles &checkpoint,
                          const std::string &pattern) {
  std::vector<std::string_view> names;
  for (const LayerArray &layer : checkpoint.layers())
    names.push_back(layer.tensor);
  std::string near = didYouMean(pattern, names);
  return makeError(Status::GradeUnknown, "no layer matches", "--tensor",
                   "a pattern that matches what one of the " +
                       std::to_string(names.size()) + " layers decodes to",
                   quoteText(pattern),
                   "a pattern must match the whole name; * stands for any part",
                   near.empty() ? "grit inspect --layers lists the layers"
                                : near)
      .value();
}

static int runLayers(const Options &options) {
  auto checkpoint = CheckpointFiles::open(options.file, options.checkpoint);
  if (!checkpoint) {
    printError(checkpoint.error());
    return kRefused;
  }
  std::vector<const LayerArray *> layers;
  std::vector<Error> problems;
  for (const LayerArray &layer : (*checkpoint)->layers()) {
    if (!options.patterns.empty() &&
        !matchesAny(options.patterns, layer.tensor))
      continue;
    std::optional<Error> error = layer.refusal;
    if (!error && options.verify)
      error = verifyLayer(layer);
    if (!error) {
      layers.push_back(&layer);
      continue;
    }
    problems.push_back(inLayer(std::move(*error), layer));
  }
  if (layers.empty() && problems.empty() && !options.patterns.empty()) {
    printError(noLayerError(**checkpoint, options.patterns.front()));
    return kRefused;
  }
  if (options.json)
    printLayersJson(**checkpoint, layers, problems);
  else
    printLayers(**checkpoint, layers);
  int code = finishOutput(problems.empty() ? kOk : kRefused);
  for (const Error &problem : problems)
    printError(problem);
  return code;
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  std::error_code ignored;
  if (options.layers || options.file.ends_with(".index.json") ||
      std::filesystem::is_directory(options.file, ignored))
    return runLayers(options);
  std::vector<Error> problems;
  OpenOptions how;
  how.level = options.verify ? 2 : 1;
  how.problems = &problems;
  auto file = openTensorFile(options.file, how);
  if (!file) {
    printError(file.error());
    return kRefused;
  }
  auto tensors = select(**file, options);
  if (tensors.empty() && !options.patterns.empty()) {
    printError(noMatchError("--tensor", options.patterns.front(), **file));
    return kRefused;
  }
  if (options.json)
    printJson(**file, tensors, problems);
  else
    printText(**file, tensors);
  int code = finishOutput(problems.empty() ? kOk : kRefused);
  for (const Error &problem : problems)
    printError(problem);
  return code;
}

Command grit::tool::addInspect(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "inspect", "Lists the tensors of a safetensors or GGUF file, or the "
                 "layers of a checkpoint");
  app->add_option("FILE", options->file,
                  "The file to read; with --layers also an index of several or "
                  "a directory")
      ->required();
  app->add_flag("--layers", options->layers,
                "List layers that several tensors make up, as arrays");
  addRepeated(*app, "--tensor", "GLOB",
              "Only tensors whose name matches this shell pattern; may be "
              "repeated",
              options->patterns);
  addRegistrations(*app, options->registrations);
  addCheckpointOptions(*app, options->checkpoint);
  app->add_flag("--verify", options->verify,
                "Also read the arrays and compare their digests");
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return run(*options); }};
}
