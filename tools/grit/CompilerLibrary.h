//===- CompilerLibrary.h - the compiler, loaded on demand -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_COMPILERLIBRARY_H
#define GRIT_TOOLS_GRIT_COMPILERLIBRARY_H

#include "Command.h"
#include "grit-c/compiler.h"
#include "grit-c/grit.h"
#include "grit/Format/Status.h"
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace grit::tool {

/// The functions of libGritCompiler.so. The program does not link it: with it
/// come LLVM and MLIR, which no other command needs.
struct CompilerLibrary {
  decltype(&grit_compiler_create) create;
  decltype(&grit_compiler_destroy) destroy;
  decltype(&grit_compiler_last_error) lastError;
  decltype(&grit_compiler_compile) compile;
  decltype(&grit_module_destroy) destroyModule;
  decltype(&grit_module_emit) emit;
  decltype(&grit_module_lookup_packed) lookupPacked;
  decltype(&grit_register_grade) registerGrade;
  decltype(&grit_register_format) registerFormat;

  /// Loads it from the directory of libraries beside this program.
  static Expected<CompilerLibrary> load();
};

/// What both commands that compile ask for.
struct CompileOptions {
  std::string file, cpu = "native", features;
  int threads = 1, checkLevel = 1;
  Registrations registrations;

  void addTo(CLI::App &app);
  std::vector<std::string> inputs() const { return registrations.inputs(file); }
};

/// A compiled file. Messages of the compiler go to standard error.
class Compilation {
public:
  /// Compiles a file that may use the contracts that this program `knows`
  /// beside those of the library. Null after a message.
  static std::unique_ptr<Compilation>
  compile(const CompileOptions &options,
          const std::vector<RegisteredText> &known);
  ~Compilation();

  /// Appends the artifact; false after a message.
  bool emit(grit_artifact_t artifact, std::string &bytes);
  grit_packed_function_t lookup(const std::string &function);

private:
  explicit Compilation(const CompilerLibrary &library) : library(library) {}
  void printLastError() const;
  /// The compiler has a registry of its own.
  bool tell(const std::vector<RegisteredText> &known) const;

  CompilerLibrary library;
  grit_compiler_t *compiler = nullptr;
  grit_module_t *module = nullptr;
};

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_COMPILERLIBRARY_H
