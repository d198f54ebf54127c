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
#include <algorithm>
#include <filesystem>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::vector<std::string> inputs;
  Registrations registrations;
  int level = 1;
  bool json = false;
};

/// What one tensor, or a file as a whole, came to.
struct Outcome {
  std::string path, tensor, contract;
  std::vector<int64_t> shape;
  std::optional<Error> error;
  std::vector<Warning> warnings;
};

struct Outcomes {
  std::vector<Outcome> checks;
  std::vector<std::string> unchecked; ///< files without a contract

  bool anyError() const {
    return std::ranges::any_of(checks, [](const Outcome &outcome) {
      return outcome.error.has_value();
    });
  }
  int exitCode() const {
    return anyError() ? kRefused : unchecked.empty() ? kOk : kNoContract;
  }
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

static void checkFile(const std::string &input, int level, Outcomes &outcomes) {
  auto [path, name] = splitInput(input);
  std::vector<Error> problems;
  OpenOptions how;
  how.problems = &problems;
  auto file = openTensorFile(path, how);
  std::vector<Outcome> &checks = outcomes.checks;
  if (!file) {
    checks.push_back({path, name, "", {}, file.error(), {}});
    return;
  }
  size_t before = checks.size();
  for (const Error &problem : problems)
    if (name.empty() || isAbout(problem, name))
      checks.push_back({path, name, "", {}, problem, {}});
  for (const TensorInfo &tensor : (*file)->tensors()) {
    if (!tensor.array || (!name.empty() && tensor.name != name))
      continue;
    Outcome outcome{path,         tensor.name, tensor.array->contract.name(),
                    tensor.shape, {},          {}};
    outcome.error = checkPlanes(tensor, level, &outcome.warnings);
    checks.push_back(std::move(outcome));
  }
  if (checks.size() != before)
    return;
  if (name.empty())
    outcomes.unchecked.push_back(path);
  else
    checks.push_back({path, name, "", {}, noArrayError(**file, name), {}});
}

static void printText(const Outcomes &outcomes) {
  std::vector<std::vector<std::string>> rows = {
      {"status", "file", "tensor", "contract", "shape"}};
  for (const Outcome &outcome : outcomes.checks) {
    rows.push_back(
        {outcome.error ? std::string(statusName(outcome.error->status)) : "Ok",
         outcome.path, printable(outcome.tensor), outcome.contract,
         outcome.error ? "" : shapeText(outcome.shape)});
  }
  if (!outcomes.checks.empty())
    printTable(rows, {});
  for (const std::string &path : outcomes.unchecked)
    std::printf("%s: nothing in the file carries a contract, so nothing was "
                "checked; 'grit scan' says what names and shapes suggest\n",
                printable(path).c_str());
}

static void writeWarnings(JsonWriter &json,
                          const std::vector<Warning> &warnings) {
  json.key("warnings").beginArray();
  for (const Warning &warning : warnings)
    json.beginObject()
        .field("kind", warningName(warning.kind))
        .field("message", warning.message)
        .field("field", warning.field)
        .field("found", warning.found)
        .field("fix", warning.fix)
        .endObject();
  json.endArray();
}

static void printJson(const Outcomes &outcomes, int level) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("level", level);
  json.field("exit_code", outcomes.exitCode());
  json.key("checks").beginArray();
  for (const Outcome &outcome : outcomes.checks) {
    json.beginObject().field("path", outcome.path);
    json.field("tensor", outcome.tensor);
    json.field("status", outcome.error ? statusName(outcome.error->status)
                                       : statusName(Status::Ok));
    if (outcome.error)
      json.key("error"), writeError(json, *outcome.error);
    else
      json.field("contract", outcome.contract)
          .field("shape", std::span<const int64_t>(outcome.shape));
    writeWarnings(json, outcome.warnings);
    json.endObject();
  }
  json.endArray().key("unchecked").beginArray();
  for (const std::string &path : outcomes.unchecked)
    json.value(path);
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

/// Errors and warnings go to standard error, after the table.
static void printMessages(const std::vector<Outcome> &checks) {
  std::fflush(stdout);
  for (const Outcome &outcome : checks) {
    if (outcome.error)
      printError(*outcome.error);
    for (const Warning &warning : outcome.warnings) {
      Error error;
      error.message = warning.message;
      error.field =
          "tensor " + quoteText(outcome.tensor) + ": " + warning.field;
      error.found = warning.found;
      error.fix = warning.fix;
      printWarning(error);
    }
  }
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  Outcomes outcomes;
  for (const std::string &input : options.inputs)
    checkFile(input, options.level, outcomes);
  if (options.json)
    printJson(outcomes, options.level);
  else
    printText(outcomes);
  printMessages(outcomes.checks);
  return finishOutput(outcomes.exitCode());
}

Command grit::tool::addCheck(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "check", "Runs grit_check on every quantized tensor of files");
  app->add_option("FILE", options->inputs,
                  "Tensor files, or FILE::TENSOR for one tensor")
      ->required();
  app->add_option("--level", options->level,
                  "0 and 1: headers and sizes; 2: also digests and orders; 3: "
                  "also warns about planes that look implausible")
      ->check(CLI::Range(0, 3));
  addRegistrations(*app, options->registrations);
  app->add_flag("--json", options->json, "Print JSON");
  app->footer("Exit codes: 0 everything checked is Ok (warnings included), 1 "
              "something was refused,\n2 output not written, 3 a file carries "
              "no contract, 64 wrong command line.");
  return {app, [options] { return run(*options); }};
}
