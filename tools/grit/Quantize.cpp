//===- Quantize.cpp - grit quantize -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "OutputFile.h"
#include "grit/Container/Importance.h"
#include "grit/Format/Codec.h"
#include "grit/Format/FormatText.h"
#include <algorithm>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string file, to, fallback, output, importance, search, rule;
  std::vector<std::string> include, exclude;
  Registrations registrations;
  bool json = false, negativeScales = false;
};

/// What happens to one tensor.
struct Step {
  const TensorInfo *source = nullptr;
  OutputTensor output;
  bool isNamed = false; ///< by --include
  /// The contract it is quantized to; nothing when it is copied.
  std::optional<size_t> contract;
  /// Why a tensor that was looked at is not under the first contract.
  std::string reason;
};

class Quantizer {
public:
  Quantizer(const Options &options, std::vector<Contract> contracts,
            std::unique_ptr<TensorFile> file,
            std::optional<ImportanceFile> importance)
      : options(options), contracts(std::move(contracts)),
        file(std::move(file)), importance(std::move(importance)),
        path(options.output) {
    const Contract &first = this->contracts.front();
    bool hasName = first.isRegistered() || !first.userName().empty();
    if (path.empty())
      path =
          defaultOutput(options.file, hasName ? first.displayName() : "grit");
  }

  int run();

private:
  std::optional<Error> plan();
  std::optional<Error> planTensor(const TensorInfo &tensor);
  std::optional<Error> assign(Step &step, size_t first);
  std::optional<Error> checkAnyQuantized() const;
  Expected<EncodeOptions> encodeOptions(const Step &step) const;
  std::optional<Error> encodeStep(Step &step,
                                  std::vector<std::vector<uint8_t>> &planes);
  Expected<bool> writeOnce();
  void printText() const;
  void printJson() const;

  const Options &options;
  std::vector<Contract> contracts; ///< the first, and the fallback if any
  EncodeOptions encoding;          ///< of every tensor
  std::unique_ptr<TensorFile> file;
  std::optional<ImportanceFile> importance;
  std::string path;
  std::vector<Step> steps;
};
} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Weights as people name them: two-dimensional, and the name says so.
static bool isWeight(const TensorInfo &tensor) {
  return tensor.element && isPlainFloat(*tensor.element) &&
         tensor.shape.size() == 2 && tensor.name.ends_with("weight");
}

static std::string reasonOf(const Error &error) {
  if (error.declared.empty())
    return error.message;
  return error.message + " (" + error.field + ": needs " + error.declared +
         ", has " + error.found + ")";
}

/// Gives the tensor the contract that it fits, of those from `first` on. When
/// there is none it will be copied, and what the earliest one misses is
/// returned.
std::optional<Error> Quantizer::assign(Step &step, size_t first) {
  const TensorInfo &tensor = *step.source;
  step.output.element = tensor.element;
  step.output.array = tensor.array;
  step.contract.reset();
  if (!tensor.element || !isPlainFloat(*tensor.element))
    return makeError(
               Status::GradeUnknown, "the tensor does not hold plain floats",
               "dtype", "F32, F16, BF16 or F64",
               tensor.array ? tensor.array->contract.displayName()
                            : tensor.dtype,
               {}, tensor.array ? "run grit dequantize first" : "exclude it")
        .value();
  std::optional<Error> earliest;
  for (size_t i = first; i < contracts.size(); ++i) {
    Expected<ArraySpec> spec = ArraySpec::get(contracts[i], tensor.shape);
    if (spec) {
      step.contract = i;
      step.output.element.reset();
      step.output.array = std::move(*spec);
      return earliest;
    }
    if (!earliest)
      earliest = spec.error();
  }
  return earliest;
}

std::optional<Error> Quantizer::planTensor(const TensorInfo &tensor) {
  Step step{
      &tensor, {tensor.name, tensor.dtype, tensor.shape, {}, {}}, {}, {}, {}};
  step.output.element = tensor.element;
  step.output.array = tensor.array;
  step.isNamed = matchesAny(options.include, tensor.name);
  bool isWanted = options.include.empty() ? isWeight(tensor) : step.isNamed;
  if (isWanted && !matchesAny(options.exclude, tensor.name)) {
    std::optional<Error> error = assign(step, 0);
    if (error && !step.contract && step.isNamed)
      return inTensor(*error, tensor.name);
    if (error)
      step.reason = reasonOf(*error);
    if (step.contract)
      if (auto options = encodeOptions(step); !options)
        return options.error();
  }
  steps.push_back(std::move(step));
  return std::nullopt;
}

std::optional<Error> Quantizer::plan() {
  std::vector<std::string> inputs = options.registrations.inputs(options.file);
  if (!options.importance.empty())
    inputs.push_back(options.importance);
  if (std::optional<Error> error = checkOutput(path, inputs))
    return error;
  encoding.negativeScales = options.negativeScales;
  if (!options.rule.empty()) {
    Expected<EncodeRule> rule = parseEncodeRule(options.rule);
    if (!rule)
      return rule.error();
    encoding.rule = *rule;
  }
  for (const Contract &target : contracts) {
    if (std::optional<Error> error = checkHolds(path, target))
      return error;
    if (target.description().encoding.rule == EncodeRule::None &&
        !encoding.rule)
      return makeError(Status::GradeUnknown, "the contract has no encoder",
                       "--to", "a contract that encodes (grit formats --json)",
                       target.displayName())
          .value();
  }
  for (const std::string &pattern : options.include) {
    bool any = false;
    for (const TensorInfo &tensor : file->tensors())
      any |= matches(pattern, tensor.name);
    if (!any)
      return noMatchError("--include", pattern, *file);
  }
  for (const TensorInfo &tensor : file->tensors())
    if (std::optional<Error> error = planTensor(tensor))
      return error;
  return std::nullopt;
}

static std::string quotedName(const Step &step) {
  return "'" + printable(step.source->name) + "'";
}

/// An error, after the reasons, when every tensor would be copied.
std::optional<Error> Quantizer::checkAnyQuantized() const {
  for (const Step &step : steps)
    if (step.contract)
      return std::nullopt;
  for (const Step &step : steps)
    if (!step.reason.empty())
      std::fprintf(stderr, "grit: skipped %s: %s\n", quotedName(step).c_str(),
                   step.reason.c_str());
  const bool hasArrays =
      std::ranges::any_of(file->tensors(), [](const TensorInfo &tensor) {
        return tensor.array.has_value();
      });
  return makeError(
             Status::SizeMismatch, "no tensor would be quantized", "tensors",
             "a two-dimensional float tensor named *weight that fits", "none",
             hasArrays ? "the arrays of the file are quantized already"
                       : "the weights have other names, or other shapes",
             hasArrays ? "grit convert writes arrays under another contract"
                       : "choose tensors with --include")
      .value();
}

//===----------------------------------------------------------------------===//
// The work
//===----------------------------------------------------------------------===//

/// Importance and search for a tensor under the contract that it has.
Expected<EncodeOptions> Quantizer::encodeOptions(const Step &step) const {
  EncodeOptions result = encoding;
  if (!options.search.empty())
    result.search = EncodeOptions::Search::MeanSquare;
  Expected<std::span<const float>> weights =
      importanceOf(importance ? &*importance : nullptr, step.source->name,
                   *step.output.array, !options.search.empty());
  if (!weights)
    return tl::unexpected(weights.error());
  result.importance = *weights;
  return result;
}

/// Values that the contract cannot hold show only here: the step then gets the
/// next contract, or is copied. An error when the tensor was asked for.
std::optional<Error>
Quantizer::encodeStep(Step &step, std::vector<std::vector<uint8_t>> &planes) {
  const TensorInfo &tensor = *step.source;
  std::vector<float> values(
      static_cast<size_t>(step.output.array->numElements()));
  Expected<std::vector<std::vector<uint8_t>>> encoded =
      toFloat32(*tensor.element, tensor.bytes, values)
          .and_then([&] { return encodeOptions(step); })
          .and_then([&](const EncodeOptions &chosen) {
            return encode(*step.output.array, values, chosen);
          });
  if (encoded) {
    planes = std::move(*encoded);
    return std::nullopt;
  }
  assign(step, *step.contract + 1);
  if (!step.contract && step.isNamed)
    return inTensor(encoded.error(), tensor.name);
  step.reason +=
      (step.reason.empty() ? "" : "; then ") + reasonOf(encoded.error());
  return std::nullopt;
}

/// False when a tensor did not take its contract, after all were tried: the
/// file has another layout then, and nothing was written.
Expected<bool> Quantizer::writeOnce() {
  std::vector<OutputTensor> outputs;
  uint64_t total = 0;
  for (const Step &step : steps) {
    outputs.push_back(step.output);
    total += step.source->bytes.size();
  }
  auto writer = createOutput(path, file.get(), outputs);
  if (!writer)
    return tl::unexpected(writer.error());
  Progress progress("quantizing", total);
  bool isComplete = true;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    std::optional<size_t> contract = step.contract;
    std::vector<std::vector<uint8_t>> planes;
    if (contract)
      if (std::optional<Error> error = encodeStep(step, planes))
        return tl::unexpected(*error);
    isComplete &= step.contract == contract;
    std::vector<ByteSpan> pieces(planes.begin(), planes.end());
    if (!contract)
      pieces = {step.source->bytes};
    for (ByteSpan piece : pieces)
      if (isComplete)
        if (auto written = (*writer)->write(i, piece); !written)
          return tl::unexpected(written.error());
    file->release(step.source->bytes);
    progress.add(step.source->bytes.size());
  }
  if (!isComplete)
    return false;
  return (*writer)->finish().map([] { return true; });
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static uint64_t outputBytes(const Step &step) {
  return step.contract ? planeBytes(*step.output.array)
                       : step.source->bytes.size();
}

void Quantizer::printText() const {
  std::vector<size_t> counts(contracts.size());
  uint64_t before = 0, after = 0;
  for (const Step &step : steps) {
    const std::string name = quotedName(step);
    if (!step.contract) {
      if (!step.reason.empty())
        std::printf("skipped %s: %s\n", name.c_str(), step.reason.c_str());
      continue;
    }
    if (!step.reason.empty())
      std::printf("%s: %s, as %s\n", name.c_str(),
                  contracts[*step.contract].displayName().c_str(),
                  step.reason.c_str());
    ++counts[*step.contract];
    before += step.source->bytes.size();
    after += outputBytes(step);
  }
  std::string parts;
  for (size_t i = 0; i < contracts.size(); ++i)
    if (i == 0 || counts[i])
      parts += (i ? ", " : "") + std::to_string(counts[i]) +
               (i ? "" : " of " + std::to_string(steps.size()) + " tensors") +
               " to " + contracts[i].displayName();
  std::printf("%s: %s, %s to %s\n", path.c_str(), parts.c_str(),
              sizeText(before).c_str(), sizeText(after).c_str());
}

void Quantizer::printJson() const {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("input", file->path());
  json.field("output", path).field("contract", contracts.front().name());
  if (contracts.size() > 1)
    json.field("fallback", contracts.back().name());
  json.key("tensors").beginArray();
  for (const Step &step : steps) {
    const TensorInfo &tensor = *step.source;
    json.beginObject().field("name", tensor.name);
    json.field("action", step.contract         ? "quantized"
                         : step.reason.empty() ? "copied"
                                               : "skipped");
    if (!step.reason.empty())
      json.field("reason", step.reason);
    json.field("shape", std::span<const int64_t>(tensor.shape));
    json.field("bytes_before", uint64_t(tensor.bytes.size()));
    json.field("bytes_after", outputBytes(step));
    if (step.contract)
      json.field("contract", contracts[*step.contract].name());
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

int Quantizer::run() {
  std::optional<Error> error = plan();
  Expected<bool> isWritten = false;
  while (!error && isWritten && !*isWritten) {
    error = checkAnyQuantized();
    if (!error)
      isWritten = writeOnce();
  }
  if (error || !isWritten) {
    printError(error ? *error : isWritten.error());
    return error ? int(kRefused) : writerExitCode(isWritten.error());
  }
  if (options.json)
    printJson();
  else
    printText();
  return finishOutput(kOk);
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  std::vector<Contract> contracts;
  for (const std::string &text : {options.to, options.fallback}) {
    if (!contracts.empty() && text.empty())
      continue;
    Expected<Contract> contract = Contract::parse(text);
    if (!contract) {
      printError(contract.error());
      return kRefused;
    }
    contracts.push_back(std::move(*contract));
  }
  auto file = openTensorFile(options.file);
  if (!file) {
    printError(file.error());
    return kRefused;
  }
  std::optional<ImportanceFile> importance;
  if (!options.importance.empty()) {
    Expected<ImportanceFile> opened = ImportanceFile::open(options.importance);
    if (!opened) {
      Error error = opened.error();
      error.field =
          "--imatrix " + printable(options.importance) + ": " + error.field;
      printError(error);
      return kRefused;
    }
    importance = std::move(*opened);
  }
  return Quantizer(options, std::move(contracts), std::move(*file),
                   std::move(importance))
      .run();
}

Command grit::tool::addQuantize(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "quantize", "Quantizes the weights of a file and copies the rest");
  app->add_option("FILE", options->file, "A safetensors or GGUF file")
      ->required();
  app->add_option("--to", options->to,
                  "The contract: a name (grit formats) or a canonical text")
      ->type_name("CONTRACT")
      ->required();
  app->add_option("--fallback", options->fallback,
                  "A second contract for tensors that do not fit the first")
      ->type_name("CONTRACT");
  app->add_option("--imatrix", options->importance,
                  "How much the columns of tensors matter: an importance "
                  "matrix of llama.cpp, GGUF or the older form")
      ->type_name("FILE");
  app->add_option("--search", options->search,
                  "mse: then try other scales for the least squared error")
      ->check(CLI::IsMember({"mse"}));
  addRepeated(*app, "--include", "GLOB",
              "Quantize tensors that match this shell pattern (default: "
              "two-dimensional float tensors named *weight); may be repeated",
              options->include);
  addRepeated(*app, "--exclude", "GLOB",
              "Copy tensors that match this shell pattern; may be repeated",
              options->exclude);
  app->add_option("--rule", options->rule,
                  "Another encode rule than the contract's, e.g. "
                  "grouped_search for groups of signed integers")
      ->type_name("RULE");
  app->add_flag("--negative-scales", options->negativeScales,
                "Let the rule grouped_search choose scales below 0");
  app->add_option("-o,--output", options->output,
                  "The file to write, GGUF when it ends in .gguf (default: "
                  "FILE.<contract>.safetensors)")
      ->type_name("OUT")
      ->check(checkOutputName);
  addRegistrations(*app, options->registrations);
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options] { return run(*options); }};
}
