//===- GritPlugin.cpp - dialects and passes for the stock mlir-opt -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

/// Loaded by `mlir-opt --load-dialect-plugin=GritPlugin.so`.
extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Grit", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            grit::registerDialects(*registry);
          }};
}

/// Loaded by `mlir-opt --load-pass-plugin=GritPlugin.so`. Passes are registered
/// here only: the same library serves both options, and registering a pipeline
/// twice is an error.
extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Grit", LLVM_VERSION_STRING,
          [] { grit::registerPasses(); }};
}
