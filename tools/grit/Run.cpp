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
#include "OutputFile.h"
#include "RunOperands.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <simdjson.h>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  CompileOptions compile;
  std::string function;
  std::vector<std::string> arguments, outputs;
  bool json = false;
};

struct Assignments {
  std::vector<Assignment> arguments, outputs;
};

/// A file to write after the call: parameters, and the tensors they become.
struct ResultFile {
  std::string path;
  std::vector<size_t> parameters;
  std::vector<OutputTensor> tensors;
};

/// What is said about the numbers of an output.
struct Summary {
  double least = 0, greatest = 0, mean = 0; ///< of the finite ones
  int64_t finite = 0, infinite = 0, nan = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static Parameter readParameter(simdjson::dom::element json) {
  Parameter parameter;
  parameter.name = std::string(json["name"].get_string().value());
  parameter.kind = std::string(json["kind"].get_string().value());
  parameter.access = std::string(json["access"].get_string().value());
  parameter.element = std::string(
      json[parameter.isArray() ? "contract" : "type"].get_string().value());
  if (parameter.isScalar())
    return parameter;
  simdjson::dom::array shape = json["shape"].get_array().value();
  for (int64_t extent : shape)
    parameter.shape.push_back(extent);
  if (!parameter.isArray())
    return parameter;
  parameter.axis = json["axis"].get_int64().value();
  auto placement = [&](size_t i) {
    return Placement::parse(json["placements"].at(i).get_string().value())
        .value();
  };
  parameter.placements = {placement(0), placement(1), placement(2)};
  return parameter;
}

static Signature readSignature(simdjson::dom::element json) {
  Signature signature;
  signature.name = std::string(json["name"].get_string().value());
  simdjson::dom::array operands = json["operands"].get_array().value();
  for (simdjson::dom::element operand : operands)
    signature.parameters.push_back(readParameter(operand));
  simdjson::dom::array pairs = json["shared"].get_array().value();
  for (simdjson::dom::element shared : pairs) {
    std::array<int64_t, 4> four{};
    for (size_t i = 0; i < four.size(); ++i)
      four[i] = shared.at(i).get_int64().value();
    signature.shared.push_back(four);
  }
  return signature;
}

/// Finds a function in what the compiler says about a module; any name will do
/// when the module has one function.
static Expected<Signature> findSignature(const std::string &json,
                                         const std::string &name) {
  simdjson::dom::parser parser;
  std::string known;
  size_t count = 0;
  simdjson::dom::element only;
  // The text is the compiler's own; simdjson throws if it is not as written
  // there.
  simdjson::dom::element root = parser.parse(json).value();
  simdjson::dom::array functions = root["functions"].get_array().value();
  for (simdjson::dom::element function : functions) {
    std::string_view found = function["name"].get_string().value();
    if (found == name)
      return readSignature(function);
    known += (count++ ? ", " : "") + std::string(found);
    only = function;
  }
  if (name.empty() && count == 1)
    return readSignature(only);
  return makeError(
      Status::GradeUnknown,
      name.empty() ? "the module has not one function"
                   : "the module has no public function " + quoteText(name),
      "--function", count ? "one of " + known : "a function",
      name.empty() ? "nothing" : name, {}, "name one with --function");
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static Expected<Assignments> parseAssignments(const Options &options) {
  auto arguments = parseAssignments("--arg", options.arguments);
  if (!arguments)
    return tl::unexpected(arguments.error());
  std::set<std::string> names;
  for (const Assignment &one : *arguments)
    if (!names.insert(one.name).second)
      return makeError(Status::GradeUnknown, "the operand is given twice",
                       "--arg " + one.name, "one value", one.value, {},
                       "leave one out");
  auto outputs = parseAssignments("--out", options.outputs);
  if (!outputs)
    return tl::unexpected(outputs.error());
  for (size_t i = 0; i < outputs->size(); ++i) {
    Assignment &one = (*outputs)[i];
    if (one.tensor.empty())
      one.tensor = one.name;
    if (std::string why = checkOutputName(one.file); !why.empty())
      return makeError(Status::GradeUnknown, why, "--out " + one.name, "a file",
                       one.file);
    for (size_t j = 0; j < i; ++j)
      if ((*outputs)[j].tensor == one.tensor &&
          isSameOutput((*outputs)[j].file, one.file))
        return makeError(Status::GradeUnknown,
                         "two outputs would be one tensor of one file",
                         "--out " + one.name, "another tensor or file",
                         one.file + "::" + one.tensor, {},
                         "write FILE::TENSOR with another name");
  }
  return Assignments{std::move(*arguments), std::move(*outputs)};
}

static Expected<void> setArguments(const std::vector<Assignment> &arguments,
                                   Operands &operands) {
  for (const Assignment &one : arguments)
    if (auto done = operands.set(one); !done)
      return done;
  return operands.allocateOutputs();
}

/// The files to write. Opens each of them once, to tell before the call what
/// cannot be written after it.
static Expected<std::vector<ResultFile>>
planOutputs(const std::vector<Assignment> &outputs, const Signature &signature,
            const Operands &operands) {
  std::vector<ResultFile> files;
  for (const Assignment &one : outputs) {
    auto parameter =
        std::ranges::find(signature.parameters, one.name, &Parameter::name);
    if (parameter == signature.parameters.end() || parameter->access == "in")
      return makeError(Status::GradeUnknown,
                       "the function writes no operand " + quoteText(one.name),
                       "--out", "an operand that it writes", one.name, {},
                       "correct the name");
    size_t index =
        static_cast<size_t>(parameter - signature.parameters.begin());
    OutputTensor tensor{
        one.tensor, parameter->element, operands.shape(index), {}, {}};
    if (parameter->isArray())
      tensor.array = operands.spec(index);
    else
      tensor.element = elementTypeOf(parameter->element);
    auto file = std::ranges::find_if(files, [&](const ResultFile &other) {
      return isSameOutput(other.path, one.file);
    });
    if (file == files.end())
      file = files.insert(file, {one.file, {}, {}});
    file->parameters.push_back(index);
    file->tensors.push_back(std::move(tensor));
  }
  for (const ResultFile &file : files)
    if (auto writer = createOutput(file.path, nullptr, file.tensors); !writer)
      return tl::unexpected(writer.error());
  return files;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Expected<void> writeOutputs(const std::vector<ResultFile> &files,
                                   const Operands &operands) {
  for (const ResultFile &file : files) {
    auto writer = createOutput(file.path, nullptr, file.tensors);
    if (!writer)
      return tl::unexpected(writer.error());
    for (size_t i = 0; i < file.parameters.size(); ++i)
      if (auto done = (*writer)->write(i, operands.bytes(file.parameters[i]));
          !done)
        return done;
    if (auto done = (*writer)->finish(); !done)
      return done;
  }
  return {};
}

/// The numbers of a tensor of floats.
static std::optional<std::vector<double>> numbersOf(const Parameter &parameter,
                                                    ByteSpan bytes) {
  std::optional<ElementType> type = elementTypeOf(parameter.element);
  if (parameter.isArray() || !type || !isPlainFloat(*type))
    return std::nullopt;
  std::vector<double> numbers(bytes.size() * 8 / type->bits);
  if (type->bits == 64) {
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  std::vector<float> values(numbers.size());
  if (!toFloat32(*type, bytes, values))
    return std::nullopt;
  std::ranges::copy(values, numbers.begin());
  return numbers;
}

static std::optional<Summary> summarize(const Parameter &parameter,
                                        ByteSpan bytes) {
  std::optional<std::vector<double>> numbers = numbersOf(parameter, bytes);
  if (!numbers)
    return std::nullopt;
  Summary summary;
  long double sum = 0;
  for (double value : *numbers) {
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? summary.nan : summary.infinite);
      continue;
    }
    bool isFirst = summary.finite++ == 0;
    summary.least = isFirst ? value : std::min(summary.least, value);
    summary.greatest = isFirst ? value : std::max(summary.greatest, value);
    sum += value;
  }
  if (summary.finite)
    summary.mean = static_cast<double>(sum / summary.finite);
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
        for (auto [name, value] : {std::pair("least", summary->least),
                                   std::pair("greatest", summary->greatest),
                                   std::pair("mean", summary->mean)}) {
          json.key(name);
          if (summary->finite)
            json.value(value);
          else
            json.null();
        }
        json.field("not_finite", summary->infinite + summary->nan);
        json.field("nan", summary->nan);
      }
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static void appendSummary(const Summary &summary,
                          std::vector<std::string> &row) {
  for (double value : {summary.least, summary.greatest, summary.mean}) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    row.push_back(summary.finite ? text : "-");
  }
  std::string counts;
  if (summary.nan)
    counts = std::to_string(summary.nan) + " NaN";
  if (summary.infinite)
    counts += (counts.empty() ? "" : ", ") + std::to_string(summary.infinite) +
              " infinite";
  row.push_back(counts.empty() ? "0" : counts);
}

/// The type of numbers, or the contract as people know it.
static std::string displayType(const Parameter &parameter) {
  if (parameter.isArray())
    if (Expected<Contract> contract = Contract::parse(parameter.element))
      return contract->displayName();
  return parameter.element;
}

static void printTable(const Signature &signature, const Operands &operands,
                       double seconds) {
  std::printf("%s: %.6f s\n", signature.name.c_str(), seconds);
  std::vector<std::vector<std::string>> rows = {{"operand", "access", "type",
                                                 "shape", "least", "greatest",
                                                 "mean", "not finite"}};
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter &parameter = signature.parameters[i];
    std::vector<std::string> row = {
        parameter.name, parameter.access, displayType(parameter),
        parameter.isScalar() ? "" : shapeText(operands.shape(i))};
    if (parameter.access != "in")
      if (auto summary = summarize(parameter, operands.bytes(i)))
        appendSummary(*summary, row);
    row.resize(rows.front().size());
    rows.push_back(std::move(row));
  }
  grit::tool::printTable(rows, {4, 5, 6});
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static int fail(const Error &error, int code) {
  printError(error);
  return code;
}

static int run(const Options &options) {
  Expected<Assignments> given = parseAssignments(options);
  if (!given)
    return fail(given.error(), kUsage);
  auto known = registerAll(options.compile.registrations);
  if (!known)
    return kUsage;
  std::unique_ptr<Compilation> module =
      Compilation::compile(options.compile, *known);
  std::string json;
  if (!module || !module->emit(GRIT_ARTIFACT_SIGNATURES, json))
    return kRefused;
  Expected<Signature> signature = findSignature(json, options.function);
  if (!signature)
    return fail(signature.error(), kRefused);
  Operands operands(*signature);
  if (auto ready = setArguments(given->arguments, operands); !ready)
    return fail(ready.error(), kRefused);
  for (const Assignment &one : given->outputs) {
    if (operands.isInput(one.file))
      return fail(replacesInputError(one.file), kRefused);
    if (auto error = checkOutput(one.file, options.compile.inputs()))
      return fail(*error, kRefused);
  }
  auto files = planOutputs(given->outputs, *signature, operands);
  if (!files)
    return fail(files.error(), writerExitCode(files.error()));
  grit_packed_function_t function = module->lookup(signature->name);
  if (!function)
    return kRefused;
  std::vector<void *> addresses = operands.addresses();
  auto start = std::chrono::steady_clock::now();
  // The library has told why on standard error.
  if (function(addresses.data()) != GRIT_OK)
    return kRefused;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (auto written = writeOutputs(*files, operands); !written)
    return fail(written.error(), writerExitCode(written.error()));
  if (options.json)
    printJson(*signature, operands, took.count());
  else
    printTable(*signature, operands, took.count());
  return finishOutput(kOk);
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
  app->add_option(
         "--out", options->outputs,
         "Writes an operand after the call to a file, GGUF when it ends "
         "in .gguf, else safetensors; several may go to one file")
      ->type_name("NAME=FILE[::TENSOR]");
  app->add_flag("--json", options->json, "Print the result as JSON");
  return {app, [options] { return run(*options); }};
}
