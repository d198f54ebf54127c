//===- DecodeKernel.cpp - decode on a device, for every format -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceKernel.h"

using namespace mlir;
using namespace grit;
using namespace grit::ir;

/// Runs as long as one store.
static ThreadWalk threadWalk(DecodeOp op) {
  ArrayType array = op.getArray().getType();
  grit::Contract contract = array.getContract().getContract();
  Type element = getElementTypeOrSelf(op.getInit().getType());
  return ThreadWalk::choose(contract.description(),
                            8 * kAccessBytes / element.getIntOrFloatBitWidth(),
                            deviceRowMultiple(array));
}

int64_t grit::decodeStep(DecodeOp op) { return threadWalk(op).walk.step; }

/// decode(planes..., out, elements[, axis extent, inner extent][, columns,
/// rows]): one thread per step of the flat array.
gpu::GPUFuncOp grit::emitDecodeKernel(gpu::GPUModuleOp module, StringRef name,
                                      DecodeOp op) {
  ArrayType array = op.getArray().getType();
  grit::Contract contract = array.getContract().getContract();
  Type element = getElementTypeOrSelf(op.getInit().getType());
  bool isLastAxis = array.getAxis() == array.getRank() - 1;
  bool hasLines = kernelgen::needsExtents(contract.description());
  DeviceKernel kernel(module, op.getLoc(), name, contract.description(),
                      element, 1 + (isLastAxis ? 0 : 2) + (hasLines ? 2 : 0));
  OpBuilder &b = kernel.b;
  Loops &loops = kernel.loops;
  ThreadWalk walk = threadWalk(op);
  Value elements = kernel.extent(0);
  SmallVector<Value> planes = kernel.planes(elements);
  Value out = kernel.buffer(0, elements);
  std::optional<kernelgen::Geometry> geometry;
  if (!isLastAxis)
    geometry = {kernel.extent(1), kernel.extent(2)};
  if (hasLines) {
    unsigned next = isLastAxis ? 1 : 3;
    if (!geometry)
      geometry = {kernel.extent(next)};
    geometry->columns = kernel.extent(next);
    geometry->rows = kernel.extent(next + 1);
  }

  Value step = loops.constant(walk.walk.step);
  Value steps = b.createOrFold<arith::DivUIOp>(op.getLoc(), elements, step);
  kernel.forEachThread(steps, [&](Value index) {
    kernelgen::Emitter emitter = kernel.emitter(planes, geometry);
    Value base = loops.mul(index, step);
    for (int64_t at = 0; at < walk.walk.step; at += walk.walk.run) {
      Value lanes =
          kernel.values(emitter, walk, base, at, /*canonicalNan=*/true);
      lanes = convertFloat(b, op.getLoc(), lanes, element);
      storeLanes(b, op.getLoc(), lanes, out,
                 loops.add(base, loops.constant(at)));
    }
  });
  return kernel.function();
}
