//===- PlaneShape.cpp - a plane as a tensor of rows -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneShape.h"
#include "Emission.h"
#include "grit/Format/Fields.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace grit::ir;
using namespace mlir;
using grit::kernelgen::Arithmetic;

PlaneShape::PlaneShape(OpBuilder &builder, Location loc, ArrayType type,
                       unsigned plane)
    : builder(builder), loc(loc) {
  const grit::FormatDescription description =
      type.getContract().getContract().description();
  unit = description.planes[plane].elements;
  bits = description.planes[plane].bits;
  llvm::append_range(dims, llvm::seq<unsigned>(0, type.getRank()));
  bool alongAxis = false;
  for (const grit::ArrayField &field : grit::fieldsOf(description)) {
    if (field.bits->plane != plane)
      continue;
    std::optional<grit::ItemPacking> packing = grit::packingOf(*field.bits);
    msbFirst |= packing && packing->msbFirst;
    alongAxis |= field.order == grit::ElementOrder::AxisFastest;
  }
  const grit::PlaneInfo &info = description.planes[plane];
  if (info.dependsOnShape()) {
    // Units that depend on extents, which are static (the verifiers see to
    // it). The others do not count.
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t &extent : shape)
      extent = ShapedType::isDynamic(extent) ? 1 : extent;
    const grit::ArraySpec spec = type.getSpec(shape);
    for (const grit::ArrayField &field : grit::fieldsOf(spec)) {
      if (field.bits->plane != plane)
        continue;
      unit = field.unit;
      bits = info.bits * field.perUnit;
    }
  }
  if (alongAxis)
    std::rotate(dims.begin() + type.getAxis(),
                dims.begin() + type.getAxis() + 1, dims.end());
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

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
  return emitBytes(builder, loc, count, [&](Arithmetic math, ValueRange at) {
    Value byte = tensor::ExtractOp::create(math.b, math.loc, plane,
                                           math.div(at[0], perByte));
    Value place = math.rem(at[0], perByte);
    if (msbFirst)
      place = arith::SubIOp::create(math.b, math.loc, math.index(perByte - 1),
                                    place);
    Value shift = arith::IndexCastOp::create(
        math.b, math.loc, math.b.getI8Type(), math.mul(place, partBits));
    Value part = arith::ShRUIOp::create(math.b, math.loc, byte, shift);
    return math.bitAnd(part, (1 << partBits) - 1);
  });
}

/// The inverse; bits behind the last part are 0.
Value PlaneShape::pack(Value parts) const {
  int64_t perByte = 8 / partBits;
  Arithmetic outer{builder, loc};
  Value count = builder.createOrFold<tensor::DimOp>(loc, parts, outer.index(0));
  OpFoldResult bytes =
      getAsOpFoldResult(outer.div(outer.add(count, perByte - 1), perByte));
  return emitBytes(builder, loc, bytes, [&](Arithmetic math, ValueRange at) {
    Value first = math.mul(at[0], perByte);
    Value byte;
    for (int64_t i = 0; i < perByte; ++i) {
      Value index = math.add(first, i);
      Value inside = arith::CmpIOp::create(
          math.b, math.loc, arith::CmpIPredicate::ult, index, count);
      Value part = tensor::ExtractOp::create(
          math.b, math.loc, parts, math.select(inside, index, math.index(0)));
      part = math.select(inside, part, math.intConstant(part, 0));
      part = math.shl(part, (msbFirst ? perByte - 1 - i : i) * partBits);
      byte = byte ? math.bitOr(byte, part) : part;
    }
    return byte;
  });
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

Value PlaneShape::values(Value plane, ArrayRef<OpFoldResult> extents) {
  if (isConstant())
    return plane;
  OpFoldResult elements = productOf(builder, loc, extents);
  chooseParts(elements);
  return view(plane, partsOf(elements, "the array"));
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
