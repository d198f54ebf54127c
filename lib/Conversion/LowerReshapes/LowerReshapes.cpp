//===- LowerReshapes.cpp - buffers reshaped with dynamic extents -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace grit {
#define GEN_PASS_DEF_LOWERRESHAPES
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;

/// Whether every dynamic extent of `expand` is that of `buffer`.
static bool hasExtentsOf(memref::ExpandShapeOp expand, Value buffer) {
  auto extents = expand.getMixedOutputShape();
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    auto value = dyn_cast<Value>(extent);
    if (!value)
      continue;
    auto from = value.getDefiningOp<memref::DimOp>();
    if (!from || from.getSource() != buffer ||
        from.getConstantIndex() != static_cast<int64_t>(dim))
      return false;
  }
  return true;
}

namespace {
/// expand(collapse(x)) is x when the extents are those of x.
struct FoldInverse : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<memref::CollapseShapeOp>();
    if (!collapse || collapse.getSrc().getType() != op.getType() ||
        collapse.getReassociationIndices() != op.getReassociationIndices() ||
        !hasExtentsOf(op, collapse.getSrc()))
      return failure();
    rewriter.replaceOp(op, collapse.getSrc());
    return success();
  }
};

/// A contiguous buffer has strides that follow from the new extents.
struct CastContiguous : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    MemRefType from = op.getSrcType(), to = op.getResultType();
    if (!from.getLayout().isIdentity() || !to.getLayout().isIdentity() ||
        to.getNumDynamicDims() < 2)
      return failure();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<OpFoldResult> strides(sizes.size());
    OpFoldResult stride = rewriter.getIndexAttr(1);
    for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0;
         --dim) {
      strides[dim] = stride;
      if (dim == 0)
        break;
      auto known = getConstantIntValue(stride),
           size = getConstantIntValue(sizes[dim]);
      if (known && size)
        stride = rewriter.getIndexAttr(*known * *size);
      else
        stride = rewriter.createOrFold<arith::MulIOp>(
            loc, getValueOrCreateConstantIndexOp(rewriter, loc, stride),
            getValueOrCreateConstantIndexOp(rewriter, loc, sizes[dim]));
    }
    auto strided = MemRefType::get(
        to.getShape(), to.getElementType(),
        StridedLayoutAttr::get(rewriter.getContext(), /*offset=*/0,
                               staticStrides(strides)),
        to.getMemorySpace());
    Value cast = memref::ReinterpretCastOp::create(
        rewriter, loc, strided, op.getSrc(), rewriter.getIndexAttr(0), sizes,
        strides);
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, to, cast);
    return success();
  }

private:
  static SmallVector<int64_t> staticStrides(ArrayRef<OpFoldResult> strides) {
    return llvm::map_to_vector(strides, [](OpFoldResult stride) {
      return getConstantIntValue(stride).value_or(ShapedType::kDynamic);
    });
  }
};

struct LowerReshapesPass : grit::impl::LowerReshapesBase<LowerReshapesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldInverse>(&getContext(), /*benefit=*/2);
    patterns.add<CastContiguous>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
