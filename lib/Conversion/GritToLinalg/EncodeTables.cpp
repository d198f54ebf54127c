//===- EncodeTables.cpp - encode rules of ggml and of tables of levels -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

static constexpr float kInf = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// ggml
//===----------------------------------------------------------------------===//

/// The first value of largest magnitude of every unit; +0 where all are zero.
static Value signedMax(Scalars s, const Units &units, Value amax) {
  auto lesser = [&](Scalars in, ValueRange args) -> SmallVector<Value> {
    Value place =
        arith::IndexCastOp::create(in.b, in.loc, in.b.getI32Type(),
                                   linalg::IndexOp::create(in.b, in.loc, 1));
    Value isMost = in.equal(in.abs(args[0]), args[1]);
    Value candidate = in.select(isMost, place, args[2]);
    return {arith::MinUIOp::create(in.b, in.loc, candidate, args[2])};
  };
  Value first =
      reduce(s, units.count, 1, {Input{units.stored, {0, 1}}, Input{amax, {0}}},
             s.i32(units.size - 1), lesser)
          .front();
  Value stored = units.stored;
  return perUnit(s, units, {amax, first}, Type(s.b.getF32Type()),
                 [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                   Value unit = linalg::IndexOp::create(in.b, in.loc, 0);
                   Value value = tensor::ExtractOp::create(
                       in.b, in.loc, stored,
                       ValueRange{unit, in.toIndex(args[1])});
                   Value none = in.equal(args[0], in.f32(0));
                   return {in.select(none, in.f32(0), value)};
                 })
      .front();
}

/// x as a 32-bit integer, toward zero; the least integer where x has none.
static Value toInteger(Scalars s, Value x) {
  Value fits =
      s.both(arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGE, x,
                                   s.f32(-0x1p31f)),
             arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OLT, x,
                                   s.f32(0x1p31f)));
  Value safe = s.select(fits, x, s.f32(0));
  Value integer = arith::FPToSIOp::create(s.b, s.loc, s.b.getI32Type(), safe);
  return s.select(fits, integer, s.i32(std::numeric_limits<int32_t>::min()));
}

/// min(most, int8(x + bias + 1/2)).
static Value truncatedCode(Scalars s, Value x, float bias, float most) {
  Value whole = toInteger(s, s.add(x, s.f32(bias + 0.5f)));
  Value byte = arith::TruncIOp::create(s.b, s.loc, s.b.getI8Type(), whole);
  Value code = arith::ExtSIOp::create(s.b, s.loc, s.b.getI32Type(), byte);
  return arith::MinSIOp::create(s.b, s.loc, code, s.i32(int64_t(most)));
}

Expected<Codes> grit::encoding::emitGgmlMaxRule(Scalars s, const Units &units) {
  const FormatDescription &format = units.format;
  bool isSigned = format.encoding.rule == EncodeRule::GgmlSignedMax;
  float bias = static_cast<float>(-format.level.number.plus);
  FormatWord word = format.level.number.word;
  auto coder = NumberCoder::get(format, format.scales[0].number, Rounding::RNE,
                                Saturation::OvfInf);
  if (!coder)
    return tl::make_unexpected(coder.error());
  assertFinite(s, units);
  Value most = absMax(s, units);
  if (isSigned)
    most = signedMax(s, units, most);
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  float divisor = isSigned ? -bias : maxFinite(word);
  SmallVector<Value> scale =
      perUnit(s, units, most, {i32, f32},
              [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                Value d = in.div(args[0], in.f32(divisor));
                Value isZero = in.equal(d, in.f32(0));
                Value reciprocal =
                    in.select(isZero, in.f32(0), in.div(in.f32(1), d));
                return {coder->encode(in, d), reciprocal};
              });
  Codes codes;
  codes.scales = {scale[0]};
  codes.elements = perElement(
      s, units, scale[1],
      [&](Scalars in, ValueRange args) -> SmallVector<Value> {
        Value x = in.mul(args[0], args[1]);
        // Half is added and the rest cut off, or halves go away from zero.
        Value code =
            isSigned ? truncatedCode(in, x, bias, maxFinite(word))
                     : toInteger(in, math::RoundOp::create(in.b, in.loc, x));
        Value mask = in.i32((int64_t(1) << word.width()) - 1);
        return {arith::AndIOp::create(in.b, in.loc, code, mask)};
      });
  return codes;
}

/// The level, scaled, that is nearest to x; of two, the one with the lower
/// code.
static Value nearestLevel(Scalars s, ArrayRef<float> levels, Value d, Value x) {
  Value best = s.i32(0), least;
  for (auto [code, level] : llvm::enumerate(levels)) {
    Value distance = s.abs(s.sub(s.mul(s.f32(level), d), x));
    if (!least) {
      least = distance;
      continue;
    }
    Value nearer = s.greater(least, distance);
    best = s.select(nearer, s.i32(code), best);
    least = s.select(nearer, distance, least);
  }
  return best;
}

Expected<Codes> grit::encoding::emitGgmlExp2Rule(Scalars s,
                                                 const Units &units) {
  const FormatDescription &format = units.format;
  const std::vector<float> &levels = format.level.number.table;
  constexpr size_t kMostUnrolled = 64;
  if (levels.size() > kMostUnrolled)
    return refuseEmission("level", "at most 64 levels",
                          std::to_string(levels.size()));
  const Number scaleNumber = format.scales[0].number;
  float largest = 0;
  for (float level : levels)
    largest = std::max(largest, std::fabs(level));
  int shift = scaleNumber.word.bias() - scaleNumber.exp2 - std::ilogb(largest);
  // The logarithm is rounded to binary32 before its floor is taken, which
  // carries numbers just below a power of two up to it.
  StepFunction floorLog2(
      [](float x) {
        float log2 = static_cast<float>(std::log2(static_cast<double>(x)));
        return static_cast<int32_t>(std::floor(log2));
      },
      std::numeric_limits<float>::denorm_min(),
      std::numeric_limits<float>::max());
  assertFinite(s, units);
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  SmallVector<Value> scale =
      perUnit(s, units, absMax(s, units), {i32, f32},
              [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                Value exponent = floorLog2.emit(in, args[0]);
                Value code = arith::AddIOp::create(in.b, in.loc, exponent,
                                                   in.i32(shift));
                // Below the range of the scale the byte wraps.
                code = arith::AndIOp::create(in.b, in.loc, code, in.i32(0xFF));
                code = in.select(in.equal(args[0], in.f32(0)), in.i32(0), code);
                kernelgen::Emitter emitter(in.b, in.loc, format, {});
                return {code, emitter.number(code, scaleNumber, 8)};
              });
  Codes codes;
  codes.scales = {scale[0]};
  codes.elements =
      perElement(s, units, scale[1],
                 [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                   return {nearestLevel(in, levels, args[1], args[0])};
                 });
  return codes;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Expected<Codes> grit::encoding::emitTableAbsMaxRule(Scalars s,
                                                    const Units &units) {
  const FormatDescription &format = units.format;
  const std::vector<float> &levels = format.level.number.table;
  std::vector<float> midpoints;
  for (size_t i = 1; i < levels.size(); ++i)
    midpoints.push_back(
        static_cast<float>((double(levels[i - 1]) + levels[i]) / 2));
  // Equal to a midpoint keeps the lower code.
  StepFunction steps(
      [&](float x) {
        auto above = std::ranges::lower_bound(midpoints, x);
        return static_cast<int32_t>(above - midpoints.begin());
      },
      -kInf, kInf);
  auto coder =
      NumberCoder::get(format, format.scales[0].number,
                       format.encoding.rounding, format.encoding.saturation);
  if (!coder)
    return tl::make_unexpected(coder.error());
  assertFinite(s, units);
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  SmallVector<Value> scale =
      perUnit(s, units, absMax(s, units), {i32, f32},
              [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                // The guard keeps the reciprocal finite.
                Value least = in.f32(1e-38f);
                Value bounded =
                    in.select(in.greater(least, args[0]), least, args[0]);
                return {coder->encode(in, args[0]), in.div(in.f32(1), bounded)};
              });
  Codes codes;
  codes.scales = {scale[0]};
  codes.elements =
      perElement(s, units, scale[1],
                 [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                   Value x = in.mul(args[0], args[1]);
                   x = in.select(in.greater(in.f32(-1), x), in.f32(-1), x);
                   x = in.select(in.greater(x, in.f32(1)), in.f32(1), x);
                   return {steps.emit(in, x)};
                 });
  return codes;
}
