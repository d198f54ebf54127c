//===- Common.h - what the conversions of grit operations share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_COMMON_H
#define GRIT_LIB_CONVERSION_COMMON_H

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/KernelGen/KernelGen.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace grit {

/// Conversions read arrays where the contract canonically puts their bytes.
inline mlir::LogicalResult
requireCanonicalPlacements(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                           ir::ArrayType array) {
  if (array.hasCanonicalPlacements())
    return mlir::success();
  return rewriter.notifyMatchFailure(
      op, "array has other than canonical placements; run "
          "grit-legalize-placements first");
}

/// An extent of a tensor as an index value.
inline mlir::Value extentOf(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value tensor, int64_t dim) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return mlir::arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
  return mlir::tensor::DimOp::create(b, loc, tensor, dim);
}

/// The product of extents [first, last) of a tensor.
inline mlir::Value extentProduct(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value tensor, int64_t first,
                                 int64_t last) {
  mlir::Value product = mlir::arith::ConstantIndexOp::create(b, loc, 1);
  for (int64_t dim = first; dim < last; ++dim)
    product = b.createOrFold<mlir::arith::MulIOp>(
        loc, product, extentOf(b, loc, tensor, dim));
  return product;
}

/// The extents that an emitter needs for an array whose shape is that of
/// `tensor`; none for most formats when the group axis is the last.
inline std::optional<kernelgen::Geometry> geometryOf(mlir::OpBuilder &b,
                                                     mlir::Location loc,
                                                     ir::ArrayType array,
                                                     mlir::Value tensor) {
  int64_t axis = array.getAxis(), rank = array.getRank();
  grit::Contract contract = array.getContract().getContract();
  bool axisIsLast = axis == rank - 1;
  if (axisIsLast && !kernelgen::needsExtents(contract.description()))
    return std::nullopt;
  kernelgen::Geometry geometry{extentOf(b, loc, tensor, axis)};
  if (!axisIsLast)
    geometry.innerExtent = extentProduct(b, loc, tensor, axis + 1, rank);
  geometry.columns = extentOf(b, loc, tensor, rank - 1);
  if (rank > 2)
    geometry.rows = extentOf(b, loc, tensor, rank - 2);
  return geometry;
}

/// What divides the length of every row: the extent itself where the type
/// states it and the groups lie in rows, else what the contract demands.
inline int64_t rowMultiple(ir::ArrayType array) {
  int64_t extent = array.getShape().back();
  if (array.getAxis() == array.getRank() - 1 && extent > 0)
    return extent;
  return array.getContract().getContract().description().axisMultiple;
}

/// A binary32 value, or lanes of it, in another float type: widened exactly or
/// rounded once (nearest, ties to even).
inline mlir::Value convertFloat(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value value, mlir::Type element) {
  mlir::Type type = element;
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(value.getType()))
    type = mlir::VectorType::get(vector.getShape(), element);
  if (value.getType() == type)
    return value;
  unsigned from =
      mlir::getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (from < element.getIntOrFloatBitWidth())
    return mlir::arith::ExtFOp::create(b, loc, type, value);
  return mlir::arith::TruncFOp::create(b, loc, type, value);
}

/// Refuses, before anything is rewritten, what no kernel serves: a contract
/// that the emitter has no code for, and an accumulation contract. Kernels add
/// in binary32 and keep subnormals; the linalg route adds in sequence, which
/// refines every other order.
mlir::LogicalResult verifyKernels(mlir::Operation *root);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_COMMON_H
