//===- Numbers.cpp - codes become binary32 numbers -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/KernelGen/Arithmetic.h"
#include "grit/KernelGen/KernelGen.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace grit;
using namespace grit::kernelgen;

static constexpr uint32_t kNan = 0x7FC00000, kInf = 0x7F800000;

/// 2^exponent as binary32 bits (rounded like any binary32 result).
static uint32_t powerOfTwo(int exponent) {
  return std::bit_cast<uint32_t>(std::ldexp(1.0f, exponent));
}

/// Two's complement or unsigned codes.
static Value integerNumber(Arithmetic a, Value code, FormatWord word) {
  Type f32 = a.typeLike(code, a.b.getF32Type());
  if (word.isUnsigned())
    return arith::UIToFPOp::create(a.b, a.loc, f32, code);
  int64_t unused = 32 - word.width();
  Value shifted = a.shl(code, unused);
  Value value = arith::ShRSIOp::create(a.b, a.loc, shifted,
                                       a.intConstant(shifted, unused));
  return arith::SIToFPOp::create(a.b, a.loc, f32, value);
}

/// 2^(code - bias + exp2), whose binary32 form is mostly the exponent field.
static Value exponentNumber(Arithmetic a, Value code, FormatWord word,
                            int exp2) {
  int64_t last = (int64_t(1) << word.width()) - 1;
  int64_t shift = 127 - word.bias() + exp2; // field = code + shift
  Value field = a.add(code, shift);
  Value bits = a.shl(field, 23);
  if (shift <= 0) {
    // Fields 0, -1, ... are subnormals: the leading bit moves down.
    Value down =
        arith::SubIOp::create(a.b, a.loc, a.intConstant(field, 0), field);
    Value bounded =
        arith::MinUIOp::create(a.b, a.loc, down, a.intConstant(down, 31));
    Value subnormal = arith::ShRUIOp::create(
        a.b, a.loc, a.intConstant(field, 0x00400000), bounded);
    bits =
        a.select(a.cmp(arith::CmpIPredicate::sle, field, 0), subnormal, bits);
  }
  if (last + shift >= 255)
    bits = a.select(a.cmp(arith::CmpIPredicate::sge, field, 255),
                    a.intConstant(bits, kInf), bits);
  if (word.nanEncoding() != 0)
    bits = a.select(a.cmp(arith::CmpIPredicate::eq, code, last),
                    a.intConstant(bits, kNan), bits);
  return a.asF32(bits);
}

/// Sign, exponent and fraction of a float narrower than binary32.
static Value floatNumber(Arithmetic a, Value code, FormatWord word) {
  unsigned fraction = word.mantissaBits(), exponent = word.exponentBits();
  int64_t topExponent = (int64_t(1) << exponent) - 1;
  int64_t fractionMask = (int64_t(1) << fraction) - 1;
  Value m = a.bitAnd(code, fractionMask);
  Value e = a.bitAnd(a.shru(code, fraction), topExponent);

  // Normal: the fields move to their binary32 places.
  Value rebased = a.add(e, 127 - word.bias());
  Value normal = a.bitOr(a.shl(rebased, 23), a.shl(m, 23 - fraction));
  // Subnormal: an integer times a power of two, exactly.
  Value integer =
      arith::UIToFPOp::create(a.b, a.loc, a.typeLike(m, a.b.getF32Type()), m);
  Value unit = a.f32Constant(m, powerOfTwo(1 - word.bias() - int(fraction)));
  Value small = arith::MulFOp::create(a.b, a.loc, integer, unit);
  Value bits = a.select(a.cmp(arith::CmpIPredicate::eq, e, 0),
                        arith::BitcastOp::create(
                            a.b, a.loc, a.typeLike(m, a.b.getI32Type()), small),
                        normal);

  if (word.hasInf() || word.nanEncoding() != 0) {
    Value top = a.cmp(arith::CmpIPredicate::eq, e, topExponent);
    if (word.hasInf() || word.nanEncoding() == 2) {
      int64_t atZero = word.hasInf() ? kInf : 0;
      Value zero = a.cmp(arith::CmpIPredicate::eq, m, 0);
      Value special =
          a.select(zero, word.hasInf() ? a.intConstant(bits, atZero) : bits,
                   a.intConstant(bits, kNan));
      bits = a.select(top, special, bits);
    } else {
      Value all = a.cmp(arith::CmpIPredicate::eq, m, fractionMask);
      Value isNan = arith::AndIOp::create(a.b, a.loc, top, all);
      bits = a.select(isNan, a.intConstant(bits, kNan), bits);
    }
  }
  if (!word.isUnsigned()) {
    Value sign = a.shl(a.shru(code, word.width() - 1), 31);
    bits = a.bitOr(bits, sign);
  }
  return a.asF32(bits);
}

/// value * times + plus, exactly: small integers, or a float and its negative.
static Value timesPlus(Arithmetic a, Value value, const Number &number) {
  auto constant = [&](int64_t integer) {
    auto real = static_cast<float>(integer);
    return a.f32Constant(value, std::bit_cast<uint32_t>(real));
  };
  if (number.times == -1)
    value = arith::NegFOp::create(a.b, a.loc, value);
  else if (number.times != 1)
    value = arith::MulFOp::create(a.b, a.loc, value, constant(number.times));
  if (number.plus > 0)
    return arith::AddFOp::create(a.b, a.loc, value, constant(number.plus));
  if (number.plus < 0)
    return arith::SubFOp::create(a.b, a.loc, value, constant(-number.plus));
  return value;
}

Value Emitter::number(Value code, const Number &number, unsigned width) {
  if (number.isTable())
    return lookup(code, number.table);
  Arithmetic a{builder, loc};
  FormatWord word = number.word;
  Value lanes = a.toI32(code);
  if (word.isExponentOnly()) {
    Value power = exponentNumber(a, lanes, word, number.exp2);
    return timesPlus(a, power, number);
  }
  Value value;
  if (word.isInteger()) {
    value = integerNumber(a, lanes, word);
  } else if (word == words::Binary32) {
    value = a.asF32(lanes);
  } else if (word == words::Binary16) {
    // The conversion instruction is exact; a NaN is made canonical later.
    Value half = arith::BitcastOp::create(
        builder, loc, a.typeLike(lanes, builder.getF16Type()),
        arith::TruncIOp::create(builder, loc,
                                a.typeLike(lanes, builder.getIntegerType(16)),
                                lanes));
    value = arith::ExtFOp::create(
        builder, loc, a.typeLike(lanes, builder.getF32Type()), half);
  } else {
    value = floatNumber(a, lanes, word);
  }
  value = timesPlus(a, value, number);
  if (number.exp2 != 0)
    value = arith::MulFOp::create(
        builder, loc, value, a.f32Constant(value, powerOfTwo(number.exp2)));
  return value;
}
