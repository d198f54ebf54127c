//===- Convert.cpp - grit convert -*- C++ -*-===//
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
#include "grit/Format/Recode.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace grit;
using namespace grit::tool;
using scan::CheckpointFiles;

namespace {
struct Options {
  std::string file, to, output, byteOrder = "little";
  std::vector<std::string> tensors;
  Registrations registrations;
  bool requantize = false, json = false, keepRefused = false;
};

/// How far the values of a tensor moved.
struct Loss {
  double maxAbs = 0;      ///< the largest difference
  double relativeRms = 0; ///< that of the differences over that of the values
  std::string reason;     ///< why it could not be without loss
};

/// What happens to one tensor or layer.
struct Step {
  Item source;
  OutputTensor output;
  bool isConverted = false;
  std::optional<Loss> loss;
};

class Converter {
public:
  Converter(const Options &options, std::optional<Contract> target,
            std::unique_ptr<CheckpointFiles> files)
      : options(options), target(std::move(target)),
        checkpoint(std::move(files)), path(options.output) {
    if (!path.empty())
      return;
    const Contract &to = *this->target;
    bool hasName = to.isRegistered() || !to.userName().empty();
    path = defaultOutput(options.file, hasName ? to.displayName() : "grit");
  }

  int run();

private:
  /// False when layers were refused, which is said by then.
  Expected<bool> plan();
  std::optional<Error> planItem(const Item &item);
  Expected<std::vector<std::vector<uint8_t>>> convert(Step &step) const;
  Expected<std::vector<std::vector<uint8_t>>>
  requantize(Step &step, std::span<const ByteSpan> planes,
             const Error &why) const;
  Expected<void> write();
  void printText() const;
  void printJson() const;

  const Options &options;
  std::optional<Contract> target;
  std::unique_ptr<CheckpointFiles> checkpoint;
  std::string path;
  std::vector<Step> steps;
};
} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Groups of some layers do not lie along their rows; those of the result do.
static bool keepsShape(const Step &step) {
  return step.source.array()->shape == step.output.shape;
}
static int axisOf(const Step &step) {
  return keepsShape(step) ? step.source.array()->axis : -1;
}

std::optional<Error> Converter::planItem(const Item &item) {
  Step step;
  step.source = item;
  step.output.name = item.name();
  step.output.shape = item.shape();
  if (const ArraySpec *array = item.array())
    step.output.array = *array;
  else
    step.output.element = item.tensor->element;
  if (item.tensor)
    step.output.dtype = item.tensor->dtype;
  bool isChosen =
      options.tensors.empty() || matchesAny(options.tensors, item.name());
  if (target && item.array() && isChosen) {
    Expected<ArraySpec> spec =
        ArraySpec::get(*target, step.output.shape, axisOf(step));
    if (!spec)
      return inTensor(spec.error(), item.name());
    spec->note = item.array()->note;
    step.output.array = std::move(*spec);
    step.isConverted = true;
  }
  steps.push_back(std::move(step));
  return std::nullopt;
}

static Error nothingToConvert(const Plan &plan) {
  return makeError(Status::GradeUnknown, "the file has no array to convert",
                   "tensors", "an array under a contract", "none",
                   plan.items.empty() ? "the file is empty"
                                      : "the chosen tensors hold plain numbers",
                   "run grit inspect; grit quantize takes plain floats")
      .value();
}

Expected<bool> Converter::plan() {
  if (std::optional<Error> error = checkOutput(
          path,
          inputsOf(*checkpoint, options.registrations.inputs(options.file))))
    return tl::unexpected(std::move(*error));
  if (target)
    if (std::optional<Error> error = checkHolds(path, *target))
      return tl::unexpected(std::move(*error));
  Plan plan = target ? planOf(*checkpoint, options.tensors)
                     : planOfTensors(*checkpoint);
  if (!acceptRefusals(plan, options.keepRefused))
    return false;
  if (auto error = checkPatterns(options.tensors, plan, *checkpoint))
    return tl::unexpected(std::move(*error));
  bool any = !target;
  for (const Item &item : plan.items) {
    if (std::optional<Error> error = planItem(item))
      return tl::unexpected(std::move(*error));
    any |= steps.back().isConverted;
  }
  if (!any)
    return tl::unexpected(nothingToConvert(plan));
  return true;
}

//===----------------------------------------------------------------------===//
// The work
//===----------------------------------------------------------------------===//

static Loss lossOf(std::span<const float> before,
                   std::span<const float> after) {
  Loss loss;
  double differences = 0, squares = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    if (std::bit_cast<uint32_t>(before[i]) ==
        std::bit_cast<uint32_t>(after[i])) {
      squares += std::isfinite(before[i]) ? double(before[i]) * before[i] : 0;
      continue;
    }
    double difference = std::fabs(double(after[i]) - before[i]);
    if (std::isnan(difference))
      difference = std::numeric_limits<double>::infinity();
    loss.maxAbs = std::max(loss.maxAbs, difference);
    differences += difference * difference;
    squares += double(before[i]) * before[i];
  }
  if (differences > 0)
    loss.relativeRms = std::sqrt(differences / squares);
  return loss;
}

/// Decodes and encodes, and measures what that changed.
Expected<std::vector<std::vector<uint8_t>>>
Converter::requantize(Step &step, std::span<const ByteSpan> stored,
                      const Error &why) const {
  const ArraySpec &from = *step.source.array(), &to = *step.output.array;
  std::vector<float> before(static_cast<size_t>(from.numElements()));
  if (auto decoded = decode(from, stored, before); !decoded)
    return tl::unexpected(decoded.error());
  auto planes = encode(to, before);
  if (!planes)
    return planes;
  std::vector<float> after(before.size());
  std::vector<ByteSpan> spans(planes->begin(), planes->end());
  if (auto decoded = decode(to, spans, after); !decoded)
    return tl::unexpected(decoded.error());
  step.loss = lossOf(before, after);
  step.loss->reason =
      why.message +
      (why.found.empty() ? "" : " (" + why.field + ": " + why.found + ")");
  return planes;
}

static Expected<std::vector<std::vector<uint8_t>>>
recodeStep(const Step &step, std::span<const ByteSpan> stored) {
  if (keepsShape(step))
    return recode(*step.source.array(), stored, *step.output.array);
  return makeError(Status::SizeMismatch,
                   "the groups of the layer do not lie along its rows", "shape",
                   shapeText(step.output.shape),
                   shapeText(step.source.array()->shape),
                   "each row of groups takes elements from several rows of the "
                   "layer",
                   "--requantize encodes the values again");
}

Expected<std::vector<std::vector<uint8_t>>>
Converter::convert(Step &step) const {
  Expected<scan::LayerPlanes> stored = step.source.planes();
  if (!stored)
    return tl::unexpected(inTensor(stored.error(), step.source.name()));
  auto planes = recodeStep(step, stored->spans);
  if (!planes && options.requantize)
    planes = requantize(step, stored->spans, planes.error());
  if (!planes)
    return tl::unexpected(inTensor(planes.error(), step.source.name()));
  return planes;
}

Expected<void> Converter::write() {
  std::vector<OutputTensor> outputs;
  uint64_t total = 0;
  for (const Step &step : steps) {
    outputs.push_back(step.output);
    total += step.source.bytes();
  }
  auto writer = createOutput(path, checkpoint->files().front().get(), outputs,
                             options.byteOrder == "big" ? std::endian::big
                                                        : std::endian::little);
  if (!writer)
    return tl::unexpected(writer.error());
  Progress progress("converting", total);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Item &source = steps[i].source;
    // A new digest must not cover bytes that the old one does not.
    if (source.tensor)
      if (auto error = checkPlanes(*source.tensor))
        return tl::unexpected(std::move(*error));
    std::vector<std::vector<uint8_t>> planes;
    std::vector<ByteSpan> pieces;
    if (source.tensor)
      pieces = {source.tensor->bytes};
    if (steps[i].isConverted) {
      auto converted = convert(steps[i]);
      if (!converted)
        return tl::unexpected(converted.error());
      planes = std::move(*converted);
      pieces.assign(planes.begin(), planes.end());
    }
    for (ByteSpan piece : pieces)
      if (auto written = (*writer)->write(i, piece); !written)
        return written;
    release(*checkpoint, source);
    progress.add(source.bytes());
  }
  return (*writer)->finish();
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static uint64_t outputBytes(const Step &step) {
  return step.isConverted ? planeBytes(*step.output.array)
                          : step.source.bytes();
}

static std::string number(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", x);
  return buffer;
}

void Converter::printText() const {
  uint64_t before = 0, after = 0;
  size_t converted = 0, lossy = 0;
  for (const Step &step : steps) {
    if (!step.isConverted)
      continue;
    ++converted;
    before += step.source.bytes();
    after += outputBytes(step);
    if (!step.loss)
      continue;
    ++lossy;
    std::printf("requantized '%s': max abs error %s, relative RMS %s: %s\n",
                printable(step.source.name()).c_str(),
                number(step.loss->maxAbs).c_str(),
                number(step.loss->relativeRms).c_str(),
                step.loss->reason.c_str());
  }
  if (!target) {
    std::printf("%s: %zu tensors, as they were\n", path.c_str(), steps.size());
    return;
  }
  std::string how =
      lossy ? std::to_string(lossy) + " of them requantized" : "without loss";
  std::printf("%s: %zu of %zu tensors to %s, %s, %s to %s\n", path.c_str(),
              converted, steps.size(), target->displayName().c_str(),
              how.c_str(), sizeText(before).c_str(), sizeText(after).c_str());
}

void Converter::printJson() const {
  JsonWriter json(2);
  auto measure = [&](const char *name, double x) {
    json.key(name);
    if (std::isfinite(x))
      json.value(x);
    else
      json.null();
  };
  json.beginObject().field("version", 1).field("input", checkpoint->path());
  json.field("output", path);
  if (target)
    json.field("contract", target->name());
  json.key("tensors").beginArray();
  for (const Step &step : steps) {
    const Item &source = step.source;
    json.beginObject().field("name", source.name());
    json.field("action", step.loss          ? "requantized"
                         : step.isConverted ? "converted"
                                            : "copied");
    json.field("shape", std::span<const int64_t>(step.output.shape));
    json.field("bytes_before", source.bytes());
    json.field("bytes_after", outputBytes(step));
    if (source.array())
      json.field("from", source.array()->contract.name());
    if (step.output.array)
      json.field("contract", step.output.array->contract.name());
    if (step.loss) {
      measure("max_abs_error", step.loss->maxAbs);
      measure("relative_rms_error", step.loss->relativeRms);
      json.field("reason", step.loss->reason);
    }
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

int Converter::run() {
  Expected<bool> planned = plan();
  if (!planned)
    printError(planned.error());
  if (!planned || !*planned)
    return kRefused;
  if (Expected<void> written = write(); !written) {
    printError(written.error());
    return writerExitCode(written.error());
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
  if (options.to.empty() && (options.output.empty() || options.requantize ||
                             !options.tensors.empty())) {
    std::fputs(options.output.empty()
                   ? "grit: error: --to CONTRACT or -o OUT is needed\n"
                   : "grit: error: --tensor and --requantize need --to\n",
               stderr);
    return kUsage;
  }
  if (options.byteOrder == "big" && !isGgufPath(options.output)) {
    std::fputs("grit: error: --byte-order big needs -o OUT.gguf: the other "
               "files are little-endian\n",
               stderr);
    return kUsage;
  }
  std::optional<Contract> target;
  if (!options.to.empty()) {
    Expected<Contract> contract = Contract::parse(options.to);
    if (!contract) {
      printError(contract.error());
      return kRefused;
    }
    target = std::move(*contract);
  }
  auto files = CheckpointFiles::open(options.file);
  if (!files) {
    printError(files.error());
    return kRefused;
  }
  return Converter(options, std::move(target), std::move(*files)).run();
}

Command grit::tool::addConvert(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "convert",
      "Writes arrays under another contract, or into another kind of file");
  app->add_option("FILE", options->file,
                  "A safetensors or GGUF file, an index of several, or the "
                  "directory of a checkpoint")
      ->required();
  app->add_option("--to", options->to,
                  "The contract: a name (grit formats) or a canonical text. "
                  "Without it, arrays stay as they are")
      ->type_name("CONTRACT");
  addRepeated(*app, "--tensor", "GLOB",
              "Convert arrays that match this shell pattern (default: all); "
              "may be repeated",
              options->tensors);
  app->add_flag("--requantize", options->requantize,
                "Where an array cannot keep its values, decode it and encode "
                "it again, and say how far they moved");
  app->add_option("-o,--output", options->output,
                  "The file to write, GGUF when it ends in .gguf (default: "
                  "FILE.<contract>.safetensors)")
      ->type_name("OUT")
      ->check(checkOutputName);
  app->add_option("--byte-order", options->byteOrder,
                  "That of a GGUF file: little (the default) or big")
      ->type_name("ORDER")
      ->check(CLI::IsMember(std::vector<std::string>{"little", "big"}));
  addRegistrations(*app, options->registrations);
  app->add_flag("--keep-refused", options->keepRefused,
                "Copy the tensors of layers that no contract describes");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options] { return run(*options); }};
}
