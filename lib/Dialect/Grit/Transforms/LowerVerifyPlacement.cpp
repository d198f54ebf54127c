//===- LowerVerifyPlacement.cpp - assumptions become comparisons -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "PlaneShape.h"
#include "grit/Dialect/Grit/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace grit::ir;
using namespace mlir;

/// The array with its verified planes where those of the reference lie.
static FailureOr<BundleOp> asReference(RewriterBase &b, VerifyPlacementOp op) {
  ArrayType from = op.getArray().getType();
  grit::Placements words = from.getPlacements();
  grit::Placements reference = op.getReference().getType().getPlacements();
  if (op.getVerified().contains(grit::PlaneRole::Data))
    words.data = reference.data;
  if (op.getVerified().contains(grit::PlaneRole::Scale))
    words.scale = reference.scale;
  if (op.getVerified().contains(grit::PlaneRole::Meta))
    words.meta = reference.meta;
  auto relayout = RelayoutOp::create(b, op.getLoc(), from.withPlacements(words),
                                     op.getArray());
  FailureOr<BundleOp> moved = grit::lowerRelayout(b, relayout, op);
  b.setInsertionPoint(op);
  return moved;
}

/// Whether two planes of one size have the same bytes.
static Value emitEqual(OpBuilder &b, Location loc, Value one, Value other) {
  Type i8 = b.getI8Type();
  auto scalar = RankedTensorType::get({}, i8);
  Value init = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(scalar, b.getI8IntegerAttr(0)));
  AffineMap bytes = b.getMultiDimIdentityMap(1);
  SmallVector<AffineMap> maps{bytes, bytes,
                              AffineMap::get(1, 0, b.getContext())};
  auto body = [](OpBuilder &nested, Location at, ValueRange arguments) {
    Value differs =
        arith::XOrIOp::create(nested, at, arguments[0], arguments[1]);
    Value any = arith::OrIOp::create(nested, at, arguments[2], differs);
    linalg::YieldOp::create(nested, at, any);
  };
  Value difference = linalg::GenericOp::create(
                         b, loc, TypeRange(scalar), ValueRange{one, other},
                         init, maps, utils::IteratorType::reduction, body)
                         .getResult(0);
  Value bits = tensor::ExtractOp::create(b, loc, difference, ValueRange());
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits, zero);
}

/// Stops the program when dynamic extents of the two arrays differ.
static void emitSameShape(OpBuilder &b, VerifyPlacementOp op) {
  Location loc = op.getLoc();
  for (auto [dim, extent] :
       llvm::enumerate(op.getArray().getType().getShape())) {
    if (!ShapedType::isDynamic(extent))
      continue;
    Value same =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                              DimOp::create(b, loc, op.getArray(), dim),
                              DimOp::create(b, loc, op.getReference(), dim));
    emitRequire(b, loc, same,
                "grit.verify_placement: the reference has another extent " +
                    Twine(dim));
  }
}

LogicalResult grit::lowerVerifyPlacement(RewriterBase &rewriter,
                                         VerifyPlacementOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  emitSameShape(rewriter, op);
  FailureOr<BundleOp> moved = asReference(rewriter, op);
  if (failed(moved))
    return failure();
  auto reference = PlanesOp::create(rewriter, loc, op.getReference());
  auto compared = PlanesOp::create(rewriter, loc, moved->getResult());
  const FormatDescription description =
      op.getType().getContract().getContract().description();
  SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getArray());
  for (auto [index, one, other] :
       llvm::enumerate(compared.getPlanes(), reference.getPlanes())) {
    const grit::PlaneInfo &plane = description.planes[index];
    if (!op.getVerified().contains(
            static_cast<grit::PlaneRole>(plane.placement)))
      continue;
    // Bits behind the last value are no part of the array.
    PlaneShape shape(rewriter, loc, op.getType(), index);
    Value mine = shape.values(one, extents);
    Value theirs = shape.values(other, extents);
    cf::AssertOp::create(
        rewriter, loc, emitEqual(rewriter, loc, mine, theirs),
        "DigestMismatch: grit.verify_placement: plane " + plane.name +
            " does not lie as was assumed: its values are not those of the "
            "reference");
  }
  auto planes = PlanesOp::create(rewriter, loc, op.getArray());
  rewriter.replaceOpWithNewOp<BundleOp>(
      op, op.getType(), planes.getPlanes(),
      dynamicExtentsOf(rewriter, loc, op.getArray()));
  return success();
}
