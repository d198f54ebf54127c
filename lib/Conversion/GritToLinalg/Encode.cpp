//===- Encode.cpp - encode to linalg -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include "grit/Conversion/Passes.h"
#include "grit/Format/Codec.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/ErrorHandling.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace grit;
using namespace grit::ir;
using namespace grit::encoding;

//===----------------------------------------------------------------------===//
// The values as units
//===----------------------------------------------------------------------===//

/// The order in which the contract counts elements to form groups.
static ElementOrder orderOf(const FormatDescription &format) {
  for (const Factor &factor : format.scales)
    if (factor.group)
      return factor.order;
  return ElementOrder::RowMajor;
}

static int64_t unitSizeOf(const FormatDescription &format) {
  int64_t size = 1;
  for (const Factor &factor : format.scales)
    size = std::max(size, factor.group);
  for (const Factor &factor : format.offset.factors)
    size = std::max(size, factor.group);
  return size;
}

/// The dimensions with the group axis last, where the contract counts along it.
static SmallVector<int64_t> countingOrder(ArrayType type) {
  SmallVector<int64_t> order(type.getRank());
  std::iota(order.begin(), order.end(), 0);
  const FormatDescription format =
      type.getContract().getContract().description();
  if (orderOf(format) == ElementOrder::AxisFastest)
    std::rotate(order.begin() + type.getAxis(),
                order.begin() + type.getAxis() + 1, order.end());
  return order;
}

static Value transpose(Scalars s, Value tensor, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return tensor;
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : order)
    sizes.push_back(tensor::getMixedSize(s.b, s.loc, tensor, dim));
  Value init = tensor::EmptyOp::create(s.b, s.loc, sizes,
                                       getElementTypeOrSelf(tensor.getType()));
  return linalg::TransposeOp::create(s.b, s.loc, tensor, init, order)
      ->getResult(0);
}

/// Element codes in counting order, in a list, brought to row-major order.
static Value toRowMajor(Scalars s, Value list, Value input,
                        ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return list;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape, inverse(order.size());
  auto type = cast<RankedTensorType>(input.getType());
  for (auto [position, dim] : llvm::enumerate(order)) {
    sizes.push_back(tensor::getMixedSize(s.b, s.loc, input, dim));
    shape.push_back(type.getDimSize(dim));
    inverse[dim] = position;
  }
  ReassociationIndices all =
      llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(order.size()));
  Value grid = tensor::ExpandShapeOp::create(
      s.b, s.loc, RankedTensorType::get(shape, s.b.getI32Type()), list,
      ArrayRef<ReassociationIndices>{all}, sizes);
  return toList(s, transpose(s, grid, inverse));
}

//===----------------------------------------------------------------------===//
// Survivors
//===----------------------------------------------------------------------===//

/// The positions of the n largest magnitudes of m values, ascending; of equals
/// the first, and a NaN counts as infinite. Slot `slot` of them.
static Value survivorAt(Scalars s, ArrayRef<Value> values, unsigned n,
                        Value slot) {
  SmallVector<Value> magnitudes;
  for (Value value : values) {
    Value isNan = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNO,
                                        value, value);
    magnitudes.push_back(s.select(
        isNan, s.f32(std::numeric_limits<float>::infinity()), s.abs(value)));
  }
  // How many values come before each in the order of magnitudes.
  SmallVector<Value> ranks(values.size(), s.i32(0));
  auto count = [&](Value &rank, Value condition) {
    Value one = arith::ExtUIOp::create(s.b, s.loc, s.b.getI32Type(), condition);
    rank = arith::AddIOp::create(s.b, s.loc, rank, one);
  };
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = i + 1; j < values.size(); ++j) {
      Value larger = s.greater(magnitudes[j], magnitudes[i]);
      count(ranks[i], larger);
      count(ranks[j], arith::XOrIOp::create(s.b, s.loc, larger, s.i1(true)));
    }
  Value position = s.i32(0), kept = s.i32(0);
  for (auto [i, rank] : llvm::enumerate(ranks)) {
    Value keeps = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ult,
                                        rank, s.i32(n));
    Value isSlot =
        arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::eq, kept, slot);
    position = s.select(s.both(keeps, isSlot), s.i32(i), position);
    count(kept, keeps);
  }
  return position;
}

/// The positions and the values of the survivors, in lists.
static std::pair<Value, Value>
selectSurvivors(Scalars s, const Sparsity &sparsity, Value all) {
  Value runs = toRows(s, all, sparsity.m);
  SmallVector<OpFoldResult> sizes{lengthOf(s, runs),
                                  s.b.getIndexAttr(sparsity.n)};
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  SmallVector<Value> chosen = compute(
      s, sizes, {}, {i32, f32},
      [&](Scalars in, ValueRange) -> SmallVector<Value> {
        Value run = linalg::IndexOp::create(in.b, in.loc, 0);
        Value slot = arith::IndexCastOp::create(
            in.b, in.loc, i32, linalg::IndexOp::create(in.b, in.loc, 1));
        SmallVector<Value> values;
        for (unsigned i = 0; i < sparsity.m; ++i)
          values.push_back(tensor::ExtractOp::create(
              in.b, in.loc, runs, ValueRange{run, in.index(i)}));
        Value position = survivorAt(in, values, sparsity.n, slot);
        Value value = tensor::ExtractOp::create(
            in.b, in.loc, runs, ValueRange{run, in.toIndex(position)});
        return {position, value};
      });
  return {toList(s, chosen[0]), toList(s, chosen[1])};
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

/// What an emitted rule is, and what this one does instead; nothing for an
/// emitted one.
static std::pair<StringRef, StringRef> whyRuleIsNotEmitted(EncodeRule rule) {
  switch (rule) {
  case EncodeRule::None:
  case EncodeRule::Exp2Floor:
  case EncodeRule::Exp2Ceil:
  case EncodeRule::Exp2Rne:
  case EncodeRule::Ratio:
  case EncodeRule::AffineMinMax:
  case EncodeRule::GgmlSignedMax:
  case EncodeRule::GgmlAbsMax:
  case EncodeRule::GgmlExp2:
  case EncodeRule::TableAbsMax:
    return {};
  case EncodeRule::GgmlAffineSearch:
  case EncodeRule::GgmlAffineSearch16:
  case EncodeRule::GgmlAffineSearchAbs:
  case EncodeRule::GgmlSymmetricSearch:
  case EncodeRule::GgmlSymmetricRefine:
  case EncodeRule::GgmlTableSearch:
  case EncodeRule::GgmlGridSearch:
  case EncodeRule::GgmlGridSearchAside:
  case EncodeRule::GgmlGridSearchShrunk:
  case EncodeRule::GgmlGridSearch31:
  case EncodeRule::GgmlGridSearchStretched:
  case EncodeRule::GgmlGridSplit:
  case EncodeRule::GgmlGridSplitFit:
  case EncodeRule::GroupedSearch:
    return {"a rule without a search",
            "searches for the best scale of a block"};
  case EncodeRule::GgmlReciprocalMax:
  case EncodeRule::GgmlAbsMaxClamped:
  case EncodeRule::GgmlMinMax:
  case EncodeRule::GgmlMeanSign:
  case EncodeRule::GgmlHalfUp:
  case EncodeRule::AbsMax:
  case EncodeRule::TableAbsMaxNested:
  case EncodeRule::ZeroPointMinMax:
  case EncodeRule::GptqSymmetric:
  case EncodeRule::HqqMinMax:
  case EncodeRule::MlxEdge:
  case EncodeRule::GroupedAbsMax:
  case EncodeRule::RowAbsMax:
    return {"a rule that the compiler knows",
            "has one that only the library follows"};
  }
  llvm_unreachable("an unknown encode rule");
}

/// A rule that grades name: elements of a grade are plain numbers.
static bool isOfGrades(EncodeRule rule) {
  return rule == EncodeRule::Exp2Floor || rule == EncodeRule::Exp2Ceil ||
         rule == EncodeRule::Exp2Rne || rule == EncodeRule::Ratio;
}

/// What the library encodes and the emitted code does not.
static std::optional<Error> whyBeyondEmission(const FormatDescription &format) {
  auto refuse = [](std::string field, std::string declared, std::string found) {
    return refuseEmission(std::move(field), std::move(declared),
                          std::move(found))
        .value();
  };
  EncodeRule rule = format.encoding.rule;
  if (!format.derived.empty())
    return refuse(format.derived[0].field.name, "codes and scales alone",
                  "a field derived from them");
  if (rule == EncodeRule::GgmlAbsMax && format.level.number.plus != 0)
    return refuse("level", "a signed integer without a bias", "one with");
  const Number &level = format.level.number;
  if (!level.isTable() && level.word.isExponentOnly())
    return refuse("e", "elements with a fraction", "powers of two");
  if (isOfGrades(rule) && (!level.isPlain() || level.exp2))
    return refuse("level", "numbers of a word", "multiples of them");
  if (rule == EncodeRule::TableAbsMax && !llvm::is_sorted(level.table))
    return refuse("level", "ascending levels", "others");
  bool hasMinimum = format.offset.kind == Offset::Kind::Minimum &&
                    format.offset.factors.size() == 2;
  if (rule == EncodeRule::AffineMinMax &&
      (format.scales.size() != 2 || !hasMinimum))
    return refuse("zps", "two levels, with a minimum of its own scale (l1)",
                  std::to_string(format.scales.size()) + " levels");
  if (rule == EncodeRule::Ratio && format.scales.size() == 2 &&
      format.scales[1].number.word.nanEncoding() == 0)
    return refuse("s0", "a format with a NaN, to carry one of the group",
                  format.scales[1].number.word.str());
  if (!format.sparsity)
    return std::nullopt;
  for (const Factor &factor : format.scales)
    if (factor.group % format.sparsity->m != 0)
      return refuse("sp", "runs that divide the groups",
                    "groups of " + std::to_string(factor.group) +
                        " and runs of " + std::to_string(format.sparsity->m));
  return std::nullopt;
}

/// Why the contract's encoder is not emitted: in the words of the library where
/// it refuses too.
static std::optional<Error> whyNotEmitted(const Contract &contract) {
  const FormatDescription &format = contract.description();
  auto [declared, reason] = whyRuleIsNotEmitted(format.encoding.rule);
  if (!reason.empty())
    return refuseEmission("encode rule", declared.str(),
                          contract.name() + " " + reason.str())
        .value();
  // Rounding is a search in the sorted levels, which are listed in the code.
  constexpr unsigned kWidestElement = 8;
  if (format.codes.width() > kWidestElement)
    return refuseEmission("e",
                          "elements of at most " +
                              std::to_string(kWidestElement) + " bits",
                          std::to_string(format.codes.width()) + " bits")
        .value();
  // The library looks at the contract before it looks at values.
  ArraySpec spec{contract, {0}, 0, contract.canonicalPlacements()};
  if (auto planes = encode(spec, {}); !planes)
    return planes.error();
  return whyBeyondEmission(format);
}

/// The planes of `op`, emitted.
static Expected<SmallVector<Value>> emitEncode(Scalars s, EncodeOp op) {
  ArrayType type = op.getType();
  const FormatDescription format =
      type.getContract().getContract().description();
  SmallVector<int64_t> order = countingOrder(type);
  Value all = toList(s, transpose(s, op.getInput(), order));
  OpFoldResult numElements = lengthOf(s, all);
  Value list = all, positions;
  int64_t size = unitSizeOf(format);
  if (format.sparsity) {
    std::tie(positions, list) = selectSurvivors(s, *format.sparsity, all);
    size = size / format.sparsity->m * format.sparsity->n;
  }
  Value stored = toRows(s, list, size);
  Units units{format, all, stored, lengthOf(s, stored), size};
  Expected<Codes> codes = format.encoding.rule == EncodeRule::AffineMinMax
                              ? emitAffineMinMaxRule(s, units)
                              : emitScaledRule(s, units);
  if (!codes)
    return tl::make_unexpected(codes.error());
  codes->indices = positions;
  if (!positions)
    codes->elements = toRowMajor(s, codes->elements, op.getInput(), order);
  return packPlanes(s, format, *codes, numElements);
}

/// The numbers of a constant tensor, if it is one.
static std::optional<std::vector<float>> constantValues(Value tensor) {
  ElementsAttr attr;
  if (!matchPattern(tensor, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr)) {
    auto values = dense.getValues<float>();
    return std::vector<float>(values.begin(), values.end());
  }
  if (auto resource = dyn_cast<DenseF32ResourceElementsAttr>(attr))
    if (auto values = resource.tryGetAsArrayRef())
      return std::vector<float>(values->begin(), values->end());
  return std::nullopt;
}

/// A constant is quantized now, by the library, whatever its rule.
static LogicalResult foldEncode(IRRewriter &rewriter, EncodeOp op,
                                ArrayRef<float> values) {
  ArrayType type = op.getType();
  auto planes = encode(type.getSpec(), values);
  if (!planes) {
    describeError(op.emitOpError(), planes.error());
    return failure();
  }
  SmallVector<Attribute> attrs;
  for (auto [bytes, plane] : llvm::zip_equal(*planes, type.getPlaneTypes()))
    attrs.push_back(DenseElementsAttr::getFromRawBuffer(
        plane, ArrayRef<char>(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size())));
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<ConstantOp>(op, type,
                                          rewriter.getArrayAttr(attrs));
  return success();
}

LogicalResult grit::prepareEncode(Operation *root) {
  SmallVector<EncodeOp> ops;
  root->walk([&](EncodeOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  bool ready = true;
  for (EncodeOp op : ops) {
    ArrayType type = op.getType();
    bool isEmpty = llvm::is_contained(type.getShape(), 0);
    if (type.hasStaticShape()) {
      std::optional<std::vector<float>> values;
      if (isEmpty)
        values.emplace();
      else
        values = constantValues(op.getInput());
      if (values) {
        ready &= succeeded(foldEncode(rewriter, op, *values));
        continue;
      }
    }
    auto error = whyNotEmitted(type.getContract().getContract());
    if (!error && isEmpty)
      error = refuseEmission("shape", "static extents, where one of them is 0",
                             "a dynamic one")
                  .value();
    if (error) {
      describeError(op.emitOpError(), *error);
      ready = false;
    }
  }
  return success(ready);
}

namespace {
struct LowerEncode : OpRewritePattern<EncodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EncodeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayType type = op.getType();
    if (failed(requireCanonicalPlacements(rewriter, op, type)))
      return failure();
    Location loc = op.getLoc();
    auto planes = emitEncode(Scalars{rewriter, loc}, op);
    if (!planes) {
      describeError(op.emitOpError(), planes.error());
      return failure();
    }
    SmallVector<Value> sizes;
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(
            tensor::DimOp::create(rewriter, loc, op.getInput(), dim));
    rewriter.replaceOpWithNewOp<BundleOp>(op, type, *planes, sizes);
    return success();
  }
};
} // namespace

void grit::populateGritEncodeToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerEncode>(patterns.getContext());
}
