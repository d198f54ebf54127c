//===- Check.cpp - grit check -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Container/TensorFile.h"
#include <filesystem>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::vector<std::string> inputs;
  int level = 1;
  bool json = false;
};

/// What one tensor, or a file as a whole, came to.
struct Outcome {
  std::string path, tensor, contract;
  std::vector<int64_t> shape;
  std::optional<Error> error;
};
} // namespace

/// "path::tensor" in its parts; a file may have "::" in its name.
static std::pair<std::string, std::string> splitInput(const std::string &text) {
  std::error_code ignored;
  size_t colons = text.rfind("::");
  if (colons == std::string::npos || std::filesystem::exists(text, ignored))
    return {text, ""};
  return {text.substr(0, colons), text.substr(colons + 2)};
}

static bool isAbout(const Error &error, const std::string &tensor) {
  std::string prefix = "tensor " + quoteText(tensor);
  return error.field == prefix || error.field.starts_with(prefix + ": ");
}

static void checkFile(const std::string &input, int level,
                      std::vector<Outcome> &outcomes) {
  auto [path, name] = splitInput(input);
  std::vector<Error> problems;
  OpenOptions how;
  how.problems = &problems;
  auto file = openTensorFile(path, how);
  if (!file) {
    outcomes.push_back({path, name, "", {}, file.error()});
    return;
  }
  size_t before = outcomes.size();
  for (const Error &problem : problems)
    if (name.empty() || isAbout(problem, name))
      outcomes.push_back({path, name, "", {}, problem});
  for (const TensorInfo &tensor : (*file)->tensors()) {
    if (!tensor.array || (!name.empty() && tensor.name != name))
      continue;
    outcomes.push_back({path, tensor.name, tensor.array->contract.name(),
                        tensor.shape,
                        level >= 2 ? checkPlanes(tensor) : std::nullopt});
  }
  if (!name.empty() && outcomes.size() == before) {
    const TensorInfo *plain = (*file)->find(name);
    outcomes.push_back(
        {path,
         name,
         "",
         {},
         makeError(Status::GradeUnknown, "the tensor has no contract",
                   "tensor " + quoteText(name), "an array under a contract",
                   plain ? plain->dtype : "no tensor of this name")
             .value()});
  }
}

static void printText(const std::vector<Outcome> &outcomes) {
  std::vector<std::vector<std::string>> rows = {
      {"status", "file", "tensor", "contract", "shape"}};
  for (const Outcome &outcome : outcomes) {
    rows.push_back(
        {outcome.error ? std::string(statusName(outcome.error->status)) : "Ok",
         outcome.path, printable(outcome.tensor), outcome.contract,
         outcome.error ? "" : shapeText(outcome.shape)});
  }
  if (!outcomes.empty())
    printTable(rows, {});
  else
    std::puts("no quantized tensor");
}

static void printJson(const std::vector<Outcome> &outcomes, int level) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("level", level);
  json.key("checks").beginArray();
  for (const Outcome &outcome : outcomes) {
    json.beginObject().field("path", outcome.path);
    json.field("tensor", outcome.tensor);
    json.field("status", outcome.error ? statusName(outcome.error->status)
                                       : statusName(Status::Ok));
    if (outcome.error)
      json.key("error"), writeError(json, *outcome.error);
    else
      json.field("contract", outcome.contract)
          .field("shape", std::span<const int64_t>(outcome.shape));
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static int run(const Options &options) {
  std::vector<Outcome> outcomes;
  for (const std::string &input : options.inputs)
    checkFile(input, options.level, outcomes);
  if (options.json)
    printJson(outcomes, options.level);
  else
    printText(outcomes);
  bool failed = false;
  for (const Outcome &outcome : outcomes)
    if (outcome.error) {
      failed = true;
      printError(*outcome.error);
    }
  return finishOutput(failed ? kRefused : kOk);
}

Command grit::tool::addCheck(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "check", "Runs grit_check on every quantized tensor of files");
  app->add_option("FILE", options->inputs,
                  "Tensor files, or FILE::TENSOR for one tensor")
      ->required();
  app->add_option("--level", options->level,
                  "0 and 1: headers and sizes; 2: also digests and orders")
      ->check(CLI::Range(0, 2));
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return run(*options); }};
}
