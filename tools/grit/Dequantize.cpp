//===- Dequantize.cpp - grit dequantize -*- C++ -*-===//
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
#include <bit>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string file, output;
  Registrations registrations;
  bool json = false;
};
} // namespace

/// Decodes an array into little-endian binary32.
static Expected<std::vector<uint8_t>> decodeArray(const TensorInfo &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.array->numElements()));
  Expected<void> decoded = decode(*tensor.array, tensor.planes(), values);
  if (!decoded)
    return tl::unexpected(inTensor(decoded.error(), tensor.name));
  std::vector<uint8_t> bytes(values.size() * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    for (unsigned b = 0; b < 4; ++b)
      bytes[4 * i + b] = static_cast<uint8_t>(bits >> (8 * b));
  }
  return bytes;
}

static std::vector<OutputTensor> plan(const TensorFile &file) {
  std::vector<OutputTensor> outputs;
  for (const TensorInfo &tensor : file.tensors()) {
    OutputTensor output{tensor.name, tensor.dtype, tensor.shape, tensor.element,
                        std::nullopt};
    if (tensor.array)
      output.element = lookupElementType("F32");
    outputs.push_back(std::move(output));
  }
  return outputs;
}

static Expected<void> write(const TensorFile &file, const std::string &path,
                            const std::vector<OutputTensor> &outputs) {
  auto writer = createOutput(path, &file, outputs);
  if (!writer)
    return tl::unexpected(writer.error());
  uint64_t total = 0;
  for (const TensorInfo &tensor : file.tensors())
    total += tensor.bytes.size();
  Progress progress("decoding", total);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo &tensor = file.tensors()[i];
    ByteSpan bytes = tensor.bytes;
    Expected<std::vector<uint8_t>> decoded;
    if (tensor.array) {
      decoded = decodeArray(tensor);
      if (!decoded)
        return tl::unexpected(decoded.error());
      bytes = *decoded;
    }
    if (auto written = (*writer)->write(i, bytes); !written)
      return written;
    progress.add(tensor.bytes.size());
  }
  return (*writer)->finish();
}

static void report(const TensorFile &file, const std::string &path,
                   bool asJson) {
  size_t numArrays = 0;
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("input", file.path());
  json.field("output", path).key("tensors").beginArray();
  for (const TensorInfo &tensor : file.tensors()) {
    numArrays += tensor.array.has_value();
    json.beginObject().field("name", tensor.name);
    json.field("action", tensor.array ? "decoded" : "copied");
    json.field("shape", std::span<const int64_t>(tensor.shape));
    if (tensor.array)
      json.field("contract", tensor.array->contract.name());
    json.endObject();
  }
  json.endArray().endObject();
  if (asJson)
    std::printf("%s\n", json.str().c_str());
  else
    std::printf("%s: %zu of %zu tensors decoded to F32\n", path.c_str(),
                numArrays, file.tensors().size());
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  auto file = openTensorFile(options.file);
  if (!file) {
    printError(file.error());
    return kRefused;
  }
  std::string path = options.output.empty() ? defaultOutput(options.file, "f32")
                                            : options.output;
  if (std::optional<Error> error =
          checkOutput(path, options.registrations.inputs(options.file))) {
    printError(*error);
    return kRefused;
  }
  if (auto written = write(**file, path, plan(**file)); !written) {
    printError(written.error());
    return writerExitCode(written.error());
  }
  report(**file, path, options.json);
  return finishOutput(kOk);
}

Command grit::tool::addDequantize(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "dequantize", "Decodes the arrays of a file to F32 and copies the rest");
  app->add_option("FILE", options->file, "A safetensors or GGUF file")
      ->required();
  app->add_option("-o,--output", options->output,
                  "The file to write, GGUF when it ends in .gguf (default: "
                  "FILE.f32.safetensors)")
      ->type_name("OUT")
      ->check(checkOutputName);
  addRegistrations(*app, options->registrations);
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options] { return run(*options); }};
}
