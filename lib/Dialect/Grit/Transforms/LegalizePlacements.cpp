//===- LegalizePlacements.cpp - arrays where kernels read them -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneMoves.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace grit {
#define GEN_PASS_DEF_LEGALIZEPLACEMENTS
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

static ArrayType canonicalOf(ArrayType type) {
  return type.withPlacements(
      type.getContract().getContract().canonicalPlacements());
}

/// Refuses, on the operation that needs the array, a placement without a map.
static LogicalResult verifyMovable(Operation *op, ArrayType from,
                                   ArrayType to) {
  auto moves = planMoves(from, to);
  if (moves)
    return success();
  describeError(op->emitOpError(), moves.error());
  return failure();
}

/// Makes `use` read its array from the canonical placements.
static LogicalResult
legalizeRead(OpOperand &use, llvm::MapVector<Value, Value> &canonicalCopies) {
  auto type = cast<ArrayType>(use.get().getType());
  if (type.hasCanonicalPlacements())
    return success();
  ArrayType wanted = canonicalOf(type);
  if (failed(verifyMovable(use.getOwner(), type, wanted)))
    return failure();
  Value &copy = canonicalCopies[use.get()];
  if (!copy) {
    // Right behind the array, so that the copy serves every reader and stays
    // out of the loops that read it.
    OpBuilder builder(use.getOwner()->getContext());
    builder.setInsertionPointAfterValue(use.get());
    copy = RelayoutOp::create(builder, use.getOwner()->getLoc(), wanted,
                              use.get());
  }
  use.set(copy);
  return success();
}

/// Makes the one that writes `result` write in the canonical placements.
static LogicalResult legalizeWrite(OpResult result) {
  auto type = cast<ArrayType>(result.getType());
  if (type.hasCanonicalPlacements())
    return success();
  Operation *op = result.getOwner();
  ArrayType written = canonicalOf(type);
  if (failed(verifyMovable(op, written, type)))
    return failure();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  result.setType(written);
  auto moved = RelayoutOp::create(builder, op->getLoc(), type, result);
  result.replaceAllUsesExcept(moved.getResult(), moved);
  return success();
}

/// The operations that become kernels.
static bool isKernel(Operation *op) {
  return isa<ConcatOp, DecodeOp, EncodeOp, MatmulOp, SliceOp, TransposeOp>(op);
}

namespace {
struct LegalizePlacements
    : grit::impl::LegalizePlacementsBase<LegalizePlacements> {
  void runOnOperation() override {
    bool legal = true;
    llvm::MapVector<Value, Value> canonicalCopies;
    getOperation().walk([&](Operation *op) {
      if (!isKernel(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (isa<ArrayType>(operand.get().getType()))
          legal &= succeeded(legalizeRead(operand, canonicalCopies));
      for (OpResult result : op->getResults())
        if (isa<ArrayType>(result.getType()))
          legal &= succeeded(legalizeWrite(result));
    });
    if (!legal)
      signalPassFailure();
  }
};
} // namespace
