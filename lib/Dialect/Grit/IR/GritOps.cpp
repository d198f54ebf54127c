//===- GritOps.cpp - verifiers and foldings of the grit operations -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpVerifiers.h"
#include "grit/Format/GradeOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"

using namespace grit::ir;
using namespace mlir;

#define GET_OP_CLASSES
#include "grit/Dialect/Grit/IR/GritOps.cpp.inc"

static LogicalResult verifySameShape(Operation *op, ArrayType array,
                                     RankedTensorType tensor, StringRef what) {
  if (!tensor)
    return op->emitOpError() << what << " must be a ranked tensor";
  if (array.getRank() != tensor.getRank())
    return op->emitOpError()
           << "rank of the " << what << " must be " << array.getRank()
           << ", but got " << tensor.getRank();
  for (auto [index, extents] :
       llvm::enumerate(llvm::zip_equal(array.getShape(), tensor.getShape())))
    if (failed(verifyExtents(
            op, ("extent " + Twine(index) + " of the " + what).str(),
            std::get<0>(extents), std::get<1>(extents))))
      return failure();
  return success();
}

/// Compares the static sizes of planes with the size equations.
static LogicalResult verifyPlanes(Operation *op, ArrayType array,
                                  ArrayRef<int64_t> bytes) {
  SmallVector<RankedTensorType> expected = array.getPlaneTypes();
  if (bytes.size() != expected.size())
    return op->emitOpError()
           << "contract " << array.getContract() << " has " << expected.size()
           << " plane(s), but got " << bytes.size();
  bool known = llvm::none_of(bytes, ShapedType::isDynamic);
  if (array.hasStaticShape() && known) {
    if (auto error = array.getSpec().checkPlaneSizes(
            grit::PlaneSizes(bytes.begin(), bytes.end())))
      return refuse(op, *error);
    return success();
  }
  for (auto [index, type] : llvm::enumerate(expected))
    if (failed(verifyExtents(op, ("bytes of plane " + Twine(index)).str(),
                             type.getDimSize(0), bytes[index])))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// constant, bundle, planes, dim
//===----------------------------------------------------------------------===//

/// A resource must have the bytes that its type promises; one without data is
/// a reference to data that is elsewhere.
static LogicalResult verifyResource(Operation *op, size_t plane, Attribute attr,
                                    int64_t bytes) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  const AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || static_cast<int64_t>(blob->getData().size()) == bytes)
    return success();
  return refuse(op, {grit::Status::SizeMismatch,
                     "the resource of plane " + std::to_string(plane) +
                         " is not as long as its type",
                     "planes[" + std::to_string(plane) + "]",
                     std::to_string(bytes) + " bytes",
                     std::to_string(blob->getData().size()) + " bytes",
                     "the resource is cut short, or belongs to another plane",
                     "give the whole plane", static_cast<int>(plane)});
}

LogicalResult ConstantOp::verify() {
  ArrayType array = getResult().getType();
  if (!array.hasStaticShape())
    return emitOpError() << "shape must be static, but got " << array;
  SmallVector<int64_t> bytes;
  for (Attribute attr : getPlanes()) {
    auto elements = dyn_cast<ElementsAttr>(attr);
    auto type = elements ? dyn_cast<RankedTensorType>(elements.getType())
                         : RankedTensorType();
    if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8))
      return emitOpError()
             << "each plane must be an elements attribute of type "
                "tensor<Bxi8>, but got "
             << attr;
    bytes.push_back(type.getDimSize(0));
    if (failed(verifyResource(*this, bytes.size() - 1, attr, bytes.back())))
      return failure();
  }
  return verifyPlanes(*this, array, bytes);
}

LogicalResult BundleOp::verify() {
  ArrayType array = getResult().getType();
  if (getSizes().size() != array.getNumDynamicDims())
    return emitOpError() << "needs one size per dynamic extent, "
                         << array.getNumDynamicDims() << ", but got "
                         << getSizes().size();
  SmallVector<int64_t> bytes =
      llvm::map_to_vector(getPlanes().getTypes(), [](Type type) {
        return cast<RankedTensorType>(type).getDimSize(0);
      });
  return verifyPlanes(*this, array, bytes);
}

void PlanesOp::build(OpBuilder &builder, OperationState &state, Value array) {
  SmallVector<Type> types;
  llvm::append_range(types, cast<ArrayType>(array.getType()).getPlaneTypes());
  build(builder, state, types, array);
}

LogicalResult PlanesOp::verify() {
  ArrayType array = getArray().getType();
  SmallVector<RankedTensorType> expected = array.getPlaneTypes();
  if (getNumResults() != expected.size())
    return emitOpError() << "contract " << array.getContract() << " has "
                         << expected.size() << " plane(s), but got "
                         << getNumResults();
  for (auto [index, types] :
       llvm::enumerate(llvm::zip_equal(expected, getResultTypes())))
    if (auto [wanted, found] = types; wanted != found)
      return emitOpError() << "plane " << index << " must be " << wanted
                           << ", but got " << found;
  return success();
}

namespace {
/// planes(bundle(p...)) is p..., where the static types agree.
struct PlanesOfBundle : OpRewritePattern<PlanesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PlanesOp op,
                                PatternRewriter &rewriter) const override {
    auto bundle = op.getArray().getDefiningOp<BundleOp>();
    if (!bundle)
      return rewriter.notifyMatchFailure(op, "operand is not a grit.bundle");
    SmallVector<Value> planes;
    for (auto [plane, type] :
         llvm::zip_equal(bundle.getPlanes(), op.getResultTypes())) {
      if (plane.getType() == type)
        planes.push_back(plane);
      else
        planes.push_back(
            tensor::CastOp::create(rewriter, op.getLoc(), type, plane));
    }
    rewriter.replaceOp(op, planes);
    return success();
  }
};

/// bundle(planes(x)) is x, where the extents are in the type.
struct BundleOfPlanes : OpRewritePattern<BundleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BundleOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getPlanes().empty() || !op.getSizes().empty())
      return rewriter.notifyMatchFailure(op, "extents are dynamic");
    auto planes = op.getPlanes().front().getDefiningOp<PlanesOp>();
    if (!planes || planes.getArray().getType() != op.getResult().getType() ||
        !llvm::equal(planes.getPlanes(), op.getPlanes()))
      return rewriter.notifyMatchFailure(op, "not the planes of one array");
    rewriter.replaceOp(op, planes.getArray());
    return success();
  }
};

/// An extent of a bundle is one of its sizes; one of an operation that keeps
/// the shape is that of its operand.
struct DimOfProducer : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DimOp op,
                                PatternRewriter &rewriter) const override {
    Operation *producer = op.getArray().getDefiningOp();
    ArrayRef<int64_t> shape = op.getArray().getType().getShape();
    if (!ShapedType::isDynamic(shape[op.getDim()]))
      return rewriter.notifyMatchFailure(op, "extent is static");
    if (auto bundle = dyn_cast_or_null<BundleOp>(producer)) {
      unsigned before =
          llvm::count_if(shape.take_front(op.getDim()), ShapedType::isDynamic);
      rewriter.replaceOp(op, bundle.getSizes()[before]);
      return success();
    }
    if (!isa_and_present<RelayoutOp, CheckOp, AssumePlacementOp,
                         VerifyPlacementOp, ReinterpretOp>(producer))
      return rewriter.notifyMatchFailure(op, "extent is decided elsewhere");
    rewriter.modifyOpInPlace(
        op, [&] { op.getArrayMutable().assign(producer->getOperand(0)); });
    return success();
  }
};

/// A static extent is a constant.
struct StaticDim : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DimOp op,
                                PatternRewriter &rewriter) const override {
    int64_t extent = op.getArray().getType().getShape()[op.getDim()];
    if (ShapedType::isDynamic(extent))
      return rewriter.notifyMatchFailure(op, "extent is dynamic");
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, extent);
    return success();
  }
};
} // namespace

void BundleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<BundleOfPlanes>(context);
}

void PlanesOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<PlanesOfBundle>(context);
}

LogicalResult DimOp::verify() {
  int64_t rank = getArray().getType().getRank();
  int64_t dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim << " is out of range for rank "
                         << rank;
  return success();
}

void DimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<DimOfProducer, StaticDim>(context);
}

//===----------------------------------------------------------------------===//
// decode, encode, matmul
//===----------------------------------------------------------------------===//

LogicalResult DecodeOp::verify() {
  return verifySameShape(*this, getArray().getType(),
                         dyn_cast<RankedTensorType>(getInit().getType()),
                         "destination");
}

/// Bytes that are written here lie where the type says, by construction.
static LogicalResult verifyEncodes(Operation *op, ArrayType array) {
  grit::Contract contract = array.getContract().getContract();
  if (contract.description().encoding.rule == grit::EncodeRule::None)
    return op->emitOpError()
           << "contract " << array.getContract() << " defines no encoding";
  return verifyAssumed(op, {}, array);
}

LogicalResult EncodeOp::verify() {
  ArrayType array = getResult().getType();
  if (failed(verifySameShape(*this, array,
                             dyn_cast<RankedTensorType>(getInput().getType()),
                             "input")))
    return failure();
  return verifyEncodes(*this, array);
}

LogicalResult RequantizeOp::verify() {
  if (getArray().getType().getShape() != getType().getShape())
    return emitOpError() << "must keep the shape, but goes from "
                         << getArray().getType() << " to " << getType();
  return verifyEncodes(*this, getType());
}

/// The accumulation contract that a weight's grade spells; any order for a
/// contract that is no grade.
static grit::Accumulation accumulationOf(ArrayType weight) {
  const grit::Contract contract = weight.getContract().getContract();
  return contract.isGrade() ? grit::Accumulation::of(*contract.grade())
                            : grit::Accumulation();
}

AccumAttr MatmulOp::getRequestedAccum() {
  if (AccumAttr accum = getAccumAttr())
    return accum;
  return AccumAttr::get(getContext(), accumulationOf(getWeight().getType()));
}

AccumAttr MatmulOp::getResultAccum() {
  auto joined = grit::join(getRequestedAccum().getAccumulation(),
                           accumulationOf(getWeight().getType()));
  assert(joined && "the verifier refuses contracts without a join");
  return AccumAttr::get(getContext(), *joined);
}

LogicalResult MatmulOp::verify() {
  ArrayType weight = getWeight().getType();
  auto input = dyn_cast<RankedTensorType>(getInput().getType());
  auto init = dyn_cast<RankedTensorType>(getInit().getType());
  if (!input || !init)
    return emitOpError()
           << "activations and destination must be ranked tensors";
  if (weight.getRank() != 2)
    return emitOpError() << "weight must have rank 2 ([N, K]), but got "
                         << weight;
  if (weight.getAxis() != 1)
    return emitOpError() << "group axis of the weight must be 1, the "
                            "contraction, but got "
                         << weight.getAxis();
  if (input.getRank() < 1 || input.getRank() != init.getRank())
    return emitOpError()
           << "activations and destination must have the same rank "
              "of at least 1, but got "
           << input.getRank() << " and " << init.getRank();
  for (int64_t dim = 0; dim + 1 < input.getRank(); ++dim)
    if (failed(verifyExtents(
            *this, ("extent " + Twine(dim) + " of the destination").str(),
            input.getDimSize(dim), init.getDimSize(dim))))
      return failure();
  int64_t last = input.getRank() - 1;
  if (failed(verifyExtents(*this, "the last extent of the activations (K)",
                           weight.getShape()[1], input.getDimSize(last))))
    return failure();
  if (failed(verifyExtents(*this, "the last extent of the destination (N)",
                           weight.getShape()[0], init.getDimSize(last))))
    return failure();
  auto joined =
      grit::join(getRequestedAccum().getAccumulation(), accumulationOf(weight));
  return joined ? success() : refuse(*this, joined.error());
}

static bool isStaticallyEmpty(Value tensor) {
  return llvm::is_contained(cast<ShapedType>(tensor.getType()).getShape(), 0);
}

/// Nothing is written into a destination without elements.
OpFoldResult DecodeOp::fold(FoldAdaptor) {
  return isStaticallyEmpty(getInit()) ? getInit() : OpFoldResult();
}

/// ... and a sum over nothing adds nothing.
OpFoldResult MatmulOp::fold(FoldAdaptor) {
  bool nothing = isStaticallyEmpty(getInit()) || isStaticallyEmpty(getInput());
  return nothing ? getInit() : OpFoldResult();
}
