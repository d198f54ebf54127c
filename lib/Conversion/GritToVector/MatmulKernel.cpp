//===- MatmulKernel.cpp - activations times a quantized weight -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kernels with one schedule each. One row of activations: the weight is
// decoded in registers and multiplied where it is. More rows: a tile of weight
// rows is decoded once into a panel, which blocks of rows then share.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include <numeric>

using namespace mlir;
using namespace grit;
using namespace grit::ir;

/// Weight rows of a parallel tile.
static constexpr int64_t kTileRows = 16;
/// Rows of weight and of activations that one block of accumulators serves:
/// 4 x 4 accumulators and their operands fill a register file of 32, and 16
/// registers spill little.
static constexpr int64_t kBlock = 4;

namespace {
/// What both schedules need to know.
struct MatmulContext {
  const FormatDescription &description;
  kernelgen::Walk walk;
  int64_t lanes; ///< of an accumulator
  bool fused;    ///< a product and its sum may be rounded once
  Value x, k;    ///< activations [M, K] and K
  ValueRange planes;
};

/// A block of accumulators, row-major over (activation row, weight row).
using Accumulators = SmallVector<Value>;

class MatmulEmitter {
public:
  MatmulEmitter(OpBuilder &b, Location loc, const MatmulContext &context)
      : b(b), loc(loc), loops{b, loc}, context(context) {}

  Value emitRowTile(Value firstRow, Value rows, Value out);
  Value emitPanelTile(Value firstRow, Value rows, Value m, Value out);

private:
  Value zeroLanes(int64_t lanes) {
    auto type = VectorType::get({lanes}, b.getF32Type());
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  Value dot(Value weight, Value activation, Value acc) {
    return kernel::DotOp::create(b, loc, acc.getType(), weight, activation, acc,
                                 context.fused);
  }
  /// Weights are one matrix, their groups counted along its lines.
  kernelgen::Geometry geometry() const {
    return {context.k, Value(), context.k, Value()};
  }
  Value activations(Value row, Value column, int64_t lanes) {
    Value value = readLanes(b, loc, context.x, {row, column}, lanes);
    return convertFloat(b, loc, value, b.getF32Type());
  }
  /// out[row, column] += the sum of the lanes.
  Value addSum(Value lanes, Value out, Value row, Value column);
  Value decodePanel(Value firstRow, Value rows);
  Value multiplyBlock(Value panel, Value row, int64_t rowCount, Value column,
                      int64_t columnCount, Value out);

  OpBuilder &b;
  Location loc;
  Loops loops;
  const MatmulContext &context;
};
} // namespace

Value MatmulEmitter::addSum(Value lanes, Value out, Value row, Value column) {
  Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD,
                                          lanes, arith::FastMathFlags::reassoc);
  Value old = tensor::ExtractOp::create(b, loc, out, ValueRange{row, column});
  Type element = old.getType();
  old = convertFloat(b, loc, old, b.getF32Type());
  Value value = arith::AddFOp::create(b, loc, old, sum);
  value = convertFloat(b, loc, value, element);
  return tensor::InsertOp::create(b, loc, value, out, ValueRange{row, column});
}

/// The one row of activations against a tile of weight rows.
Value MatmulEmitter::emitRowTile(Value firstRow, Value rows, Value out) {
  Value zero = loops.constant(0);
  const kernelgen::Walk &walk = context.walk;
  auto block = [&](Value row, int64_t count, Value result) -> Value {
    SmallVector<Value> lines, bases;
    for (int64_t i = 0; i < count; ++i) {
      lines.push_back(loops.add(loops.add(firstRow, row), loops.constant(i)));
      bases.push_back(loops.mul(lines.back(), context.k));
    }
    Accumulators start(count, zeroLanes(walk.run));
    auto step = [&](Value at, ValueRange carried) -> SmallVector<Value> {
      Accumulators acc(carried.begin(), carried.end());
      kernelgen::Emitter emitter(b, loc, context.description, context.planes,
                                 geometry());
      for (int64_t offset = 0; offset < walk.step; offset += walk.run) {
        Value column = loops.add(at, loops.constant(offset));
        Value x = activations(zero, column, walk.run);
        for (auto [i, base] : llvm::enumerate(bases)) {
          kernelgen::Run run{loops.add(base, at), walk.step, offset, walk.run,
                             lines[i]};
          acc[i] = dot(emitter.values(run, /*canonicalNan=*/false), x, acc[i]);
        }
      }
      return acc;
    };
    Accumulators sums = loops.forEach(zero, context.k, walk.step, start, step);
    for (auto [i, sum] : llvm::enumerate(sums))
      result = addSum(sum, result, zero, loops.add(row, loops.constant(i)));
    return result;
  };
  return loops.forBlocks(rows, kBlock, out, block);
}

/// Weight rows [firstRow, firstRow + rows) as binary32.
Value MatmulEmitter::decodePanel(Value firstRow, Value rows) {
  const kernelgen::Walk &walk = context.walk;
  auto type = b.getF32Type();
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(kTileRows),
                                     getAsOpFoldResult(context.k)};
  Value panel = tensor::EmptyOp::create(b, loc, sizes, type);
  auto decodeRow = [&](Value row, ValueRange rowCarried) -> SmallVector<Value> {
    Value line = loops.add(firstRow, row);
    Value base = loops.mul(line, context.k);
    auto decodeStep = [&](Value at, ValueRange carried) -> SmallVector<Value> {
      kernelgen::Emitter emitter(b, loc, context.description, context.planes,
                                 geometry());
      Value result = carried[0];
      for (int64_t offset = 0; offset < walk.step; offset += walk.run) {
        kernelgen::Run run{loops.add(base, at), walk.step, offset, walk.run,
                           line};
        Value value = emitter.values(run, /*canonicalNan=*/false);
        Value column = loops.add(at, loops.constant(offset));
        result = writeLanes(b, loc, value, result, {row, column});
      }
      return {result};
    };
    return loops.forEach(loops.constant(0), context.k, walk.step, rowCarried,
                         decodeStep);
  };
  return loops.forEach(loops.constant(0), rows, 1, panel, decodeRow).front();
}

/// A block of activation rows times a block of panel rows.
Value MatmulEmitter::multiplyBlock(Value panel, Value row, int64_t rowCount,
                                   Value column, int64_t columnCount,
                                   Value out) {
  auto at = [&](Value first, int64_t i) {
    return loops.add(first, loops.constant(i));
  };
  Accumulators start(rowCount * columnCount, zeroLanes(context.lanes));
  auto step = [&](Value k, ValueRange carried) -> SmallVector<Value> {
    Accumulators acc(carried.begin(), carried.end());
    SmallVector<Value> weights;
    for (int64_t j = 0; j < columnCount; ++j)
      weights.push_back(
          readLanes(b, loc, panel, {at(column, j), k}, context.lanes));
    for (int64_t i = 0; i < rowCount; ++i) {
      Value x = activations(at(row, i), k, context.lanes);
      for (int64_t j = 0; j < columnCount; ++j) {
        Value &sum = acc[i * columnCount + j];
        sum = dot(weights[j], x, sum);
      }
    }
    return acc;
  };
  Accumulators sums =
      loops.forEach(loops.constant(0), context.k, context.lanes, start, step);
  for (int64_t i = 0; i < rowCount; ++i)
    for (int64_t j = 0; j < columnCount; ++j)
      out = addSum(sums[i * columnCount + j], out, at(row, i), at(column, j));
  return out;
}

/// Many rows of activations against a tile of weight rows.
Value MatmulEmitter::emitPanelTile(Value firstRow, Value rows, Value m,
                                   Value out) {
  Value panel = decodePanel(firstRow, rows);
  return loops.forBlocks(
      m, kBlock, out, [&](Value row, int64_t rowCount, Value rowOut) {
        return loops.forBlocks(
            rows, kBlock, rowOut,
            [&](Value column, int64_t columnCount, Value result) {
              return multiplyBlock(panel, row, rowCount, column, columnCount,
                                   result);
            });
      });
}

namespace {
struct MatmulKernel : OpRewritePattern<MatmulOp> {
  MatmulKernel(MLIRContext *context, int64_t lanes)
      : OpRewritePattern(context, /*benefit=*/2), lanes(lanes) {}

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    ArrayType weight = op.getWeight().getType();
    grit::Contract contract = weight.getContract().getContract();
    const FormatDescription &description = contract.description();
    if (!op.getRequestedAccum().allowsAnyOrder())
      return rewriter.notifyMatchFailure(
          op, "lanes add in an order of their own (ao = unspec)");
    auto walk = chooseVectorWalk(rewriter, op, weight, lanes);
    if (failed(walk))
      return failure();

    Location loc = op.getLoc();
    Loops loops{rewriter, loc};
    auto planes = PlanesOp::create(rewriter, loc, op.getWeight());
    int64_t leading =
        cast<RankedTensorType>(op.getInit().getType()).getRank() - 1;
    Value x = mergeDims(rewriter, loc, op.getInput(), leading);
    Value y = mergeDims(rewriter, loc, op.getInit(), leading);
    int64_t k = weight.getShape()[1];
    Value kValue = ShapedType::isDynamic(k) ? extentOf(rewriter, loc, x, 1)
                                            : loops.constant(k);
    MatmulContext context{
        description,        *walk, std::gcd(lanes, rowMultiple(weight)),
        /*fused=*/true,     x,     kValue,
        planes.getResults()};
    MatmulEmitter emitter(rewriter, loc, context);
    int64_t m = cast<RankedTensorType>(x.getType()).getDimSize(0);
    Value mValue = extentOf(rewriter, loc, x, 0);
    Value result = loops.forTiles(
        y, kTileRows, [&](Value first, Value rows, Value slice) -> Value {
          if (m == 1)
            return emitter.emitRowTile(first, rows, slice);
          if (!ShapedType::isDynamic(m))
            return emitter.emitPanelTile(first, rows, mValue, slice);
          return chooseAtRunTime(loops, emitter, first, rows, mValue, slice);
        });
    rewriter.replaceOp(op,
                       splitDims(rewriter, loc, result, op.getInit(), leading));
    return success();
  }

private:
  /// The schedule for one row or the one for many, by the extent met.
  static Value chooseAtRunTime(Loops &loops, MatmulEmitter &emitter,
                               Value first, Value rows, Value m, Value slice) {
    OpBuilder &b = loops.b;
    Value isRow = arith::CmpIOp::create(b, loops.loc, arith::CmpIPredicate::eq,
                                        m, loops.constant(1));
    auto branch = scf::IfOp::create(b, loops.loc, slice.getType(), isRow,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loops.loc, emitter.emitRowTile(first, rows, slice));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loops.loc,
                         emitter.emitPanelTile(first, rows, m, slice));
    return branch.getResult(0);
  }

  int64_t lanes;
};
} // namespace

void grit::populateMatmulKernel(RewritePatternSet &patterns, int64_t lanes) {
  patterns.add<MatmulKernel>(patterns.getContext(), lanes);
}
