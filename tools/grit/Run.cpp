//===- Run.cpp - grit run -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "Output.h"
#include "RunOperands.h"
#include "grit/Container/Safetensors.h"
#include "grit/Format/Text.h"
#include <chrono>
#include <cmath>
#include <cstdio>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  CompileOptions compile;
  std::string function;
  std::vector<std::string> arguments, outputs;
  bool json = false;
};

/// Where a parameter is written after the call.
struct Target {
  size_t parameter;
  std::string tensor;
};

/// What is said about the numbers of an output.
struct Summary {
  double least = 0, greatest = 0, mean = 0;
  int64_t notFinite = 0;
};
} // namespace

/// Splits "NAME=VALUE".
static Expected<std::pair<std::string, std::string>>
splitAssignment(const std::string &option, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return makeError(Status::GradeUnknown, "the option names no operand",
                     option, "NAME=VALUE", text, {},
                     "write " + option + " NAME=VALUE");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// The files to write, each with its tensors.
static Expected<std::map<std::string, std::vector<Target>>>
planOutputs(const Options &options, const Signature &signature) {
  std::map<std::string, std::vector<Target>> files;
  for (const std::string &text : options.outputs) {
    auto assignment = splitAssignment("--out", text);
    if (!assignment)
      return tl::unexpected(assignment.error());
    auto &[name, value] = *assignment;
    size_t index = 0;
    while (index < signature.parameters.size() &&
           signature.parameters[index].name != name)
      ++index;
    if (index == signature.parameters.size() ||
        signature.parameters[index].access == "in")
      return makeError(Status::GradeUnknown,
                       "the function writes no operand " + quoteText(name),
                       "--out", "an operand that it writes", name, {},
                       "correct the name");
    size_t split = value.rfind("::");
    std::string tensor =
        split == std::string::npos ? name : value.substr(split + 2);
    files[value.substr(0, split)].push_back({index, tensor});
  }
  return files;
}

static Expected<void>
writeOutputs(const std::map<std::string, std::vector<Target>> &files,
             const Signature &signature, const Operands &operands) {
  for (const auto &[path, targets] : files) {
    std::vector<SafetensorsEntry> entries;
    for (const Target &target : targets) {
      const Parameter &parameter = signature.parameters[target.parameter];
      SafetensorsEntry entry{
          target.tensor, {}, operands.shape(target.parameter), {}};
      if (parameter.isArray())
        entry.array = operands.spec(target.parameter);
      else
        entry.element = elementTypeOf(parameter.element);
      entries.push_back(std::move(entry));
    }
    auto writer = SafetensorsWriter::create(path, std::move(entries));
    if (!writer)
      return tl::unexpected(writer.error());
    for (size_t i = 0; i < targets.size(); ++i)
      if (auto done = (*writer)->write(i, operands.bytes(targets[i].parameter));
          !done)
        return done;
    if (auto done = (*writer)->finish(); !done)
      return done;
  }
  return {};
}

static std::optional<Summary> summarize(const Parameter &parameter,
                                        ByteSpan bytes) {
  std::optional<ElementType> type = elementTypeOf(parameter.element);
  if (parameter.isArray() || !type || !isPlainFloat(*type))
    return std::nullopt;
  std::vector<float> values(bytes.size() * 8 / type->bits);
  if (!toFloat32(*type, bytes, values))
    return std::nullopt;
  Summary summary;
  int64_t finite = 0;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++summary.notFinite;
      continue;
    }
    summary.least = finite ? std::min<double>(summary.least, value) : value;
    summary.greatest =
        finite ? std::max<double>(summary.greatest, value) : value;
    summary.mean += value;
    ++finite;
  }
  if (finite)
    summary.mean /= static_cast<double>(finite);
  return summary;
}

static void printJson(const Signature &signature, const Operands &operands,
                      double seconds) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("function", signature.name);
  json.field("seconds", seconds).key("operands").beginArray();
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter &parameter = signature.parameters[i];
    json.beginObject().field("name", parameter.name);
    json.field("kind", parameter.kind).field("access", parameter.access);
    json.field(parameter.isArray() ? "contract" : "type", parameter.element);
    if (!parameter.isScalar())
      json.field("shape", std::span<const int64_t>(operands.shape(i)));
    if (parameter.access != "in")
      if (auto summary = summarize(parameter, operands.bytes(i))) {
        json.field("least", summary->least);
        json.field("greatest", summary->greatest);
        json.field("mean", summary->mean);
        json.field("not_finite", summary->notFinite);
      }
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static void printTable(const Signature &signature, const Operands &operands,
                       double seconds) {
  std::printf("%s: %.6f s\n", signature.name.c_str(), seconds);
  std::vector<std::vector<std::string>> rows = {
      {"operand", "access", "type", "shape", "least", "greatest", "mean"}};
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter &parameter = signature.parameters[i];
    std::vector<std::string> row = {
        parameter.name, parameter.access, parameter.element,
        parameter.isScalar() ? "" : shapeText(operands.shape(i))};
    if (parameter.access != "in")
      if (auto summary = summarize(parameter, operands.bytes(i)))
        for (double value :
             {summary->least, summary->greatest, summary->mean}) {
          char text[32];
          std::snprintf(text, sizeof(text), "%.6g", value);
          row.push_back(text);
        }
    row.resize(rows.front().size());
    rows.push_back(std::move(row));
  }
  grit::tool::printTable(rows, {4, 5, 6});
}

static Expected<void> setArguments(const Options &options, Operands &operands) {
  for (const std::string &text : options.arguments) {
    auto assignment = splitAssignment("--arg", text);
    if (!assignment)
      return tl::unexpected(assignment.error());
    if (auto done = operands.set(assignment->first, assignment->second); !done)
      return done;
  }
  return operands.allocateOutputs();
}

static int run(const Options &options) {
  std::unique_ptr<Compilation> module = Compilation::compile(options.compile);
  std::string json;
  if (!module || !module->emit(GRIT_ARTIFACT_SIGNATURES, json))
    return kRefused;
  Expected<Signature> signature = findSignature(json, options.function);
  if (!signature) {
    printError(signature.error());
    return kRefused;
  }
  auto files = planOutputs(options, *signature);
  Operands operands(*signature);
  Expected<void> ready =
      files ? setArguments(options, operands) : tl::unexpected(files.error());
  if (!ready) {
    printError(ready.error());
    return kRefused;
  }
  grit_packed_function_t function = module->lookup(signature->name);
  if (!function)
    return kRefused;
  std::vector<void *> addresses = operands.addresses();
  auto start = std::chrono::steady_clock::now();
  // The library has told why on standard error.
  if (function(addresses.data()) != GRIT_OK)
    return kRefused;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (auto written = writeOutputs(*files, *signature, operands); !written) {
    printError(written.error());
    return kOutputFailed;
  }
  if (options.json)
    printJson(*signature, operands, took.count());
  else
    printTable(*signature, operands, took.count());
  return std::fflush(stdout) == 0 ? kOk : kOutputFailed;
}

Command grit::tool::addRun(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "run", "Compiles MLIR with arrays and calls a function of it");
  options->compile.addTo(*app);
  app->add_option("--function", options->function,
                  "The function to call (default: the only one)")
      ->type_name("NAME");
  app->add_option(
         "--arg", options->arguments,
         "The value of an operand: a tensor of a safetensors or GGUF "
         "file, or a number. What the function only writes needs none; "
         "what it adds to starts as zeros without one")
      ->type_name("NAME=FILE::TENSOR");
  app->add_option("--out", options->outputs,
                  "Writes an operand to a safetensors file after the call; "
                  "several may go to one file")
      ->type_name("NAME=FILE[::TENSOR]");
  app->add_flag("--json", options->json, "Print the result as JSON");
  return {app, [options] { return run(*options); }};
}
