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

/// Codes of at most this width are levels by table.
static constexpr unsigned kTableWidth = 4;

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

Value Emitter::codes(const Run &run) {
  return description.sparsity ? sparseCodesOf(run).code : denseCodes(run);
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

Value Emitter::lookup(Value code, ArrayRef<float> table) {
  auto type =
      RankedTensorType::get({int64_t(table.size())}, builder.getF32Type());
  auto elements = DenseElementsAttr::get(type, table);
  if (auto lanes = dyn_cast<VectorType>(code.getType()))
    return kernel::LookupOp::create(
        builder, loc, VectorType::get(lanes.getShape(), builder.getF32Type()),
        code, elements);
  Value constant = arith::ConstantOp::create(builder, loc, elements);
  Value index =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), code);
  return tensor::ExtractOp::create(builder, loc, constant, index);
}

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
// Scales and offsets
//===----------------------------------------------------------------------===//

Value Emitter::groupOf(const Factor &factor, Value index) {
  Arithmetic a{builder, loc};
  if (factor.group == 0)
    return a.index(0);
  if (factor.order == ElementOrder::RowMajor || !geometry)
    return a.div(index, factor.group);
  // index = (outer * A + axis) * I + inner; position = (outer * I + inner) * A
  // + axis.
  Value A = geometry->axisExtent, I = geometry->innerExtent;
  Value inner = arith::RemUIOp::create(builder, loc, index, I);
  Value row = arith::DivUIOp::create(builder, loc, index, I);
  Value axis = arith::RemUIOp::create(builder, loc, row, A);
  Value outer = arith::DivUIOp::create(builder, loc, row, A);
  Value line = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, outer, I), inner);
  Value position = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, line, A), axis);
  return a.div(position, factor.group);
}

Value Emitter::productAt(ArrayRef<Factor> factors, Value index) {
  Value product;
  for (const Factor &factor : factors) {
    Value code = fieldAt(factor.bits, groupOf(factor, index));
    Value value = number(code, factor.number, factor.bits.width());
    product =
        product
            ? arith::MulFOp::create(builder, loc, product, value).getResult()
            : value;
  }
  return product;
}

/// The longest part of the run in which every factor is constant.
static int64_t constantSpan(ArrayRef<Factor> factors, int64_t length,
                            bool lanesCrossGroups) {
  int64_t span = length;
  for (const Factor &factor : factors) {
    if (factor.group == 0)
      continue;
    if (factor.order == ElementOrder::AxisFastest && lanesCrossGroups)
      return 1;
    span = std::min(span, factor.group);
  }
  return span;
}

Value Emitter::productOfRun(ArrayRef<Factor> factors, const Run &run) {
  if (factors.empty())
    return {};
  Arithmetic a{builder, loc};
  int64_t span = constantSpan(factors, run.length, geometry.has_value());
  SmallVector<Value> parts;
  for (int64_t first = 0; first < run.length; first += span)
    parts.push_back(productAt(factors, a.add(run.base, run.offset + first)));
  if (parts.size() == 1)
    return parts.front();
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < run.length; ++lane)
    lanes.push_back(parts[lane / span]);
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({run.length}, builder.getF32Type()), lanes);
}

Value Emitter::scale(const Run &run) {
  return productOfRun(description.scales, run);
}

Value Emitter::offset(const Run &run) {
  return productOfRun(description.offset.factors, run);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The one order of operations: GRIT v1, section 8.
Value Emitter::combine(Value level, Value scale, Value offset,
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
  if (offset && !isZeroPoint)
    value = arith::SubFOp::create(builder, loc, value,
                                  a.broadcastLike(offset, value));
  if (!canonicalNan || !description.canBeNonFinite())
    return value;
  Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  return a.select(isNan, a.f32Constant(value, 0x7FC00000), value);
}

Value Emitter::values(const Run &run, bool canonicalNan) {
  Arithmetic a{builder, loc};
  if (!description.sparsity)
    return combine(levels(denseCodes(run)), scale(run), offset(run),
                   canonicalNan);
  SparseCode sparse = sparseCodesOf(run);
  Value value =
      combine(levels(sparse.code), scale(run), offset(run), canonicalNan);
  return a.select(sparse.keep, value, a.f32Constant(value, 0));
}

Value Emitter::valueAt(Value index, bool canonicalNan) {
  Arithmetic a{builder, loc};
  Value scale = productAt(description.scales, index);
  Value offset = productAt(description.offset.factors, index);
  if (!description.sparsity)
    return combine(levels(fieldAt(description.codes, index)), scale, offset,
                   canonicalNan);
  SparseCode sparse = sparseCodeAt(index);
  Value value = combine(levels(sparse.code), scale, offset, canonicalNan);
  return a.select(sparse.keep, value, a.f32Constant(value, 0));
}
