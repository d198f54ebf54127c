//===- ShapeOps.cpp - operations on parts and arrangements of arrays -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpVerifiers.h"
#include "grit/Format/Laws.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace grit::ir;
using namespace mlir;

static bool isDynamic(int64_t extent) { return ShapedType::isDynamic(extent); }

/// Compares a result type with the array that the law gives for its operands.
/// A dynamic extent was stood in for, so it proves nothing.
static LogicalResult verifyResult(Operation *op, ArrayType operand,
                                  ArrayRef<int64_t> shape,
                                  const grit::ArraySpec &law,
                                  grit::Assumptions assumed, ArrayType result) {
  if (result.getRank() != static_cast<int64_t>(shape.size()))
    return op->emitOpError() << "result must have rank " << shape.size()
                             << ", but got " << result;
  for (auto [dim, extents] :
       llvm::enumerate(llvm::zip_equal(shape, result.getShape()))) {
    auto [wanted, found] = extents;
    // An extent is known exactly when that of the operation is.
    if (wanted != found)
      return op->emitOpError()
             << "extent " << dim << " of the result must be "
             << (isDynamic(wanted) ? std::string("?") : std::to_string(wanted))
             << ", but got " << result;
  }
  ArrayType expected = ArrayType::tryGet([&] { return op->emitOpError(); },
                                         shape, operand.getContract(), law.axis,
                                         law.placements, assumed);
  if (!expected)
    return failure();
  if (expected == result)
    return success();
  return op->emitOpError() << "result must be " << expected << ", but got "
                           << result;
}

/// A multiple of every group: what stands in for an extent that is not known.
static int64_t wholeGroups(ArrayType array) {
  const grit::FormatDescription description =
      array.getContract().getContract().description();
  return std::lcm(description.axisMultiple, description.arrayMultiple);
}

/// The array with whole groups in place of the dynamic extents of `extents`,
/// each at least `least`.
static grit::ArraySpec standIn(ArrayType array, ArrayRef<int64_t> extents,
                               ArrayRef<int64_t> least = {}) {
  int64_t whole = wholeGroups(array);
  SmallVector<int64_t> shape(extents);
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (isDynamic(extent))
      extent = std::max<int64_t>(
          whole, least.empty() ? 0 : llvm::alignTo(least[dim], whole));
  return array.getSpec(shape);
}

/// Refuses an array whose planes cannot be cut or joined because their units
/// depend on extents that are not known.
static LogicalResult verifyUnits(Operation *op, ArrayType array) {
  const grit::Contract contract = array.getContract().getContract();
  for (const grit::PlaneInfo &plane : contract.description().planes) {
    bool isOpen = plane.rows ? !array.hasStaticShape()
                             : plane.dependsOnShape() &&
                                   isDynamic(array.getShape()[array.getAxis()]);
    if (isOpen)
      return refuse(
          op,
          grit::makeError(grit::Status::SizeMismatch,
                          "extents that decide a unit must be static", "shape",
                          "known extents", "a dynamic one",
                          "plane " + plane.name + " of " + contract.name() +
                              " has a value for each " +
                              (plane.rows ? "block" : "line") + " of the shape",
                          plane.rows ? "give all extents"
                                     : "give the extent of the group axis")
              .value());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// Refuses lists that do not go with the operands, and boxes whose arithmetic
/// would overflow, before any is done.
static LogicalResult verifyBox(SliceOp op) {
  constexpr int64_t most = int64_t(1) << 48;
  for (auto [numbers, values] :
       {std::pair(op.getStaticOffsets(), op.getOffsets()),
        std::pair(op.getStaticSizes(), op.getSizes())})
    if (llvm::count_if(numbers, isDynamic) !=
        static_cast<int64_t>(values.size()))
      return op.emitOpError()
             << "needs one operand per dynamic offset and size, "
             << llvm::count_if(numbers, isDynamic) << ", but got "
             << values.size();
  for (ArrayRef<int64_t> numbers : {op.getStaticOffsets(), op.getStaticSizes()})
    for (int64_t number : numbers)
      if (!isDynamic(number) && (number < 0 || number > most))
        return op.emitOpError() << "offsets and sizes must be 0 to 2^48, but "
                                   "got "
                                << number;
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayType from = getArray().getType();
  size_t rank = from.getRank();
  if (getStaticOffsets().size() != rank || getStaticSizes().size() != rank)
    return emitOpError() << "needs " << rank << " offsets and sizes, but got "
                         << getStaticOffsets().size() << " and "
                         << getStaticSizes().size();
  if (failed(verifyBox(*this)) || failed(verifyUnits(*this, from)))
    return failure();
  // An offset that is not known stands at 0, a size that is not known reaches
  // to the end. Where rows do not hold whole groups, some values of what is
  // refused then would do; give the extents.
  SmallVector<int64_t> offsets(getStaticOffsets()), sizes(getStaticSizes());
  SmallVector<int64_t> ends;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes)) {
    offset = isDynamic(offset) ? 0 : offset;
    ends.push_back(offset + (isDynamic(size) ? 0 : size));
  }
  grit::ArraySpec spec = standIn(from, from.getShape(), ends);
  for (auto [offset, size, extent] :
       llvm::zip_equal(offsets, sizes, spec.shape))
    if (isDynamic(size))
      size = std::max<int64_t>(extent - offset, 0);
  auto part = grit::sliceOf(spec, offsets, sizes);
  if (!part)
    return refuse(*this, part.error());
  return verifyResult(*this, from, getStaticSizes(), *part, from.getAssumed(),
                      getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = getType() == getArray().getType() &&
               getArray().getType().hasStaticShape();
  return whole ? OpFoldResult(getArray()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  ArrayType from = getArray().getType();
  if (failed(verifyUnits(*this, from)))
    return failure();
  auto moved =
      grit::transposeOf(standIn(from, from.getShape()), getPermutation());
  if (!moved)
    return refuse(*this, moved.error());
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation())
    shape.push_back(from.getShape()[dim]);
  return verifyResult(*this, from, shape, *moved, from.getAssumed(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool identity = llvm::equal(getPermutation(),
                              llvm::seq<int64_t>(0, getPermutation().size()));
  return identity ? OpFoldResult(getArray()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

/// Arrays that are joined along `dim` have equal extents elsewhere; one that is
/// known says what those that are not must be.
static FailureOr<SmallVector<int64_t>> joinShapes(ConcatOp op) {
  auto first = cast<ArrayType>(op.getArrays().front().getType());
  SmallVector<int64_t> shape(first.getShape());
  uint64_t dim = op.getDim();
  for (Value array : op.getArrays().drop_front()) {
    ArrayRef<int64_t> other = cast<ArrayType>(array.getType()).getShape();
    if (other.size() != shape.size())
      return op.emitOpError() << "operands must have one rank, but got "
                              << shape.size() << " and " << other.size();
    for (auto [index, extent] : llvm::enumerate(shape)) {
      if (index == dim) {
        if (isDynamic(extent) || isDynamic(other[index]))
          extent = ShapedType::kDynamic;
        else if (llvm::AddOverflow(extent, other[index], extent))
          return op.emitOpError() << "extent " << dim
                                  << " of the result must "
                                     "fit 64 bits";
      } else if (failed(verifyExtents(
                     op, ("extent " + Twine(index) + " of an operand").str(),
                     extent, other[index])))
        return failure();
      else if (isDynamic(extent))
        extent = other[index];
    }
  }
  return shape;
}

LogicalResult ConcatOp::verify() {
  if (getArrays().empty())
    return emitOpError() << "needs at least one operand";
  int64_t rank = cast<ArrayType>(getArrays().front().getType()).getRank();
  int64_t dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim << " is out of range for rank "
                         << rank;
  FailureOr<SmallVector<int64_t>> shape = joinShapes(*this);
  if (failed(shape))
    return failure();
  std::vector<grit::ArraySpec> parts;
  uint8_t assumed = 0;
  for (Value array : getArrays()) {
    auto type = cast<ArrayType>(array.getType());
    if (failed(verifyUnits(*this, type)))
      return failure();
    assumed |= type.getAssumedRoles();
    // Known extents of the others stand in for those that are not.
    SmallVector<int64_t> known(*shape);
    known[dim] = type.getShape()[dim];
    parts.push_back(standIn(type, known));
  }
  auto whole = grit::concatOf(parts, static_cast<int>(dim));
  if (!whole)
    return refuse(*this, whole.error());
  return verifyResult(*this, cast<ArrayType>(getArrays().front().getType()),
                      *shape, *whole, grit::Assumptions::fromBits(assumed),
                      getType());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getArrays().size() == 1 ? OpFoldResult(getArrays().front())
                                 : OpFoldResult();
}
