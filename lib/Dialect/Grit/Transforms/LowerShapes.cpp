//===- LowerShapes.cpp - slices, transposes and concatenations of planes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "PlaneShape.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace grit {
#define GEN_PASS_DEF_LOWERSHAPES
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;
using Extents = SmallVector<OpFoldResult>;

/// The entries of `list` that `order` names.
static Extents inOrder(ArrayRef<OpFoldResult> list, ArrayRef<unsigned> order) {
  return llvm::map_to_vector(order, [&](unsigned dim) { return list[dim]; });
}

/// Whether one of the extents is known to be 0. Slices of nothing have no
/// offset that upstream's verifiers accept.
static bool holdsNothing(ArrayRef<OpFoldResult> extents) {
  return llvm::any_of(extents, [](OpFoldResult extent) {
    return isConstantIntValue(extent, 0);
  });
}

/// A plane without bytes.
static Value emptyPlane(OpBuilder &b, Location loc) {
  return tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{0}, b.getI8Type());
}

/// An array of `type` with these planes; `extents` are its own.
static Value bundle(OpBuilder &b, Location loc, ArrayType type,
                    ValueRange planes, ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> sizes;
  for (auto [extent, known] : llvm::zip_equal(extents, type.getShape()))
    if (ShapedType::isDynamic(known))
      sizes.push_back(getValueOrCreateConstantIndexOp(b, loc, extent));
  return BundleOp::create(b, loc, type, planes, sizes);
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

namespace {
/// The part of every dimension that a slice takes.
struct Box {
  Extents extents, offsets, sizes;

  Box inOrder(ArrayRef<unsigned> order) const {
    return {::inOrder(extents, order), ::inOrder(offsets, order),
            ::inOrder(sizes, order)};
  }
  /// The last dimension of which a part is taken, or nothing.
  std::optional<size_t> lastPartial() const {
    for (size_t dim = extents.size(); dim-- > 0;)
      if (!isConstantIntValue(offsets[dim], 0) ||
          !isEqualConstantIntOrValue(extents[dim], sizes[dim]))
        return dim;
    return std::nullopt;
  }
};
} // namespace

/// Stops the program when the part is not inside of the array.
static void emitInside(OpBuilder &b, SliceOp op, const Box &box) {
  Location loc = op.getLoc();
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  };
  for (size_t dim = 0; dim < box.extents.size(); ++dim) {
    Value extent = getValueOrCreateConstantIndexOp(b, loc, box.extents[dim]);
    Value offset = getValueOrCreateConstantIndexOp(b, loc, box.offsets[dim]);
    Value size = getValueOrCreateConstantIndexOp(b, loc, box.sizes[dim]);
    // Unsigned: what is negative is beyond every extent.
    emitRequire(b, loc, compare(arith::CmpIPredicate::ule, offset, extent),
                "grit.slice: offset " + Twine(dim) +
                    " is outside of the array");
    Value rest = b.createOrFold<arith::SubIOp>(loc, extent, offset);
    emitRequire(b, loc, compare(arith::CmpIPredicate::ule, size, rest),
                "grit.slice: offset and size " + Twine(dim) +
                    " reach beyond the array");
  }
}

/// Joins every dimension of which one index is taken with the next: their
/// elements are one run, and groups may go over the end of a row there.
static Box joinSingles(OpBuilder &b, Location loc, const Box &box) {
  Box joined;
  OpFoldResult extent = b.getIndexAttr(1), offset = b.getIndexAttr(0);
  for (size_t dim = 0; dim < box.sizes.size(); ++dim) {
    offset = sumOf(
        b, loc,
        {productOf(b, loc, {offset, box.extents[dim]}), box.offsets[dim]});
    extent = productOf(b, loc, {extent, box.extents[dim]});
    bool isLast = dim + 1 == box.sizes.size();
    if (!isLast && isConstantIntValue(box.sizes[dim], 1))
      continue;
    joined.extents.push_back(extent);
    joined.offsets.push_back(offset);
    joined.sizes.push_back(box.sizes[dim]);
    extent = b.getIndexAttr(1);
    offset = b.getIndexAttr(0);
  }
  return joined;
}

static Value slicePlane(OpBuilder &b, Location loc, PlaneShape shape, Box box,
                        Value plane) {
  box = joinSingles(b, loc, box);
  std::optional<size_t> partial = box.lastPartial();
  if (!partial)
    return plane;
  // From the last partial dimension on, elements are one dimension.
  size_t last = *partial;
  auto collapse = [&](Extents &list) {
    Extents factors(box.extents.begin() + last + 1, box.extents.end());
    factors.push_back(list[last]);
    list.resize(last);
    list.push_back(productOf(b, loc, factors));
  };
  Extents offsets = box.offsets, sizes = box.sizes, extents = box.extents;
  collapse(offsets);
  collapse(sizes);
  collapse(extents);
  shape.chooseParts({offsets[last], sizes[last], extents[last]});
  extents[last] = shape.partsOf(extents[last], "grit.slice: a row");
  offsets[last] = shape.partsOf(offsets[last], "grit.slice: an offset");
  sizes[last] = shape.partsOf(sizes[last], "grit.slice: a size");
  Extents ones(sizes.size(), b.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(
      b, loc, shape.view(plane, extents), offsets, sizes, ones);
  return shape.plane(part);
}

static Value lower(OpBuilder &b, SliceOp op) {
  Location loc = op.getLoc();
  Box box{extentsOf(b, loc, op.getArray()), op.getMixedOffsets(),
          op.getMixedSizes()};
  emitInside(b, op, box);
  auto source = PlanesOp::create(b, loc, op.getArray());
  SmallVector<Value> planes(source.getPlanes());
  for (auto [index, plane] : llvm::enumerate(planes)) {
    PlaneShape shape(b, loc, op.getArray().getType(), index);
    if (shape.isConstant())
      continue;
    if (holdsNothing(box.sizes))
      plane = emptyPlane(b, loc);
    else
      plane = slicePlane(b, loc, shape, box.inOrder(shape.order()), plane);
  }
  return bundle(b, loc, op.getType(), planes, box.sizes);
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

/// `permutation[i]` is the dimension of the operand, as the plane counts it,
/// that becomes dimension i of the result.
static Value transposePlane(OpBuilder &b, Location loc, PlaneShape shape,
                            ArrayRef<OpFoldResult> extents,
                            ArrayRef<int64_t> permutation, Value plane) {
  if (holdsNothing(extents))
    return plane;
  size_t moved = permutation.size();
  while (moved > 0 && permutation[moved - 1] == int64_t(moved) - 1)
    --moved;
  if (moved == 0)
    return plane;
  Extents viewed(extents.take_front(moved));
  OpFoldResult row = productOf(b, loc, extents.drop_front(moved));
  shape.chooseParts(row);
  viewed.push_back(shape.partsOf(row, "grit.transpose: a row"));
  SmallVector<int64_t> order(permutation.take_front(moved));
  order.push_back(moved);
  Extents result =
      llvm::map_to_vector(order, [&](int64_t dim) { return viewed[dim]; });
  Value empty = tensor::EmptyOp::create(b, loc, result, b.getI8Type());
  auto transposed = linalg::TransposeOp::create(
      b, loc, shape.view(plane, viewed), empty, order);
  return shape.plane(transposed->getResult(0));
}

/// Leaves out dimensions of one element: wherever they go, nothing moves.
static void dropSingles(Extents &extents, SmallVector<int64_t> &permutation) {
  for (size_t dim = extents.size(); dim-- > 0;) {
    if (!isConstantIntValue(extents[dim], 1))
      continue;
    extents.erase(extents.begin() + dim);
    llvm::erase(permutation, static_cast<int64_t>(dim));
    for (int64_t &other : permutation)
      other -= other > static_cast<int64_t>(dim);
  }
}

static Value lower(OpBuilder &b, TransposeOp op) {
  Location loc = op.getLoc();
  ArrayType from = op.getArray().getType(), to = op.getType();
  Extents extents = extentsOf(b, loc, op.getArray());
  auto source = PlanesOp::create(b, loc, op.getArray());
  SmallVector<Value> planes(source.getPlanes());
  for (auto [index, plane] : llvm::enumerate(planes)) {
    PlaneShape shape(b, loc, from, index), result(b, loc, to, index);
    if (shape.isConstant())
      continue;
    SmallVector<int64_t> permutation;
    for (unsigned dim : result.order())
      permutation.push_back(
          llvm::find(shape.order(), op.getPermutation()[dim]) -
          shape.order().begin());
    Extents ordered = inOrder(extents, shape.order());
    dropSingles(ordered, permutation);
    plane = transposePlane(b, loc, shape, ordered, permutation, plane);
  }
  Extents moved;
  for (int64_t dim : op.getPermutation())
    moved.push_back(extents[dim]);
  return bundle(b, loc, to, planes, moved);
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

/// Stops the program when operands differ in another extent than that of `dim`.
static void emitSameExtents(OpBuilder &b, ConcatOp op,
                            ArrayRef<Extents> extents) {
  Location loc = op.getLoc();
  for (const Extents &other : extents.drop_front())
    for (size_t dim = 0; dim < other.size(); ++dim) {
      if (dim == op.getDim() ||
          isEqualConstantIntOrValue(other[dim], extents[0][dim]))
        continue;
      Value same = b.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::eq,
          getValueOrCreateConstantIndexOp(b, loc, extents[0][dim]),
          getValueOrCreateConstantIndexOp(b, loc, other[dim]));
      emitRequire(b, loc, same,
                  "grit.concat: operands differ in extent " + Twine(dim));
    }
}

/// `extents` are those of the operands as the plane counts them, `dim` the
/// dimension along which they are joined.
static Value concatPlane(OpBuilder &b, Location loc, PlaneShape shape,
                         ArrayRef<Extents> extents, size_t dim,
                         ArrayRef<Value> planes) {
  SmallVector<Extents> viewed;
  Extents rows, lengths;
  for (const Extents &own : extents) {
    rows.push_back(productOf(b, loc, ArrayRef(own).drop_front(dim)));
    viewed.emplace_back(ArrayRef(own).take_front(dim));
  }
  shape.chooseParts(rows);
  for (auto [view, row] : llvm::zip_equal(viewed, rows)) {
    view.push_back(shape.partsOf(row, "grit.concat: a row"));
    lengths.push_back(view.back());
  }
  Extents whole = viewed.front();
  whole.back() = sumOf(b, loc, lengths);
  Extents offsets(whole.size(), b.getIndexAttr(0)),
      ones(whole.size(), b.getIndexAttr(1));
  if (holdsNothing(whole))
    return emptyPlane(b, loc);
  Value result = tensor::EmptyOp::create(b, loc, whole, b.getI8Type());
  for (auto [index, plane] : llvm::enumerate(planes)) {
    if (holdsNothing(viewed[index]))
      continue;
    offsets.back() = sumOf(b, loc, ArrayRef(lengths).take_front(index));
    result =
        tensor::InsertSliceOp::create(b, loc, shape.view(plane, viewed[index]),
                                      result, offsets, viewed[index], ones);
  }
  return shape.plane(result);
}

static Value lower(OpBuilder &b, ConcatOp op) {
  Location loc = op.getLoc();
  SmallVector<Extents> extents;
  SmallVector<PlanesOp> sources;
  for (Value array : op.getArrays()) {
    extents.push_back(extentsOf(b, loc, array));
    sources.push_back(PlanesOp::create(b, loc, array));
  }
  emitSameExtents(b, op, extents);
  SmallVector<Value> joined;
  for (unsigned index = 0, e = sources.front().getNumResults(); index < e;
       ++index) {
    PlaneShape shape(b, loc, op.getType(), index);
    SmallVector<Extents> ordered;
    SmallVector<Value> planes;
    for (auto [own, source] : llvm::zip_equal(extents, sources)) {
      ordered.push_back(inOrder(own, shape.order()));
      planes.push_back(source.getPlanes()[index]);
    }
    size_t dim = llvm::find(shape.order(), op.getDim()) - shape.order().begin();
    joined.push_back(shape.isConstant()
                         ? planes.front()
                         : concatPlane(b, loc, shape, ordered, dim, planes));
  }
  Extents whole = extents.front();
  Extents along;
  for (const Extents &own : extents)
    along.push_back(own[op.getDim()]);
  whole[op.getDim()] = sumOf(b, loc, along);
  return bundle(b, loc, op.getType(), joined, whole);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Planes are cut and joined where the canonical placements put them.
static LogicalResult verifyCanonical(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (auto array = dyn_cast<ArrayType>(type);
        array && !array.hasCanonicalPlacements())
      return op->emitOpError()
             << "has an array outside the canonical placements of its "
                "contract; run grit-legalize-placements first";
  return success();
}

namespace {
struct LowerShapes : grit::impl::LowerShapesBase<LowerShapes> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<SliceOp, TransposeOp, ConcatOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (failed(verifyCanonical(op)))
        return signalPassFailure();
      rewriter.setInsertionPoint(op);
      Value lowered =
          llvm::TypeSwitch<Operation *, Value>(op)
              .Case<SliceOp, TransposeOp, ConcatOp>(
                  [&](auto shaped) { return lower(rewriter, shaped); });
      rewriter.replaceOp(op, lowered);
    }
  }
};
} // namespace
