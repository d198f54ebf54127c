//===- Kernels.h - building blocks of tiled vector kernels -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_GRITTOVECTOR_KERNELS_H
#define GRIT_LIB_CONVERSION_GRITTOVECTOR_KERNELS_H

#include "../Common.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <functional>

namespace grit {

/// Index arithmetic and loops over tensors, for kernels written as functions.
struct Loops {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MulIOp>(loc, x, y);
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinUIOp>(loc, x, y);
  }
  mlir::Value ceilDiv(mlir::Value x, int64_t y) {
    mlir::Value sum = add(x, constant(y - 1));
    return b.createOrFold<mlir::arith::DivUIOp>(loc, sum, constant(y));
  }
  /// The largest multiple of `y` that is not above `x`.
  mlir::Value roundDown(mlir::Value x, int64_t y) {
    if (y == 1)
      return x;
    mlir::Value rest =
        b.createOrFold<mlir::arith::RemUIOp>(loc, x, constant(y));
    return sub(x, rest);
  }

  /// A loop over [lower, upper) that carries values; the body gives the next.
  using Body = std::function<llvm::SmallVector<mlir::Value>(
      mlir::Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> forEach(mlir::Value lower, mlir::Value upper,
                                         int64_t step, mlir::ValueRange carried,
                                         const Body &body);
  /// The same, where `body` is told how many indices it serves: blocks of
  /// `block` first, then single ones.
  using BlockBody = std::function<mlir::Value(mlir::Value index, int64_t count,
                                              mlir::Value carried)>;
  mlir::Value forBlocks(mlir::Value upper, int64_t block, mlir::Value carried,
                        const BlockBody &body);
  /// A parallel loop over the tiles of `tile` along the last dimension of
  /// `tensor` (rank 1 or 2); the body rewrites its tile.
  using TileBody = std::function<mlir::Value(
      mlir::Value first, mlir::Value count, mlir::Value tileTensor)>;
  mlir::Value forTiles(mlir::Value tensor, int64_t tile, const TileBody &body);
};

/// Lanes [0, lanes) of a row of `tensor` from the given position on.
mlir::Value readLanes(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value tensor, mlir::ValueRange at, int64_t lanes);
mlir::Value writeLanes(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value lanes, mlir::Value tensor,
                       mlir::ValueRange at);

/// The walk of a kernel that reads `array` in vectors of at most twice `lanes`;
/// fails where none fits, or where the bytes lie in other than canonical
/// places.
mlir::FailureOr<kernelgen::Walk>
chooseVectorWalk(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                 ir::ArrayType array, int64_t lanes);

/// `tensor` with its first `leading` dimensions as one. With none of them, the
/// one is an extent of 1.
mlir::Value mergeDims(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value tensor, int64_t leading);
/// The inverse, with the extents of `like`.
mlir::Value splitDims(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value merged, mlir::Value like, int64_t leading);

/// Patterns, one per kernel.
void populateDecodeKernel(mlir::RewritePatternSet &patterns, int64_t lanes);
void populateMatmulKernel(mlir::RewritePatternSet &patterns, int64_t lanes);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_GRITTOVECTOR_KERNELS_H
