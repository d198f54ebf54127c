//===- LowerRelayout.cpp - relayouts become permutations of bytes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "PlaneGather.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Dialect/Grit/Transforms/Transforms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace grit {
#define GEN_PASS_DEF_LOWERRELAYOUT
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

/// Stops the program when the dynamic number of rows does not hold whole tiles.
static void emitRowCheck(OpBuilder &builder, RelayoutOp op, StringRef name,
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
  grit::kernelgen::Arithmetic math{builder, loc};
  Value rows = math.index(staticRows);
  for (Value size : sizes)
    rows = arith::MulIOp::create(builder, loc, rows, size);
  Value rest = math.rem(rows, move.rowMultiple);
  emitRequire(builder, loc, math.cmp(arith::CmpIPredicate::eq, rest, 0),
              name + ": rows must be a multiple of " + Twine(move.rowMultiple));
}

FailureOr<BundleOp> grit::lowerRelayout(RewriterBase &rewriter, RelayoutOp op,
                                        Operation *asker) {
  if (!asker)
    asker = op;
  ArrayType type = op.getType();
  auto moves = planMoves(op.getArray().getType(), type);
  if (!moves) {
    describeError(asker->emitOpError(), moves.error());
    return failure();
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> sizes = dynamicExtentsOf(rewriter, loc, op.getArray());
  auto source = PlanesOp::create(rewriter, loc, op.getArray());
  SmallVector<Value> planes(source.getPlanes());
  for (const PlaneMove &move : *moves) {
    emitRowCheck(rewriter, op, asker->getName().getStringRef(), move, sizes);
    planes[move.plane] = emitPlaneMove(rewriter, loc, move, planes[move.plane]);
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
