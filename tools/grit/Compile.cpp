//===- Compile.cpp - grit compile -===//
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
#include "grit/Container/AtomicFile.h"
#include "grit/Container/Json.h"
#include <cstdio>
#include <filesystem>
#include <map>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  CompileOptions compile;
  std::string output, header, emit = "obj";
  bool json = false;
};

struct OutputBytes {
  std::string path;
  grit_artifact_t artifact;
  std::string bytes;
};
} // namespace

static const std::map<std::string, grit_artifact_t> kArtifacts = {
    {"asm", GRIT_ARTIFACT_ASSEMBLY},
    {"llvm", GRIT_ARTIFACT_LLVM},
    {"mlir", GRIT_ARTIFACT_MLIR},
    {"obj", GRIT_ARTIFACT_OBJECT}};

/// Puts all files in place, or none.
static Expected<void> writeAll(const std::vector<OutputBytes> &outputs) {
  std::vector<AtomicFile> files;
  for (const OutputBytes &output : outputs) {
    Expected<AtomicFile> file = AtomicFile::create(output.path);
    if (!file)
      return tl::unexpected(file.error());
    auto data = reinterpret_cast<const uint8_t *>(output.bytes.data());
    if (auto written = file->writeAt(0, {data, output.bytes.size()}); !written)
      return written;
    files.push_back(std::move(*file));
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (auto done = files[i].commit(outputs[i].bytes.size()); !done) {
      for (size_t earlier = 0; earlier < i; ++earlier)
        std::remove(outputs[earlier].path.c_str());
      return done;
    }
  return {};
}

static void report(const Options &options,
                   const std::vector<OutputBytes> &outputs,
                   const std::string &signatures) {
  if (options.json) {
    std::printf("%s", signatures.c_str());
    return;
  }
  for (const OutputBytes &output : outputs)
    std::printf("%s: %s\n", output.path.c_str(),
                sizeText(output.bytes.size()).c_str());
}

/// Where the artifact goes; "-" is standard output.
static std::string outputPath(const Options &options) {
  if (!options.output.empty())
    return options.output;
  if (options.emit != "obj")
    return "-";
  return std::filesystem::path(options.compile.file)
      .replace_extension(".o")
      .filename()
      .string();
}

/// What the command line asks for that cannot be done together.
static std::optional<Error> checkOptions(const Options &options,
                                         const std::string &path) {
  if (path == "-" && options.json)
    return makeError(Status::SizeMismatch,
                     "standard output cannot take both the output and --json",
                     "-o", "a file", "-", {}, "name a file with -o")
        .value();
  if (path != "-" && !options.header.empty() &&
      isSameOutput(path, options.header))
    return makeError(Status::SizeMismatch,
                     "the header and the output are one file", "--header",
                     "another file than " + path, options.header, {},
                     "name two files")
        .value();
  return std::nullopt;
}

/// Standard output first: nothing is left behind when it takes nothing.
static int write(const Options &options, std::vector<OutputBytes> outputs,
                 const std::string &signatures) {
  bool isPrinted = outputs[0].path == "-";
  if (isPrinted) {
    std::fwrite(outputs[0].bytes.data(), 1, outputs[0].bytes.size(), stdout);
    if (int code = finishOutput(kOk); code != kOk)
      return code;
    outputs.erase(outputs.begin());
  }
  if (Expected<void> written = writeAll(outputs); !written) {
    printError(written.error());
    return kOutputFailed;
  }
  if (!isPrinted)
    report(options, outputs, signatures);
  return finishOutput(kOk);
}

static int run(const Options &options) {
  std::vector<OutputBytes> outputs = {
      {outputPath(options), kArtifacts.at(options.emit), {}}};
  if (auto error = checkOptions(options, outputs[0].path)) {
    printError(*error);
    return kUsage;
  }
  if (!options.header.empty())
    outputs.push_back({options.header, GRIT_ARTIFACT_HEADER, {}});
  for (const OutputBytes &output : outputs)
    if (auto error = checkOutput(output.path, options.compile.inputs());
        error && output.path != "-") {
      printError(*error);
      return kRefused;
    }
  auto known = registerAll(options.compile.registrations);
  if (!known)
    return kUsage;
  std::unique_ptr<Compilation> module =
      Compilation::compile(options.compile, *known);
  if (!module)
    return kRefused;
  for (OutputBytes &output : outputs)
    if (!module->emit(output.artifact, output.bytes))
      return kRefused;
  std::string signatures;
  if (options.json && !module->emit(GRIT_ARTIFACT_SIGNATURES, signatures))
    return kRefused;
  return write(options, std::move(outputs), signatures);
}

Command grit::tool::addCompile(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "compile", "Compiles MLIR with arrays to an object file for C");
  options->compile.addTo(*app);
  app->add_option("-o,--output", options->output,
                  "The file to write, - for standard output (default: FILE.o "
                  "here; text goes to standard output)")
      ->type_name("OUT")
      ->check([](const std::string &path) {
        return path == "-" ? "" : checkOutputName(path);
      });
  app->add_option("--header", options->header,
                  "Also write the declarations in C")
      ->type_name("OUT")
      ->check(checkOutputName);
  app->add_option("--emit", options->emit,
                  "obj: object file; asm, llvm, mlir: text of a stage")
      ->check(
          CLI::IsMember(std::vector<std::string>{"asm", "llvm", "mlir", "obj"}))
      ->capture_default_str();
  app->add_flag("--json", options->json,
                "Print the compiled functions and their operands as JSON");
  app->footer("Programs that call the object link libgrit.so, and libomp.so "
              "unless --threads is 1.");
  return {app, [options] { return run(*options); }};
}
