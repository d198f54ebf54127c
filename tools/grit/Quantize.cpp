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
#include "grit/Format/Codec.h"

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string file, to, fallback, output;
  std::vector<std::string> include, exclude;
  bool json = false;
};

/// What happens to one tensor.
struct Step {
  OutputTensor output;
  bool quantized = false;
  /// Why a tensor that was looked at stays as it is.
  std::string reason;
};

class Quantizer {
public:
  Quantizer(const Options &options, Contract contract,
            std::optional<Contract> fallback, std::unique_ptr<TensorFile> file)
      : options(options), contract(std::move(contract)),
        fallback(std::move(fallback)), file(std::move(file)),
        path(options.output) {
    if (path.empty())
      path = defaultOutput(options.file, this->contract.isRegistered()
                                             ? this->contract.name()
                                             : "grit");
  }

  int run();

private:
  std::optional<Error> plan();
  std::optional<Error> planTensor(const TensorInfo &tensor);
  Expected<ArraySpec> fit(const TensorInfo &tensor) const;
  Expected<std::vector<std::vector<uint8_t>>> encodeStep(const Step &step);
  /// Sets `code` to tell a refused tensor from a failed write.
  std::optional<Error> write(int &code);
  void printText() const;
  void printJson() const;

  const Options &options;
  Contract contract;
  std::optional<Contract> fallback;
  std::unique_ptr<TensorFile> file;
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

Expected<ArraySpec> Quantizer::fit(const TensorInfo &tensor) const {
  if (!tensor.element || !isPlainFloat(*tensor.element))
    return makeError(
        Status::GradeUnknown, "the tensor does not hold plain floats", "dtype",
        "F32, F16, BF16 or F64",
        tensor.array ? tensor.array->contract.name() : tensor.dtype, {},
        tensor.array ? "run grit dequantize first" : "exclude it");
  Expected<ArraySpec> spec = ArraySpec::get(contract, tensor.shape);
  if (spec || !fallback)
    return spec;
  Expected<ArraySpec> second = ArraySpec::get(*fallback, tensor.shape);
  return second ? second : spec;
}

std::optional<Error> Quantizer::planTensor(const TensorInfo &tensor) {
  Step step;
  step.output = {&tensor, tensor.shape, tensor.element, tensor.array};
  bool named = matchesAny(options.include, tensor.name);
  bool wanted = options.include.empty() ? isWeight(tensor) : named;
  if (wanted && !matchesAny(options.exclude, tensor.name)) {
    Expected<ArraySpec> spec = fit(tensor);
    if (spec) {
      step.quantized = true;
      step.output.element.reset();
      step.output.array = std::move(*spec);
    } else if (named) {
      return inTensor(spec.error(), tensor.name);
    } else {
      step.reason = spec.error().message;
      if (!spec.error().declared.empty())
        step.reason += " (" + spec.error().field + ": needs " +
                       spec.error().declared + ", has " + spec.error().found +
                       ")";
    }
  }
  steps.push_back(std::move(step));
  return std::nullopt;
}

std::optional<Error> Quantizer::plan() {
  for (const Contract *target : {&contract, fallback ? &*fallback : nullptr}) {
    if (!target)
      continue;
    if (std::optional<Error> error = checkOutput(path, *file, target))
      return error;
    if (target->description().encoding.rule == EncodeRule::None)
      return makeError(Status::GradeUnknown, "the contract has no encoder",
                       "--to", "a contract that encodes (grit formats --json)",
                       target->name())
          .value();
  }
  for (const std::string &pattern : options.include) {
    bool any = false;
    for (const TensorInfo &tensor : file->tensors())
      any |= matches(pattern, tensor.name);
    if (!any)
      return makeError(Status::SizeMismatch, "no tensor matches", "--include",
                       "a pattern that matches a name", pattern)
          .value();
  }
  size_t numQuantized = 0;
  for (const TensorInfo &tensor : file->tensors()) {
    if (std::optional<Error> error = planTensor(tensor))
      return error;
    numQuantized += steps.back().quantized;
  }
  if (numQuantized == 0)
    return makeError(Status::SizeMismatch, "no tensor would be quantized",
                     "tensors",
                     "a two-dimensional float tensor named *weight that fits",
                     "none", {}, "choose tensors with --include")
        .value();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The work
//===----------------------------------------------------------------------===//

Expected<std::vector<std::vector<uint8_t>>>
Quantizer::encodeStep(const Step &step) {
  const TensorInfo &tensor = *step.output.source;
  std::vector<float> values(
      static_cast<size_t>(step.output.array->numElements()));
  Expected<void> converted = toFloat32(*tensor.element, tensor.bytes, values);
  if (!converted)
    return tl::unexpected(converted.error());
  return encode(*step.output.array, values);
}

std::optional<Error> Quantizer::write(int &code) {
  std::vector<OutputTensor> outputs;
  uint64_t total = 0;
  for (const Step &step : steps) {
    outputs.push_back(step.output);
    total += step.output.source->bytes.size();
  }
  code = kOutputFailed;
  auto writer = createOutput(path, *file, outputs);
  if (!writer) {
    // A tensor that the format cannot hold is a matter of the input.
    if (writer.error().field != "output file")
      code = kRefused;
    return writer.error();
  }
  Progress progress("quantizing", total);
  for (size_t i = 0; i < steps.size(); ++i) {
    const TensorInfo &tensor = *steps[i].output.source;
    Expected<void> written;
    if (steps[i].quantized) {
      auto planes = encodeStep(steps[i]);
      if (!planes) {
        code = kRefused;
        return inTensor(planes.error(), tensor.name);
      }
      for (const std::vector<uint8_t> &plane : *planes)
        if (written)
          written = (*writer)->write(i, plane);
    } else {
      written = (*writer)->write(i, tensor.bytes);
    }
    if (!written)
      return written.error();
    progress.add(tensor.bytes.size());
  }
  Expected<void> finished = (*writer)->finish();
  if (!finished)
    return finished.error();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static uint64_t outputBytes(const Step &step) {
  if (!step.quantized)
    return step.output.source->bytes.size();
  const PlaneSizes sizes = *step.output.array->planeSizes();
  uint64_t total = 0;
  for (int64_t size : sizes)
    total += static_cast<uint64_t>(size);
  return total;
}

void Quantizer::printText() const {
  size_t numQuantized = 0;
  uint64_t before = 0, after = 0;
  for (const Step &step : steps) {
    const std::string name = quoteText(step.output.source->name);
    if (!step.reason.empty())
      std::printf("skipped %s: %s\n", name.c_str(), step.reason.c_str());
    if (!step.quantized)
      continue;
    if (!(step.output.array->contract == contract))
      std::printf("%s: %s\n", name.c_str(),
                  step.output.array->contract.name().c_str());
    ++numQuantized;
    before += step.output.source->bytes.size();
    after += outputBytes(step);
  }
  std::printf("%s: %zu of %zu tensors to %s, %s to %s\n", path.c_str(),
              numQuantized, steps.size(), contract.name().c_str(),
              sizeText(before).c_str(), sizeText(after).c_str());
}

void Quantizer::printJson() const {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("input", file->path());
  json.field("output", path).field("contract", contract.name());
  if (fallback)
    json.field("fallback", fallback->name());
  json.key("tensors").beginArray();
  for (const Step &step : steps) {
    const TensorInfo &tensor = *step.output.source;
    json.beginObject().field("name", tensor.name);
    json.field("action", step.quantized        ? "quantized"
                         : step.reason.empty() ? "copied"
                                               : "skipped");
    if (!step.reason.empty())
      json.field("reason", step.reason);
    json.field("shape", std::span<const int64_t>(tensor.shape));
    json.field("bytes_before", uint64_t(tensor.bytes.size()));
    json.field("bytes_after", outputBytes(step));
    if (step.quantized)
      json.field("contract", step.output.array->contract.name());
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

int Quantizer::run() {
  int code = kRefused;
  std::optional<Error> error = plan();
  if (!error)
    error = write(code);
  if (error) {
    printError(*error);
    return code;
  }
  if (options.json)
    printJson();
  else
    printText();
  return kOk;
}

static int run(const Options &options) {
  Expected<Contract> contract = Contract::parse(options.to);
  std::optional<Contract> fallback;
  if (contract && !options.fallback.empty()) {
    Expected<Contract> parsed = Contract::parse(options.fallback);
    if (parsed)
      fallback = *parsed;
    else
      contract = tl::unexpected(parsed.error());
  }
  if (!contract) {
    printError(contract.error());
    return kRefused;
  }
  auto file = openTensorFile(options.file);
  if (!file) {
    printError(file.error());
    return kRefused;
  }
  return Quantizer(options, *contract, std::move(fallback), std::move(*file))
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
  for (auto [name, patterns, what] :
       {std::tuple("--include", &options->include,
                   "Quantize tensors that match this shell pattern (default: "
                   "two-dimensional float tensors named *weight); may be "
                   "repeated"),
        std::tuple("--exclude", &options->exclude,
                   "Copy tensors that match this shell pattern; may be "
                   "repeated")})
    app->add_option(name, *patterns, what)
        ->type_name("GLOB")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("-o,--output", options->output,
                  "The file to write, GGUF when it ends in .gguf (default: "
                  "FILE.<contract>.safetensors)")
      ->type_name("OUT");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options] { return run(*options); }};
}
