//===- LowerRelayout.cpp - relayouts become permutations of bytes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddressEmitter.h"
#include "PlaneMoves.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Dialect/Grit/Transforms/Transforms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include <numeric>

namespace grit {
#define GEN_PASS_DEF_LOWERRELAYOUT
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

namespace {
/// Emits the gather of one plane. A byte is made of chunks: the widest runs of
/// bits that neither the end of a value nor that of a byte cuts.
class PlaneGather {
public:
  PlaneGather(Location loc, const PlaneMove &move, Value plane)
      : loc(loc), move(move), plane(plane),
        chunkBits(std::gcd(move.grid.step, int64_t(8))),
        chunksPerByte(8 / chunkBits),
        chunksPerValue(move.grid.step / chunkBits) {}

  Value emit(OpBuilder &builder);

private:
  Value emitByte(OpBuilder &builder, Location at, Value byteIndex);
  Value emitChunk(OpBuilder &builder, Location at, Value byteIndex,
                  int64_t chunk);

  Location loc;
  const PlaneMove &move;
  Value plane;
  int64_t chunkBits, chunksPerByte, chunksPerValue;
};
} // namespace

/// Chunk `chunk` of target byte `byteIndex`, in its place in the byte.
Value PlaneGather::emitChunk(OpBuilder &builder, Location at, Value byteIndex,
                             int64_t chunk) {
  AffineExpr byte = builder.getAffineDimExpr(0);
  // In a byte that is filled from its most significant bits, chunks run down.
  auto mirrored = [&](AffineExpr position) {
    return move.grid.msbFirst ? chunksPerByte - 1 - position : position;
  };
  AffineExpr number =
      byte * chunksPerByte + mirrored(builder.getAffineConstantExpr(chunk));
  AffineExpr slot = number.floorDiv(chunksPerValue);
  AffineExpr source =
      move.source.replaceDims(slot) * chunksPerValue + number % chunksPerValue;

  AddressEmitter address(builder, at, byteIndex);
  Value sourceByte = address.emit(source.floorDiv(chunksPerByte));
  Value valid;
  if (move.tailedValues) {
    Value count =
        arith::ConstantIndexOp::create(builder, at, move.tailedValues);
    valid = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ult,
                                  address.emit(slot), count);
    Value zero = arith::ConstantIndexOp::create(builder, at, 0);
    sourceByte = arith::SelectOp::create(builder, at, valid, sourceByte, zero);
  }
  Value bits = tensor::ExtractOp::create(builder, at, plane, sourceByte);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, at, value, 8);
  };
  if (chunksPerByte > 1) {
    Value shift = arith::IndexCastOp::create(
        builder, at, builder.getI8Type(),
        address.emit(mirrored(source % chunksPerByte) * chunkBits));
    bits = arith::ShRUIOp::create(builder, at, bits, shift);
    bits = arith::AndIOp::create(builder, at, bits,
                                 constant((1 << chunkBits) - 1));
    if (chunk)
      bits =
          arith::ShLIOp::create(builder, at, bits, constant(chunk * chunkBits));
  }
  if (valid)
    bits = arith::SelectOp::create(builder, at, valid, bits, constant(0));
  return bits;
}

Value PlaneGather::emitByte(OpBuilder &builder, Location at, Value byteIndex) {
  Value byte = emitChunk(builder, at, byteIndex, 0);
  for (int64_t chunk = 1; chunk < chunksPerByte; ++chunk)
    byte = arith::OrIOp::create(builder, at, byte,
                                emitChunk(builder, at, byteIndex, chunk));
  return byte;
}

Value PlaneGather::emit(OpBuilder &builder) {
  auto type = cast<RankedTensorType>(plane.getType());
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(tensor::DimOp::create(builder, loc, plane, 0));
  Value target = tensor::EmptyOp::create(builder, loc, type, sizes);
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto body = [&](OpBuilder &nested, Location at, ValueRange) {
    Value index = linalg::IndexOp::create(nested, at, 0);
    linalg::YieldOp::create(nested, at, emitByte(nested, at, index));
  };
  return linalg::GenericOp::create(builder, loc, TypeRange(type), ValueRange(),
                                   target, identity,
                                   utils::IteratorType::parallel, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

/// Stops the program when the dynamic number of rows does not hold whole tiles.
static void emitRowCheck(OpBuilder &builder, RelayoutOp op,
                         const PlaneMove &move, ValueRange sizes) {
  if (move.rowMultiple == 1)
    return;
  // The rows are the product of all extents but that of the columns, which is
  // static; the dynamic ones decide it together with the constant part.
  int64_t staticRows = 1;
  for (auto [dim, extent] : llvm::enumerate(op.getType().getShape()))
    if (dim != move.grid.columnDim && !ShapedType::isDynamic(extent))
      staticRows *= extent;
  Location loc = op.getLoc();
  Value rows = arith::ConstantIndexOp::create(builder, loc, staticRows);
  for (Value size : sizes)
    rows = arith::MulIOp::create(builder, loc, rows, size);
  Value multiple =
      arith::ConstantIndexOp::create(builder, loc, move.rowMultiple);
  Value rest = arith::RemUIOp::create(builder, loc, rows, multiple);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value fits =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, zero);
  cf::AssertOp::create(
      builder, loc, fits,
      "SizeMismatch: grit.relayout: rows must be a multiple of " +
          std::to_string(move.rowMultiple));
}

FailureOr<BundleOp> grit::lowerRelayout(RewriterBase &rewriter, RelayoutOp op) {
  ArrayType type = op.getType();
  auto moves = planMoves(op.getArray().getType(), type);
  if (!moves) {
    describeError(op.emitOpError(), moves.error());
    return failure();
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> sizes;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      sizes.push_back(DimOp::create(rewriter, loc, op.getArray(), dim));
  auto source = PlanesOp::create(rewriter, loc, op.getArray());
  SmallVector<Value> planes(source.getPlanes());
  for (const PlaneMove &move : *moves) {
    emitRowCheck(rewriter, op, move, sizes);
    planes[move.plane] =
        PlaneGather(loc, move, planes[move.plane]).emit(rewriter);
  }
  return rewriter.replaceOpWithNewOp<BundleOp>(op, type, planes, sizes);
}

namespace {
struct LowerRelayout : grit::impl::LowerRelayoutBase<LowerRelayout> {
  void runOnOperation() override {
    SmallVector<RelayoutOp> ops;
    getOperation().walk([&](RelayoutOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    bool lowered = true;
    for (RelayoutOp op : ops)
      lowered &= succeeded(grit::lowerRelayout(rewriter, op));
    if (!lowered)
      signalPassFailure();
  }
};
} // namespace
