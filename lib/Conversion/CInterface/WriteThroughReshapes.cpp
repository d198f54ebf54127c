//===- WriteThroughReshapes.cpp - results written where they end -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace grit {
#define GEN_PASS_DEF_WRITETHROUGHRESHAPES
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using bufferization::MaterializeInDestinationOp;

/// `value` with the shape of the source of `reshape`; null when the types do
/// not allow it.
static Value inverse(OpBuilder &b, tensor::ExpandShapeOp reshape, Value value) {
  RankedTensorType type = reshape.getSrcType();
  auto given = cast<RankedTensorType>(value.getType());
  auto reassociation = reshape.getReassociationIndices();
  if (tensor::CollapseShapeOp::inferCollapsedType(given, reassociation) != type)
    return {};
  return tensor::CollapseShapeOp::create(b, reshape.getLoc(), type, value,
                                         reassociation);
}

static Value inverse(OpBuilder &b, tensor::CollapseShapeOp reshape,
                     Value value) {
  auto sizes = tensor::getMixedSizes(b, reshape.getLoc(), reshape.getSrc());
  return tensor::ExpandShapeOp::create(
      b, reshape.getLoc(), reshape.getSrcType(), value,
      reshape.getReassociationIndices(), sizes);
}

static Value inverse(OpBuilder &b, tensor::CastOp cast, Value value) {
  return tensor::CastOp::create(b, cast.getLoc(), cast.getSource().getType(),
                                value);
}

namespace {
/// materialize(reshape(x), y) becomes reshape(materialize(x, inverse(y))).
template <typename ReshapeOp>
struct WriteThrough : OpRewritePattern<MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getSource().getDefiningOp<ReshapeOp>();
    if (!reshape || !isa<RankedTensorType>(op.getDest().getType()))
      return failure();
    Value destination = inverse(rewriter, reshape, op.getDest());
    if (!destination)
      return failure();
    Value inner = reshape->getOperand(0);
    auto written = MaterializeInDestinationOp::create(rewriter, op.getLoc(),
                                                      inner, destination);
    Operation *outer = rewriter.clone(*reshape);
    outer->setOperand(0, written.getResult());
    rewriter.replaceOp(op, outer);
    return success();
  }
};

struct WriteThroughReshapesPass
    : grit::impl::WriteThroughReshapesBase<WriteThroughReshapesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WriteThrough<tensor::ExpandShapeOp>,
                 WriteThrough<tensor::CollapseShapeOp>,
                 WriteThrough<tensor::CastOp>>(&getContext());
    // The elimination of empty tensors does not look through reshapes.
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
