//===- OrderSurvivors.cpp - sparse arrays whose runs miss positions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The indices of a run are a set: a repeated one counts once, one beyond M not
// at all, and the codes of all later runs move up. Kernels find the codes of a
// run at its number, which is right only where every run has N positions. So
// one look at the indices decides, before the kernels run, whether the array
// can stay as it is.
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace grit {
#define GEN_PASS_DEF_ORDERSURVIVORS
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

namespace {
/// A sparse array, taken apart: what the body of a function makes of its planes
/// and its dynamic extents.
class Survivors {
public:
  Survivors(OpBuilder &builder, Location loc, ir::ArrayType type,
            ValueRange planes, ValueRange extents);

  /// Whether every run has N positions; `lanes` runs at a time.
  Value allFull(int64_t lanes);
  /// The planes of an array with the same values, whose runs have N indices
  /// each: the last one is repeated where positions are missing.
  Expected<SmallVector<Value>> reorder();

private:
  kernelgen::Emitter emitter(Scalars in) const {
    return {in.b, in.loc, format, planes};
  }
  Value forRuns(Value from, Value to, int64_t step, Value init,
                function_ref<Value(Scalars, Value run, Value carried)> body);
  Value positions(Scalars in, Value run) const;
  Value firstCodes();
  SmallVector<Value> factorCodes(ArrayRef<Factor> factors);

  Scalars s;
  grit::Contract contract;
  const FormatDescription &format;
  const Sparsity &sparsity;
  ValueRange planes;
  Value elements, runs;
};
} // namespace

Survivors::Survivors(OpBuilder &builder, Location loc, ir::ArrayType type,
                     ValueRange planes, ValueRange extents)
    : s{builder, loc}, contract(type.getContract().getContract()),
      format(contract.description()), sparsity(*format.sparsity),
      planes(planes), elements(s.index(1)) {
  for (int64_t extent : type.getShape()) {
    Value size;
    if (ShapedType::isDynamic(extent)) {
      size = extents.front();
      extents = extents.drop_front();
    } else {
      size = s.index(extent);
    }
    elements = builder.createOrFold<arith::MulIOp>(loc, elements, size);
  }
  runs =
      builder.createOrFold<arith::DivUIOp>(loc, elements, s.index(sparsity.m));
}

Value Survivors::forRuns(
    Value from, Value to, int64_t step, Value init,
    function_ref<Value(Scalars, Value run, Value carried)> body) {
  auto loop = scf::ForOp::create(
      s.b, s.loc, from, to, s.index(step), init,
      [&](OpBuilder &nested, Location at, Value run, ValueRange carried) {
        scf::YieldOp::create(nested, at,
                             body({nested, at}, run, carried.front()));
      });
  return loop.getResult(0);
}

Value Survivors::allFull(int64_t lanes) {
  auto andFull = [&](int64_t count) {
    return [this, count](Scalars in, Value run, Value carried) {
      return in.both(carried, emitter(in).fullRuns(run, count));
    };
  };
  Value whole = s.index(0), full = s.i1(true);
  if (lanes > 1) {
    Value rest = s.b.createOrFold<arith::RemUIOp>(s.loc, runs, s.index(lanes));
    whole = s.b.createOrFold<arith::SubIOp>(s.loc, runs, rest);
    Value all = vector::BroadcastOp::create(
        s.b, s.loc, VectorType::get({lanes}, s.b.getI1Type()), full);
    all = forRuns(s.index(0), whole, lanes, all, andFull(lanes));
    full = vector::ReductionOp::create(s.b, s.loc, vector::CombiningKind::AND,
                                       all);
  }
  return forRuns(whole, runs, 1, full, andFull(1));
}

/// The positions of a run, as the bits of a set (i32).
Value Survivors::positions(Scalars in, Value run) const {
  Value first = arith::MulIOp::create(in.b, in.loc, run, in.index(sparsity.n));
  Value set = in.i32(0);
  for (unsigned slot = 0; slot < sparsity.n; ++slot) {
    Value at = arith::AddIOp::create(in.b, in.loc, first, in.index(slot));
    Value index = emitter(in).fieldAt(sparsity.indices, at);
    Value isPosition = arith::CmpIOp::create(
        in.b, in.loc, arith::CmpIPredicate::ult, index, in.i32(sparsity.m));
    // Shifts stay below the width of the set.
    Value shift = in.select(isPosition, index, in.i32(0));
    Value bit = arith::ShLIOp::create(in.b, in.loc, in.i32(1), shift);
    bit = in.select(isPosition, bit, in.i32(0));
    set = arith::OrIOp::create(in.b, in.loc, set, bit);
  }
  return set;
}

/// For every run, the number of the code of its first position.
Value Survivors::firstCodes() {
  Type index = s.b.getIndexType();
  Value firsts = tensor::EmptyOp::create(
      s.b, s.loc, ArrayRef<OpFoldResult>(getAsOpFoldResult(runs)), index);
  auto loop = scf::ForOp::create(
      s.b, s.loc, s.index(0), runs, s.index(1), ValueRange{firsts, s.index(0)},
      [&](OpBuilder &nested, Location at, Value run, ValueRange carried) {
        Scalars in{nested, at};
        Value list =
            tensor::InsertOp::create(nested, at, carried[1], carried[0], run);
        Value count = math::CtPopOp::create(nested, at, positions(in, run));
        Value next =
            arith::AddIOp::create(nested, at, carried[1], in.toIndex(count));
        scf::YieldOp::create(nested, at, ValueRange{list, next});
      });
  return loop.getResult(0);
}

SmallVector<Value> Survivors::factorCodes(ArrayRef<Factor> factors) {
  SmallVector<Value> lists;
  for (const Factor &factor : factors) {
    Value count = s.index(1);
    if (factor.group)
      count = s.b.createOrFold<arith::DivUIOp>(s.loc, elements,
                                               s.index(factor.group));
    auto body = [&](Scalars in, ValueRange) -> SmallVector<Value> {
      Value group = linalg::IndexOp::create(in.b, in.loc, 0);
      return {emitter(in).fieldAt(factor.bits, group)};
    };
    llvm::append_range(lists, compute(s, getAsOpFoldResult(count), {},
                                      Type(s.b.getI32Type()), body));
  }
  return lists;
}

Expected<SmallVector<Value>> Survivors::reorder() {
  Value firsts = firstCodes();
  Value stored =
      s.b.createOrFold<arith::MulIOp>(s.loc, runs, s.index(sparsity.n));
  auto body = [&](Scalars in, ValueRange) -> SmallVector<Value> {
    Value item = linalg::IndexOp::create(in.b, in.loc, 0);
    Value n = in.index(sparsity.n);
    Value run = arith::DivUIOp::create(in.b, in.loc, item, n);
    Value slot = arith::RemUIOp::create(in.b, in.loc, item, n);
    // Missing positions have no code of their own: any will do.
    Value code = tensor::ExtractOp::create(in.b, in.loc, firsts, run);
    code = arith::AddIOp::create(in.b, in.loc, code, slot);
    Value last = arith::SubIOp::create(in.b, in.loc, stored, in.index(1));
    code = arith::MinUIOp::create(in.b, in.loc, code, last);

    Value set = positions(in, run);
    Value isEmpty = arith::CmpIOp::create(
        in.b, in.loc, arith::CmpIPredicate::eq, set, in.i32(0));
    Value position = in.i32(0);
    for (unsigned rank = 0; rank < sparsity.n; ++rank) {
      Value isOwn = arith::CmpIOp::create(
          in.b, in.loc, arith::CmpIPredicate::eq, slot, in.index(rank));
      Value lowest = math::CountTrailingZerosOp::create(in.b, in.loc, set);
      position = in.select(isOwn, lowest, position);
      Value below = arith::SubIOp::create(in.b, in.loc, set, in.i32(1));
      Value rest = arith::AndIOp::create(in.b, in.loc, set, below);
      Value isLast = arith::CmpIOp::create(
          in.b, in.loc, arith::CmpIPredicate::eq, rest, in.i32(0));
      set = in.select(isLast, set, rest);
    }
    // None of a run's indices is a position: they stay what they are.
    Value own = emitter(in).fieldAt(sparsity.indices, item);
    return {emitter(in).fieldAt(format.codes, code),
            in.select(isEmpty, own, position)};
  };
  Type i32 = s.b.getI32Type();
  SmallVector<Value> lists =
      compute(s, getAsOpFoldResult(stored), {}, {i32, i32}, body);
  Codes codes{lists[0], lists[1], factorCodes(format.scales),
              factorCodes(format.offset.factors)};
  return packPlanes(s, format, codes, getAsOpFoldResult(elements));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether level 2 of grit_check proves that every run has N positions.
static bool isProvable(Value array) {
  auto type = cast<ir::ArrayType>(array.getType());
  return type.getContract().getContract().description().sparsity->ascending;
}

/// Whether the runs of a sparse array are known to have N positions: encode
/// wrote them, or they have been checked.
static bool isKnownFull(Value array) {
  Operation *source = array.getDefiningOp();
  if (auto relayout = dyn_cast_or_null<ir::RelayoutOp>(source))
    return isKnownFull(relayout.getArray());
  if (auto check = dyn_cast_or_null<ir::CheckOp>(source))
    return (check.getLevel() >= 2 && isProvable(array)) ||
           isKnownFull(check.getArray());
  return isa_and_nonnull<ir::EncodeOp>(source);
}

/// Whether the bytes of a constant pass the check at level 2.
static bool isCheckedConstant(OpBuilder &builder, Value array) {
  if (!array.getDefiningOp<ir::ConstantOp>() || !isProvable(array))
    return false;
  auto check = ir::CheckOp::create(builder, array.getLoc(), array, 2);
  RewritePatternSet patterns(builder.getContext());
  check->getDialect()->getCanonicalizationPatterns(patterns);
  bool erased = false;
  Operation *op = check;
  (void)applyOpPatternsGreedily(op, std::move(patterns), {}, nullptr, &erased);
  if (!erased)
    check.erase();
  return erased;
}

static SmallVector<Type> planeTypesOf(ir::ArrayType type) {
  return llvm::map_to_vector(
      type.getPlaneTypes(), [](RankedTensorType plane) { return Type(plane); });
}

namespace {
/// What a kernel of sparse arrays calls.
struct Functions {
  func::FuncOp full, reorder;
};

struct OrderSurvivors : grit::impl::OrderSurvivorsBase<OrderSurvivors> {
  using OrderSurvivorsBase::OrderSurvivorsBase;

  /// A private function of planes and dynamic extents, apart from the kernels
  /// that call it: it is their slow path, or short beside them.
  func::FuncOp
  outline(StringRef name, ir::ArrayType type, ArrayRef<Type> results,
          function_ref<LogicalResult(Survivors &, OpBuilder &)> body) {
    SmallVector<Type> arguments = planeTypesOf(type);
    size_t numPlanes = arguments.size();
    OpBuilder builder(&getContext());
    arguments.append(type.getNumDynamicDims(), builder.getIndexType());
    Location loc = getOperation().getLoc();
    auto function = func::FuncOp::create(
        loc, name, builder.getFunctionType(arguments, results));
    function.setPrivate();
    function->setAttr("no_inline", builder.getUnitAttr());
    SymbolTable(getOperation()).insert(function);
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    ValueRange given = entry->getArguments();
    Survivors survivors(builder, loc, type, given.take_front(numPlanes),
                        given.drop_front(numPlanes));
    if (succeeded(body(survivors, builder)))
      return function;
    function.erase();
    return {};
  }

  /// The two functions of an array type, or null.
  Functions functionsOf(ir::ArrayType type) {
    auto [entry, isNew] = functions.try_emplace(type);
    if (!isNew)
      return entry->second;
    Functions &result = entry->second;
    auto give = [](OpBuilder &builder, ValueRange values) {
      func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
      return success();
    };
    result.full = outline("sparse_runs_are_full", type,
                          IntegerType::get(&getContext(), 1),
                          [&](Survivors &survivors, OpBuilder &builder) {
                            return give(builder, survivors.allFull(lanes));
                          });
    SmallVector<Type> planeTypes = planeTypesOf(type);
    auto reorder = [&](Survivors &survivors, OpBuilder &builder) {
      Expected<SmallVector<Value>> planes = survivors.reorder();
      if (!planes) {
        ir::describeError(getOperation().emitError(), planes.error());
        return LogicalResult::failure();
      }
      for (auto [plane, like] : llvm::zip_equal(*planes, planeTypes))
        if (plane.getType() != like)
          plane = tensor::CastOp::create(builder, plane.getLoc(), like, plane);
      return give(builder, *planes);
    };
    result.reorder =
        outline("sparse_order_survivors", type, planeTypes, reorder);
    return result;
  }

  LogicalResult order(OpOperand &operand) {
    Operation *op = operand.getOwner();
    auto type = dyn_cast<ir::ArrayType>(operand.get().getType());
    if (!type || !type.getContract().getContract().description().sparsity)
      return success();
    OpBuilder builder(op);
    if (isKnownFull(operand.get()) || isCheckedConstant(builder, operand.get()))
      return success();
    if (!type.hasCanonicalPlacements())
      return op->emitOpError("reads an array outside the canonical placements "
                             "of its contract; run grit-legalize-placements "
                             "first");
    Functions own = functionsOf(type);
    if (!own.reorder)
      return failure();
    Location loc = op->getLoc();
    ValueRange planes =
        ir::PlanesOp::create(builder, loc, operand.get()).getPlanes();
    SmallVector<Value> extents, arguments(planes);
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(extent))
        extents.push_back(ir::DimOp::create(builder, loc, operand.get(), dim));
    arguments.append(extents);
    Value full =
        func::CallOp::create(builder, loc, own.full, arguments).getResult(0);
    auto choice = scf::IfOp::create(
        builder, loc, full,
        [&](OpBuilder &nested, Location at) {
          scf::YieldOp::create(nested, at, planes);
        },
        [&](OpBuilder &nested, Location at) {
          auto call = func::CallOp::create(nested, at, own.reorder, arguments);
          scf::YieldOp::create(nested, at, call.getResults());
        });
    operand.set(
        ir::BundleOp::create(builder, loc, type, choice.getResults(), extents));
    return success();
  }

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(lanes) || lanes > 256) {
      getOperation()->emitError()
          << "lanes must be a power of two up to 256, but got "
          << lanes.getValue();
      return signalPassFailure();
    }
    SmallVector<OpOperand *> operands;
    getOperation()->walk([&](Operation *op) {
      if (isa<ir::DecodeOp, ir::MatmulOp>(op))
        for (OpOperand &operand : op->getOpOperands())
          operands.push_back(&operand);
    });
    for (OpOperand *operand : operands)
      if (failed(order(*operand)))
        return signalPassFailure();
    functions.clear();
  }

  DenseMap<ir::ArrayType, Functions> functions;
};
} // namespace
