//===- ExpandRequantize.cpp - requantize as decode and encode -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace grit {
#define GEN_PASS_DEF_EXPANDREQUANTIZE
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

static void expand(RewriterBase &rewriter, RequantizeOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value init = tensor::EmptyOp::create(rewriter, loc,
                                       extentsOf(rewriter, loc, op.getArray()),
                                       rewriter.getF32Type());
  Value values =
      DecodeOp::create(rewriter, loc, init.getType(), op.getArray(), init);
  rewriter.replaceOpWithNewOp<EncodeOp>(op, op.getType(), values);
}

namespace {
struct ExpandRequantize : grit::impl::ExpandRequantizeBase<ExpandRequantize> {
  void runOnOperation() override {
    SmallVector<RequantizeOp> ops;
    getOperation().walk([&](RequantizeOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RequantizeOp op : ops)
      expand(rewriter, op);
  }
};
} // namespace
