//===- PlacementOps.cpp - operations on placements and boundaries -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpVerifiers.h"
#include "grit/Format/Layout.h"
#include "grit/Format/Supersedes.h"
#include "mlir/IR/PatternMatch.h"

using namespace grit::ir;
using namespace mlir;

/// The placement words of an array, by role.
static std::array<grit::Placement, 3> wordsOf(ArrayType array) {
  grit::Placements words = array.getPlacements();
  return {words.data, words.scale, words.meta};
}

static constexpr std::array<grit::PlaneRole, 3> kRoles = {
    grit::PlaneRole::Data, grit::PlaneRole::Scale, grit::PlaneRole::Meta};

/// Operations on where bytes lie keep everything else.
static LogicalResult verifyKeepsArray(Operation *op, ArrayType from,
                                      ArrayType to) {
  if (from.getShape() == to.getShape() &&
      from.getContract() == to.getContract() && from.getAxis() == to.getAxis())
    return success();
  return op->emitOpError() << "may change placements only, but goes from "
                           << from << " to " << to;
}

//===----------------------------------------------------------------------===//
// relayout
//===----------------------------------------------------------------------===//

/// Whether both words have a map, so that one leads to the other (L3, P17).
static LogicalResult verifyMaps(Operation *op, grit::PlaneRole role,
                                grit::Placement source,
                                grit::Placement target) {
  for (grit::Placement end : {source, target}) {
    if (end.isOpaque() || end.isUnspecified())
      return op->emitOpError()
             << grit::roleName(role) << " placement cannot go from "
             << source.specName() << " to " << target.specName()
             << ": there is no map for an opaque or unspecified placement";
    if (auto layout = grit::resolvePlacement(end); !layout)
      return refuse(op, layout.error());
  }
  return success();
}

LogicalResult RelayoutOp::verify() {
  ArrayType from = getArray().getType(), to = getResult().getType();
  if (failed(verifyKeepsArray(*this, from, to)) ||
      failed(verifyAssumed(*this, from.getAssumed(), to)))
    return failure();
  for (auto [role, source, target] :
       llvm::zip_equal(kRoles, wordsOf(from), wordsOf(to)))
    // Equal words that are no hashes need no map (P20).
    if ((!(source == target) || source.isExpression()) &&
        failed(verifyMaps(*this, role, source, target)))
      return failure();
  return success();
}

OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  if (getArray().getType() == getType())
    return getArray();
  return {};
}

namespace {
/// relayout(relayout(x)) is one relayout (law L2).
struct ComposeRelayouts : OpRewritePattern<RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RelayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getArray().getDefiningOp<RelayoutOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a relayout");
    rewriter.replaceOpWithNewOp<RelayoutOp>(op, op.getType(), inner.getArray());
    return success();
  }
};
} // namespace

void RelayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<ComposeRelayouts>(context);
}

//===----------------------------------------------------------------------===//
// assume_placement, verify_placement
//===----------------------------------------------------------------------===//

LogicalResult AssumePlacementOp::verify() {
  ArrayType from = getArray().getType(), to = getResult().getType();
  if (failed(verifyKeepsArray(*this, from, to)))
    return failure();
  if (auto reason = grit::AssumptionReason::check(getReason()); !reason)
    return refuse(*this, reason.error());
  grit::Assumptions required = from.getAssumed();
  for (auto [role, source, target] :
       llvm::zip_equal(kRoles, wordsOf(from), wordsOf(to)))
    if (!(source == target))
      required.add(role);
  if (required.empty())
    return emitOpError() << "assumes nothing: no placement changes from "
                         << from << " to " << to;
  return verifyAssumed(*this, required, to);
}

LogicalResult VerifyPlacementOp::verify() {
  ArrayType from = getArray().getType(), to = getResult().getType();
  ArrayType reference = getReference().getType();
  if (from.withAssumed({}) != to.withAssumed({}))
    return emitOpError() << "may only lift assumptions, but goes from " << from
                         << " to " << to;
  if (failed(verifyKeepsArray(*this, reference, from)))
    return failure();
  grit::Assumptions verified = getVerified();
  if (verified.empty() || (to.getAssumedRoles() & ~from.getAssumedRoles()))
    return emitOpError() << "must lift at least one assumption and add none, "
                            "but goes from "
                         << from << " to " << to;
  for (auto [role, source, target] :
       llvm::zip_equal(kRoles, wordsOf(from), wordsOf(reference))) {
    if (!verified.contains(role))
      continue;
    if (reference.getAssumed().contains(role))
      return emitOpError() << "reference must not assume what it is to prove: "
                           << reference;
    if (failed(verifyMaps(*this, role, source, target)))
      return failure();
  }
  return success();
}

grit::Assumptions VerifyPlacementOp::getVerified() {
  return grit::Assumptions::fromBits(getArray().getType().getAssumedRoles() &
                                     ~getType().getAssumedRoles());
}

//===----------------------------------------------------------------------===//
// reinterpret
//===----------------------------------------------------------------------===//

LogicalResult ReinterpretOp::verify() {
  ArrayType from = getArray().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() || from.getAxis() != to.getAxis() ||
      from.getPlacements() != to.getPlacements())
    return emitOpError() << "may change the contract only, but goes from "
                         << from << " to " << to;
  if (failed(verifyAssumed(*this, from.getAssumed(), to)))
    return failure();
  grit::Contract source = from.getContract().getContract();
  grit::Contract target = to.getContract().getContract();
  bool readTheSame = source.isGrade() && target.isGrade()
                         ? grit::equivalent(*source.grade(), *target.grade(),
                                            grit::EdgeScope::Decode)
                         : from.getContract() == to.getContract();
  if (readTheSame)
    return success();
  InFlightDiagnostic diagnostic = emitOpError()
                                  << "no supersedes edge says that bytes of "
                                  << from.getContract() << " may be read as "
                                  << to.getContract();
  diagnostic.attachNote() << "fix: use grit.requantize, which writes new bytes";
  return diagnostic;
}

OpFoldResult ReinterpretOp::fold(FoldAdaptor) {
  if (getArray().getType() == getType())
    return getArray();
  return {};
}

//===----------------------------------------------------------------------===//
// check
//===----------------------------------------------------------------------===//

Value grit::ir::sourceOfPlanes(Value array) {
  while (Operation *op = array.getDefiningOp()) {
    if (!isa<RelayoutOp, CheckOp, AssumePlacementOp, VerifyPlacementOp,
             ReinterpretOp>(op))
      break;
    array = op->getOperand(0);
  }
  return array;
}

namespace {
/// True when sizes of the array are known at run time only.
static bool hasUnprovedSizes(Value array) {
  if (!cast<ArrayType>(array.getType()).hasStaticShape())
    return true;
  // The type of a bundle states sizes that its planes need not have.
  auto bundle = sourceOfPlanes(array).getDefiningOp<BundleOp>();
  return bundle && llvm::any_of(bundle.getPlanes().getTypes(), [](Type plane) {
           return !cast<RankedTensorType>(plane).hasStaticShape();
         });
}

/// A check that has nothing left to prove is its operand.
struct EraseProvedCheck : OpRewritePattern<CheckOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CheckOp op,
                                PatternRewriter &rewriter) const override {
    const grit::FormatDescription description =
        op.getArray().getType().getContract().getContract().description();
    bool ordered = description.sparsity && description.sparsity->ascending;
    if ((op.getLevel() >= 2 && ordered) ||
        (op.getLevel() >= 1 && hasUnprovedSizes(op.getArray())))
      return rewriter.notifyMatchFailure(op, "something is left to check");
    rewriter.replaceOp(op, op.getArray());
    return success();
  }
};
} // namespace

void CheckOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<EraseProvedCheck>(context);
}
