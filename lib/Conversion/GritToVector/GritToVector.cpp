//===- GritToVector.cpp - operations on arrays to tiled vector kernels -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

namespace grit {
#define GEN_PASS_DEF_GRITTOVECTOR
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;

namespace {
struct GritToVectorPass : grit::impl::GritToVectorBase<GritToVectorPass> {
  using GritToVectorBase::GritToVectorBase;

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(lanes) || lanes > 64) {
      getOperation()->emitError()
          << "lanes must be a power of two up to 64, but got "
          << lanes.getValue();
      return signalPassFailure();
    }
    if (failed(verifyKernels(getOperation())) ||
        failed(prepareEncode(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateGritToVectorPatterns(patterns, lanes);
    // What no lane kernel serves.
    populateGritToLinalgPatterns(patterns);
    populateGritEncodeToLinalgPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<ir::DecodeOp, ir::EncodeOp, ir::MatmulOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void grit::populateGritToVectorPatterns(RewritePatternSet &patterns,
                                        int64_t lanes) {
  populateDecodeKernel(patterns, lanes);
  populateMatmulKernel(patterns, lanes);
}
