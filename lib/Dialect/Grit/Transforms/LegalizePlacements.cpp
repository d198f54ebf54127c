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

/// Makes `op` write in the canonical placements.
static LogicalResult legalizeWrite(EncodeOp op) {
  ArrayType type = op.getType();
  if (type.hasCanonicalPlacements())
    return success();
  ArrayType written = canonicalOf(type);
  if (failed(verifyMovable(op, written, type)))
    return failure();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  op.getResult().setType(written);
  auto moved = RelayoutOp::create(builder, op.getLoc(), type, op.getResult());
  op.getResult().replaceAllUsesExcept(moved.getResult(), moved);
  return success();
}

namespace {
struct LegalizePlacements
    : grit::impl::LegalizePlacementsBase<LegalizePlacements> {
  void runOnOperation() override {
    bool legal = true;
    llvm::MapVector<Value, Value> canonicalCopies;
    getOperation().walk([&](Operation *op) {
      if (auto decode = dyn_cast<DecodeOp>(op))
        legal &=
            succeeded(legalizeRead(decode.getArrayMutable(), canonicalCopies));
      else if (auto matmul = dyn_cast<MatmulOp>(op))
        legal &=
            succeeded(legalizeRead(matmul.getWeightMutable(), canonicalCopies));
      else if (auto encode = dyn_cast<EncodeOp>(op))
        legal &= succeeded(legalizeWrite(encode));
    });
    if (!legal)
      signalPassFailure();
  }
};
} // namespace
