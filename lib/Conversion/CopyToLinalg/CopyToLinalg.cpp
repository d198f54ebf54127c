//===- CopyToLinalg.cpp - strided copies without a runtime library -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace grit {
#define GEN_PASS_DEF_COPYTOLINALG
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;

/// Copies of unranked buffers stay: loops need a rank.
static bool isStrided(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && !type.getLayout().isIdentity();
}

namespace {
struct CopyToLinalgPass : grit::impl::CopyToLinalgBase<CopyToLinalgPass> {
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) {
      Value source = copy.getSource(), target = copy.getTarget();
      if (!isa<MemRefType>(source.getType()) ||
          !isa<MemRefType>(target.getType()) ||
          (!isStrided(source) && !isStrided(target)))
        return;
      OpBuilder b(copy);
      linalg::makeMemRefCopyOp(b, copy.getLoc(), source, target);
      copy.erase();
    });
  }
};
} // namespace
