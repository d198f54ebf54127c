//===- Levels.cpp - codes become levels -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/GritKernel/GritKernel.h"
#include "grit/KernelGen/Arithmetic.h"
#include "grit/KernelGen/KernelGen.h"
#include <cmath>

using namespace mlir;
using namespace grit;
using namespace grit::kernelgen;

/// Codes of at most this width are levels by table.
static constexpr unsigned kTableWidth = 4;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A list of numbers as a constant: bytes where all are small integers, since
/// a table that stays in the cache is read fastest.
static DenseElementsAttr tableOf(OpBuilder &b, ArrayRef<float> table) {
  auto isByte = [](float value) {
    return value >= -128 && value <= 127 && value == std::trunc(value) &&
           !(value == 0 && std::signbit(value));
  };
  int64_t size = table.size();
  if (!llvm::all_of(table, isByte))
    return DenseElementsAttr::get(RankedTensorType::get({size}, b.getF32Type()),
                                  table);
  auto bytes = llvm::map_to_vector(
      table, [](float value) { return static_cast<int8_t>(value); });
  return DenseElementsAttr::get(RankedTensorType::get({size}, b.getI8Type()),
                                ArrayRef<int8_t>(bytes));
}

/// Entries of a table as binary32.
static Value asNumbers(Arithmetic a, Value entries) {
  Type type = a.typeLike(entries, a.b.getF32Type());
  if (entries.getType() == type)
    return entries;
  return arith::SIToFPOp::create(a.b, a.loc, type, entries);
}

Value Emitter::entryAt(ArrayRef<float> table, Value index) {
  Arithmetic a{builder, loc};
  return asNumbers(
      a, tableReader(builder, loc, tableOf(builder, table), index, 1));
}

Value Emitter::lookup(Value code, ArrayRef<float> table) {
  if (auto lanes = dyn_cast<VectorType>(code.getType())) {
    auto type =
        RankedTensorType::get({int64_t(table.size())}, builder.getF32Type());
    return kernel::LookupOp::create(
        builder, loc, VectorType::get(lanes.getShape(), builder.getF32Type()),
        code, DenseElementsAttr::get(type, table));
  }
  return entryAt(table, arith::IndexCastUIOp::create(
                            builder, loc, builder.getIndexType(), code));
}

//===----------------------------------------------------------------------===//
// Codes of one element each
//===----------------------------------------------------------------------===//

Value Emitter::levels(Value codes) {
  const Level &level = description.level;
  unsigned width = description.codes.width();
  if (level.number.isTable())
    return lookup(codes, level.number.table);
  if (!level.number.word.isInteger() && width <= kTableWidth) {
    SmallVector<float> table;
    for (uint32_t code = 0; code < (1u << width); ++code)
      table.push_back(level.decode(code));
    return lookup(codes, table);
  }
  return number(codes, level.number, width);
}

//===----------------------------------------------------------------------===//
// Codes of several elements each
//===----------------------------------------------------------------------===//

/// A run of whole vectors: each is read from the table at once.
Value Emitter::gridOf(const Run &run) {
  Arithmetic a{builder, loc};
  int64_t vector = description.level.vector, count = run.length / vector;
  Value codes =
      lanesOf(description.codes, a.div(run.base, vector), run.align / vector,
              llvm::to_vector(
                  llvm::seq(run.offset / vector, run.offset / vector + count)));
  DenseElementsAttr table = tableOf(builder, description.level.number.table);
  auto type = VectorType::get({run.length}, table.getElementType());
  Value lanes =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t i = 0; i < count; ++i) {
    Value code = vector::ExtractOp::create(builder, loc, codes, i);
    Value index = arith::IndexCastUIOp::create(builder, loc,
                                               builder.getIndexType(), code);
    Value entries =
        tableReader(builder, loc, table, a.mul(index, vector), vector);
    lanes = vector::InsertStridedSliceOp::create(builder, loc, entries, lanes,
                                                 ArrayRef<int64_t>{i * vector},
                                                 ArrayRef<int64_t>{1});
  }
  return asNumbers(a, lanes);
}

Value Emitter::levelsOf(const Run &run) {
  const Level &level = description.level;
  Value value = level.vector > 1 ? gridOf(run) : levels(denseCodes(run));
  return level.signs ? signedLevelsOf(run, value) : value;
}

Value Emitter::levelAt(Value index) {
  Arithmetic a{builder, loc};
  const Level &level = description.level;
  auto asIndex = [&](Value code) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        code);
  };
  Value code = fieldAt(description.codes, a.div(index, level.vector)), value;
  if (level.book)
    value = number(fieldAt(*level.book, asIndex(code)), level.number,
                   level.book->width());
  else if (level.vector > 1)
    value =
        entryAt(level.number.table, a.sum(a.mul(asIndex(code), level.vector),
                                          a.rem(index, level.vector)));
  else
    value = levels(code);
  return level.signs ? signedLevelAt(index, value) : value;
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// The level, or its negative where `word` has `bit`.
Value Emitter::negate(Value level, Value word, Value bit) {
  Arithmetic a{builder, loc};
  Value own = arith::AndIOp::create(builder, loc, word, bit);
  Value isSet = a.cmp(arith::CmpIPredicate::ne, own, 0);
  return a.select(isSet, arith::NegFOp::create(builder, loc, level), level);
}

/// Signs with the last one in place: the XOR of the others.
Value Emitter::withParity(Value word) {
  const Signs &signs = *description.level.signs;
  if (!signs.parity)
    return word;
  Arithmetic a{builder, loc};
  Value folded = word;
  for (int64_t shift = llvm::PowerOf2Ceil(signs.group) / 2; shift; shift /= 2)
    folded = arith::XOrIOp::create(builder, loc, folded, a.shru(folded, shift));
  return a.bitOr(word, a.shl(a.bitAnd(folded, 1), signs.group - 1));
}

Value Emitter::signedLevelsOf(const Run &run, Value level) {
  Arithmetic a{builder, loc};
  const Signs &signs = *description.level.signs;
  int64_t group = signs.group;
  SmallVector<int64_t> words, masks;
  for (int64_t i = run.offset; i < run.offset + run.length; ++i) {
    words.push_back(i / group);
    masks.push_back(int64_t(1) << i % group);
  }
  Value word = withParity(
      lanesOf(signs.bits, a.div(run.base, group), run.align / group, words));
  auto type = cast<VectorType>(word.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto lanes = llvm::map_to_vector(masks, [&](int64_t mask) {
    return APInt(width, mask, /*isSigned=*/false, /*implicitTrunc=*/true);
  });
  Value bit = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<APInt>(lanes)));
  return negate(level, word, bit);
}

Value Emitter::signedLevelAt(Value index, Value level) {
  Arithmetic a{builder, loc};
  const Signs &signs = *description.level.signs;
  Value word = withParity(fieldAt(signs.bits, a.div(index, signs.group)));
  Value position = arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(), a.rem(index, signs.group));
  Value bit =
      arith::ShLIOp::create(builder, loc, a.intConstant(position, 1), position);
  return negate(level, word, bit);
}
