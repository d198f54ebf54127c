//===- PlaneShape.cpp - a plane as a tensor of rows -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneShape.h"
#include "grit/KernelGen/Arithmetic.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace grit::ir;
using namespace mlir;
using grit::kernelgen::Arithmetic;

/// Whether one of the numbers that `plane` stores is counted along the group
/// axis.
static bool countsAlongAxis(const grit::FormatDescription &description,
                            unsigned plane) {
  auto along = [&](const grit::Factor &factor) {
    return factor.bits.plane == plane &&
           factor.order == grit::ElementOrder::AxisFastest;
  };
  return llvm::any_of(description.scales, along) ||
         llvm::any_of(description.offset.factors, along);
}

/// Whether the first value of a byte has its high bits.
static bool fillsFromTop(const grit::BitField &field) {
  return field.isMsbStream() ||
         llvm::any_of(field.slices, [](const grit::BitSlice &slice) {
           return llvm::any_of(slice.digits, [](const grit::Digit &digit) {
             return digit.stride < 0;
           });
         });
}

PlaneShape::PlaneShape(OpBuilder &builder, Location loc, ArrayType type,
                       unsigned plane)
    : builder(builder), loc(loc) {
  const grit::FormatDescription description =
      type.getContract().getContract().description();
  unit = description.planes[plane].elements;
  bits = description.planes[plane].bits;
  msbFirst =
      (description.codes.plane == plane && fillsFromTop(description.codes)) ||
      (description.sparsity && description.sparsity->indices.plane == plane &&
       fillsFromTop(description.sparsity->indices));
  llvm::append_range(dims, llvm::seq<unsigned>(0, type.getRank()));
  if (countsAlongAxis(description, plane))
    std::rotate(dims.begin() + type.getAxis(),
                dims.begin() + type.getAxis() + 1, dims.end());
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

OpFoldResult grit::ir::productOf(OpBuilder &builder, Location loc,
                                 ArrayRef<OpFoldResult> extents) {
  Value product = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult extent : extents)
    product = builder.createOrFold<arith::MulIOp>(
        loc, product, getValueOrCreateConstantIndexOp(builder, loc, extent));
  return getAsOpFoldResult(product);
}

void grit::ir::emitRequire(OpBuilder &builder, Location loc, Value condition,
                           const Twine &message) {
  if (!matchPattern(condition, m_One()))
    cf::AssertOp::create(builder, loc, condition,
                         ("SizeMismatch: " + message).str());
}

void PlaneShape::chooseParts(ArrayRef<OpFoldResult> extents) {
  int64_t common = 0;
  for (OpFoldResult extent : extents) {
    std::optional<int64_t> known = getConstantIntValue(extent);
    // Of an unknown number of elements it is known that they fill whole units.
    common = std::gcd(common, known && *known % unit == 0 ? *known / unit * bits
                                                          : bits);
  }
  partBits = std::gcd(common, int64_t(8));
}

OpFoldResult PlaneShape::partsOf(OpFoldResult elements,
                                 const Twine &what) const {
  Arithmetic math{builder, loc};
  Value count = getValueOrCreateConstantIndexOp(builder, loc, elements);
  if (unit > 1) {
    Value whole = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, math.rem(count, unit), math.index(0));
    emitRequire(builder, loc, whole,
                what + " must be a multiple of " + Twine(unit) +
                    " elements (whole groups)");
  }
  return getAsOpFoldResult(
      math.div(math.mul(math.div(count, unit), bits), partBits));
}

//===----------------------------------------------------------------------===//
// Parts of bytes
//===----------------------------------------------------------------------===//

static RankedTensorType bytesType(OpBuilder &builder,
                                  ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : extents)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, builder.getI8Type());
}

static ReassociationIndices allDims(size_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

/// `count` parts, a byte for each. Padding behind them is left out.
Value PlaneShape::unpack(Value plane, OpFoldResult count) const {
  int64_t perByte = 8 / partBits;
  auto body = [&](OpBuilder &nested, Location at, ValueRange) {
    Arithmetic math{nested, at};
    Value index = linalg::IndexOp::create(nested, at, 0);
    Value byte =
        tensor::ExtractOp::create(nested, at, plane, math.div(index, perByte));
    Value place = math.rem(index, perByte);
    if (msbFirst)
      place = arith::SubIOp::create(nested, at, math.index(perByte - 1), place);
    Value shift = arith::IndexCastOp::create(nested, at, nested.getI8Type(),
                                             math.mul(place, partBits));
    Value part = arith::ShRUIOp::create(nested, at, byte, shift);
    linalg::YieldOp::create(nested, at, math.bitAnd(part, (1 << partBits) - 1));
  };
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef(count),
                                        builder.getI8Type());
  return linalg::GenericOp::create(builder, loc, TypeRange(empty.getType()),
                                   ValueRange(), empty,
                                   builder.getMultiDimIdentityMap(1),
                                   utils::IteratorType::parallel, body)
      .getResult(0);
}

/// The inverse; bits behind the last part are 0.
Value PlaneShape::pack(Value parts) const {
  int64_t perByte = 8 / partBits;
  Arithmetic outer{builder, loc};
  Value count = builder.createOrFold<tensor::DimOp>(loc, parts, outer.index(0));
  OpFoldResult bytes =
      getAsOpFoldResult(outer.div(outer.add(count, perByte - 1), perByte));
  auto body = [&](OpBuilder &nested, Location at, ValueRange) {
    Arithmetic math{nested, at};
    Value first = math.mul(linalg::IndexOp::create(nested, at, 0), perByte);
    Value byte;
    for (int64_t i = 0; i < perByte; ++i) {
      Value index = math.add(first, i);
      Value inside = arith::CmpIOp::create(
          nested, at, arith::CmpIPredicate::ult, index, count);
      Value part = tensor::ExtractOp::create(
          nested, at, parts, math.select(inside, index, math.index(0)));
      part = math.select(inside, part, math.intConstant(part, 0));
      part = math.shl(part, (msbFirst ? perByte - 1 - i : i) * partBits);
      byte = byte ? math.bitOr(byte, part) : part;
    }
    linalg::YieldOp::create(nested, at, byte);
  };
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef(bytes),
                                        builder.getI8Type());
  return linalg::GenericOp::create(builder, loc, TypeRange(empty.getType()),
                                   ValueRange(), empty,
                                   builder.getMultiDimIdentityMap(1),
                                   utils::IteratorType::parallel, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value PlaneShape::view(Value plane, ArrayRef<OpFoldResult> extents) const {
  OpFoldResult count = productOf(builder, loc, extents);
  Value parts = plane;
  if (partBits < 8)
    parts = unpack(plane, count);
  RankedTensorType flat = bytesType(builder, count);
  if (parts.getType() != flat)
    parts = tensor::CastOp::create(builder, loc, flat, parts);
  if (extents.size() == 1)
    return parts;
  return tensor::ExpandShapeOp::create(
      builder, loc, bytesType(builder, extents), parts,
      ArrayRef<ReassociationIndices>{allDims(extents.size())}, extents);
}

Value PlaneShape::plane(Value view) const {
  Value parts = view;
  auto type = cast<RankedTensorType>(view.getType());
  if (type.getRank() > 1)
    parts = tensor::CollapseShapeOp::create(
        builder, loc, view,
        ArrayRef<ReassociationIndices>{allDims(type.getRank())});
  return partBits < 8 ? pack(parts) : parts;
}
