//===- Destinations.cpp - where the values of a function lie -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Destinations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace grit;
using namespace mlir;

/// The operand whose memory a result takes, through destinations, casts and
/// loops; null when it has memory of its own.
static OpOperand *tiedOperand(OpResult result) {
  Operation *op = result.getOwner();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return &cast.getSourceMutable();
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return dps.getTiedOpOperand(result);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopInit(result);
  return nullptr;
}

Destination grit::destinationOf(Value value, Block &entry) {
  auto result = dyn_cast<OpResult>(value);
  if (!result) {
    auto argument = cast<BlockArgument>(value);
    bool isPlace = argument.getOwner() == &entry &&
                   isa<RankedTensorType>(argument.getType());
    return {isPlace ? argument : BlockArgument()};
  }
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
    unsigned number = result.getResultNumber();
    Destination one =
        destinationOf(branch.thenYield().getOperand(number), entry);
    Destination other =
        destinationOf(branch.elseYield().getOperand(number), entry);
    if (one.argument != other.argument)
      return {};
    return {one.argument, one.isWritten || other.isWritten};
  }
  OpOperand *tied = tiedOperand(result);
  if (!tied)
    return {};
  Destination source = destinationOf(tied->get(), entry);
  source.isWritten |= !isa<tensor::CastOp>(result.getOwner());
  return source;
}

void grit::startFrom(BlockArgument argument, Value value) {
  auto result = dyn_cast<OpResult>(value);
  OpOperand *tied = result ? tiedOperand(result) : nullptr;
  if (!tied)
    return;
  Operation *start = tied->get().getDefiningOp();
  if (!isa_and_present<tensor::EmptyOp>(start))
    return startFrom(argument, tied->get());
  Value place = argument;
  OpBuilder b(result.getOwner());
  if (place.getType() != tied->get().getType())
    place = tensor::CastOp::create(b, start->getLoc(), tied->get().getType(),
                                   place);
  tied->set(place);
}
