//===- Values.cpp - codes, levels, S, Z and values -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/GritKernel/GritKernel.h"
#include "grit/KernelGen/Arithmetic.h"
#include "grit/KernelGen/KernelGen.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace grit;
using namespace grit::kernelgen;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> consecutive(int64_t first, int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(first, first + count));
}

Value Emitter::denseCodes(const Run &run) {
  return lanesOf(description.codes, run.base, run.align,
                 consecutive(run.offset, run.length));
}

/// Position t of a run of m is kept when an index names it; its code is the one
/// of its rank among the kept ones, so indices may come in any order.
Emitter::SparseCode Emitter::sparseCodesOf(const Run &run) {
  Arithmetic a{builder, loc};
  const Sparsity &sparsity = *description.sparsity;
  int64_t n = sparsity.n, m = sparsity.m;
  Value base = a.mul(a.div(run.base, m), n);
  int64_t align = run.align / m * n;
  auto slots = [&](int64_t slot) {
    return llvm::map_to_vector(
        consecutive(run.offset, run.length),
        [&](int64_t element) { return element / m * n + slot; });
  };
  SmallVector<int8_t> places;
  for (int64_t i = 0; i < run.length; ++i)
    places.push_back((run.offset + i) % m);
  auto type = VectorType::get({run.length}, builder.getI8Type());
  Value place = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int8_t>(places)));

  Value keep, rank = a.intConstant(place, 0), code;
  SmallVector<Value> candidates;
  for (int64_t slot = 0; slot < n; ++slot) {
    Value index = lanesOf(sparsity.indices, base, align, slots(slot));
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       index, place);
    keep = keep ? arith::OrIOp::create(builder, loc, keep, same) : same;
    Value before = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, index, place);
    Value one = arith::ExtUIOp::create(builder, loc, type, before);
    rank = arith::AddIOp::create(builder, loc, rank, one);
    candidates.push_back(lanesOf(description.codes, base, align, slots(slot)));
  }
  for (auto [slot, candidate] : llvm::enumerate(candidates))
    code = code ? a.select(a.cmp(arith::CmpIPredicate::eq, rank, slot),
                           candidate, code)
                : candidate;
  return {keep, code};
}

Emitter::SparseCode Emitter::sparseCodeAt(Value index) {
  Arithmetic a{builder, loc};
  const Sparsity &sparsity = *description.sparsity;
  Value first = a.mul(a.div(index, sparsity.m), sparsity.n);
  Value place = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                           a.rem(index, sparsity.m));
  Value keep, rank = a.intConstant(place, 0);
  for (unsigned slot = 0; slot < sparsity.n; ++slot) {
    Value position = fieldAt(sparsity.indices, a.add(first, slot));
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       position, place);
    keep = keep ? arith::OrIOp::create(builder, loc, keep, same) : same;
    Value before = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, position, place);
    rank = arith::AddIOp::create(
        builder, loc, rank,
        arith::ExtUIOp::create(builder, loc, builder.getI32Type(), before));
  }
  // A position that is not kept may have rank n: read some stored code instead.
  rank = arith::MinUIOp::create(builder, loc, rank,
                                a.intConstant(rank, sparsity.n - 1));
  Value ordinal = arith::AddIOp::create(
      builder, loc, first,
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), rank));
  return {keep, fieldAt(description.codes, ordinal)};
}

Value Emitter::fullRuns(Value first, int64_t runs) {
  Arithmetic a{builder, loc};
  const Sparsity &sparsity = *description.sparsity;
  Value base = a.mul(first, sparsity.n);
  auto indicesAt = [&](unsigned slot) {
    if (runs == 1)
      return fieldAt(sparsity.indices, a.add(base, slot));
    SmallVector<int64_t> slots =
        llvm::map_to_vector(consecutive(0, runs), [&](int64_t run) {
          return run * sparsity.n + slot;
        });
    return lanesOf(sparsity.indices, base, runs * sparsity.n, slots);
  };
  Value full;
  auto require = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
    full = full ? arith::AndIOp::create(builder, loc, full, holds) : holds;
  };
  SmallVector<Value> indices;
  for (unsigned slot = 0; slot < sparsity.n; ++slot) {
    Value current = indicesAt(slot);
    if (!sparsity.ascending)
      for (Value other : indices)
        require(arith::CmpIPredicate::ne, current, other);
    else if (slot)
      require(arith::CmpIPredicate::ugt, current, indices.back());
    if (!sparsity.ascending || slot + 1 == sparsity.n)
      require(arith::CmpIPredicate::ult, current,
              a.intConstant(current, sparsity.m));
    indices.push_back(current);
  }
  return full;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The one order of operations: GRIT v1, section 8.
Value Emitter::combine(Value level, Value scale, Value offset,
                       function_ref<Value(const Factor *)> factorOf,
                       bool canonicalNan) {
  Arithmetic a{builder, loc};
  bool isZeroPoint = description.offset.kind == Offset::Kind::ZeroPoint;
  Value value = level;
  if (offset && isZeroPoint)
    value = arith::SubFOp::create(builder, loc, value,
                                  a.broadcastLike(offset, value));
  if (scale)
    value = arith::MulFOp::create(builder, loc, a.broadcastLike(scale, value),
                                  value);
  for (const Factor *factor : factorsAfter())
    value = join(*factor, value, a.broadcastLike(factorOf(factor), value));
  if (offset && !isZeroPoint)
    value = arith::SubFOp::create(builder, loc, value,
                                  a.broadcastLike(offset, value));
  // A number that nothing scales is an integer that was converted: without an
  // operation behind it, MLIR would convert it to a narrow result directly,
  // which rounds once where the contract rounds twice.
  bool isBare = description.scales.empty() && !offset;
  if (!canonicalNan || !(description.canBeNonFinite() || isBare))
    return value;
  Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  return a.select(isNan, a.f32Constant(value, 0x7FC00000), value);
}

Value Emitter::values(const Run &run, bool canonicalNan) {
  Arithmetic a{builder, loc};
  Value scale = joinedOf(factorsBefore(), run);
  Value offset = joinedOf(offsetFactors(), run);
  auto factorOf = [&](const Factor *factor) { return joinedOf(factor, run); };
  if (!description.sparsity)
    return combine(levelsOf(run), scale, offset, factorOf, canonicalNan);
  SparseCode sparse = sparseCodesOf(run);
  Value value =
      combine(levels(sparse.code), scale, offset, factorOf, canonicalNan);
  return a.select(sparse.keep, value, a.f32Constant(value, 0));
}

Value Emitter::valueAt(Value index, bool canonicalNan) {
  Arithmetic a{builder, loc};
  Value scale = joinedAt(factorsBefore(), index);
  Value offset = joinedAt(offsetFactors(), index);
  auto factorOf = [&](const Factor *factor) { return joinedAt(factor, index); };
  if (!description.sparsity)
    return combine(levelAt(index), scale, offset, factorOf, canonicalNan);
  SparseCode sparse = sparseCodeAt(index);
  Value value =
      combine(levels(sparse.code), scale, offset, factorOf, canonicalNan);
  return a.select(sparse.keep, value, a.f32Constant(value, 0));
}
