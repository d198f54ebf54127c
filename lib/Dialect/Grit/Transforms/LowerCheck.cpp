//===- LowerCheck.cpp - boundary checks become assertions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneMoves.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Dialect/Grit/Transforms/Transforms.h"
#include "grit/Format/Fields.h"
#include "grit/KernelGen/KernelGen.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <limits>

namespace grit {
#define GEN_PASS_DEF_LOWERCHECK
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;
using Predicate = arith::CmpIPredicate;

/// How people know an array: the name in its location, its place among the
/// arguments, or "the array".
static std::string nameOf(Value array) {
  if (auto name = dyn_cast<NameLoc>(array.getLoc()))
    return "'" + name.getName().str() + "'";
  auto argument = dyn_cast<BlockArgument>(array);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!function || !argument.getOwner()->isEntryBlock())
    return "the array";
  return ("argument " + Twine(argument.getArgNumber()) + " of @" +
          function.getName())
      .str();
}

namespace {
/// Emits the assertions of one check. Sizes are i64, as in the size equations.
class CheckEmitter {
public:
  CheckEmitter(RewriterBase &builder, CheckOp op)
      : builder(builder), op(op), loc(op.getLoc()),
        type(op.getArray().getType()),
        description(type.getContract().getContract().description()) {}

  void emitSizes();
  LogicalResult emitIndices();

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  Value compare(Predicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value isMultiple(Value value, int64_t of) {
    Value rest = arith::RemUIOp::create(builder, loc, value, constant(of));
    return compare(Predicate::eq, rest, constant(0));
  }
  void require(Value condition, const Twine &status, const Twine &what) {
    cf::AssertOp::create(
        builder, loc, condition,
        (status + ": " + nameOf(op.getArray()) + ": " + what).str());
  }
  ValueRange planes();
  Value extent(int64_t dim);
  Value emitNumElements();
  Value emitUnits(const grit::PlaneInfo &info, Value elements,
                  std::string &equation);
  void emitPlaneSize(unsigned index, Value plane, Value elements);
  FailureOr<Value> inOrder();
  Value countRuns();

  RewriterBase &builder;
  CheckOp op;
  Location loc;
  ArrayType type;
  grit::FormatDescription description;
};
} // namespace

/// The planes as they came in: a bundle may hold more (an unknown size) than
/// its type shows.
ValueRange CheckEmitter::planes() {
  if (auto bundle = sourceOfPlanes(op.getArray()).getDefiningOp<BundleOp>())
    return bundle.getPlanes();
  return PlanesOp::create(builder, loc, op.getArray()).getPlanes();
}

Value CheckEmitter::extent(int64_t dim) {
  int64_t known = type.getShape()[dim];
  if (!ShapedType::isDynamic(known))
    return constant(known);
  Value size = DimOp::create(builder, loc, op.getArray(), dim);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
}

/// Checks the extents and returns their product.
Value CheckEmitter::emitNumElements() {
  Value product = constant(1);
  Value fits = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value empty = arith::ConstantIntOp::create(builder, loc, 0, 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value size = extent(dim);
    if (ShapedType::isDynamic(type.getShape()[dim])) {
      require(compare(Predicate::sge, size, constant(0)), "SizeMismatch",
              "extent " + Twine(dim) + " must not be negative");
      if (dim == type.getAxis() && description.axisMultiple > 1)
        require(isMultiple(size, description.axisMultiple), "SizeMismatch",
                "extent " + Twine(dim) + " must be a multiple of " +
                    Twine(description.axisMultiple) + " (whole groups)");
    }
    auto wide = arith::MulSIExtendedOp::create(builder, loc, product, size);
    product = wide.getLow();
    // In range when the high half is the sign of the low one.
    Value sign = arith::ShRSIOp::create(builder, loc, product, constant(63));
    fits = arith::AndIOp::create(builder, loc, fits,
                                 compare(Predicate::eq, wide.getHigh(), sign));
    empty = arith::OrIOp::create(builder, loc, empty,
                                 compare(Predicate::eq, size, constant(0)));
  }
  require(arith::OrIOp::create(builder, loc, fits, empty), "SizeMismatch",
          "the number of elements must fit 64 bits");
  product = arith::SelectOp::create(builder, loc, empty, constant(0), product);
  if (description.arrayMultiple > 1)
    require(isMultiple(product, description.arrayMultiple), "SizeMismatch",
            "the number of elements must be a multiple of " +
                Twine(description.arrayMultiple) + " (whole outer groups)");
  return product;
}

/// How many units of bits a plane has (grit::unitCount); `equation` says so in
/// words.
Value CheckEmitter::emitUnits(const grit::PlaneInfo &info, Value elements,
                              std::string &equation) {
  auto divide = [&](Value value, Value by) -> Value {
    return arith::DivUIOp::create(builder, loc, value, by);
  };
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(builder, loc, x, y);
  };
  // Where there is nothing to count, an extent of 0 must not divide.
  auto atLeastOne = [&](Value extent) -> Value {
    return arith::MaxUIOp::create(builder, loc, extent, constant(1));
  };
  if (info.elements == 0)
    return constant(1);
  if (info.elements == grit::kWholeAxis) {
    equation = "numel / extent " + std::to_string(type.getAxis()) + " x ";
    return divide(elements, atLeastOne(extent(type.getAxis())));
  }
  if (info.elements == grit::kAxisPositions) {
    equation = "extent " + std::to_string(type.getAxis()) + " x ";
    return extent(type.getAxis());
  }
  if (info.rows) {
    int64_t rank = type.getRank();
    Value rows = rank > 1 ? extent(rank - 2) : constant(1);
    Value columns = extent(rank - 1);
    auto blocks = [&](Value extent, int64_t by) {
      Value more =
          arith::AddIOp::create(builder, loc, extent, constant(by - 1));
      return divide(more, constant(by));
    };
    equation = "blocks of " + std::to_string(info.rows) + " x " +
               std::to_string(info.elements) + " x ";
    Value matrices = divide(elements, atLeastOne(times(rows, columns)));
    return times(matrices, times(blocks(rows, info.rows),
                                 blocks(columns, info.elements)));
  }
  equation = info.elements == 1
                 ? "numel x "
                 : "numel / " + std::to_string(info.elements) + " x ";
  return divide(elements, constant(info.elements));
}

void CheckEmitter::emitPlaneSize(unsigned index, Value plane, Value elements) {
  const grit::PlaneInfo &info = description.planes[index];
  std::string equation;
  Value units = emitUnits(info, elements, equation);
  int64_t most = (std::numeric_limits<int64_t>::max() - 7) / info.bits;
  require(compare(Predicate::ule, units, constant(most)), "SizeMismatch",
          "plane " + info.name + " must fit 64 bits");
  Value bits = arith::MulIOp::create(builder, loc, units, constant(info.bits));
  Value required = arith::ShRUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, constant(7)),
      constant(3));
  Value found =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 tensor::DimOp::create(builder, loc, plane, 0));
  std::string text;
  llvm::raw_string_ostream(text)
      << "plane " << info.name << " must have the bytes of " << equation
      << info.bits << " bits under " << type;
  require(compare(Predicate::eq, found, required), "SizeMismatch", text);
}

void CheckEmitter::emitSizes() {
  ValueRange arrayPlanes = planes();
  bool known = llvm::all_of(arrayPlanes.getTypes(), [](Type plane) {
    return cast<RankedTensorType>(plane).hasStaticShape();
  });
  if (known && type.hasStaticShape())
    return;
  Value elements = emitNumElements();
  for (auto [index, plane, stated] :
       llvm::enumerate(arrayPlanes, type.getPlaneTypes()))
    if (!cast<RankedTensorType>(plane.getType()).hasStaticShape() ||
        !stated.hasStaticShape())
      emitPlaneSize(index, plane, elements);
}

/// The array with its indices in order: they are compared one after the other.
FailureOr<Value> CheckEmitter::inOrder() {
  grit::Placements ordered = type.getPlacements();
  ordered.meta = type.getContract().getContract().canonicalPlacements().meta;
  ArrayType readable = type.withPlacements(ordered);
  if (readable == type)
    return op.getArray();
  auto moves = planMoves(type, readable);
  if (!moves) {
    describeError(op.emitOpError(), moves.error());
    return failure();
  }
  auto relayout = RelayoutOp::create(builder, loc, readable, op.getArray());
  FailureOr<BundleOp> moved = grit::lowerRelayout(builder, relayout, op);
  if (failed(moved))
    return failure();
  builder.setInsertionPoint(op);
  return moved->getResult();
}

/// The number of runs of a sparse array.
Value CheckEmitter::countRuns() {
  Value elements = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    elements =
        arith::MulIOp::create(builder, loc, elements,
                              DimOp::create(builder, loc, op.getArray(), dim));
  return arith::DivUIOp::create(
      builder, loc, elements,
      arith::ConstantIndexOp::create(builder, loc, description.sparsity->m));
}

LogicalResult CheckEmitter::emitIndices() {
  FailureOr<Value> array = inOrder();
  if (failed(array))
    return failure();
  auto planes = PlanesOp::create(builder, loc, *array);
  // Flags are bytes: the least that memory holds.
  Type i8 = builder.getI8Type();
  // An operand that is never read gives the loop its extent.
  Value extent = tensor::EmptyOp::create(
      builder, loc, RankedTensorType::get({ShapedType::kDynamic}, i8),
      countRuns());
  auto scalar = RankedTensorType::get({}, i8);
  Value init = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(scalar, builder.getI8IntegerAttr(1)));
  SmallVector<AffineMap> maps{AffineMap::get(1, 0, builder.getAffineDimExpr(0)),
                              AffineMap::get(1, 0, builder.getContext())};
  auto body = [&](OpBuilder &nested, Location at, ValueRange arguments) {
    Value run = linalg::IndexOp::create(nested, at, 0);
    Value rising = arith::ExtUIOp::create(
        nested, at, i8,
        grit::kernelgen::Emitter(nested, at, description, planes.getPlanes())
            .fullRuns(run, 1));
    Value all = arith::AndIOp::create(nested, at, arguments[1], rising);
    linalg::YieldOp::create(nested, at, all);
  };
  Value allRise =
      linalg::GenericOp::create(builder, loc, TypeRange(scalar), extent, init,
                                maps, utils::IteratorType::reduction, body)
          .getResult(0);
  const grit::Sparsity &sparsity = *description.sparsity;
  Value flag = tensor::ExtractOp::create(builder, loc, allRise, ValueRange());
  require(arith::TruncIOp::create(builder, loc, builder.getI1Type(), flag),
          "DigestMismatch",
          "the indices of plane " +
              description.planes[sparsity.indices.plane].name +
              " must rise strictly in every run and stay below " +
              Twine(sparsity.m));
  return success();
}

LogicalResult grit::lowerCheck(RewriterBase &rewriter, CheckOp op) {
  rewriter.setInsertionPoint(op);
  CheckEmitter emitter(rewriter, op);
  if (op.getLevel() >= 1)
    emitter.emitSizes();
  const FormatDescription description =
      op.getArray().getType().getContract().getContract().description();
  bool ordered = description.sparsity && description.sparsity->ascending;
  if (op.getLevel() >= 2 && ordered && failed(emitter.emitIndices()))
    return failure();
  rewriter.replaceOp(op, op.getArray());
  return success();
}

namespace {
struct LowerCheck : grit::impl::LowerCheckBase<LowerCheck> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<CheckOp, VerifyPlacementOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    bool lowered = true;
    for (Operation *op : ops) {
      if (auto check = dyn_cast<CheckOp>(op))
        lowered &= succeeded(grit::lowerCheck(rewriter, check));
      else
        lowered &= succeeded(
            grit::lowerVerifyPlacement(rewriter, cast<VerifyPlacementOp>(op)));
    }
    if (!lowered)
      signalPassFailure();
  }
};
} // namespace
