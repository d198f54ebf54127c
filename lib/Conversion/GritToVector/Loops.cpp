//===- Loops.cpp - loops over tensors -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace grit;

SmallVector<Value> Loops::forEach(Value lower, Value upper, int64_t step,
                                  ValueRange carried, const Body &body) {
  auto loop = scf::ForOp::create(
      b, loc, lower, upper, constant(step), carried,
      [&](OpBuilder &nested, Location at, Value index, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        SmallVector<Value> next = body(index, args);
        scf::YieldOp::create(b, at, next);
      });
  return SmallVector<Value>(loop.getResults());
}

Value Loops::forBlocks(Value upper, int64_t block, Value carried,
                       const BlockBody &body) {
  Value zero = constant(0);
  Value whole = roundDown(upper, block);
  auto blocks = [&](Value lower, Value end, int64_t count, Value value) {
    return forEach(lower, end, count, value,
                   [&](Value index, ValueRange args) -> SmallVector<Value> {
                     return {body(index, count, args[0])};
                   })
        .front();
  };
  Value result = blocks(zero, whole, block, carried);
  bool isExact = block == 1 || matchPattern(sub(upper, whole), m_Zero());
  return isExact ? result : blocks(whole, upper, 1, result);
}

Value Loops::forTiles(Value tensor, int64_t tile, const TileBody &body) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  Value extent = extentOf(b, loc, tensor, rank - 1);
  OpFoldResult tiles = getAsOpFoldResult(ceilDiv(extent, tile));
  auto loop = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>(tiles),
                                    ValueRange(tensor), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = mul(loop.getInductionVar(0), constant(tile));
  Value count = min(constant(tile), sub(extent, first));

  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
  offsets.back() = first;
  // All tiles have one extent where that is known. Its type must say so from
  // the start: a cast inside a branch hides that a slice is written in place.
  int64_t known = type.getDimSize(rank - 1);
  bool isKnown =
      !ShapedType::isDynamic(known) && (known <= tile || known % tile == 0);
  sizes.back() = isKnown ? OpFoldResult(b.getIndexAttr(std::min(known, tile)))
                         : OpFoldResult(count);
  Value shared = loop.getRegionIterArgs()[0];
  Value slice =
      tensor::ExtractSliceOp::create(b, loc, shared, offsets, sizes, strides);
  Value result = body(first, count, slice);
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, result, shared, offsets, sizes,
                                        strides);
  return loop.getResult(0);
}

FailureOr<kernelgen::Walk> grit::chooseVectorWalk(PatternRewriter &rewriter,
                                                  Operation *op,
                                                  ir::ArrayType array,
                                                  int64_t lanes) {
  if (failed(requireCanonicalPlacements(rewriter, op, array)))
    return failure();
  grit::Contract contract = array.getContract().getContract();
  auto walk = kernelgen::chooseWalk(contract.description(), 2 * lanes,
                                    rowMultiple(array));
  // A shorter run is slower in vectors than code for one element.
  if (!walk || walk->run < 4)
    return rewriter.notifyMatchFailure(op, "no run of lanes fits the format");
  return *walk;
}

/// [0, leading) as one group, each other dimension as its own.
static SmallVector<ReassociationIndices> groupLeading(int64_t rank,
                                                      int64_t leading) {
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim >= std::max<int64_t>(leading, 1))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

Value grit::mergeDims(OpBuilder &b, Location loc, Value tensor,
                      int64_t leading) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (leading == 1)
    return tensor;
  if (leading > 1)
    return tensor::CollapseShapeOp::create(b, loc, tensor,
                                           groupLeading(rank, leading));
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, type.getShape());
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      groupLeading(rank + 1, 2));
}

Value grit::splitDims(OpBuilder &b, Location loc, Value merged, Value like,
                      int64_t leading) {
  auto type = cast<RankedTensorType>(like.getType());
  int64_t rank = type.getRank();
  if (leading == 1)
    return merged;
  if (leading == 0)
    return tensor::CollapseShapeOp::create(b, loc, merged,
                                           groupLeading(rank + 1, 2));
  return tensor::ExpandShapeOp::create(b, loc, type, merged,
                                       groupLeading(rank, leading),
                                       tensor::getMixedSizes(b, loc, like));
}

Value grit::readLanes(OpBuilder &b, Location loc, Value tensor, ValueRange at,
                      int64_t lanes) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return vector::TransferReadOp::create(
      b, loc, VectorType::get({lanes}, element), tensor, at, std::nullopt,
      ArrayRef<bool>{true});
}

Value grit::writeLanes(OpBuilder &b, Location loc, Value lanes, Value tensor,
                       ValueRange at) {
  return vector::TransferWriteOp::create(b, loc, lanes, tensor, at,
                                         ArrayRef<bool>{true})
      .getResult();
}
