//===- Emission.cpp - pieces of IR that lowerings share -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace grit::ir;
using namespace mlir;
using grit::kernelgen::Arithmetic;

Value grit::ir::emitBytes(
    OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> extents,
    llvm::function_ref<Value(Arithmetic, ValueRange)> body) {
  unsigned rank = extents.size();
  Value empty =
      tensor::EmptyOp::create(builder, loc, extents, builder.getI8Type());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto yield = [&](OpBuilder &nested, Location at, ValueRange) {
    SmallVector<Value> indices;
    for (unsigned dim = 0; dim < rank; ++dim)
      indices.push_back(linalg::IndexOp::create(nested, at, dim));
    linalg::YieldOp::create(nested, at, body({nested, at}, indices));
  };
  return linalg::GenericOp::create(
             builder, loc, TypeRange(empty.getType()), ValueRange(), empty,
             builder.getMultiDimIdentityMap(rank), loops, yield)
      .getResult(0);
}

SmallVector<OpFoldResult> grit::ir::extentsOf(OpBuilder &builder, Location loc,
                                              Value array) {
  SmallVector<OpFoldResult> extents;
  for (auto [dim, extent] :
       llvm::enumerate(cast<ArrayType>(array.getType()).getShape()))
    extents.push_back(
        ShapedType::isDynamic(extent)
            ? OpFoldResult(DimOp::create(builder, loc, array, dim).getResult())
            : builder.getIndexAttr(extent));
  return extents;
}

SmallVector<Value> grit::ir::dynamicExtentsOf(OpBuilder &builder, Location loc,
                                              Value array) {
  SmallVector<Value> dynamic;
  for (OpFoldResult extent : extentsOf(builder, loc, array))
    if (auto value = dyn_cast<Value>(extent))
      dynamic.push_back(value);
  return dynamic;
}

template <typename OpTy>
static OpFoldResult combine(OpBuilder &builder, Location loc, int64_t start,
                            ArrayRef<OpFoldResult> extents) {
  Value result = arith::ConstantIndexOp::create(builder, loc, start);
  for (OpFoldResult extent : extents)
    result = builder.createOrFold<OpTy>(
        loc, result, getValueOrCreateConstantIndexOp(builder, loc, extent));
  return getAsOpFoldResult(result);
}

OpFoldResult grit::ir::sumOf(OpBuilder &builder, Location loc,
                             ArrayRef<OpFoldResult> extents) {
  return combine<arith::AddIOp>(builder, loc, 0, extents);
}

OpFoldResult grit::ir::productOf(OpBuilder &builder, Location loc,
                                 ArrayRef<OpFoldResult> extents) {
  return combine<arith::MulIOp>(builder, loc, 1, extents);
}

void grit::ir::emitRequire(OpBuilder &builder, Location loc, Value condition,
                           const Twine &message) {
  if (!matchPattern(condition, m_One()))
    cf::AssertOp::create(builder, loc, condition,
                         ("SizeMismatch: " + message).str());
}
