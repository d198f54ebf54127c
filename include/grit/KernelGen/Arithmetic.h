//===- Arithmetic.h - arithmetic on numbers and on lanes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arith dialect works on scalars and on vectors alike; these helpers make
// constants of the operand's type, so that one piece of code emits both.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_KERNELGEN_ARITHMETIC_H
#define GRIT_KERNELGEN_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace grit::kernelgen {

struct Arithmetic {
  mlir::OpBuilder &b;
  mlir::Location loc;

  /// `element`, or a vector of it with the lanes of `like`.
  mlir::Type typeLike(mlir::Value like, mlir::Type element) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(like.getType()))
      return mlir::VectorType::get(vector.getShape(), element);
    return element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr element) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      return mlir::arith::ConstantOp::create(
          b, loc, mlir::DenseElementsAttr::get(vector, element));
    return mlir::arith::ConstantOp::create(b, loc, element);
  }
  mlir::Value intConstant(mlir::Value like, int64_t value) {
    mlir::Type element = mlir::getElementTypeOrSelf(like.getType());
    return constant(like.getType(), b.getIntegerAttr(element, value));
  }
  /// A binary32 constant given by its bits.
  mlir::Value f32Constant(mlir::Value like, uint32_t bits) {
    llvm::APFloat value(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits));
    return constant(typeLike(like, b.getF32Type()),
                    mlir::FloatAttr::get(b.getF32Type(), value));
  }
  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }

  mlir::Value add(mlir::Value x, int64_t y) {
    return y == 0
               ? x
               : b.createOrFold<mlir::arith::AddIOp>(loc, x, intConstant(x, y));
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1
               ? x
               : b.createOrFold<mlir::arith::MulIOp>(loc, x, intConstant(x, y));
  }
  mlir::Value div(mlir::Value x, int64_t y) {
    return y == 1 ? x
                  : b.createOrFold<mlir::arith::DivUIOp>(loc, x,
                                                         intConstant(x, y));
  }
  mlir::Value rem(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::RemUIOp>(loc, x, intConstant(x, y));
  }
  mlir::Value shl(mlir::Value x, int64_t y) {
    return y == 0
               ? x
               : b.createOrFold<mlir::arith::ShLIOp>(loc, x, intConstant(x, y));
  }
  mlir::Value shru(mlir::Value x, int64_t y) {
    return y == 0 ? x
                  : b.createOrFold<mlir::arith::ShRUIOp>(loc, x,
                                                         intConstant(x, y));
  }
  mlir::Value bitAnd(mlir::Value x, int64_t mask) {
    return b.createOrFold<mlir::arith::AndIOp>(loc, x, intConstant(x, mask));
  }
  mlir::Value bitOr(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::OrIOp>(loc, x, y);
  }
  mlir::Value sum(mlir::Value x, mlir::Value y) {
    return x ? b.createOrFold<mlir::arith::AddIOp>(loc, x, y) : y;
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinUIOp>(loc, x, y);
  }
  mlir::Value cmp(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                  int64_t y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, intConstant(x, y));
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// Zero-extension to i32 (no-op when it is one).
  mlir::Value toI32(mlir::Value x) {
    mlir::Type type = typeLike(x, b.getI32Type());
    if (x.getType() == type)
      return x;
    return mlir::arith::ExtUIOp::create(b, loc, type, x);
  }
  mlir::Value asF32(mlir::Value bits) {
    return mlir::arith::BitcastOp::create(b, loc,
                                          typeLike(bits, b.getF32Type()), bits);
  }
  /// `x` in every lane of `like`; `x` itself when shapes agree.
  mlir::Value broadcastLike(mlir::Value x, mlir::Value like) {
    mlir::Type element = mlir::getElementTypeOrSelf(x.getType());
    mlir::Type type = typeLike(like, element);
    if (x.getType() == type)
      return x;
    return mlir::vector::BroadcastOp::create(b, loc, type, x);
  }
};

} // namespace grit::kernelgen

#endif // GRIT_KERNELGEN_ARITHMETIC_H
