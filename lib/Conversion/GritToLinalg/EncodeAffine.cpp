//===- EncodeAffine.cpp - encode rules with a scale and a minimum -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include <algorithm>

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

namespace {
/// The emission of affineminmax: units of several groups, each with a scale and
/// a minimum in units of the unit's own.
class AffineEmitter {
public:
  AffineEmitter(Scalars s, const Units &units)
      : s(s), units(units), format(units.format), group(format.scales[1].group),
        groups(units.size / group),
        maxCode(maxFinite(format.level.number.word)),
        maxScale(maxFinite(format.scales[1].number.word)),
        maxMinimum(maxFinite(format.offset.factors[1].number.word)) {}

  Expected<Codes> emit();

private:
  /// (hi - lo) / maxCode and -lo of every group, with zero in between: a group
  /// without negative values has lo = +0 and so the offset -0.
  void emitRanges();
  void emitOuter(const NumberCoder &scale, const NumberCoder &minimum);
  void emitInner();
  void emitElements();

  Scalars s;
  const Units &units;
  const FormatDescription &format;
  int64_t group, groups;
  float maxCode, maxScale, maxMinimum;

  Value values;                 ///< [units, groups, group]
  Value steps, offsets;         ///< [units, groups]
  Value finite;                 ///< [units]
  Value scaleUnit, minimumUnit; ///< decoded outer factors, [units]
  Value scales, minima;         ///< S and Z, [units, groups]
  Codes codes;
};
} // namespace

void AffineEmitter::emitRanges() {
  SmallVector<OpFoldResult> sizes{units.count, s.b.getIndexAttr(groups)};
  SmallVector<Value> bounds =
      reduce(s, sizes, 1, Input{values, {0, 1, 2}}, {s.f32(0), s.f32(0)},
             [](Scalars in, ValueRange args) -> SmallVector<Value> {
               Value v = args[0];
               return {in.select(in.greater(args[1], v), v, args[1]),
                       in.select(in.greater(v, args[2]), v, args[2])};
             });
  Type f32 = s.b.getF32Type();
  SmallVector<Value> ranges = compute(
      s, sizes, {Input{bounds[0], {0, 1}}, Input{bounds[1], {0, 1}}},
      {f32, f32}, [&](Scalars in, ValueRange args) -> SmallVector<Value> {
        Value width = in.sub(args[1], args[0]);
        return {in.div(width, in.f32(maxCode)), in.neg(args[0])};
      });
  steps = ranges[0];
  offsets = ranges[1];
}

void AffineEmitter::emitOuter(const NumberCoder &scale,
                              const NumberCoder &minimum) {
  SmallVector<Value> most = reduce(
      s, units.count, 1, {Input{steps, {0, 1}}, Input{offsets, {0, 1}}},
      {s.f32(0), s.f32(-0.0f)},
      [](Scalars in, ValueRange args) -> SmallVector<Value> {
        return {in.select(in.greater(args[0], args[2]), args[0], args[2]),
                in.select(in.greater(args[1], args[3]), args[1], args[3])};
      });
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  uint32_t nan = scale.nan().value_or(0);
  SmallVector<Value> outer =
      compute(s, units.count,
              {Input{finite, {0}}, Input{most[0], {0}}, Input{most[1], {0}}},
              {i32, i32, f32, f32},
              [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                Value d = scale.encode(in, in.div(args[1], in.f32(maxScale)));
                Value dmin =
                    minimum.encode(in, in.div(args[2], in.f32(maxMinimum)));
                Value isNumber = in.isSet(args[0]);
                return {in.select(isNumber, d, in.i32(nan)),
                        in.select(isNumber, dmin, in.i32(0)),
                        scale.decode(in, d), minimum.decode(in, dmin)};
              });
  codes.scales.push_back(outer[0]);
  codes.offsets.push_back(outer[1]);
  scaleUnit = outer[2];
  minimumUnit = outer[3];
}

void AffineEmitter::emitInner() {
  SmallVector<OpFoldResult> sizes{units.count, s.b.getIndexAttr(groups)};
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  auto body = [&](Scalars in, ValueRange args) -> SmallVector<Value> {
    // A value in whole units, none where the unit is zero.
    auto inUnits = [&](Value value, Value unit, float most) {
      Value code = in.roundClamped(in.div(value, unit), most);
      Value none = in.equal(unit, in.f32(0));
      code = in.select(none, in.i32(0), code);
      Value number = arith::UIToFPOp::create(in.b, in.loc, f32, code);
      return std::pair(in.select(in.isSet(args[0]), code, in.i32(0)),
                       in.mul(unit, number));
    };
    auto [scaleCode, scale] = inUnits(args[3], args[1], maxScale);
    auto [minimumCode, minimum] = inUnits(args[4], args[2], maxMinimum);
    return {scaleCode, minimumCode, scale, minimum};
  };
  SmallVector<Value> inner = compute(
      s, sizes,
      {Input{finite, {0}}, Input{scaleUnit, {0}}, Input{minimumUnit, {0}},
       Input{steps, {0, 1}}, Input{offsets, {0, 1}}},
      {i32, i32, f32, f32}, body);
  codes.scales.push_back(toList(s, inner[0]));
  codes.offsets.push_back(toList(s, inner[1]));
  scales = inner[2];
  minima = inner[3];
}

void AffineEmitter::emitElements() {
  SmallVector<OpFoldResult> sizes{units.count, s.b.getIndexAttr(groups),
                                  s.b.getIndexAttr(group)};
  Value cube = compute(s, sizes,
                       {Input{values, {0, 1, 2}}, Input{finite, {0}},
                        Input{scales, {0, 1}}, Input{minima, {0, 1}}},
                       Type(s.b.getI32Type()),
                       [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                         Value shifted = in.add(args[0], args[3]);
                         Value code =
                             in.roundClamped(in.div(shifted, args[2]), maxCode);
                         Value none = in.equal(args[2], in.f32(0));
                         code = in.select(none, in.i32(0), code);
                         return {in.select(in.isSet(args[1]), code, in.i32(0))};
                       })
                   .front();
  codes.elements = toList(s, cube);
}

Expected<Codes> AffineEmitter::emit() {
  auto coderOf = [&](const Factor &factor) {
    return NumberCoder::get(format, factor.number, Rounding::RNE,
                            Saturation::SatFinite);
  };
  auto scale = coderOf(format.scales[0]);
  auto minimum = coderOf(format.offset.factors[0]);
  if (!scale)
    return tl::make_unexpected(scale.error());
  if (!minimum)
    return tl::make_unexpected(minimum.error());
  if (!scale->nan())
    return refuseEmission("s1", "a format with a NaN",
                          format.scales[0].number.word.str());
  auto type = cast<RankedTensorType>(units.stored.getType());
  SmallVector<OpFoldResult> sizes{units.count, s.b.getIndexAttr(groups),
                                  s.b.getIndexAttr(group)};
  values = tensor::ExpandShapeOp::create(
      s.b, s.loc,
      RankedTensorType::get({type.getDimSize(0), groups, group},
                            type.getElementType()),
      units.stored, ArrayRef<ReassociationIndices>{{0}, {1, 2}}, sizes);
  finite = finiteUnits(s, units);
  emitRanges();
  emitOuter(*scale, *minimum);
  emitInner();
  emitElements();
  return codes;
}

Expected<Codes> grit::encoding::emitAffineMinMaxRule(Scalars s,
                                                     const Units &units) {
  return AffineEmitter(s, units).emit();
}
