//===- Factors.cpp - groups of elements and their numbers -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/KernelGen/Arithmetic.h"
#include "grit/KernelGen/KernelGen.h"

using namespace mlir;
using namespace grit;
using namespace grit::kernelgen;

bool grit::kernelgen::needsExtents(const FormatDescription &description) {
  if (description.order)
    return true;
  auto needs = [](const Factor &factor) {
    return factor.group == kWholeAxis || factor.order == ElementOrder::Block;
  };
  return llvm::any_of(description.scales, needs) ||
         llvm::any_of(description.offset.factors, needs);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The number of the line of the last dimension that holds an element.
Value Emitter::lineOf(Value index, Value line) {
  return line ? line
              : builder.createOrFold<arith::DivUIOp>(loc, index,
                                                     geometry->columns);
}

/// The block of the last two dimensions that holds an element; blocks at the
/// edges count as whole ones.
Value Emitter::blockOf(const Factor &factor, Value index, Value line) {
  Arithmetic a{builder, loc};
  auto ceilDiv = [&](Value extent, int64_t by) {
    return a.div(a.add(extent, by - 1), by);
  };
  auto times = [&](Value x, Value y) {
    return builder.createOrFold<arith::MulIOp>(loc, x, y);
  };
  Value row = lineOf(index, line);
  Value column = builder.createOrFold<arith::SubIOp>(
      loc, index, times(row, geometry->columns));
  Value down = a.div(row, factor.rows);
  if (geometry->rows) {
    Value matrix = arith::DivUIOp::create(builder, loc, row, geometry->rows);
    Value rest = arith::RemUIOp::create(builder, loc, row, geometry->rows);
    down = a.sum(times(matrix, ceilDiv(geometry->rows, factor.rows)),
                 a.div(rest, factor.rows));
  }
  return a.sum(times(down, ceilDiv(geometry->columns, factor.group)),
               a.div(column, factor.group));
}

/// The group that the array states for the position of an element in its line.
/// One that does not exist is taken for the last, so that no read leaves the
/// plane; a check at level 2 refuses it.
Value Emitter::statedGroupOf(const Factor &factor, Value index, Value line) {
  Arithmetic a{builder, loc};
  auto times = [&](Value x, Value y) {
    return builder.createOrFold<arith::MulIOp>(loc, x, y);
  };
  Value row = lineOf(index, line);
  Value position = builder.createOrFold<arith::SubIOp>(
      loc, index, times(row, geometry->columns));
  Value groups = a.div(geometry->columns, factor.group);
  Value stated =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                   fieldAt(*description.order, position));
  Value last = builder.createOrFold<arith::SubIOp>(loc, groups, a.index(1));
  stated = arith::MinUIOp::create(builder, loc, stated, last);
  return a.sum(times(row, groups), stated);
}

Value Emitter::groupOf(const Factor &factor, Value index, Value line) {
  Arithmetic a{builder, loc};
  if (factor.group == 0)
    return a.index(0);
  if (description.order && factor.group != kWholeAxis)
    return statedGroupOf(factor, index, line);
  if (factor.order == ElementOrder::Block)
    return blockOf(factor, index, line);
  bool axisIsLast = !geometry || !geometry->innerExtent;
  bool wholeAxis = factor.group == kWholeAxis;
  if (wholeAxis && axisIsLast)
    return lineOf(index, line);
  if (factor.order == ElementOrder::RowMajor || axisIsLast)
    return a.div(index, factor.group);
  // index = (outer * A + axis) * I + inner; position = (outer * I + inner) * A
  // + axis.
  Value A = geometry->axisExtent, I = geometry->innerExtent;
  Value inner = arith::RemUIOp::create(builder, loc, index, I);
  Value row = arith::DivUIOp::create(builder, loc, index, I);
  Value axis = arith::RemUIOp::create(builder, loc, row, A);
  Value outer = arith::DivUIOp::create(builder, loc, row, A);
  Value axisLine = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, outer, I), inner);
  if (wholeAxis)
    return axisLine;
  Value position = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, axisLine, A), axis);
  return a.div(position, factor.group);
}

//===----------------------------------------------------------------------===//
// Numbers of groups
//===----------------------------------------------------------------------===//

Emitter::Factors Emitter::factorsBefore() const {
  Factors result;
  for (const Factor &factor : description.scales)
    if (!factor.afterLevel)
      result.push_back(&factor);
  return result;
}

Emitter::Factors Emitter::factorsAfter() const {
  Factors result;
  for (const Factor &factor : description.scales)
    if (factor.afterLevel)
      result.push_back(&factor);
  return result;
}

Emitter::Factors Emitter::offsetFactors() const {
  Factors result;
  for (const Factor &factor : description.offset.factors)
    result.push_back(&factor);
  return result;
}

/// One step of a chain, rounded like any operation on binary32.
Value Emitter::join(const Factor &factor, Value value, Value other) {
  switch (factor.op) {
  case FactorOp::Multiply:
    return arith::MulFOp::create(builder, loc, value, other);
  case FactorOp::Divide:
    return arith::DivFOp::create(builder, loc, value, other);
  case FactorOp::Add:
    return arith::AddFOp::create(builder, loc, value, other);
  }
  llvm_unreachable("unknown factor operation");
}

Value Emitter::joinedAt(ArrayRef<const Factor *> factors, Value index,
                        Value line) {
  Value joined;
  for (const Factor *factor : factors) {
    Value code = fieldAt(factor->bits, groupOf(*factor, index, line));
    Value value = number(code, factor->number, factor->bits.width());
    joined = joined ? join(*factor, joined, value) : value;
  }
  return joined;
}

/// The longest part of a run in which every factor is constant.
static int64_t constantSpan(ArrayRef<const Factor *> factors, int64_t length,
                            bool lanesCrossGroups, bool hasOrder) {
  int64_t span = length;
  for (const Factor *factor : factors) {
    if (factor->group == 0)
      continue;
    if (hasOrder && factor->group != kWholeAxis)
      return 1;
    if (factor->order == ElementOrder::AxisFastest && lanesCrossGroups)
      return 1;
    if (factor->group != kWholeAxis)
      span = std::min(span, factor->group);
  }
  return span;
}

/// The factors of a run, joined: f32 where they are constant in it, else lanes.
Value Emitter::joinedOf(ArrayRef<const Factor *> factors, const Run &run) {
  if (factors.empty())
    return {};
  Arithmetic a{builder, loc};
  bool lanesCrossGroups = geometry && geometry->innerExtent;
  int64_t span = constantSpan(factors, run.length, lanesCrossGroups,
                              description.order.has_value());
  SmallVector<Value> parts;
  for (int64_t first = 0; first < run.length; first += span)
    parts.push_back(
        joinedAt(factors, a.add(run.base, run.offset + first), run.line));
  if (parts.size() == 1)
    return parts.front();
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < run.length; ++lane)
    lanes.push_back(parts[lane / span]);
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({run.length}, builder.getF32Type()), lanes);
}
