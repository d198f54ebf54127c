//===- VerifyStage.cpp - what may remain after a stage -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinTypes.h"

namespace grit {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

/// An extra rule of a stage: why an operation breaks it, or "".
using Rule = StringRef (*)(Operation *);

static StringRef needsCanonicalPlacements(Operation *op) {
  if (!isa<DecodeOp, MatmulOp>(op))
    return "";
  for (Type type : op->getOperandTypes())
    if (auto array = dyn_cast<ArrayType>(type);
        array && !array.hasCanonicalPlacements())
      return "reads an array outside the canonical placements of its contract";
  return "";
}

namespace {
/// What may remain after a stage. An empty list of dialects allows all of them.
struct Stage {
  StringLiteral name;
  StringLiteral summary;
  SmallVector<StringRef> dialects;
  SmallVector<StringRef> forbiddenOps;
  bool allowsArrays = false;
  bool allowsTensors = false;
  Rule rule = nullptr;
};
} // namespace

/// Operations that every stage below the tensors may use.
static SmallVector<StringRef> with(ArrayRef<StringRef> more) {
  SmallVector<StringRef> dialects{"builtin", "func", "arith", "math",   "scf",
                                  "cf",      "ub",   "index", "affine", "gpu"};
  llvm::append_range(dialects, more);
  return dialects;
}

static ArrayRef<Stage> stages() {
  static const SmallVector<Stage> table{
      {"contracts", "any operation and type", {}, {}, true, true},
      {"kernels",
       "decode and matmul of arrays in canonical placements",
       {},
       {"grit.encode", "grit.relayout", "grit.check", "grit.requantize"},
       true,
       true,
       needsCanonicalPlacements},
      {"planes",
       "tensors and structured operations",
       with({"tensor", "linalg", "bufferization", "memref", "vector",
             "grit_kernel", "omp"}),
       {},
       false,
       true},
      {"lanes",
       "vectors, buffers and loops",
       with({"memref", "vector", "grit_kernel", "omp", "llvm", "nvgpu", "nvvm",
             "x86", "x86vector", "amx"}),
       {},
       false,
       false},
      {"llvm",
       "operations of the LLVM family",
       {"builtin", "llvm", "omp", "nvvm", "gpu"},
       {"builtin.unrealized_conversion_cast"},
       false,
       false},
  };
  return table;
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// Why a type may not remain, or "".
static StringRef reasonAgainst(const Stage &stage, Type type) {
  StringRef reason;
  type.walk([&](Type part) {
    if (!stage.allowsArrays && isa<ArrayType>(part))
      reason = "holds a quantized array";
    else if (!stage.allowsTensors && isa<TensorType>(part))
      reason = "holds a tensor";
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return reason;
}

/// Why an operation may not remain, or "".
static StringRef reasonAgainst(const Stage &stage, Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (!stage.dialects.empty() && !llvm::is_contained(stage.dialects, dialect))
    return "belongs to a dialect of an earlier stage";
  if (llvm::is_contained(stage.forbiddenOps, op->getName().getStringRef()))
    return "should have been lowered";
  auto inTypes = [&](TypeRange types) {
    for (Type type : types)
      if (StringRef reason = reasonAgainst(stage, type); !reason.empty())
        return reason;
    return StringRef();
  };
  if (StringRef reason = inTypes(op->getOperandTypes()); !reason.empty())
    return reason;
  if (StringRef reason = inTypes(op->getResultTypes()); !reason.empty())
    return reason;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (StringRef reason = inTypes(block.getArgumentTypes()); !reason.empty())
        return reason;
  // A signature keeps types that no value has, such as that of a declaration.
  for (NamedAttribute attribute : op->getAttrs())
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
      if (StringRef reason = reasonAgainst(stage, type.getValue());
          !reason.empty())
        return reason;
  return stage.rule ? stage.rule(op) : StringRef();
}

namespace {
struct VerifyStage : grit::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    const auto *stage = llvm::find_if(
        stages(), [&](const Stage &stage) { return stage.name == after; });
    if (stage == stages().end()) {
      auto names = llvm::map_range(
          stages(), [](const Stage &stage) { return StringRef(stage.name); });
      InFlightDiagnostic error = getOperation()->emitError()
                                 << "unknown stage '" << after
                                 << "'; expected one of ";
      llvm::interleaveComma(names, error);
      return signalPassFailure();
    }
    bool clean = true;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      StringRef reason = reasonAgainst(*stage, op);
      if (reason.empty())
        return WalkResult::advance();
      clean = false;
      op->emitError() << "'" << op->getName()
                      << "' may not remain after stage '" << stage->name
                      << "', which leaves " << stage->summary << ": it "
                      << reason;
      // What it holds is wrong for the same reason.
      return WalkResult::skip();
    });
    if (!clean)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
