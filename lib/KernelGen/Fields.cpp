//===- Fields.cpp - bit fields at a run of indices and at one index -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "grit/KernelGen/Arithmetic.h"
#include "grit/KernelGen/KernelGen.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace grit;
using namespace grit::kernelgen;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static Value readBytes(OpBuilder &b, Location loc, Value plane, Value offset,
                       int64_t count) {
  bool isTensor = isa<RankedTensorType>(plane.getType());
  if (count == 1) {
    if (isTensor)
      return tensor::ExtractOp::create(b, loc, plane, offset);
    return memref::LoadOp::create(b, loc, plane, offset);
  }
  auto type = VectorType::get({count}, b.getI8Type());
  if (isTensor)
    return vector::TransferReadOp::create(b, loc, type, plane, offset,
                                          std::nullopt, ArrayRef<bool>{true});
  return vector::LoadOp::create(b, loc, type, plane, offset);
}

static Value readTable(OpBuilder &b, Location loc, DenseElementsAttr table,
                       Value index, int64_t count) {
  Value constant = arith::ConstantOp::create(b, loc, table);
  if (count == 1)
    return tensor::ExtractOp::create(b, loc, constant, index);
  auto type = VectorType::get({count}, table.getElementType());
  return vector::TransferReadOp::create(b, loc, type, constant, index,
                                        std::nullopt, ArrayRef<bool>{true});
}

Emitter::Emitter(OpBuilder &builder, Location loc,
                 const FormatDescription &description, ValueRange planes,
                 std::optional<Geometry> geometry)
    : builder(builder), loc(loc), description(description),
      planes(planes.begin(), planes.end()), geometry(geometry),
      reader(readBytes), tableReader(readTable) {}

//===----------------------------------------------------------------------===//
// A run of lanes
//===----------------------------------------------------------------------===//

/// Bytes that the base of a run adds to an address: the dynamic parts of the
/// digits, each a whole number of bytes (chooseWalk made sure).
static Value baseBytes(Arithmetic a, const BitSlice &slice, Value base,
                       int64_t align) {
  Value bytes;
  for (const Digit &digit : slice.digits) {
    if (!hasDynamicPart(digit, align))
      continue;
    Value value = a.div(base, digit.div);
    if (digit.mod)
      value = a.rem(value, digit.mod);
    value = digit.stride % 8 == 0 ? a.mul(value, digit.stride / 8)
                                  : a.div(a.mul(value, digit.stride), 8);
    bytes = a.sum(bytes, value);
  }
  return bytes;
}

Value Emitter::lanesOfSlice(const BitSlice &slice, Value plane, Value indexBase,
                            int64_t indexAlign, ArrayRef<int64_t> laneIndices) {
  Arithmetic a{builder, loc};
  SmallVector<int64_t> bits = llvm::map_to_vector(
      laneIndices, [&](int64_t index) { return slice.at(index); });
  int64_t first = *llvm::min_element(bits) / 8;
  int64_t last = (*llvm::max_element(bits) + slice.width - 1) / 8;
  Value start = baseBytes(a, slice, indexBase, indexAlign);
  start = start ? a.add(start, first) : a.index(first);
  // A window of one byte is still a vector, for unpack's sake.
  int64_t count = std::max<int64_t>(last - first + 1, 2);
  if (count != last - first + 1) {
    Value byte = reader(builder, loc, plane, start, 1);
    Value window = vector::BroadcastOp::create(
        builder, loc, VectorType::get({2}, builder.getI8Type()), byte);
    return lanesOfWindow(window, slice.width, first, bits);
  }
  Value window = reader(builder, loc, plane, start, count);
  return lanesOfWindow(window, slice.width, first, bits);
}

Value Emitter::lanesOfWindow(Value window, unsigned width, int64_t firstByte,
                             ArrayRef<int64_t> bits) {
  Arithmetic a{builder, loc};
  auto codes = VectorType::get({int64_t(bits.size())}, builder.getI8Type());
  Value value;
  for (unsigned done = 0; done < width; done += 8) {
    unsigned part = std::min(8u, width - done);
    SmallVector<int32_t> offsets = llvm::map_to_vector(bits, [&](int64_t bit) {
      return static_cast<int32_t>(bit - 8 * firstByte + done);
    });
    Value lanes =
        kernel::UnpackOp::create(builder, loc, codes, window, offsets, part);
    if (width > 8)
      lanes = a.shl(a.toI32(lanes), done);
    value = value ? a.bitOr(value, lanes) : lanes;
  }
  return value;
}

/// Digit t of stored bits (Radix in Description.h); `power` is base^t.
Value Emitter::radixDigit(Value bits, Value power, const BitField &field) {
  Arithmetic a{builder, loc};
  unsigned width = field.storedWidth();
  Value rest = arith::MulIOp::create(builder, loc, a.toI32(bits), power);
  rest = a.bitAnd(rest, (int64_t(1) << width) - 1);
  return a.shru(a.mul(rest, field.radix->base), width);
}

static int64_t powerOf(int64_t base, int64_t exponent) {
  int64_t power = 1;
  while (exponent-- > 0)
    power *= base;
  return power;
}

static int64_t placeAt(const Radix &radix, int64_t index) {
  int64_t place = 0;
  for (const Digit &digit : radix.place)
    place += digit.at(index);
  return place;
}

Value Emitter::lanesOf(const BitField &field, Value indexBase,
                       int64_t indexAlign, ArrayRef<int64_t> laneIndices) {
  Arithmetic a{builder, loc};
  bool wide = field.storedWidth() > 8;
  Value value;
  for (const BitSlice &slice : field.slices) {
    Value lanes = lanesOfSlice(slice, planes[field.plane], indexBase,
                               indexAlign, laneIndices);
    if (wide)
      lanes = a.toI32(lanes);
    lanes = a.shl(lanes, slice.shift);
    value = value ? a.bitOr(value, lanes) : lanes;
  }
  if (!field.radix)
    return value;
  // The places follow from the lanes alone (chooseWalk made sure).
  auto powers = llvm::map_to_vector(laneIndices, [&](int64_t index) {
    return static_cast<int32_t>(
        powerOf(field.radix->base, placeAt(*field.radix, index)));
  });
  auto type = VectorType::get({int64_t(powers.size())}, builder.getI32Type());
  Value power = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(powers)));
  Value digits = radixDigit(value, power, field);
  return arith::TruncIOp::create(
      builder, loc, a.typeLike(digits, builder.getI8Type()), digits);
}

//===----------------------------------------------------------------------===//
// One index
//===----------------------------------------------------------------------===//

Value Emitter::bitsAt(Value plane, Value bit, int64_t alignment,
                      unsigned width) {
  Arithmetic a{builder, loc};
  Value byte = a.div(bit, 8);
  // Whether the bits can reach into a further byte depends on where they start.
  unsigned worstStart = 8 - static_cast<unsigned>(alignment);
  unsigned bytes = (worstStart + width + 7) / 8;
  Value value;
  for (unsigned i = 0; i < bytes; ++i) {
    Value address = a.add(byte, i);
    // The last one may lie behind the plane when these bits do not need it.
    // Reading another in its place does no harm: the mask takes it away.
    if (8 * i >= width)
      address = a.min(address, a.div(a.add(bit, width - 1), 8));
    Value part = a.toI32(reader(builder, loc, plane, address, 1));
    part = a.shl(part, 8 * i);
    value = value ? a.bitOr(value, part) : part;
  }
  if (alignment < 8) {
    Value inByte = arith::IndexCastOp::create(
        builder, loc, builder.getI32Type(), a.rem(bit, 8));
    value = arith::ShRUIOp::create(builder, loc, value, inByte);
  }
  if (width < 32 && (alignment < 8 || width % 8 != 0))
    value = a.bitAnd(value, (int64_t(1) << width) - 1);
  return value;
}

Value Emitter::digitAt(const Digit &digit, Value index) {
  Arithmetic a{builder, loc};
  Value value = a.div(index, digit.div);
  if (digit.mod)
    value = a.rem(value, digit.mod);
  if (!digit.table.empty()) {
    auto type = RankedTensorType::get({int64_t(digit.table.size())},
                                      builder.getI32Type());
    SmallVector<int32_t> entries(digit.table.begin(), digit.table.end());
    Value entry = tableReader(
        builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(entries)),
        value, 1);
    value = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                         entry);
  }
  return a.mul(value, digit.stride);
}

Value Emitter::sliceAt(const BitSlice &slice, Value plane, Value index) {
  Arithmetic a{builder, loc};
  Value bit;
  for (const Digit &digit : slice.digits)
    bit = a.sum(bit, digitAt(digit, index));
  bit = bit ? a.add(bit, slice.base) : a.index(slice.base);
  return bitsAt(plane, bit, addressAlignment(slice), slice.width);
}

Value Emitter::fieldAt(const BitField &field, Value index) {
  Arithmetic a{builder, loc};
  Value value;
  for (const BitSlice &slice : field.slices) {
    Value bits = a.shl(sliceAt(slice, planes[field.plane], index), slice.shift);
    value = value ? a.bitOr(value, bits) : bits;
  }
  if (!field.radix)
    return value;
  Value place;
  for (const Digit &digit : field.radix->place)
    place = a.sum(place, digitAt(digit, index));
  if (!place)
    return radixDigit(value, a.intConstant(value, 1), field);
  SmallVector<int32_t> powers;
  for (int64_t power = 1; power < int64_t(1) << field.storedWidth();
       power *= field.radix->base)
    powers.push_back(static_cast<int32_t>(power));
  auto type =
      RankedTensorType::get({int64_t(powers.size())}, builder.getI32Type());
  Value power = tableReader(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(powers)),
      place, 1);
  return radixDigit(value, power, field);
}
