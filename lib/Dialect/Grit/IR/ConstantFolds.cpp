//===- ConstantFolds.cpp - operations on arrays whose bytes are known -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format library computes what the kernels would. Where it refuses, the
// operation stays, and its kernel says so.
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Format/Check.h"
#include "grit/Format/Rearrange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace grit::ir;
using namespace mlir;

/// Arrays of more elements are encoded when the program runs.
static constexpr int64_t kMaxEncoded = int64_t(1) << 24;
/// Values of more elements are decoded when the program runs: they take more
/// room than the bytes they come from.
static constexpr int64_t kMaxDecoded = int64_t(1) << 12;
/// Arrays of more bytes, which a splat of few letters can have, are left alone.
static constexpr int64_t kMaxBytes = int64_t(1) << 28;
/// Planes of more bytes are kept out of the text.
static constexpr size_t kMaxInline = 256;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {
/// The planes of a constant.
struct ConstantPlanes {
  ArrayType type;
  grit::PlaneBytes bytes;

  std::vector<grit::ByteSpan> spans() const {
    return {bytes.begin(), bytes.end()};
  }
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> result;
    for (const std::vector<uint8_t> &plane : bytes)
      result.push_back(static_cast<int64_t>(plane.size()));
    return result;
  }
};
} // namespace

/// The bytes of an elements attribute of i8; none where a resource has no data.
static std::optional<std::vector<uint8_t>> bytesOf(Attribute attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    ArrayRef<char> data = blob->getData();
    return std::vector<uint8_t>(data.begin(), data.end());
  }
  auto dense = dyn_cast<DenseIntElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(dense.getNumElements());
  for (const APInt &byte : dense.getValues<APInt>())
    bytes.push_back(static_cast<uint8_t>(byte.getZExtValue()));
  return bytes;
}

static std::optional<ConstantPlanes> constantOf(Value array) {
  auto op = array.getDefiningOp<ConstantOp>();
  if (!op)
    return std::nullopt;
  ConstantPlanes result{op.getType(), {}};
  int64_t left = kMaxBytes;
  for (Attribute plane : op.getPlanes()) {
    int64_t size = cast<ElementsAttr>(plane).getNumElements();
    if (size > left)
      return std::nullopt;
    left -= size;
    std::optional<std::vector<uint8_t>> bytes = bytesOf(plane);
    if (!bytes)
      return std::nullopt;
    result.bytes.push_back(std::move(*bytes));
  }
  return result;
}

/// A plane as an attribute: a resource when it is long.
static Attribute planeAttr(MLIRContext *context,
                           const std::vector<uint8_t> &bytes) {
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                    IntegerType::get(context, 8));
  ArrayRef<char> data(reinterpret_cast<const char *>(bytes.data()),
                      bytes.size());
  if (bytes.size() <= kMaxInline)
    return DenseElementsAttr::getFromRawBuffer(type, data);
  return DenseResourceElementsAttr::get(
      type, "plane", HeapAsmResourceBlob::allocateAndCopyWithAlign(data, 1));
}

/// Replaces `op` by an array of its result type with these planes.
static LogicalResult replaceByPlanes(PatternRewriter &rewriter, Operation *op,
                                     grit::Expected<grit::PlaneBytes> planes) {
  if (!planes)
    return rewriter.notifyMatchFailure(op, planes.error().message);
  SmallVector<Attribute> attrs;
  for (const std::vector<uint8_t> &plane : *planes)
    attrs.push_back(planeAttr(op->getContext(), plane));
  rewriter.replaceOpWithNewOp<ConstantOp>(op, op->getResultTypes().front(),
                                          rewriter.getArrayAttr(attrs));
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static grit::Expected<std::vector<float>>
decodeConstant(const ConstantPlanes &planes) {
  std::vector<float> values(planes.type.getSpec().numElements());
  auto decoded = grit::decode(planes.type.getSpec(), planes.spans(), values);
  if (!decoded)
    return tl::make_unexpected(decoded.error());
  return values;
}

namespace {
struct FoldDecode : OpRewritePattern<DecodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DecodeOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!type.hasStaticShape() || type.getNumElements() > kMaxDecoded)
      return rewriter.notifyMatchFailure(op, "too many values");
    std::optional<ConstantPlanes> planes = constantOf(op.getArray());
    if (!planes)
      return rewriter.notifyMatchFailure(op, "bytes are not known");
    grit::Expected<std::vector<float>> values = decodeConstant(*planes);
    if (!values)
      return rewriter.notifyMatchFailure(op, values.error().message);
    auto wide = RankedTensorType::get(type.getShape(), rewriter.getF32Type());
    DenseElementsAttr attr =
        DenseElementsAttr::get(wide, ArrayRef<float>(*values));
    if (!type.getElementType().isF32())
      attr = rounded(attr, cast<FloatType>(type.getElementType()));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, attr);
    return success();
  }

private:
  /// To nearest, ties to even, as the kernels round.
  static DenseElementsAttr rounded(DenseElementsAttr attr, FloatType narrow) {
    return cast<DenseFPElementsAttr>(attr).mapValues(
        narrow, [&](const APFloat &value) {
          APFloat result = value;
          bool loses = false;
          result.convert(narrow.getFloatSemantics(),
                         APFloat::rmNearestTiesToEven, &loses);
          return result.bitcastToAPInt();
        });
  }
};

struct FoldEncode : OpRewritePattern<EncodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EncodeOp op,
                                PatternRewriter &rewriter) const override {
    DenseFPElementsAttr attr;
    if (!op.getType().hasStaticShape() ||
        !matchPattern(op.getInput(), m_Constant(&attr)) ||
        attr.getNumElements() > kMaxEncoded)
      return rewriter.notifyMatchFailure(op, "values are not known");
    std::vector<float> values;
    values.reserve(attr.getNumElements());
    llvm::append_range(values, attr.getValues<float>());
    return replaceByPlanes(rewriter, op,
                           grit::encode(op.getType().getSpec(), values));
  }
};

struct FoldRequantize : OpRewritePattern<RequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RequantizeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantPlanes> planes = constantOf(op.getArray());
    if (!planes || planes->type.getSpec().numElements() > kMaxEncoded)
      return rewriter.notifyMatchFailure(op, "bytes are not known");
    grit::Expected<std::vector<float>> values = decodeConstant(*planes);
    if (!values)
      return rewriter.notifyMatchFailure(op, values.error().message);
    return replaceByPlanes(rewriter, op,
                           grit::encode(op.getType().getSpec(), *values));
  }
};

//===----------------------------------------------------------------------===//
// Placements, shapes, boundaries
//===----------------------------------------------------------------------===//

/// An operation on one array whose result is other planes.
template <typename OpTy> struct FoldPlanes : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantPlanes> planes = constantOf(op.getArray());
    if (!planes || !op.getType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "bytes are not known");
    return replaceByPlanes(rewriter, op, compute(op, *planes));
  }

private:
  static grit::Expected<grit::PlaneBytes>
  compute(RelayoutOp op, const ConstantPlanes &planes) {
    return grit::relayoutPlanes(planes.type.getSpec(), planes.spans(),
                                op.getType().getPlacements());
  }
  static grit::Expected<grit::PlaneBytes>
  compute(SliceOp op, const ConstantPlanes &planes) {
    if (!op.getOffsets().empty())
      return grit::makeError(grit::Status::SizeMismatch, "offsets are dynamic");
    return grit::slicePlanes(planes.type.getSpec(), planes.spans(),
                             op.getStaticOffsets(), op.getStaticSizes());
  }
  static grit::Expected<grit::PlaneBytes>
  compute(TransposeOp op, const ConstantPlanes &planes) {
    return grit::transposePlanes(planes.type.getSpec(), planes.spans(),
                                 op.getPermutation());
  }
  static grit::Expected<grit::PlaneBytes>
  compute(ReinterpretOp, const ConstantPlanes &planes) {
    return planes.bytes;
  }
};

struct FoldConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    std::vector<ConstantPlanes> parts;
    for (Value array : op.getArrays()) {
      std::optional<ConstantPlanes> planes = constantOf(array);
      if (!planes)
        return rewriter.notifyMatchFailure(op, "bytes are not known");
      parts.push_back(std::move(*planes));
    }
    std::vector<grit::ArraySpec> specs;
    std::vector<std::vector<grit::ByteSpan>> spans;
    for (const ConstantPlanes &part : parts) {
      specs.push_back(part.type.getSpec());
      spans.push_back(part.spans());
    }
    std::vector<grit::PlacedArray> placed;
    for (size_t i = 0; i < parts.size(); ++i)
      placed.push_back({specs[i], spans[i]});
    return replaceByPlanes(
        rewriter, op,
        grit::concatPlanes(placed, static_cast<int>(op.getDim())));
  }
};

/// A check that constant bytes pass. One that they fail stays: it is reached
/// only if the program gets there.
struct FoldCheck : OpRewritePattern<CheckOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CheckOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantPlanes> planes = constantOf(op.getArray());
    if (!planes)
      return rewriter.notifyMatchFailure(op, "bytes are not known");
    std::vector<const uint8_t *> pointers;
    for (const std::vector<uint8_t> &plane : planes->bytes)
      pointers.push_back(plane.data());
    if (auto error = grit::check(planes->type.getSpec(), planes->sizes(),
                                 static_cast<int>(op.getLevel()), pointers))
      return rewriter.notifyMatchFailure(op, error->message);
    rewriter.replaceOp(op, op.getArray());
    return success();
  }
};
} // namespace

void GritDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns
      .add<FoldCheck, FoldConcat, FoldDecode, FoldEncode,
           FoldPlanes<RelayoutOp>, FoldPlanes<SliceOp>, FoldPlanes<TransposeOp>,
           FoldPlanes<ReinterpretOp>, FoldRequantize>(getContext());
}
