//===- CompilerLibrary.cpp - the compiler, loaded when a command needs it -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerLibrary.h"
#include "Output.h"
#include "grit/Container/MappedFile.h"
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>

using namespace grit;
using namespace grit::tool;

static constexpr const char *kLibrary = "libGritCompiler.so.1";

/// A build and an install both keep libraries in a directory beside bin.
static void *openLibrary(std::string &reasons) {
  std::error_code error;
  std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  std::string beside =
      (program.parent_path().parent_path() / GRIT_LIBDIR / kLibrary).string();
  std::string inBuild =
      (program.parent_path().parent_path() / "lib" / kLibrary).string();
  for (const std::string &path : {beside, inBuild, std::string(kLibrary)}) {
    if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return handle;
    reasons += std::string("\n    ") + ::dlerror();
  }
  return nullptr;
}

Expected<CompilerLibrary> CompilerLibrary::load() {
  std::string reasons;
  void *handle = openLibrary(reasons);
  if (!handle)
    return makeError(Status::GradeUnknown, "the compiler cannot be loaded",
                     kLibrary, "in the library directory beside this program",
                     "not there, or not complete:" + reasons, {},
                     "install grit with its compiler (GRIT_ENABLE_MLIR=ON) and "
                     "the LLVM that it was built with");
  CompilerLibrary library;
  bool isComplete = true;
  auto find = [&](const char *name, auto &function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        ::dlsym(handle, name));
    isComplete &= function != nullptr;
  };
  find("grit_compiler_create", library.create);
  find("grit_compiler_destroy", library.destroy);
  find("grit_compiler_last_error", library.lastError);
  find("grit_compiler_compile", library.compile);
  find("grit_module_destroy", library.destroyModule);
  find("grit_module_emit", library.emit);
  find("grit_module_lookup_packed", library.lookupPacked);
  find("grit_register_grade", library.registerGrade);
  find("grit_register_format", library.registerFormat);
  if (!isComplete)
    return makeError(Status::GradeUnknown,
                     "the compiler is of another version of grit", kLibrary,
                     "the functions of grit-c/compiler.h", "fewer", {},
                     "install program and library together");
  return library;
}

void CompileOptions::addTo(CLI::App &app) {
  app.add_option("FILE", file, "MLIR text or bytecode")->required();
  app.add_option("--cpu", cpu, "The processor, as LLVM names it")
      ->capture_default_str();
  app.add_option("--features", features,
                 "Features on top of the processor's: +avx2,-avx512f")
      ->type_name("LIST");
  app.add_option("--threads", threads,
                 "1: plain loops; 0: OpenMP decides; N: OpenMP with N threads")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("--check-level", checkLevel,
                 "What a function checks first: 0 nothing, 1 descriptors, "
                 "shapes and sizes, 2 also the planes of sparse arrays")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  addRegistrations(app, registrations);
}

bool Compilation::tell(const std::vector<RegisteredText> &known) const {
  for (const RegisteredText &one : known) {
    grit_detail_t detail = {};
    grit_status_t status =
        one.name.empty()
            ? library.registerFormat(one.text.c_str(), nullptr, &detail)
            : library.registerGrade(one.name.c_str(), one.text.c_str(), nullptr,
                                    &detail);
    if (status != GRIT_OK) {
      std::fprintf(stderr, "%s\n", detail.message);
      return false;
    }
  }
  return true;
}

std::unique_ptr<Compilation>
Compilation::compile(const CompileOptions &options,
                     const std::vector<RegisteredText> &known) {
  Expected<MappedFile> file = MappedFile::open(options.file);
  if (!file) {
    printError(file.error());
    return nullptr;
  }
  Expected<CompilerLibrary> library = CompilerLibrary::load();
  if (!library) {
    printError(library.error());
    return nullptr;
  }
  std::unique_ptr<Compilation> result(new Compilation(*library));
  if (!result->tell(known))
    return nullptr;
  result->compiler = library->create();
  if (!result->compiler)
    throw std::bad_alloc();
  grit_compiler_options_t chosen = {options.cpu.c_str(),
                                    options.features.c_str(), options.threads,
                                    options.checkLevel};
  result->module = library->compile(
      result->compiler, reinterpret_cast<const char *>(file->bytes().data()),
      file->bytes().size(), options.file.c_str(), &chosen);
  if (result->module)
    return result;
  result->printLastError();
  return nullptr;
}

Compilation::~Compilation() {
  if (module)
    library.destroyModule(module);
  if (compiler)
    library.destroy(compiler);
}

void Compilation::printLastError() const {
  std::string text = library.lastError(compiler);
  while (text.ends_with('\n'))
    text.pop_back();
  std::fprintf(stderr, "%s\n", text.c_str());
}

bool Compilation::emit(grit_artifact_t artifact, std::string &bytes) {
  const char *data = nullptr;
  size_t size = 0;
  if (library.emit(module, artifact, &data, &size) != 0) {
    printLastError();
    return false;
  }
  bytes.append(data, size);
  return true;
}

grit_packed_function_t Compilation::lookup(const std::string &function) {
  grit_packed_function_t address =
      library.lookupPacked(module, function.c_str());
  if (!address)
    printLastError();
  return address;
}
