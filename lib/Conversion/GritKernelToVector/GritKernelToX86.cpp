//===- GritKernelToX86.cpp - lane operations as x86 instructions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Binary16.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace grit {
#define GEN_PASS_DEF_GRITKERNELTOX86
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;

/// True when `name` is switched on in an LLVM feature string ("+avx2,-fma").
static bool hasFeature(StringRef features, StringRef name) {
  SmallVector<StringRef> list;
  features.split(list, ',');
  return llvm::any_of(list, [&](StringRef feature) {
    return feature.consume_front("+") && feature == name;
  });
}

namespace {
/// How one register's worth of levels is looked up.
struct Permute {
  int64_t lanes = 0; ///< levels in a register
  StringRef intrinsic;
};

/// A lookup in at most two registers of levels: a permute by code per register
/// and, for two, a choice by the code's high bit.
struct LookupByPermute : OpRewritePattern<kernel::LookupOp> {
  LookupByPermute(MLIRContext *context, Permute permute)
      : OpRewritePattern(context, /*benefit=*/1 + permute.lanes),
        permute(permute) {}

  LogicalResult matchAndRewrite(kernel::LookupOp op,
                                PatternRewriter &rewriter) const override {
    auto table = dyn_cast<DenseElementsAttr>(op.getTable());
    if (!table || table.getNumElements() > 2 * permute.lanes)
      return rewriter.notifyMatchFailure(op, "table does not fit registers");
    Location loc = op.getLoc();
    auto result = cast<VectorType>(op.getLevels().getType());
    int64_t lanes = result.getNumElements();
    if (lanes % permute.lanes != 0)
      return rewriter.notifyMatchFailure(op, "lanes do not fill registers");

    SmallVector<Value> levels = levelRegisters(rewriter, loc, table);
    auto index = VectorType::get({lanes}, rewriter.getI32Type());
    Value codes = arith::ExtUIOp::create(rewriter, loc, index, op.getCodes());
    Value all =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(result));
    for (int64_t at = 0; at < lanes; at += permute.lanes) {
      Value part = codes;
      if (lanes != permute.lanes)
        part = vector::ExtractStridedSliceOp::create(
            rewriter, loc, codes, ArrayRef<int64_t>{at},
            ArrayRef<int64_t>{permute.lanes}, ArrayRef<int64_t>{1});
      Value found = lookUp(rewriter, loc, levels, part);
      all = lanes == permute.lanes
                ? found
                : vector::InsertStridedSliceOp::create(
                      rewriter, loc, found, all, ArrayRef<int64_t>{at},
                      ArrayRef<int64_t>{1})
                      .getResult();
    }
    rewriter.replaceOp(op, all);
    return success();
  }

private:
  /// The table in registers; a short one is repeated to fill its register.
  SmallVector<Value> levelRegisters(OpBuilder &b, Location loc,
                                    DenseElementsAttr table) const {
    SmallVector<APFloat> values(table.getValues<APFloat>());
    auto type = VectorType::get({permute.lanes}, b.getF32Type());
    SmallVector<Value> registers;
    for (size_t at = 0; at < values.size(); at += permute.lanes) {
      SmallVector<APFloat> lanes;
      for (int64_t lane = 0; lane < permute.lanes; ++lane)
        lanes.push_back(values[(at + lane) % values.size()]);
      registers.push_back(arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, lanes)));
    }
    return registers;
  }

  Value lookUp(OpBuilder &b, Location loc, ArrayRef<Value> levels,
               Value codes) const {
    SmallVector<Value> found;
    for (Value level : levels)
      found.push_back(
          LLVM::CallIntrinsicOp::create(b, loc, level.getType(),
                                        b.getStringAttr(permute.intrinsic),
                                        ValueRange{level, codes})
              .getResult(0));
    if (found.size() == 1)
      return found.front();
    Attribute high = b.getI32IntegerAttr(permute.lanes);
    auto type = cast<VectorType>(codes.getType());
    Value bound =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, high));
    Value isHigh =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, codes, bound);
    return arith::SelectOp::create(b, loc, isHigh, found[1], found[0]);
  }

  Permute permute;
};

struct GritKernelToX86Pass
    : grit::impl::GritKernelToX86Base<GritKernelToX86Pass> {
  using GritKernelToX86Base::GritKernelToX86Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateGritKernelToX86Patterns(patterns, features);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void grit::populateGritKernelToX86Patterns(RewritePatternSet &patterns,
                                           StringRef features) {
  MLIRContext *context = patterns.getContext();
  if (hasFeature(features, "avx512f"))
    patterns.add<LookupByPermute>(
        context, Permute{16, "llvm.x86.avx512.permvar.sf.512"});
  if (hasFeature(features, "avx2"))
    patterns.add<LookupByPermute>(context, Permute{8, "llvm.x86.avx2.permps"});
  // AVX512-BF16 has an instruction, but it takes subnormal numbers for zero.
  arith::populateExpandBFloat16Patterns(patterns);
  if (!hasFeature(features, "f16c"))
    populateExpandBinary16Patterns(patterns);
}
