//===- AddressEmitter.h - addresses as arithmetic -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_TRANSFORMS_ADDRESSEMITTER_H
#define GRIT_LIB_DIALECT_GRIT_TRANSFORMS_ADDRESSEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/Builders.h"

namespace grit::ir {

/// Emits an expression of one non-negative dimension. Unsigned division keeps
/// clear of the sign corrections that a general expansion needs.
class AddressEmitter
    : public mlir::AffineExprVisitor<AddressEmitter, mlir::Value> {
public:
  AddressEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value dim)
      : builder(builder), loc(loc), dim(dim) {}

  mlir::Value emit(mlir::AffineExpr expr) { return visit(expr); }

  mlir::Value visitDimExpr(mlir::AffineDimExpr) { return dim; }
  mlir::Value visitSymbolExpr(mlir::AffineSymbolExpr) {
    llvm_unreachable("addresses have one dimension and no symbols");
  }
  mlir::Value visitConstantExpr(mlir::AffineConstantExpr expr) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, expr.getValue());
  }
  mlir::Value visitAddExpr(mlir::AffineBinaryOpExpr expr) {
    return binary<mlir::arith::AddIOp>(expr);
  }
  mlir::Value visitMulExpr(mlir::AffineBinaryOpExpr expr) {
    return binary<mlir::arith::MulIOp>(expr);
  }
  mlir::Value visitModExpr(mlir::AffineBinaryOpExpr expr) {
    return binary<mlir::arith::RemUIOp>(expr);
  }
  mlir::Value visitFloorDivExpr(mlir::AffineBinaryOpExpr expr) {
    return binary<mlir::arith::DivUIOp>(expr);
  }
  mlir::Value visitCeilDivExpr(mlir::AffineBinaryOpExpr) {
    llvm_unreachable("addresses round down");
  }

private:
  template <typename OpTy> mlir::Value binary(mlir::AffineBinaryOpExpr expr) {
    mlir::Value lhs = visit(expr.getLHS());
    mlir::Value rhs = visit(expr.getRHS());
    return OpTy::create(builder, loc, lhs, rhs);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value dim;
};

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_TRANSFORMS_ADDRESSEMITTER_H
