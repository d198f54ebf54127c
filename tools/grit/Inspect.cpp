//===- Inspect.cpp - grit inspect -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Fingerprint.h"
#include <map>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string file;
  std::vector<std::string> patterns;
  Registrations registrations;
  bool json = false, verify = false;
};
} // namespace

static std::string typeText(const TensorInfo &tensor) {
  return tensor.array ? tensor.array->contract.name() : tensor.dtype;
}

static std::vector<const TensorInfo *> select(const TensorFile &file,
                                              const Options &options) {
  std::vector<const TensorInfo *> chosen;
  for (const TensorInfo &tensor : file.tensors())
    if (options.patterns.empty() || matchesAny(options.patterns, tensor.name))
      chosen.push_back(&tensor);
  return chosen;
}

static void printText(const TensorFile &file,
                      const std::vector<const TensorInfo *> &tensors) {
  std::printf("%s: %s, %zu tensors, %s\n", file.path().c_str(),
              std::string(file.format()).c_str(), file.tensors().size(),
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

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
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
      "inspect", "Lists the tensors of a safetensors or GGUF file");
  app->add_option("FILE", options->file, "The file to read")->required();
  app->add_option("--tensor", options->patterns,
                  "Only tensors whose name matches this shell pattern; may be "
                  "repeated")
      ->type_name("GLOB")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  addRegistrations(*app, options->registrations);
  app->add_flag("--verify", options->verify,
                "Also read the arrays and compare their digests");
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return run(*options); }};
}
