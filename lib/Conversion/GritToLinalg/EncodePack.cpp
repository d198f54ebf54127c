//===- EncodePack.cpp - codes become the bytes of planes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bit addresses of a format repeat: a period of elements fills a whole
// number of bytes. What each byte of a period is made of is worked out here,
// once, and goes into the program as constant tables.
//
//===----------------------------------------------------------------------===//

#include "EncodeSupport.h"
#include <numeric>

using namespace mlir;
using namespace grit;
using namespace grit::encoding;

namespace {
/// The codes of one field; a period holds `perPeriod` of them.
struct PackedField {
  const BitField *bits;
  Value codes;
  int64_t unit = 1, perUnit = 1; ///< codes per elements
  int64_t perPeriod = 1;
};

/// Bits of a byte that come from one code.
struct Piece {
  unsigned field = 0;
  int32_t index = 0;     ///< of the code, in its period
  int32_t codeShift = 0; ///< first bit in the code
  int32_t byteShift = 0; ///< first bit in the byte
  int32_t mask = 0;
};

/// One plane: its period, and what every byte of it is made of.
class PlanePacker {
public:
  /// The number of elements is a multiple of `multiple`.
  PlanePacker(const PlaneInfo &info, SmallVector<PackedField> fields,
              int64_t multiple)
      : info(info), fields(std::move(fields)), multiple(multiple) {}

  /// Works out the bytes of a period.
  std::optional<Error> layOut();
  Value emit(Scalars s, OpFoldResult numElements);

private:
  std::optional<Error> layOutField(unsigned number);
  Value emitByte(Scalars s, Value period, Value byte) const;
  Value emitPiece(Scalars s, unsigned piece, unsigned field, Value period,
                  Value byte) const;
  /// Whether the last period may be cut short.
  bool hasTail(OpFoldResult numElements) const;

  const PlaneInfo &info;
  SmallVector<PackedField> fields;
  int64_t multiple;
  int64_t periodElements = 0; ///< 0: one period, the whole array
  std::vector<SmallVector<Piece>> bytes;
  size_t mostPieces = 0;
  bool guarded = false; ///< the last period may be cut short
};
} // namespace

std::optional<Error> PlanePacker::layOut() {
  int64_t units = 1;
  while (info.elements && info.bits * units % 8)
    ++units;
  periodElements = info.elements * units;
  bytes.resize((info.bits * units + 7) / 8);
  for (unsigned number = 0; number < fields.size(); ++number)
    if (auto error = layOutField(number))
      return error;
  for (const SmallVector<Piece> &pieces : bytes)
    mostPieces = std::max(mostPieces, pieces.size());
  return std::nullopt;
}

std::optional<Error> PlanePacker::layOutField(unsigned number) {
  PackedField &field = fields[number];
  auto refuse = [&] {
    return refuseEmission("plane " + info.name,
                          "codes whose addresses repeat in whole bytes",
                          "another layout")
        .value();
  };
  int64_t periodBits = int64_t(bytes.size()) * 8;
  if (periodElements) {
    if (field.unit == 0 || periodElements % field.unit)
      return refuse();
    field.perPeriod = periodElements / field.unit * field.perUnit;
  }
  for (const BitSlice &slice : field.bits->slices)
    for (int64_t index = 0; index < field.perPeriod; ++index) {
      int64_t first = slice.at(index);
      if (first < 0 || first + slice.width > periodBits ||
          (periodElements &&
           slice.at(index + field.perPeriod) != first + periodBits))
        return refuse();
      for (int64_t bit = first; bit < first + slice.width;) {
        int64_t end = std::min((bit / 8 + 1) * 8, first + int64_t(slice.width));
        bytes[bit / 8].push_back(
            {number, int32_t(index), int32_t(slice.shift + bit - first),
             int32_t(bit % 8), int32_t((1 << (end - bit)) - 1)});
        bit = end;
      }
    }
  return std::nullopt;
}

/// The bits that piece number `piece` of a byte takes from `field`, in place;
/// zero where the piece is another field's.
Value PlanePacker::emitPiece(Scalars s, unsigned piece, unsigned field,
                             Value period, Value byte) const {
  auto table = [&](auto entry) {
    std::vector<int32_t> values;
    for (const SmallVector<Piece> &pieces : bytes) {
      bool own = piece < pieces.size() && pieces[piece].field == field;
      values.push_back(own ? entry(pieces[piece]) : 0);
    }
    return values;
  };
  std::vector<int32_t> masks = table([](const Piece &p) { return p.mask; });
  if (llvm::all_of(masks, [](int32_t mask) { return mask == 0; }))
    return {};
  Value mask = lookUp(s, masks, byte);
  Value index =
      s.toIndex(lookUp(s, table([](const Piece &p) { return p.index; }), byte));
  Value before = arith::MulIOp::create(s.b, s.loc, period,
                                       s.index(fields[field].perPeriod));
  index = arith::AddIOp::create(s.b, s.loc, before, index);
  Value codes = fields[field].codes;
  if (guarded) {
    Value count = tensor::DimOp::create(s.b, s.loc, codes, 0);
    Value exists = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ult,
                                         index, count);
    index = s.select(exists, index, s.index(0));
    mask = s.select(exists, mask, s.i32(0));
  }
  Value code = tensor::ExtractOp::create(s.b, s.loc, codes, index);
  Value down =
      lookUp(s, table([](const Piece &p) { return p.codeShift; }), byte);
  Value up = lookUp(s, table([](const Piece &p) { return p.byteShift; }), byte);
  code = arith::ShRUIOp::create(s.b, s.loc, code, down);
  code = arith::AndIOp::create(s.b, s.loc, code, mask);
  return arith::ShLIOp::create(s.b, s.loc, code, up);
}

Value PlanePacker::emitByte(Scalars s, Value period, Value byte) const {
  Value result;
  for (unsigned piece = 0; piece < mostPieces; ++piece)
    for (unsigned field = 0; field < fields.size(); ++field)
      if (Value bits = emitPiece(s, piece, field, period, byte))
        result = result ? Value(arith::OrIOp::create(s.b, s.loc, result, bits))
                        : bits;
  if (!result)
    result = s.i32(0);
  return arith::TruncIOp::create(s.b, s.loc, s.b.getI8Type(), result);
}

bool PlanePacker::hasTail(OpFoldResult numElements) const {
  if (periodElements == 0)
    return false;
  // An unknown number is a multiple of the groups.
  return getConstantIntValue(numElements).value_or(multiple) % periodElements !=
         0;
}

/// ceil(x / by).
static OpFoldResult ceilDivide(Scalars s, OpFoldResult x, int64_t by) {
  if (auto known = getConstantIntValue(x))
    return s.b.getIndexAttr((*known + by - 1) / by);
  Value sum =
      arith::AddIOp::create(s.b, s.loc, cast<Value>(x), s.index(by - 1));
  return arith::DivUIOp::create(s.b, s.loc, sum, s.index(by)).getResult();
}

Value PlanePacker::emit(Scalars s, OpFoldResult numElements) {
  guarded = hasTail(numElements);
  OpFoldResult periods = s.b.getIndexAttr(1);
  if (periodElements)
    periods = ceilDivide(s, numElements, periodElements);
  SmallVector<OpFoldResult> sizes{periods, s.b.getIndexAttr(bytes.size())};
  Value rows =
      compute(s, sizes, {}, Type(s.b.getI8Type()),
              [&](Scalars in, ValueRange) -> SmallVector<Value> {
                Value period = linalg::IndexOp::create(in.b, in.loc, 0);
                Value at = linalg::IndexOp::create(in.b, in.loc, 1);
                Value byte = arith::IndexCastOp::create(in.b, in.loc,
                                                        in.b.getI32Type(), at);
                return {emitByte(in, period, byte)};
              })
          .front();
  Value list = toList(s, rows);
  if (!guarded)
    return list;
  // The bytes of the elements that there are: units * bits, rounded up.
  OpFoldResult length;
  if (auto known = getConstantIntValue(numElements)) {
    length = s.b.getIndexAttr((*known / info.elements * info.bits + 7) / 8);
  } else {
    Value units = arith::DivUIOp::create(s.b, s.loc, cast<Value>(numElements),
                                         s.index(info.elements));
    Value bits = arith::MulIOp::create(s.b, s.loc, units, s.index(info.bits));
    length = ceilDivide(s, OpFoldResult(bits), 8);
  }
  OpFoldResult zero = s.b.getIndexAttr(0), one = s.b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(s.b, s.loc, list, {zero}, {length},
                                        {one});
}

Expected<SmallVector<Value>>
grit::encoding::packPlanes(Scalars s, const FormatDescription &format,
                           const Codes &codes, OpFoldResult numElements) {
  std::vector<SmallVector<PackedField>> fields(format.planes.size());
  auto add = [&](const BitField &bits, Value list, int64_t unit,
                 int64_t perUnit = 1) {
    fields[bits.plane].push_back({&bits, list, unit, perUnit, 1});
  };
  if (format.sparsity) {
    int64_t m = format.sparsity->m, n = format.sparsity->n;
    add(format.codes, codes.elements, m, n);
    add(format.sparsity->indices, codes.indices, m, n);
  } else {
    add(format.codes, codes.elements, 1);
  }
  for (auto [factor, list] : llvm::zip_equal(format.scales, codes.scales))
    add(factor.bits, list, factor.group);
  for (auto [factor, list] :
       llvm::zip_equal(format.offset.factors, codes.offsets))
    add(factor.bits, list, factor.group);
  SmallVector<Value> planes;
  for (auto [info, own] : llvm::zip_equal(format.planes, fields)) {
    PlanePacker packer(info, std::move(own),
                       std::lcm(format.axisMultiple, format.arrayMultiple));
    if (auto error = packer.layOut())
      return tl::make_unexpected(*error);
    planes.push_back(packer.emit(s, numElements));
  }
  return planes;
}
