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

static int run(const Options &options) {
  std::unique_ptr<Compilation> module = Compilation::compile(options.compile);
  if (!module)
    return kRefused;
  bool isObject = options.emit == "obj";
  std::string path = options.output;
  if (path.empty())
    path = isObject ? std::filesystem::path(options.compile.file)
                          .replace_extension(".o")
                          .filename()
                          .string()
                    : "-";
  std::vector<OutputBytes> outputs = {{path, kArtifacts.at(options.emit), {}}};
  if (!options.header.empty())
    outputs.push_back({options.header, GRIT_ARTIFACT_HEADER, {}});
  for (OutputBytes &output : outputs)
    if (!module->emit(output.artifact, output.bytes))
      return kRefused;
  std::string signatures;
  if (options.json && !module->emit(GRIT_ARTIFACT_SIGNATURES, signatures))
    return kRefused;
  bool toTerminal = path == "-";
  if (toTerminal) {
    std::fwrite(outputs[0].bytes.data(), 1, outputs[0].bytes.size(), stdout);
    outputs.erase(outputs.begin());
  }
  if (Expected<void> written = writeAll(outputs); !written) {
    printError(written.error());
    return kOutputFailed;
  }
  if (!toTerminal)
    report(options, outputs, signatures);
  if (std::fflush(stdout) != 0)
    return kOutputFailed;
  return kOk;
}

Command grit::tool::addCompile(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "compile", "Compiles MLIR with arrays to an object file for C");
  options->compile.addTo(*app);
  app->add_option("-o,--output", options->output,
                  "The file to write, - for standard output (default: FILE.o "
                  "here; text goes to standard output)")
      ->type_name("OUT");
  app->add_option("--header", options->header,
                  "Also write the declarations in C")
      ->type_name("OUT");
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
