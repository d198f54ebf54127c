//===- InitAll.cpp - registration of everything grit adds -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/InitAll.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

void grit::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::GritDialect>();
}

void grit::registerDialectsForPipelines(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerDialects(registry);
}

void grit::registerPasses() {}
