//===- EncodeUnits.cpp - steps that encode rules share -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

/// Whether all values along the last loop are finite: flags.
static Value allFinite(Scalars s, ArrayRef<OpFoldResult> sizes, Input values) {
  return reduce(s, sizes, 1, values, s.toFlag(s.i1(true)),
                [](Scalars in, ValueRange args) -> SmallVector<Value> {
                  Value finite = in.toFlag(in.isFinite(args[0]));
                  return {in.both(args[1], finite)};
                })
      .front();
}

Value grit::encoding::finiteUnits(Scalars s, const Units &units) {
  return allFinite(s, units.count, Input{units.stored, {0, 1}});
}

void grit::encoding::assertFinite(Scalars s, const Units &units) {
  Value finite = allFinite(s, {}, Input{units.all, {0}});
  Value flag = tensor::ExtractOp::create(s.b, s.loc, finite, ValueRange());
  cf::AssertOp::create(
      s.b, s.loc, s.isSet(flag),
      "GradeUnknown: grit.encode: this contract has no code for a value that "
      "is not finite");
}

Value grit::encoding::absMax(Scalars s, const Units &units) {
  return reduce(s, units.count, 1, Input{units.stored, {0, 1}}, s.f32(0),
                [](Scalars in, ValueRange args) -> SmallVector<Value> {
                  Value a = in.abs(args[0]);
                  return {in.select(in.greater(a, args[1]), a, args[1])};
                })
      .front();
}

SmallVector<Value> grit::encoding::perUnit(Scalars s, const Units &units,
                                           ArrayRef<Value> lists,
                                           ArrayRef<Type> elements, Body body) {
  SmallVector<Input> inputs;
  for (Value list : lists)
    inputs.push_back({list, {0}});
  return compute(s, units.count, inputs, elements, body);
}

Value grit::encoding::perElement(Scalars s, const Units &units,
                                 ArrayRef<Value> lists, Body body) {
  SmallVector<Input> inputs{{units.stored, {0, 1}}};
  for (Value list : lists)
    inputs.push_back({list, {0}});
  SmallVector<OpFoldResult> sizes{units.count, s.b.getIndexAttr(units.size)};
  return toList(
      s, compute(s, sizes, inputs, Type(s.b.getI32Type()), body).front());
}
