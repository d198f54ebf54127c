//===- DecodeKernel.cpp - decode, for every format -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace grit;
using namespace grit::ir;

/// Elements of a parallel tile: enough that starting one is cheap beside it.
static constexpr int64_t kTileElements = 8192;

namespace {
/// A parallel loop over tiles of the flat array, in each a loop over steps, in
/// each the runs of a step, unrolled.
struct DecodeKernel : OpRewritePattern<DecodeOp> {
  DecodeKernel(MLIRContext *context, int64_t lanes)
      : OpRewritePattern(context, /*benefit=*/2), lanes(lanes) {}

  LogicalResult matchAndRewrite(DecodeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayType array = op.getArray().getType();
    grit::Contract contract = array.getContract().getContract();
    const FormatDescription &description = contract.description();
    auto walk = chooseVectorWalk(rewriter, op, array, lanes);
    if (failed(walk))
      return failure();

    Location loc = op.getLoc();
    Loops loops{rewriter, loc};
    auto planes = PlanesOp::create(rewriter, loc, op.getArray());
    auto geometry = geometryOf(rewriter, loc, array, op.getInit());
    Type element = getElementTypeOrSelf(op.getInit().getType());
    int64_t rank = array.getRank();
    Value flat = mergeDims(rewriter, loc, op.getInit(), rank);
    int64_t tile = llvm::alignTo(kTileElements, walk->step);

    Value result =
        loops.forTiles(flat, tile, [&](Value first, Value count, Value slice) {
          auto step = [&](Value at, ValueRange carried) -> SmallVector<Value> {
            kernelgen::Emitter emitter(rewriter, loc, description,
                                       planes.getResults(), geometry);
            Value base = loops.add(first, at);
            Value out = carried[0];
            for (int64_t offset = 0; offset < walk->step; offset += walk->run) {
              Value value =
                  emitter.values({base, walk->step, offset, walk->run});
              value = convertFloat(rewriter, loc, value, element);
              Value to = loops.add(at, loops.constant(offset));
              out = writeLanes(rewriter, loc, value, out, to);
            }
            return {out};
          };
          return loops
              .forEach(loops.constant(0), count, walk->step, slice, step)
              .front();
        });
    rewriter.replaceOp(op,
                       splitDims(rewriter, loc, result, op.getInit(), rank));
    return success();
  }

  int64_t lanes;
};
} // namespace

void grit::populateDecodeKernel(RewritePatternSet &patterns, int64_t lanes) {
  patterns.add<DecodeKernel>(patterns.getContext(), lanes);
}
