//===- uses-dialect.cpp - an outside program on Grit::MLIRGrit -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<grit::ir::GritDialect>();
  mlir::Type type =
      mlir::parseType("!grit.array<8x64x#grit.grade<mxfp4>>", &context);
  if (!type)
    return 1;
  llvm::outs() << type << "\n";
  return 0;
}
