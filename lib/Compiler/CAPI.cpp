//===- CAPI.cpp - the C interface of the compiler -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit-c/compiler.h"
#include "grit/Compiler/Compiler.h"
#include <new>

using namespace grit;

struct grit_compiler_t {
  std::string lastError;
};

struct grit_module_t {
  grit_compiler_t *compiler;
  std::unique_ptr<CompiledModule> module;
  llvm::SmallVector<char, 0> bytes;
};

grit_compiler_t *grit_compiler_create(void) {
  return new (std::nothrow) grit_compiler_t;
}

void grit_compiler_destroy(grit_compiler_t *compiler) { delete compiler; }

const char *grit_compiler_last_error(const grit_compiler_t *compiler) {
  return compiler->lastError.c_str();
}

grit_module_t *grit_compiler_compile(grit_compiler_t *compiler,
                                     const char *source, size_t size,
                                     const char *name,
                                     const grit_compiler_options_t *options) {
  compiler->lastError.clear();
  CompilerOptions chosen;
  if (options) {
    if (options->cpu)
      chosen.cpu = options->cpu;
    if (options->features)
      chosen.features = options->features;
    chosen.threads = options->threads;
    chosen.checkLevel = options->check_level;
  }
  auto module = CompiledModule::compile(
      {source, size}, name ? name : "<source>", chosen, compiler->lastError);
  if (!module)
    return nullptr;
  return new grit_module_t{compiler, std::move(module), {}};
}

void grit_module_destroy(grit_module_t *module) { delete module; }

int grit_module_emit(grit_module_t *module, grit_artifact_t artifact,
                     const char **data, size_t *size) {
  std::string &error = module->compiler->lastError;
  error.clear();
  if (artifact < GRIT_ARTIFACT_MLIR || artifact > GRIT_ARTIFACT_SIGNATURES) {
    error = "error: no artifact has the number " + std::to_string(artifact);
    return 1;
  }
  module->bytes.clear();
  if (!module->module->emit(static_cast<Artifact>(artifact), module->bytes,
                            error))
    return 1;
  *size = module->bytes.size();
  module->bytes.push_back(0);
  *data = module->bytes.data();
  return 0;
}

void *grit_module_lookup(grit_module_t *module, const char *function) {
  module->compiler->lastError.clear();
  return module->module->lookup(function, module->compiler->lastError);
}

grit_packed_function_t grit_module_lookup_packed(grit_module_t *module,
                                                 const char *function) {
  module->compiler->lastError.clear();
  return module->module->lookupPacked(function, module->compiler->lastError);
}
