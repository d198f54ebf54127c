//===- grit-opt.cpp - the grit optimizer driver -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  grit::registerDialectsForPipelines(registry);
  mlir::registerAllPasses();
  grit::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "grit optimizer driver\n", registry));
}
