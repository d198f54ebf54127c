//===- EncodeScaled.cpp - encode rules of one scale per group -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rule of this file sees a group of values, finds its largest magnitude,
// makes a scale of it and then a code of every value. They differ in these two
// steps.
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include <limits>

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

static constexpr float kInf = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The nearest code of a number in the element format.
static StepFunction elementSteps(const FormatDescription &format) {
  Encoding encoding = format.encoding;
  FormatWord word = format.level.number.word;
  return StepFunction(
      [=](float x) {
        return int32_t(
            encodeWord(word, x, encoding.rounding, encoding.saturation)
                .value_or(0));
      },
      -kInf, kInf);
}

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

/// An integer operation with a constant.
template <typename OpTy> static Value with(Scalars s, Value x, int64_t y) {
  return OpTy::create(s.b, s.loc, x, s.i32(y));
}

/// 2^X for X = log2(amax), rounded as the rule says, less `maxExponent`, kept
/// within -127 and 127.
static Value emitPowerOfTwo(Scalars s, Value amax, EncodeRule rule,
                            int maxExponent) {
  OpBuilder &b = s.b;
  Value bits = s.bits(amax);
  // A subnormal is normalised by the place of its leading one.
  Value zeros = math::CountLeadingZerosOp::create(b, s.loc, bits);
  Value left = with<arith::SubIOp>(s, zeros, 8);
  Value isSmall = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::ult,
                                        bits, s.i32(0x00800000));
  left = s.select(isSmall, left, s.i32(0));
  Value field = with<arith::ShRUIOp>(s, bits, 23);
  Value exponent = with<arith::SubIOp>(s, field, 127);
  Value smallExponent = arith::SubIOp::create(b, s.loc, s.i32(-126), left);
  exponent = s.select(isSmall, smallExponent, exponent);
  if (rule != EncodeRule::Exp2Floor) {
    Value fraction = arith::ShLIOp::create(b, s.loc, bits, left);
    fraction = with<arith::AndIOp>(s, fraction, 0x007FFFFF);
    // Up from 1, or from the square root of two (1.3504F3 in hexadecimal).
    int64_t last = rule == EncodeRule::Exp2Ceil ? 0 : 0x3504F3;
    Value up = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::ugt,
                                     fraction, s.i32(last));
    Value one = arith::ExtUIOp::create(b, s.loc, b.getI32Type(), up);
    exponent = arith::AddIOp::create(b, s.loc, exponent, one);
  }
  exponent = with<arith::SubIOp>(s, exponent, maxExponent);
  exponent = with<arith::MaxSIOp>(s, exponent, -127);
  exponent = with<arith::MinSIOp>(s, exponent, 127);
  Value normal =
      with<arith::ShLIOp>(s, with<arith::AddIOp>(s, exponent, 127), 23);
  Value isLeast = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::eq,
                                        exponent, s.i32(-127));
  return s.fromBits(s.select(isLeast, s.i32(0x00400000), normal));
}

static Expected<Codes> emitExp2(Scalars s, const Units &units) {
  const FormatDescription &format = units.format;
  Encoding encoding = format.encoding;
  auto coder = NumberCoder::get(format, format.scales[0].number,
                                encoding.rounding, encoding.saturation);
  if (!coder)
    return tl::make_unexpected(coder.error());
  std::optional<uint32_t> nan = coder->nan();
  if (!nan)
    assertFinite(s, units);
  int maxExp = maxExponent(format.level.number.word);
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  Value finite = finiteUnits(s, units);
  SmallVector<Value> scale = perUnit(
      s, units, {finite, absMax(s, units)}, {i32, f32},
      [&](Scalars in, ValueRange args) -> SmallVector<Value> {
        Value power = emitPowerOfTwo(in, args[1], encoding.rule, maxExp);
        power = in.select(in.equal(args[1], in.f32(0)), in.f32(1), power);
        Value code = coder->encodePositive(in, power);
        Value value = coder->decode(in, code);
        if (nan)
          code = in.select(in.isSet(args[0]), code, in.i32(*nan));
        return {code, value};
      });
  StepFunction steps = elementSteps(format);
  Codes codes;
  codes.scales = {scale[0]};
  codes.elements =
      perElement(s, units, {finite, scale[1]},
                 [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                   Value code = steps.emit(in, in.div(args[0], args[2]));
                   return {in.select(in.isSet(args[1]), code, in.i32(0))};
                 });
  return codes;
}

//===----------------------------------------------------------------------===//
// Ratios
//===----------------------------------------------------------------------===//

/// The code (i32) and the value (f32) of the scale of the whole array, as
/// scalars.
static std::pair<Value, Value> emitOuterScale(Scalars s, const Units &units,
                                              const NumberCoder &coder) {
  const FormatDescription &format = units.format;
  Value list = reduce(s, {}, 1, Input{units.all, {0}}, s.f32(0),
                      [](Scalars in, ValueRange args) -> SmallVector<Value> {
                        Value a = in.abs(args[0]);
                        Value larger = in.both(in.isFinite(args[0]),
                                               in.greater(a, args[1]));
                        return {in.select(larger, a, args[1])};
                      })
                   .front();
  Value amax = tensor::ExtractOp::create(s.b, s.loc, list, ValueRange());
  Value wanted = s.div(s.div(amax, s.f32(maxFinite(format.level.number.word))),
                       s.f32(maxFinite(format.scales[1].number.word)));
  wanted = s.select(s.equal(amax, s.f32(0)), s.f32(1), wanted);
  Value code = coder.encodePositive(s, wanted);
  return {code, coder.decode(s, code)};
}

static Expected<Codes> emitRatio(Scalars s, const Units &units) {
  const FormatDescription &format = units.format;
  Encoding encoding = format.encoding;
  bool twoLevels = format.scales.size() == 2;
  auto inner = NumberCoder::get(format, format.scales.back().number,
                                encoding.rounding, encoding.saturation);
  if (!inner)
    return tl::make_unexpected(inner.error());
  Codes codes;
  Value above = s.f32(1);
  if (twoLevels) {
    // The rounding of a grade governs group scales and elements only.
    auto outer = NumberCoder::get(format, format.scales[0].number,
                                  Rounding::RNE, encoding.saturation);
    if (!outer)
      return tl::make_unexpected(outer.error());
    auto [code, value] = emitOuterScale(s, units, *outer);
    above = value;
    codes.scales.push_back(
        tensor::FromElementsOp::create(s.b, s.loc, ValueRange(code)));
  }
  std::optional<uint32_t> nan = inner->nan();
  if (!nan)
    assertFinite(s, units);
  float maxElement = maxFinite(format.level.number.word);
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  Value finite = finiteUnits(s, units);
  SmallVector<Value> scale =
      perUnit(s, units, {finite, absMax(s, units)}, {i32, f32},
              [&](Scalars in, ValueRange args) -> SmallVector<Value> {
                Value wanted = in.div(args[1], in.f32(maxElement));
                // Under an outer scale a group may underflow to zero.
                Value code = twoLevels
                                 ? inner->encode(in, in.div(wanted, above))
                                 : inner->encodePositive(in, wanted);
                Value ofOne = inner->encode(in, in.f32(1));
                code = in.select(in.equal(args[1], in.f32(0)), ofOne, code);
                Value value = inner->decode(in, code);
                if (twoLevels)
                  value = in.mul(above, value);
                if (nan)
                  code = in.select(in.isSet(args[0]), code, in.i32(*nan));
                return {code, value};
              });
  codes.scales.push_back(scale[0]);
  StepFunction steps = elementSteps(format);
  codes.elements = perElement(
      s, units, {finite, scale[1]},
      [&](Scalars in, ValueRange args) -> SmallVector<Value> {
        Value zero = math::CopySignOp::create(in.b, in.loc, in.f32(0), args[0]);
        Value isZero = in.equal(args[2], in.f32(0));
        Value x = in.select(isZero, zero, in.div(args[0], args[2]));
        return {in.select(in.isSet(args[1]), steps.emit(in, x), in.i32(0))};
      });
  return codes;
}

Expected<Codes> grit::encoding::emitScaledRule(Scalars s, const Units &units) {
  switch (units.format.encoding.rule) {
  case EncodeRule::Exp2Floor:
  case EncodeRule::Exp2Ceil:
  case EncodeRule::Exp2Rne:
    return emitExp2(s, units);
  case EncodeRule::Ratio:
    return emitRatio(s, units);
  case EncodeRule::GgmlSignedMax:
  case EncodeRule::GgmlAbsMax:
    return emitGgmlMaxRule(s, units);
  case EncodeRule::GgmlExp2:
    return emitGgmlExp2Rule(s, units);
  case EncodeRule::TableAbsMax:
    return emitTableAbsMaxRule(s, units);
  default:
    return refuseEmission("encode rule", "a rule without a search",
                          "a search for the best scale");
  }
}
