//===- EncodeSupport.h - what the encode rules are written with -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An encoder works on one-dimensional lists of codes and on the values seen as
// units (the widest groups of a contract) of stored elements. Everything is
// emitted as linalg.generic over builtin tensors.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_GRITTOLINALG_ENCODESUPPORT_H
#define GRIT_LIB_CONVERSION_GRITTOLINALG_ENCODESUPPORT_H

#include "../Common.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <functional>

namespace grit::encoding {

/// Scalar arithmetic, inside or outside the body of an operation.
struct Scalars {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value f32(float value);
  mlir::Value i32(int64_t value);
  mlir::Value i1(bool value);
  mlir::Value index(int64_t value);

  mlir::Value abs(mlir::Value x) {
    return mlir::math::AbsFOp::create(b, loc, x);
  }
  mlir::Value neg(mlir::Value x) {
    return mlir::arith::NegFOp::create(b, loc, x);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// Ordered comparisons: false where an operand is NaN.
  mlir::Value greater(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OGT,
                                       x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OEQ,
                                       x, y);
  }
  mlir::Value isFinite(mlir::Value x);
  /// A truth value as lists hold it (i8: a byte is the least that memory
  /// holds), and back.
  mlir::Value toFlag(mlir::Value truth) {
    return mlir::arith::ExtUIOp::create(b, loc, b.getI8Type(), truth);
  }
  mlir::Value isSet(mlir::Value flag) {
    return mlir::arith::TruncIOp::create(b, loc, b.getI1Type(), flag);
  }
  mlir::Value bits(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  }
  mlir::Value fromBits(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, b.getF32Type(), x);
  }
  mlir::Value toIndex(mlir::Value x) {
    return mlir::arith::IndexCastUIOp::create(b, loc, b.getIndexType(), x);
  }
  /// x rounded to an integer (ties to even), kept within 0 and `most`, as i32.
  mlir::Value roundClamped(mlir::Value x, float most);
};

/// Entry `at` (i32) of a constant table; a constant when all entries agree.
mlir::Value lookUp(Scalars s, llvm::ArrayRef<int32_t> table, mlir::Value at);

/// A step function of a binary32 number, held as the keys (bits, ordered like
/// the numbers) at which it changes. Found by bisection, so that what is
/// emitted agrees with `function` for every number.
class StepFunction {
public:
  /// `function` never returns to a value that it has left between `from` and
  /// `to`.
  StepFunction(const std::function<int32_t(float)> &function, float from,
               float to);
  /// The value (i32) of `x`, which is no NaN: a binary search.
  mlir::Value emit(Scalars s, mlir::Value x) const;

private:
  std::vector<int32_t> starts, values;
};

/// Stores numbers in a format and reads them back.
class NumberCoder {
public:
  /// Refuses formats and roundings that have no emission.
  static Expected<NumberCoder> get(const FormatDescription &format,
                                   const Number &number, Rounding rounding,
                                   Saturation saturation);

  /// The code of a number that is not negative (or of any sign in binary16 and
  /// binary32) and no NaN, as i32.
  mlir::Value encode(Scalars s, mlir::Value x) const;
  /// The same, but never the code of zero.
  mlir::Value encodePositive(Scalars s, mlir::Value x) const;
  mlir::Value decode(Scalars s, mlir::Value code) const;
  /// The code of NaN, if there is one.
  std::optional<uint32_t> nan() const;

private:
  NumberCoder(const FormatDescription &format, const Number &number)
      : format(&format), number(number) {}

  const FormatDescription *format;
  Number number;
  Saturation saturation = Saturation::SatFinite;
  std::optional<StepFunction> steps; ///< formats of at most eight bits
};

/// An operand of a structured operation and the dimensions that address it.
struct Input {
  mlir::Value tensor;
  llvm::SmallVector<unsigned> dims;
};

using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    Scalars, mlir::ValueRange)>;

/// A list, grid or cube of values, computed one by one: one result per type.
llvm::SmallVector<mlir::Value> compute(Scalars s,
                                       llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                       llvm::ArrayRef<Input> inputs,
                                       llvm::ArrayRef<mlir::Type> elements,
                                       Body body);

/// Reduces the dimensions of the inputs beyond `sizes` (`reduced` of them). The
/// body's last arguments are the results so far; `inits` are scalars.
llvm::SmallVector<mlir::Value>
reduce(Scalars s, llvm::ArrayRef<mlir::OpFoldResult> sizes, unsigned reduced,
       llvm::ArrayRef<Input> inputs, llvm::ArrayRef<mlir::Value> inits,
       Body body);

/// A list seen as rows of `columns`, and back.
mlir::Value toRows(Scalars s, mlir::Value list, int64_t columns);
mlir::Value toList(Scalars s, mlir::Value rows);
/// The number of elements of a list.
mlir::OpFoldResult lengthOf(Scalars s, mlir::Value list);

/// Codes that fill the planes of a description.
struct Codes {
  mlir::Value elements; ///< as the code field is addressed
  mlir::Value indices;  ///< of survivors; null when dense
  llvm::SmallVector<mlir::Value> scales, offsets; ///< one list per factor
};

/// The values of an array as the rules see them.
struct Units {
  const FormatDescription &format;
  mlir::Value all;    ///< every value, in a list
  mlir::Value stored; ///< [units, stored elements]
  mlir::OpFoldResult count;
  int64_t size = 1; ///< stored elements of a unit
};

/// The encode rules, by structure. Each returns the codes of all units, or says
/// why it cannot be emitted.
Expected<Codes> emitScaledRule(Scalars s, const Units &units);
Expected<Codes> emitAffineMinMaxRule(Scalars s, const Units &units);

Expected<Codes> emitGgmlMaxRule(Scalars s, const Units &units);
Expected<Codes> emitGgmlExp2Rule(Scalars s, const Units &units);
Expected<Codes> emitTableAbsMaxRule(Scalars s, const Units &units);

/// Whether every value is finite, per unit: flags.
mlir::Value finiteUnits(Scalars s, const Units &units);
/// Stops the program where a value that is not finite has no code.
void assertFinite(Scalars s, const Units &units);
/// The largest magnitude of every unit. A NaN is passed over.
mlir::Value absMax(Scalars s, const Units &units);
/// Lists with one entry per unit, from other such lists.
llvm::SmallVector<mlir::Value> perUnit(Scalars s, const Units &units,
                                       llvm::ArrayRef<mlir::Value> lists,
                                       llvm::ArrayRef<mlir::Type> elements,
                                       Body body);
/// The codes (i32, in a list) of all stored values; `lists` have an entry per
/// unit.
mlir::Value perElement(Scalars s, const Units &units,
                       llvm::ArrayRef<mlir::Value> lists, Body body);

/// The planes of `numElements` elements as byte lists.
Expected<llvm::SmallVector<mlir::Value>>
packPlanes(Scalars s, const FormatDescription &format, const Codes &codes,
           mlir::OpFoldResult numElements);

/// An error of a rule that has no emission.
tl::unexpected<Error> refuseEmission(std::string field, std::string declared,
                                     std::string found);

} // namespace grit::encoding

#endif // GRIT_LIB_CONVERSION_GRITTOLINALG_ENCODESUPPORT_H
