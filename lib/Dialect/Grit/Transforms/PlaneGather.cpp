//===- PlaneGather.cpp - a plane with its values moved -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaneGather.h"
#include "Emission.h"
#include "grit/Format/LayoutEmit.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace grit;
using namespace grit::ir;
using namespace mlir;
using grit::kernelgen::Arithmetic;

//===----------------------------------------------------------------------===//
// Maps as arithmetic
//===----------------------------------------------------------------------===//

/// The longest run of indices that a map keeps together, wherever it starts at
/// a multiple of its length.
static int64_t contiguousRun(const LayoutMap &map) {
  int64_t run = 0;
  for (const LayoutStep &step : map.steps()) {
    if (const auto *mix = std::get_if<BitMix>(&step)) {
      run = std::gcd(run, mix->base);
    } else if (const auto *table = std::get_if<SlotTable>(&step)) {
      run = std::gcd(run, table->base);
    } else {
      llvm::ArrayRef<LayoutDigit> digits = std::get<DigitMove>(step).digits;
      if (digits.empty() || digits.front().stride != 1)
        return 1;
      run = std::gcd(run, digits.front().radix);
      for (const LayoutDigit &digit : digits.drop_front())
        run = std::gcd(run, digit.stride);
    }
  }
  return run;
}

namespace {
/// The operations that maps are made of (LayoutEmit.h), on index values.
struct IndexOperations {
  using Value = mlir::Value;
  Arithmetic math;
  /// The tables of the map, as constants from outside of the loop.
  llvm::ArrayRef<Value> tables;
  size_t nextTable = 0;

  Value constant(int64_t value) { return math.index(value); }
  Value add(Value x, Value y) { return math.sum(x, y); }
  Value subtract(Value x, Value y) {
    return math.b.createOrFold<arith::SubIOp>(math.loc, x, y);
  }
  Value multiply(Value x, int64_t y) { return math.mul(x, y); }
  Value divide(Value x, int64_t y) { return math.div(x, y); }
  Value remainder(Value x, int64_t y) { return math.rem(x, y); }
  Value bitAnd(Value x, int64_t mask) { return math.bitAnd(x, mask); }
  Value bitXor(Value x, Value y) {
    return math.b.createOrFold<arith::XOrIOp>(math.loc, x, y);
  }
  Value shiftLeft(Value x, unsigned bits) { return math.shl(x, bits); }
  Value shiftRight(Value x, unsigned bits) { return math.shru(x, bits); }
  Value lookup(std::span<const uint32_t>, Value index) {
    Value slot =
        tensor::ExtractOp::create(math.b, math.loc, tables[nextTable++], index);
    return arith::IndexCastUIOp::create(math.b, math.loc, math.b.getIndexType(),
                                        slot);
  }
};
} // namespace

/// The tables of a map, in the order of its steps.
static llvm::SmallVector<Value> emitTables(OpBuilder &builder, Location loc,
                                           const LayoutMap &map) {
  llvm::SmallVector<Value> tables;
  for (const LayoutStep &step : map.steps())
    if (const auto *table = std::get_if<SlotTable>(&step)) {
      llvm::SmallVector<int32_t> slots(table->slots.begin(),
                                       table->slots.end());
      tables.push_back(arith::ConstantOp::create(
          builder, loc, builder.getI32TensorAttr(slots)));
    }
  return tables;
}

/// The map of whole runs: what `map` does to index i * run is run times what
/// this one does to i.
static LayoutMap mapOfRuns(const LayoutMap &map, int64_t run) {
  LayoutMap result = LayoutMap::identity(map.domain() / run);
  for (LayoutStep step : map.steps()) {
    if (auto *mix = std::get_if<BitMix>(&step)) {
      mix->base /= run;
    } else if (auto *table = std::get_if<SlotTable>(&step)) {
      table->base /= run;
    } else {
      auto &move = std::get<DigitMove>(step);
      move.range /= run;
      move.digits.front().radix /= run;
      for (LayoutDigit &digit : llvm::drop_begin(move.digits))
        digit.stride /= run;
    }
    result.append(step);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

namespace {
/// Emits the move of one plane. A byte is made of chunks: the widest runs of
/// bits that neither the end of a value nor that of a byte cuts.
class PlaneGather {
public:
  PlaneGather(OpBuilder &builder, Location loc, const PlaneMove &move,
              Value plane)
      : builder(builder), loc(loc), move(move), plane(plane),
        chunkBits(std::gcd(move.grid.packing.bits, int64_t(8))),
        chunksPerByte(8 / chunkBits),
        map(move.source.ofBlocks(move.grid.packing.bits / chunkBits)) {
    // Where chunks move in runs of whole bytes, the map is that of the runs.
    int64_t run = contiguousRun(map);
    if (run % chunksPerByte == 0) {
      runBytes = run / chunksPerByte;
      map = mapOfRuns(map, run);
    }
    tables = emitTables(builder, loc, map);
  }

  Value emit();

private:
  Value sourceOf(Arithmetic math, Value index) const {
    IndexOperations operations{math, tables};
    return emitSlot(map, operations, index);
  }
  Value emitByte(Arithmetic math, Value byteIndex) const;
  Value emitChunk(Arithmetic math, Value byteIndex, int64_t chunk) const;
  Value emitRuns(OpFoldResult bytes);

  OpBuilder &builder;
  Location loc;
  const PlaneMove &move;
  Value plane;
  int64_t chunkBits, chunksPerByte;
  int64_t runBytes = 0; ///< 0: single chunks move
  LayoutMap map;        ///< of runs, or of chunks
  llvm::SmallVector<Value> tables;
};
} // namespace

/// Chunk `chunk` of target byte `byteIndex`, in its place in the byte.
Value PlaneGather::emitChunk(Arithmetic math, Value byteIndex,
                             int64_t chunk) const {
  // In a byte that is filled from its most significant bits, chunks run down.
  int64_t inByte =
      move.grid.packing.msbFirst ? chunksPerByte - 1 - chunk : chunk;
  Value number = math.add(math.mul(byteIndex, chunksPerByte), inByte);
  Value source = sourceOf(math, number);
  Value sourceByte = math.div(source, chunksPerByte), valid;
  if (move.tailedValues) {
    int64_t chunks = move.tailedValues * (move.grid.packing.bits / chunkBits);
    valid = math.cmp(arith::CmpIPredicate::ult, number, chunks);
    sourceByte = math.select(valid, sourceByte, math.index(0));
  }
  Value bits = tensor::ExtractOp::create(math.b, loc, plane, sourceByte);
  if (chunksPerByte > 1) {
    Value place = math.rem(source, chunksPerByte);
    if (move.grid.packing.msbFirst)
      place = arith::SubIOp::create(math.b, loc, math.index(chunksPerByte - 1),
                                    place);
    Value shift = arith::IndexCastOp::create(math.b, loc, math.b.getI8Type(),
                                             math.mul(place, chunkBits));
    bits = arith::ShRUIOp::create(math.b, loc, bits, shift);
    bits = math.bitAnd(bits, (1 << chunkBits) - 1);
    bits = math.shl(bits, chunk * chunkBits);
  }
  if (valid)
    bits = math.select(valid, bits, math.intConstant(bits, 0));
  return bits;
}

Value PlaneGather::emitByte(Arithmetic math, Value byteIndex) const {
  if (runBytes == 1)
    return tensor::ExtractOp::create(math.b, loc, plane,
                                     sourceOf(math, byteIndex));
  Value byte = emitChunk(math, byteIndex, 0);
  for (int64_t chunk = 1; chunk < chunksPerByte; ++chunk)
    byte = math.bitOr(byte, emitChunk(math, byteIndex, chunk));
  return byte;
}

/// An outer loop over runs, whose places the map gives, and an inner one over
/// the bytes of a run, which follow one another on both sides.
Value PlaneGather::emitRuns(OpFoldResult bytes) {
  Value count = getValueOrCreateConstantIndexOp(builder, loc, bytes);
  Arithmetic outer{builder, loc};
  SmallVector<OpFoldResult> extents{
      getAsOpFoldResult(outer.div(count, runBytes)),
      builder.getIndexAttr(runBytes)};
  Value runs =
      emitBytes(builder, loc, extents, [&](Arithmetic math, ValueRange at) {
        Value first = math.mul(sourceOf(math, at[0]), runBytes);
        return tensor::ExtractOp::create(math.b, loc, plane,
                                         math.sum(first, at[1]))
            .getResult();
      });
  return tensor::CollapseShapeOp::create(
      builder, loc, plane.getType(), runs,
      ArrayRef<ReassociationIndices>{ReassociationIndices{0, 1}});
}

Value PlaneGather::emit() {
  OpFoldResult bytes = tensor::getMixedSize(builder, loc, plane, 0);
  if (runBytes > 1)
    return emitRuns(bytes);
  return emitBytes(builder, loc, bytes, [&](Arithmetic math, ValueRange at) {
    return emitByte(math, at[0]);
  });
}

Value grit::ir::emitPlaneMove(OpBuilder &builder, Location loc,
                              const PlaneMove &move, Value plane) {
  return PlaneGather(builder, loc, move, plane).emit();
}
