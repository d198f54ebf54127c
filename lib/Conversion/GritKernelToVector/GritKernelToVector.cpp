//===- GritKernelToVector.cpp - the portable lowering of lane operations -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace grit {
#define GEN_PASS_DEF_GRITKERNELTOVECTOR
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;

static Value splat(OpBuilder &b, Location loc, VectorType type, int64_t value) {
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, element));
}

//===----------------------------------------------------------------------===//
// unpack
//===----------------------------------------------------------------------===//

namespace {
/// One shift and mask of the whole window for each bit position at which codes
/// start, then one shuffle: a shift by a constant is cheap on every target, a
/// different shift in every byte lane is not.
struct LowerUnpack : OpRewritePattern<kernel::UnpackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kernel::UnpackOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t width = op.getWidth();
    auto window = cast<VectorType>(op.getBytes().getType());
    int64_t bytes = window.getNumElements();

    SmallVector<int64_t> starts; // distinct bit positions in a byte
    for (int32_t offset : op.getOffsets())
      if (!llvm::is_contained(starts, offset % 8))
        starts.push_back(offset % 8);

    SmallVector<Value> shifted;
    for (int64_t start : starts)
      shifted.push_back(
          shiftWindow(rewriter, loc, op.getBytes(), start, width));
    Value all = concatenate(rewriter, loc, shifted);

    SmallVector<int64_t> lanes;
    for (int32_t offset : op.getOffsets())
      lanes.push_back((llvm::find(starts, offset % 8) - starts.begin()) *
                          bytes +
                      offset / 8);
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, all, all, lanes);
    return success();
  }

private:
  /// Byte i of the result: the `width` bits that start at bit `start` of byte
  /// i.
  static Value shiftWindow(OpBuilder &b, Location loc, Value bytes,
                           int64_t start, int64_t width) {
    auto type = cast<VectorType>(bytes.getType());
    Value value = bytes;
    if (start + width > 8) {
      value = nextByte(b, loc, bytes);
      value =
          arith::ShLIOp::create(b, loc, value, splat(b, loc, type, 8 - start));
      Value low =
          arith::ShRUIOp::create(b, loc, bytes, splat(b, loc, type, start));
      value = arith::OrIOp::create(b, loc, value, low);
    } else if (start != 0) {
      value = arith::ShRUIOp::create(b, loc, bytes, splat(b, loc, type, start));
    }
    if (width == 8 || start + width == 8)
      return value;
    return arith::AndIOp::create(b, loc, value,
                                 splat(b, loc, type, (1 << width) - 1));
  }

  /// Byte i + 1 in lane i (the last lane is not read).
  static Value nextByte(OpBuilder &b, Location loc, Value bytes) {
    int64_t count = cast<VectorType>(bytes.getType()).getNumElements();
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < count; ++i)
      lanes.push_back(std::min(i + 1, count - 1));
    return vector::ShuffleOp::create(b, loc, bytes, bytes, lanes);
  }

  static Value concatenate(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
    if (parts.size() == 1)
      return parts.front();
    size_t half = llvm::PowerOf2Ceil(parts.size()) / 2;
    Value low = concatenate(b, loc, parts.take_front(half));
    Value high = concatenate(b, loc, parts.drop_front(half));
    int64_t total = cast<VectorType>(low.getType()).getNumElements() +
                    cast<VectorType>(high.getType()).getNumElements();
    SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(0, total));
    return vector::ShuffleOp::create(b, loc, low, high, lanes);
  }
};

//===----------------------------------------------------------------------===//
// lookup
//===----------------------------------------------------------------------===//

/// A binary tree of selects, one level per bit of the code.
struct LowerLookup : OpRewritePattern<kernel::LookupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kernel::LookupOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto table = dyn_cast<DenseElementsAttr>(op.getTable());
    if (!table)
      return rewriter.notifyMatchFailure(op, "table is not a dense constant");
    auto codes = cast<VectorType>(op.getCodes().getType());
    auto type = cast<VectorType>(op.getLevels().getType());

    SmallVector<Value> values;
    for (Attribute level : table.getValues<Attribute>())
      values.push_back(arith::ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(type, level)));
    for (int64_t bit = 1; values.size() > 1; bit *= 2) {
      Value masked = arith::AndIOp::create(rewriter, loc, op.getCodes(),
                                           splat(rewriter, loc, codes, bit));
      Value isSet =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, masked,
                                splat(rewriter, loc, codes, 0));
      SmallVector<Value> halved;
      for (size_t i = 0; i < values.size(); i += 2)
        halved.push_back(arith::SelectOp::create(rewriter, loc, isSet,
                                                 values[i + 1], values[i]));
      values = std::move(halved);
    }
    rewriter.replaceOp(op, values.front());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// dot
//===----------------------------------------------------------------------===//

/// Lanes g*j + t of `value`, for all j, widened to the accumulator's type.
static Value strided(OpBuilder &b, Location loc, Value value, int64_t stride,
                     int64_t first, VectorType type) {
  if (stride > 1) {
    SmallVector<int64_t> lanes;
    for (int64_t j = 0; j < type.getNumElements(); ++j)
      lanes.push_back(stride * j + first);
    value = vector::ShuffleOp::create(b, loc, value, value, lanes);
  }
  if (value.getType() == type)
    return value;
  if (type.getElementType().isInteger())
    return arith::ExtSIOp::create(b, loc, type, value);
  return arith::ExtFOp::create(b, loc, type, value);
}

struct LowerDot : OpRewritePattern<kernel::DotOp> {
  LowerDot(MLIRContext *context, bool fma)
      : OpRewritePattern(context), fma(fma) {}

  LogicalResult matchAndRewrite(kernel::DotOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getAcc().getType());
    int64_t stride = cast<VectorType>(op.getLhs().getType()).getNumElements() /
                     type.getNumElements();
    Value sum = op.getAcc();
    for (int64_t t = 0; t < stride; ++t) {
      Value a = strided(rewriter, loc, op.getLhs(), stride, t, type);
      Value b = strided(rewriter, loc, op.getRhs(), stride, t, type);
      if (type.getElementType().isInteger())
        sum = arith::AddIOp::create(rewriter, loc, sum,
                                    arith::MulIOp::create(rewriter, loc, a, b));
      else if (op.getFused() && fma)
        sum = math::FmaOp::create(rewriter, loc, a, b, sum);
      else
        sum = arith::AddFOp::create(rewriter, loc, sum,
                                    arith::MulFOp::create(rewriter, loc, a, b));
    }
    rewriter.replaceOp(op, sum);
    return success();
  }

  bool fma; ///< Without the instruction LLVM would call a function.
};

struct GritKernelToVectorPass
    : grit::impl::GritKernelToVectorBase<GritKernelToVectorPass> {
  using GritKernelToVectorBase::GritKernelToVectorBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateGritKernelToVectorPatterns(patterns, fma);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void grit::populateGritKernelToVectorPatterns(RewritePatternSet &patterns,
                                              bool fma) {
  patterns.add<LowerUnpack, LowerLookup>(patterns.getContext());
  patterns.add<LowerDot>(patterns.getContext(), fma);
}
