//===- EncodeSupport.cpp - what the encode rules are written with -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include <algorithm>
#include <bit>
#include <limits>

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Scalars::f32(float value) {
  return arith::ConstantOp::create(
      b, loc,
      FloatAttr::get(b.getF32Type(),
                     APFloat(APFloat::IEEEsingle(),
                             APInt(32, std::bit_cast<uint32_t>(value)))));
}

Value Scalars::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value Scalars::i1(bool value) {
  return arith::ConstantIntOp::create(b, loc, value, 1);
}

Value Scalars::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value Scalars::isFinite(Value x) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, abs(x),
                               f32(std::numeric_limits<float>::max()));
}

Value Scalars::roundClamped(Value x, float most) {
  Value rounded = math::RoundEvenOp::create(b, loc, x);
  // What is no number is 0, as what is below.
  rounded = select(greater(rounded, f32(0)), rounded, f32(0));
  rounded = select(greater(rounded, f32(most)), f32(most), rounded);
  return arith::FPToUIOp::create(b, loc, b.getI32Type(), rounded);
}

//===----------------------------------------------------------------------===//
// Step functions
//===----------------------------------------------------------------------===//

/// An integer that rises with the number; -0 comes just before +0.
static int32_t keyOf(float x) {
  int32_t bits = std::bit_cast<int32_t>(x);
  return bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max());
}

static float numberOf(int64_t key) {
  int32_t bits = static_cast<int32_t>(key);
  return std::bit_cast<float>(
      bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max()));
}

StepFunction::StepFunction(const std::function<int32_t(float)> &function,
                           float from, float to) {
  int64_t begin = keyOf(from), end = keyOf(to);
  values.push_back(function(from));
  while (function(to) != values.back()) {
    int64_t low = begin, high = end; // function(low) is the current value
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (function(numberOf(middle)) == values.back() ? low : high) = middle;
    }
    starts.push_back(static_cast<int32_t>(high));
    values.push_back(function(numberOf(high)));
    begin = high;
  }
}

Value grit::encoding::lookUp(Scalars s, ArrayRef<int32_t> table, Value at) {
  if (llvm::all_equal(table))
    return s.i32(table.front());
  auto type = RankedTensorType::get({int64_t(table.size())}, s.b.getI32Type());
  Value constant = arith::ConstantOp::create(
      s.b, s.loc, DenseElementsAttr::get(type, table));
  return tensor::ExtractOp::create(s.b, s.loc, constant, s.toIndex(at));
}

Value StepFunction::emit(Scalars s, Value x) const {
  Value bits = s.bits(x);
  Value sign = arith::ShRSIOp::create(s.b, s.loc, bits, s.i32(31));
  Value key = arith::XOrIOp::create(
      s.b, s.loc, bits,
      arith::AndIOp::create(s.b, s.loc, sign, s.i32(0x7FFFFFFF)));
  // Only the key of a NaN reaches the filler; its value is not used, but must
  // be there to be read.
  std::vector<int32_t> padded = starts, results = values;
  size_t size = std::bit_ceil(starts.size() + 1);
  padded.resize(size, std::numeric_limits<int32_t>::max());
  results.resize(size, values.back());
  Value steps = s.i32(0);
  for (int64_t half = size / 2; half; half /= 2) {
    Value at = arith::AddIOp::create(s.b, s.loc, steps, s.i32(half - 1));
    Value reached = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::sge,
                                          key, lookUp(s, padded, at));
    Value further = arith::AddIOp::create(s.b, s.loc, steps, s.i32(half));
    steps = s.select(reached, further, steps);
  }
  return lookUp(s, results, steps);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

tl::unexpected<Error> grit::encoding::refuseEmission(std::string field,
                                                     std::string declared,
                                                     std::string found) {
  return makeError(
      Status::GradeUnknown, "encode of this contract has no lowering",
      std::move(field), std::move(declared), std::move(found),
      "the rule is not one that the compiler emits",
      "quantize with the grit command or the library, and pass the "
      "array in");
}

Expected<NumberCoder> NumberCoder::get(const FormatDescription &format,
                                       const Number &number, Rounding rounding,
                                       Saturation saturation) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  FormatWord word = number.word;
  NumberCoder coder(format, number);
  coder.saturation = saturation;
  if (number.exp2 != 0)
    return refuseEmission("scale", "a number without a shift",
                          word.str() + " times 2^" +
                              std::to_string(number.exp2));
  if (word.width() <= 8) {
    coder.steps.emplace(
        [=](float x) {
          // No NaN is encoded, so there is a code for every number.
          return int32_t(encodeWord(word, x, rounding, saturation).value_or(0));
        },
        0.0f, kInf);
    return coder;
  }
  if (word == words::Binary32 ||
      (word == words::Binary16 && rounding == Rounding::RNE))
    return coder;
  return refuseEmission("scale", "at most 8 bits, binary16 (rne) or binary32",
                        word.str());
}

Value NumberCoder::encode(Scalars s, Value x) const {
  if (steps)
    return steps->emit(s, x);
  bool isHalf = number.word == words::Binary16;
  if (saturation != Saturation::OvfInf) {
    // Beyond the largest number lies the largest number.
    Value most = s.f32(maxFinite(number.word));
    Value least = s.f32(-maxFinite(number.word));
    x = s.select(s.greater(x, most), most, x);
    x = s.select(s.greater(least, x), least, x);
  }
  if (!isHalf)
    return s.bits(x);
  Value half = arith::TruncFOp::create(s.b, s.loc, s.b.getF16Type(), x);
  Value bits =
      arith::BitcastOp::create(s.b, s.loc, s.b.getIntegerType(16), half);
  return arith::ExtUIOp::create(s.b, s.loc, s.b.getI32Type(), bits);
}

Value NumberCoder::encodePositive(Scalars s, Value x) const {
  Value code = encode(s, x);
  // Codes rise with the number, and only code 0 can stand for zero.
  return s.select(s.greater(decode(s, code), s.f32(0)), code, s.i32(1));
}

Value NumberCoder::decode(Scalars s, Value code) const {
  kernelgen::Emitter emitter(s.b, s.loc, *format, {});
  return emitter.number(code, number, number.word.width());
}

std::optional<uint32_t> NumberCoder::nan() const {
  auto code = encodeWord(number.word, std::numeric_limits<float>::quiet_NaN());
  return code ? std::optional<uint32_t>(*code) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

static SmallVector<Value> emitGeneric(Scalars s, ArrayRef<OpFoldResult> sizes,
                                      unsigned reduced, ArrayRef<Input> inputs,
                                      ArrayRef<Value> outputs, Body body) {
  unsigned outer = sizes.size(), rank = outer + reduced;
  MLIRContext *context = s.b.getContext();
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  for (const Input &input : inputs) {
    SmallVector<AffineExpr> exprs =
        llvm::map_to_vector(input.dims, [&](unsigned dim) {
          return getAffineDimExpr(dim, context);
        });
    maps.push_back(AffineMap::get(rank, 0, exprs, context));
    operands.push_back(input.tensor);
  }
  AffineMap output =
      AffineMap::getMultiDimIdentityMap(rank, context).getMajorSubMap(outer);
  if (outer == 0)
    output = AffineMap::get(rank, 0, context);
  maps.append(outputs.size(), output);
  SmallVector<utils::IteratorType> iterators(outer,
                                             utils::IteratorType::parallel);
  iterators.append(reduced, utils::IteratorType::reduction);
  SmallVector<Type> types = llvm::map_to_vector(
      outputs, [](Value output) { return output.getType(); });
  auto emitBody = [&](OpBuilder &nested, Location at, ValueRange arguments) {
    linalg::YieldOp::create(nested, at, body(Scalars{nested, at}, arguments));
  };
  auto op = linalg::GenericOp::create(s.b, s.loc, types, operands, outputs,
                                      maps, iterators, emitBody);
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value> grit::encoding::compute(Scalars s,
                                           ArrayRef<OpFoldResult> sizes,
                                           ArrayRef<Input> inputs,
                                           ArrayRef<Type> elements, Body body) {
  SmallVector<Value> outputs = llvm::map_to_vector(elements, [&](Type type) {
    return Value(tensor::EmptyOp::create(s.b, s.loc, sizes, type));
  });
  return emitGeneric(s, sizes, 0, inputs, outputs, body);
}

SmallVector<Value> grit::encoding::reduce(Scalars s,
                                          ArrayRef<OpFoldResult> sizes,
                                          unsigned reduced,
                                          ArrayRef<Input> inputs,
                                          ArrayRef<Value> inits, Body body) {
  SmallVector<Value> outputs = llvm::map_to_vector(inits, [&](Value init) {
    Value empty = tensor::EmptyOp::create(s.b, s.loc, sizes, init.getType());
    return linalg::FillOp::create(s.b, s.loc, init, empty).getResult(0);
  });
  return emitGeneric(s, sizes, reduced, inputs, outputs, body);
}

OpFoldResult grit::encoding::lengthOf(Scalars s, Value list) {
  return tensor::getMixedSize(s.b, s.loc, list, 0);
}

/// length / by, where it divides.
static OpFoldResult divide(Scalars s, OpFoldResult length, int64_t by) {
  if (auto known = getConstantIntValue(length))
    return s.b.getIndexAttr(*known / by);
  return arith::DivUIOp::create(s.b, s.loc, cast<Value>(length), s.index(by))
      .getResult();
}

Value grit::encoding::toRows(Scalars s, Value list, int64_t columns) {
  auto type = cast<RankedTensorType>(list.getType());
  OpFoldResult rows = divide(s, lengthOf(s, list), columns);
  int64_t knownRows = getConstantIntValue(rows).value_or(ShapedType::kDynamic);
  return tensor::ExpandShapeOp::create(
      s.b, s.loc,
      RankedTensorType::get({knownRows, columns}, type.getElementType()), list,
      ArrayRef<ReassociationIndices>{{0, 1}},
      {rows, s.b.getIndexAttr(columns)});
}

Value grit::encoding::toList(Scalars s, Value rows) {
  int64_t rank = cast<RankedTensorType>(rows.getType()).getRank();
  if (rank == 1)
    return rows;
  ReassociationIndices all = llvm::to_vector_of<int64_t>(llvm::seq(rank));
  return tensor::CollapseShapeOp::create(s.b, s.loc, rows,
                                         ArrayRef<ReassociationIndices>{all});
}
