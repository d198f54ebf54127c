//===- InitAll.cpp - registration of everything grit adds -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/InitAll.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "grit/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void grit::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::GritDialect, kernel::GritKernelDialect>();
}

void grit::registerDialectsForPipelines(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // gpu-module-to-binary translates on its own.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  registerDialects(registry);
}

void grit::registerPasses() {
  registerGritTransformsPasses();
  registerGritConversionPasses();
  registerPipelines();
}
