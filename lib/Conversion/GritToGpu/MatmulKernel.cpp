//===- MatmulKernel.cpp - matmul on a device, for every format -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plain kernel: correct for every format, shape and element type. One
// thread computes one element of the result.
//
//===----------------------------------------------------------------------===//

#include "DeviceKernel.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace grit;
using namespace grit::ir;

/// Lanes that a thread decodes and multiplies at a time.
static constexpr int64_t kLanes = 8;

namespace {
/// The sum over k, carried in lanes when any order will do and in one number,
/// rounded after every product and every sum, when the order is fixed.
class Sum {
public:
  Sum(OpBuilder &b, Location loc, bool inLanes, int64_t lanes)
      : b(b), loc(loc), inLanes(inLanes), lanes(lanes) {}

  /// The start, for a destination that holds `old` (f32).
  Value start(Value old) {
    if (!inLanes)
      return old;
    auto type = VectorType::get({lanes}, b.getF32Type());
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  Value add(Value sum, Value weight, Value activation) {
    if (inLanes)
      return kernel::DotOp::create(b, loc, sum.getType(), weight, activation,
                                   sum, /*fused=*/true);
    Value products = arith::MulFOp::create(b, loc, weight, activation);
    for (int64_t lane = 0; lane < lanes; ++lane)
      sum = arith::AddFOp::create(
          b, loc, sum, vector::ExtractOp::create(b, loc, products, lane));
    return sum;
  }
  Value finish(Value sum, Value old) {
    if (!inLanes)
      return sum;
    Value total =
        vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, sum);
    return arith::AddFOp::create(b, loc, old, total);
  }

private:
  OpBuilder &b;
  Location loc;
  bool inLanes;
  int64_t lanes;
};
} // namespace

/// matmul(planes..., x, y, M, N, K): y[m, n] += sum over k of x[m, k] * w[n,
/// k].
gpu::GPUFuncOp grit::emitMatmulKernel(gpu::GPUModuleOp module, StringRef name,
                                      MatmulOp op) {
  Location loc = op.getLoc();
  ArrayType weightType = op.getWeight().getType();
  grit::Contract contract = weightType.getContract().getContract();
  const FormatDescription &description = contract.description();
  Type xType = getElementTypeOrSelf(op.getInput().getType());
  Type yType = getElementTypeOrSelf(op.getInit().getType());
  DeviceKernel kernel(module, loc, name, description, {xType, yType}, 3);
  OpBuilder &b = kernel.b;
  Loops &loops = kernel.loops;
  Type f32 = b.getF32Type();
  int64_t multiple = deviceRowMultiple(weightType);
  ThreadWalk walk = ThreadWalk::choose(description, kLanes, multiple);
  Value rows = kernel.extent(0), columns = kernel.extent(1);
  // The contraction holds whole groups; said this way, the alignment of every
  // address of a row follows.
  Value k = loops.mul(b.createOrFold<arith::DivUIOp>(loc, kernel.extent(2),
                                                     loops.constant(multiple)),
                      loops.constant(multiple));
  Value stepSize = loops.constant(walk.walk.step);
  Value steps = b.createOrFold<arith::DivUIOp>(loc, k, stepSize);
  SmallVector<Value> planes = kernel.planes(loops.mul(columns, k));
  Value results = loops.mul(rows, columns);
  Value x = kernel.buffer(0, loops.mul(rows, k));
  Value y = kernel.buffer(1, results);
  Sum sum(b, loc, op.getRequestedAccum().allowsAnyOrder(), walk.walk.run);

  kernel.forEachThread(results, [&](Value index) {
    Value row = arith::DivUIOp::create(b, loc, index, columns);
    Value column = arith::RemUIOp::create(b, loc, index, columns);
    Value xBase = loops.mul(row, k), wBase = loops.mul(column, k);
    Value old = memref::LoadOp::create(b, loc, y, index);
    old = convertFloat(b, loc, old, f32);
    auto step = [&](Value number, ValueRange carried) -> SmallVector<Value> {
      Value at = loops.mul(number, stepSize);
      kernelgen::Emitter emitter =
          kernel.emitter(planes, kernelgen::Geometry{k, Value(), k});
      Value total = carried[0];
      for (int64_t offset = 0; offset < walk.walk.step;
           offset += walk.walk.run) {
        Value weight =
            kernel.values(emitter, walk, loops.add(wBase, at), offset,
                          /*canonicalNan=*/false, column);
        Value first = loops.add(at, loops.constant(offset));
        Value activation =
            loadLanes(b, loc, x, loops.add(xBase, first), walk.walk.run);
        total = sum.add(total, weight, convertFloat(b, loc, activation, f32));
      }
      return {total};
    };
    Value total =
        loops.forEach(loops.constant(0), steps, 1, sum.start(old), step)
            .front();
    Value value = convertFloat(b, loc, sum.finish(total, old), yType);
    memref::StoreOp::create(b, loc, value, y, index);
  });
  return kernel.function();
}
