//===- ExpandArrays.cpp - arrays become their byte planes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Dialect/Grit/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace grit {
#define GEN_PASS_DEF_EXPANDARRAYS
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The expansion of a type
//===----------------------------------------------------------------------===//

/// The planes of an expanded array.
static ValueRange planesOf(ArrayType type, ValueRange expanded) {
  return expanded.drop_back(type.getNumDynamicDims());
}

/// The dynamic extents of an expanded array.
static ValueRange sizesOf(ArrayType type, ValueRange expanded) {
  return expanded.take_back(type.getNumDynamicDims());
}

void grit::populateArrayTypeConversion(TypeConverter &converter) {
  converter.addConversion([](ArrayType type,
                             SmallVectorImpl<Type> &types) -> LogicalResult {
    llvm::append_range(types, type.getPlaneTypes());
    types.append(type.getNumDynamicDims(), IndexType::get(type.getContext()));
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct ExpandBundle : OpConversionPattern<BundleOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(BundleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> expanded;
    for (auto [plane, type] : llvm::zip_equal(
             adaptor.getPlanes(), op.getResult().getType().getPlaneTypes()))
      expanded.push_back(
          plane.getType() == type
              ? plane
              : tensor::CastOp::create(rewriter, op.getLoc(), type, plane));
    llvm::append_range(expanded, adaptor.getSizes());
    rewriter.replaceOpWithMultiple(op, {expanded});
    return success();
  }
};

struct ExpandPlanes : OpConversionPattern<PlanesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PlanesOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       planesOf(op.getArray().getType(), adaptor.getArray()));
    return success();
  }
};

struct ExpandDim : OpConversionPattern<DimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayType type = op.getArray().getType();
    int64_t extent = type.getShape()[op.getDim()];
    if (!ShapedType::isDynamic(extent)) {
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, extent);
      return success();
    }
    unsigned before = llvm::count_if(type.getShape().take_front(op.getDim()),
                                     ShapedType::isDynamic);
    rewriter.replaceOp(op, sizesOf(type, adaptor.getArray())[before]);
    return success();
  }
};

struct ExpandConstant : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> expanded;
    for (Attribute plane : op.getPlanes())
      expanded.push_back(arith::ConstantOp::create(rewriter, op.getLoc(),
                                                   cast<TypedAttr>(plane)));
    rewriter.replaceOpWithMultiple(op, {expanded});
    return success();
  }
};

/// What says something about an array without touching it is the array.
template <typename OpTy> struct ExpandStatement : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  LogicalResult
  matchAndRewrite(OpTy op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getArray()});
    return success();
  }
};

/// A choice between arrays chooses every plane and every extent.
struct ExpandSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> chosen;
    for (auto [one, other] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      chosen.push_back(arith::SelectOp::create(rewriter, op.getLoc(),
                                               op.getCondition(), one, other));
    rewriter.replaceOpWithMultiple(op, {chosen});
    return success();
  }
};

/// The attributes of an argument (or result) go to every value that it becomes;
/// upstream's conversion of signatures leaves their number unchanged.
class ExpandFunction : public OpConversionPattern<func::FuncOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(func::FuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion arguments(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(
            typeConverter->convertSignatureArgs(type.getInputs(), arguments)) ||
        failed(typeConverter->convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, "signature does not convert");
    ArrayAttr argAttrs = repeat(op.getArgAttrsAttr(), type.getInputs());
    ArrayAttr resAttrs = repeat(op.getResAttrsAttr(), type.getResults());
    if (!op.isExternal() && failed(rewriter.convertRegionTypes(
                                &op.getBody(), *typeConverter, &arguments)))
      return rewriter.notifyMatchFailure(op, "body does not convert");
    rewriter.modifyOpInPlace(op, [&] {
      op.setType(
          rewriter.getFunctionType(arguments.getConvertedTypes(), results));
      if (argAttrs)
        op.setArgAttrsAttr(argAttrs);
      if (resAttrs)
        op.setResAttrsAttr(resAttrs);
    });
    return success();
  }

private:
  ArrayAttr repeat(ArrayAttr attrs, TypeRange types) const {
    if (!attrs)
      return {};
    SmallVector<Attribute> repeated;
    for (auto [attr, type] : llvm::zip_equal(attrs, types)) {
      SmallVector<Type> expanded;
      if (succeeded(typeConverter->convertType(type, expanded)))
        repeated.append(expanded.size(), attr);
    }
    return ArrayAttr::get(attrs.getContext(), repeated);
  }
};
} // namespace

void grit::populateExpandArraysPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        ConversionTarget &target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandBundle, ExpandConstant, ExpandDim, ExpandFunction,
               ExpandPlanes, ExpandSelect, ExpandStatement<AssumePlacementOp>,
               ExpandStatement<ReinterpretOp>>(converter, context);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  target.addIllegalDialect<GritDialect>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  target.addDynamicallyLegalOp<arith::SelectOp, func::CallOp, func::ReturnOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// True when a grit type occurs anywhere in `type`.
static bool holdsArray(Type type) {
  return type.walk([](ArrayType) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// True when an array occurs inside another type, where no expansion reaches.
static bool nestsArray(Type type) {
  return !isa<ArrayType>(type) && holdsArray(type);
}

/// Says why `op` cannot be expanded, if so.
static LogicalResult verifyExpandable(Operation *op) {
  auto refuse = [&](const Twine &reason) {
    return op->emitError() << "'" << op->getName() << "' " << reason;
  };
  if (isa<BundleOp, PlanesOp, DimOp, ConstantOp, AssumePlacementOp,
          ReinterpretOp>(op))
    return success();
  if (isa_and_present<GritDialect>(op->getDialect()))
    return refuse("must be lowered before arrays are expanded");
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  if (llvm::any_of(types, nestsArray))
    return refuse("holds an array inside another type, which has no expansion");
  bool structural =
      isa<func::FuncOp, func::CallOp, func::ReturnOp, scf::IfOp, scf::ForOp,
          scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp,
          cf::BranchOp, cf::CondBranchOp, arith::SelectOp>(op);
  if (!structural && llvm::any_of(types, holdsArray))
    return refuse("holds an array and does not expand");
  return success();
}

namespace {
struct ExpandArrays : grit::impl::ExpandArraysBase<ExpandArrays> {
  void runOnOperation() override {
    bool expandable = true;
    getOperation().walk(
        [&](Operation *op) { expandable &= succeeded(verifyExpandable(op)); });
    if (!expandable)
      return signalPassFailure();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    grit::populateArrayTypeConversion(converter);
    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    grit::populateExpandArraysPatterns(converter, patterns, target);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
