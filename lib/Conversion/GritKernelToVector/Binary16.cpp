//===- Binary16.cpp - binary16 without instructions for it -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Binary16.h"
#include "grit/KernelGen/Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using grit::kernelgen::Arithmetic;

static bool isElement(Value value, bool (Type::*isKind)() const) {
  return (getElementTypeOrSelf(value.getType()).*isKind)();
}

static Value asInteger(Arithmetic a, Value number, Type integer) {
  return arith::BitcastOp::create(a.b, a.loc, a.typeLike(number, integer),
                                  number);
}

namespace {
/// binary16 to binary32 without an instruction for it. Scaling by 2^112 moves
/// the exponent from one bias to the other, subnormal numbers included.
struct Widen : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElement(op.getIn(), &Type::isF16) ||
        !isElement(op.getOut(), &Type::isF32))
      return rewriter.notifyMatchFailure(op, "not binary16 to binary32");
    Arithmetic a{rewriter, op.getLoc()};
    Value half = a.toI32(asInteger(a, op.getIn(), rewriter.getI16Type()));
    Value magnitude = a.bitAnd(half, 0x7FFF);
    Value moved = a.shl(magnitude, 13);
    Value scaled =
        arith::MulFOp::create(rewriter, op.getLoc(), a.asF32(moved),
                              a.f32Constant(moved, /*2^112=*/0x77800000));
    Value special = a.asF32(a.bitOr(moved, a.intConstant(moved, 0x7F800000)));
    Value isSpecial = a.cmp(arith::CmpIPredicate::uge, magnitude, 0x7C00);
    Value number = a.select(isSpecial, special, scaled);
    Value sign = a.shl(a.bitAnd(half, 0x8000), 16);
    Value bits = asInteger(a, number, rewriter.getI32Type());
    rewriter.replaceOp(op, a.asF32(a.bitOr(bits, sign)));
    return success();
  }
};

/// By the magnitude: infinity and NaN; what is subnormal in binary16, where
/// adding 0.5 rounds at the right bit; and the rest, where the exponent's bias
/// changes and the bits that are cut off round to even.
struct Narrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElement(op.getIn(), &Type::isF32) ||
        !isElement(op.getOut(), &Type::isF16))
      return rewriter.notifyMatchFailure(op, "not binary32 to binary16");
    Arithmetic a{rewriter, op.getLoc()};
    using P = arith::CmpIPredicate;
    Value word = asInteger(a, op.getIn(), rewriter.getI32Type());
    Value magnitude = a.bitAnd(word, 0x7FFFFFFF);
    Value infinityOrNan =
        a.select(a.cmp(P::ugt, magnitude, 0x7F800000),
                 a.intConstant(word, 0x7E00), a.intConstant(word, 0x7C00));
    Value half = a.f32Constant(word, 0x3F000000);
    Value rounded =
        arith::AddFOp::create(rewriter, op.getLoc(), a.asF32(magnitude), half);
    Value subnormal =
        a.add(asInteger(a, rounded, rewriter.getI32Type()), -0x3F000000);
    Value odd = a.bitAnd(a.shru(magnitude, 13), 1);
    Value normal =
        a.shru(a.sum(a.add(magnitude, 0xFFF - (int64_t(112) << 23)), odd), 13);
    Value result = a.select(a.cmp(P::ult, magnitude, int64_t(113) << 23),
                            subnormal, normal);
    result = a.select(a.cmp(P::uge, magnitude, int64_t(143) << 23),
                      infinityOrNan, result);
    result = a.bitOr(result, a.bitAnd(a.shru(word, 16), 0x8000));
    Value narrow = arith::TruncIOp::create(
        rewriter, op.getLoc(), a.typeLike(result, rewriter.getI16Type()),
        result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};
} // namespace

void grit::populateExpandBinary16Patterns(RewritePatternSet &patterns) {
  patterns.add<Widen, Narrow>(patterns.getContext());
}
