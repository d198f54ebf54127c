//===- Common.cpp - what the conversions of grit operations share -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace grit;
using namespace grit::ir;

static LogicalResult verifyContract(Operation *op, ArrayType array) {
  grit::Contract contract = array.getContract().getContract();
  auto error = kernelgen::whyNotEmitted(contract.description());
  if (!error)
    return success();
  describeError(op->emitOpError(), *error);
  return failure();
}

static LogicalResult verifyAccumulation(MatmulOp op) {
  AccumAttr accum = op.getRequestedAccum();
  if (accum.isBinary32() && accum.getAn() != "ftz")
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError() << "requested accumulation " << accum
                       << "; kernels offer binary32 sums that preserve "
                          "subnormals";
  diagnostic.attachNote()
      << "fix: relax ap, ab and ai to binary32 and an to any";
  return diagnostic;
}

LogicalResult grit::verifyKernels(Operation *root) {
  bool served = true;
  root->walk([&](Operation *op) {
    if (auto decode = dyn_cast<DecodeOp>(op))
      served &= succeeded(verifyContract(op, decode.getArray().getType()));
    if (auto matmul = dyn_cast<MatmulOp>(op))
      served &= succeeded(verifyContract(op, matmul.getWeight().getType())) &&
                succeeded(verifyAccumulation(matmul));
  });
  return success(served);
}
