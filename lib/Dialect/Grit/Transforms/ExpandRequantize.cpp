//===- ExpandRequantize.cpp - requantize as decode and encode -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  ArrayRef<int64_t> shape = op.getType().getShape();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> sizes;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      sizes.push_back(DimOp::create(rewriter, loc, op.getArray(), dim));
  Value init = tensor::EmptyOp::create(rewriter, loc, shape,
                                       rewriter.getF32Type(), sizes);
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
