//===- GritToLinalg.cpp - operations on arrays to linalg -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common.h"
#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

namespace grit {
#define GEN_PASS_DEF_GRITTOLINALG
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;
using namespace grit::ir;

using Iterators = SmallVector<utils::IteratorType>;

/// Decodes `array` into `init`, one element at a time.
static Value emitDecode(OpBuilder &b, Location loc, Value array, Value init) {
  auto arrayType = cast<ArrayType>(array.getType());
  auto type = cast<RankedTensorType>(init.getType());
  int64_t rank = type.getRank();
  grit::Contract contract = arrayType.getContract().getContract();
  auto planes = PlanesOp::create(b, loc, array);
  auto geometry = geometryOf(b, loc, arrayType, init);
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < rank; ++dim)
    extents.push_back(extentOf(b, loc, init, dim));

  auto body = [&](OpBuilder &nested, Location at, ValueRange) {
    // The row-major index of the element.
    Value index = linalg::IndexOp::create(nested, at, 0);
    for (int64_t dim = 1; dim < rank; ++dim) {
      index = arith::MulIOp::create(nested, at, index, extents[dim]);
      index = arith::AddIOp::create(nested, at, index,
                                    linalg::IndexOp::create(nested, at, dim));
    }
    kernelgen::Emitter emitter(nested, at, contract.description(),
                               planes.getResults(), geometry);
    Value value = emitter.valueAt(index);
    value = convertFloat(nested, at, value, type.getElementType());
    linalg::YieldOp::create(nested, at, value);
  };
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange(), ValueRange(init),
             ArrayRef<AffineMap>(identity),
             Iterators(rank, utils::IteratorType::parallel), body)
      .getResult(0);
}

/// Elementwise conversion of a tensor to another float type.
static Value emitConvert(OpBuilder &b, Location loc, Value input, Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  auto body = [&](OpBuilder &nested, Location at, ValueRange args) {
    linalg::YieldOp::create(
        nested, at, convertFloat(nested, at, args[0], type.getElementType()));
  };
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange(input), ValueRange(init),
             ArrayRef<AffineMap>{identity, identity},
             Iterators(type.getRank(), utils::IteratorType::parallel), body)
      .getResult(0);
}

static Value emptyLike(OpBuilder &b, Location loc, Value tensor, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

/// acc[..., m, n] += x[..., m, k] * w[n, k], in the order of k, product and sum
/// rounded to binary32 each.
static Value emitContraction(OpBuilder &b, Location loc, Value x, Value w,
                             Value acc) {
  int64_t outer = cast<RankedTensorType>(acc.getType()).getRank(); // ..., m, n
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim <= outer; ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  AffineExpr n = dims[outer - 1], k = dims[outer];
  SmallVector<AffineExpr> xDims(dims.begin(), dims.begin() + outer - 1);
  SmallVector<AffineExpr> yDims(dims.begin(), dims.begin() + outer);
  xDims.push_back(k);
  SmallVector<AffineMap> maps = {AffineMap::get(outer + 1, 0, xDims, context),
                                 AffineMap::get(outer + 1, 0, {n, k}, context),
                                 AffineMap::get(outer + 1, 0, yDims, context)};
  Iterators iterators(outer, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &nested, Location at, ValueRange args) {
    Value activation = convertFloat(nested, at, args[0], b.getF32Type());
    Value product = arith::MulFOp::create(nested, at, activation, args[1]);
    Value sum = arith::AddFOp::create(nested, at, args[2], product);
    linalg::YieldOp::create(nested, at, sum);
  };
  return linalg::GenericOp::create(b, loc, TypeRange(acc.getType()),
                                   ValueRange{x, w}, ValueRange(acc), maps,
                                   iterators, body)
      .getResult(0);
}

namespace {
struct LowerDecode : OpRewritePattern<DecodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecodeOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(
            requireCanonicalPlacements(rewriter, op, op.getArray().getType())))
      return failure();
    rewriter.replaceOp(
        op, emitDecode(rewriter, op.getLoc(), op.getArray(), op.getInit()));
    return success();
  }
};

struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayType weight = op.getWeight().getType();
    if (failed(requireCanonicalPlacements(rewriter, op, weight)))
      return failure();
    Type f32 = rewriter.getF32Type();
    int64_t last =
        cast<RankedTensorType>(op.getInput().getType()).getRank() - 1;
    SmallVector<OpFoldResult> sizes = {
        tensor::getMixedSize(rewriter, loc, op.getInit(), last),
        tensor::getMixedSize(rewriter, loc, op.getInput(), last)};
    Value init = tensor::EmptyOp::create(rewriter, loc, sizes, f32);
    Value decoded = emitDecode(rewriter, loc, op.getWeight(), init);

    Value acc = op.getInit();
    bool isF32 = getElementTypeOrSelf(acc.getType()) == f32;
    if (!isF32)
      acc = emitConvert(rewriter, loc, acc, emptyLike(rewriter, loc, acc, f32));
    acc = emitContraction(rewriter, loc, op.getInput(), decoded, acc);
    if (!isF32)
      acc = emitConvert(rewriter, loc, acc, op.getInit());
    rewriter.replaceOp(op, acc);
    return success();
  }
};

struct GritToLinalgPass : grit::impl::GritToLinalgBase<GritToLinalgPass> {
  void runOnOperation() override {
    if (failed(verifyKernels(getOperation())) ||
        failed(prepareEncode(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateGritToLinalgPatterns(patterns);
    populateGritEncodeToLinalgPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<DecodeOp, EncodeOp, MatmulOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void grit::populateGritToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDecode, LowerMatmul>(patterns.getContext());
}
