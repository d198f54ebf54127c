//===- PlaceResults.cpp - returned buffers go where C wants them -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/CInterface.h"
#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace grit {
#define GEN_PASS_DEF_PLACERESULTS
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using grit::CInterface;

/// The buffer that a view looks into.
static Value baseOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      buffer = view.getViewSource();
    else if (isa<memref::CastOp>(op))
      buffer = op->getOperand(0);
    else
      break;
  }
  return buffer;
}

namespace {
struct PlaceResultsPass : grit::impl::PlaceResultsBase<PlaceResultsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<BlockArgument> places(function.getNumResults());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto holds = function.getArgAttrOfType<IntegerAttr>(
              i, CInterface::kHoldsAttribute))
        if (holds.getInt() < static_cast<int64_t>(places.size()))
          places[holds.getInt()] = function.getArgument(i);
    if (places.empty() || llvm::is_contained(places, BlockArgument()))
      return; // not a function with a recorded interface
    function.walk([&](func::ReturnOp op) { place(op, places); });
    for (BlockArgument argument : places)
      function.removeArgAttr(argument.getArgNumber(),
                             CInterface::kHoldsAttribute);
    function.setType(FunctionType::get(
        &getContext(), function.getArgumentTypes(), TypeRange()));
    function.removeResAttrsAttr();
  }

private:
  static void place(func::ReturnOp op, ArrayRef<BlockArgument> places);
};
} // namespace

/// Copies what is not in its place. A buffer that may lie in the place of
/// another result is first copied aside, before any place is written.
void PlaceResultsPass::place(func::ReturnOp op,
                             ArrayRef<BlockArgument> places) {
  OpBuilder b(op);
  llvm::SmallPtrSet<Value, 8> taken(places.begin(), places.end());
  SmallVector<std::pair<Value, Value>> moves;
  for (auto [value, place] : llvm::zip_equal(op.getOperands(), places)) {
    if (value == place)
      continue;
    Value base = baseOf(value);
    bool isAlone = base.getDefiningOp<memref::AllocOp>() ||
                   (isa<BlockArgument>(base) &&
                    cast<BlockArgument>(base).getOwner()->isEntryBlock() &&
                    !taken.contains(base));
    if (!isAlone) {
      auto type = cast<MemRefType>(value.getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(memref::DimOp::create(b, op.getLoc(), value, dim));
      auto plain = MemRefType::get(type.getShape(), type.getElementType());
      Value aside = memref::AllocOp::create(b, op.getLoc(), plain, sizes);
      memref::CopyOp::create(b, op.getLoc(), value, aside);
      value = aside;
    }
    moves.emplace_back(value, place);
  }
  for (auto [value, place] : moves)
    memref::CopyOp::create(b, op.getLoc(), value, place);
  op->setOperands({});
}
