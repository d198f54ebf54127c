//===- CInterface.cpp - the signature of a C function as an attribute -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/CInterface.h"
#include "grit-c/grit.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace grit;
using namespace mlir;

using Kind = CInterfaceOperand::Kind;
using Access = CInterfaceOperand::Access;

int32_t grit::cDtype(StringRef element) {
  return llvm::StringSwitch<int32_t>(element)
      .Case("f64", GRIT_DTYPE_F64)
      .Case("f32", GRIT_DTYPE_F32)
      .Case("f16", GRIT_DTYPE_F16)
      .Case("bf16", GRIT_DTYPE_BF16)
      .Case("i64", GRIT_DTYPE_I64)
      .Case("i32", GRIT_DTYPE_I32)
      .Case("i16", GRIT_DTYPE_I16)
      .Case("i8", GRIT_DTYPE_I8)
      .Default(0);
}

static StringRef kindName(Kind kind) {
  switch (kind) {
  case Kind::Array:
    return "array";
  case Kind::Tensor:
    return "tensor";
  case Kind::Scalar:
    return "scalar";
  }
  llvm_unreachable("no such kind");
}

static StringRef accessName(Access access) {
  switch (access) {
  case Access::In:
    return "in";
  case Access::InOut:
    return "inout";
  case Access::Out:
    return "out";
  }
  llvm_unreachable("no such access");
}

static DictionaryAttr toAttr(Builder &b, const CInterfaceOperand &operand) {
  auto number = [&](uint64_t value) {
    return b.getI64IntegerAttr(static_cast<int64_t>(value));
  };
  SmallVector<NamedAttribute> fields{
      b.getNamedAttr("kind", b.getStringAttr(kindName(operand.kind))),
      b.getNamedAttr("access", b.getStringAttr(accessName(operand.access))),
      b.getNamedAttr("name", b.getStringAttr(operand.name)),
      b.getNamedAttr("element", b.getStringAttr(operand.element))};
  if (operand.kind != Kind::Scalar) {
    fields.push_back(
        b.getNamedAttr("shape", b.getDenseI64ArrayAttr(operand.shape)));
    fields.push_back(
        b.getNamedAttr("dynamic", b.getDenseI64ArrayAttr(operand.dynamicDims)));
  }
  if (operand.kind == Kind::Array) {
    SmallVector<int64_t> placements(operand.placements.begin(),
                                    operand.placements.end());
    fields.push_back(b.getNamedAttr("id", number(operand.contractId)));
    fields.push_back(b.getNamedAttr("grade", b.getBoolAttr(operand.isGrade)));
    fields.push_back(b.getNamedAttr("axis", number(operand.axis)));
    fields.push_back(
        b.getNamedAttr("placements", b.getDenseI64ArrayAttr(placements)));
    fields.push_back(
        b.getNamedAttr("slots", b.getDenseI64ArrayAttr(operand.slots)));
    fields.push_back(
        b.getNamedAttr("bytes", b.getDenseI64ArrayAttr(operand.planeBytes)));
  }
  return b.getDictionaryAttr(fields);
}

DictionaryAttr CInterface::toAttr(MLIRContext *context) const {
  Builder b(context);
  SmallVector<Attribute> operandAttrs, sharedAttrs;
  for (const CInterfaceOperand &operand : operands)
    operandAttrs.push_back(::toAttr(b, operand));
  for (const SharedExtent &extent : shared)
    sharedAttrs.push_back(b.getDenseI64ArrayAttr(
        {extent.first, extent.firstDim, extent.second, extent.secondDim}));
  return b.getDictionaryAttr(
      {b.getNamedAttr("location", b.getStringAttr(location)),
       b.getNamedAttr("operands", b.getArrayAttr(operandAttrs)),
       b.getNamedAttr("shared", b.getArrayAttr(sharedAttrs))});
}

namespace {
/// Reads fields of a dictionary; `complete` falls when one is not there or is
/// of another type, as in IR written by hand.
struct FieldReader {
  DictionaryAttr fields;
  bool &complete;

  template <typename AttrT> AttrT get(StringRef name) {
    auto attr = fields ? fields.getAs<AttrT>(name) : AttrT();
    complete &= static_cast<bool>(attr);
    return attr;
  }
  std::string text(StringRef name) {
    auto attr = get<StringAttr>(name);
    return attr ? attr.getValue().str() : std::string();
  }
  /// The one of `choices` that has the name in the attribute.
  template <typename T>
  T oneOf(StringRef name, StringRef (*nameOf)(T),
          std::initializer_list<T> choices) {
    std::string found = text(name);
    for (T choice : choices)
      if (nameOf(choice) == found)
        return choice;
    complete = false;
    return *choices.begin();
  }
  int64_t number(StringRef name) {
    auto attr = get<IntegerAttr>(name);
    bool is64 = attr && attr.getType().isInteger(64);
    complete &= is64;
    return is64 ? attr.getInt() : 0;
  }
  SmallVector<int64_t> numbers(StringRef name) {
    auto attr = get<DenseI64ArrayAttr>(name);
    return attr ? SmallVector<int64_t>(attr.asArrayRef())
                : SmallVector<int64_t>();
  }
  ArrayRef<Attribute> list(StringRef name) {
    auto attr = get<ArrayAttr>(name);
    return attr ? attr.getValue() : ArrayRef<Attribute>();
  }
};
} // namespace

static CInterfaceOperand operandFrom(FieldReader reader) {
  CInterfaceOperand operand;
  operand.kind =
      reader.oneOf("kind", kindName, {Kind::Array, Kind::Tensor, Kind::Scalar});
  operand.access = reader.oneOf("access", accessName,
                                {Access::In, Access::InOut, Access::Out});
  operand.name = reader.text("name");
  operand.element = reader.text("element");
  if (operand.kind != Kind::Scalar) {
    operand.shape = reader.numbers("shape");
    operand.dynamicDims = reader.numbers("dynamic");
    reader.complete &= operand.shape.size() <= GRIT_MAXRANK;
    for (int64_t dim : operand.dynamicDims)
      reader.complete &=
          dim >= 0 && dim < static_cast<int64_t>(operand.shape.size());
  }
  if (operand.kind == Kind::Array) {
    operand.contractId = reader.number("id");
    auto grade = reader.get<BoolAttr>("grade");
    operand.isGrade = grade && grade.getValue();
    operand.axis = reader.number("axis");
    SmallVector<int64_t> placements = reader.numbers("placements");
    if (placements.size() == operand.placements.size())
      llvm::copy(placements, operand.placements.begin());
    else
      reader.complete = false;
    operand.slots = reader.numbers("slots");
    operand.planeBytes = reader.numbers("bytes");
    reader.complete &= operand.slots.size() == operand.planeBytes.size();
    for (int64_t slot : operand.slots)
      reader.complete &= slot >= 0 && slot < GRIT_MAXPLANES;
  }
  return operand;
}

/// Whether (operand, dim) names an extent or, with dim -1, a scalar.
static bool names(const CInterface &interface, int64_t operand, int64_t dim) {
  if (operand < 0 || operand >= static_cast<int64_t>(interface.operands.size()))
    return false;
  const CInterfaceOperand &named = interface.operands[operand];
  if (named.kind == Kind::Scalar)
    return dim == -1 && named.element == "index";
  return dim >= 0 && dim < static_cast<int64_t>(named.shape.size());
}

FailureOr<CInterface> CInterface::fromAttr(Attribute attr) {
  bool complete = true;
  FieldReader reader{dyn_cast<DictionaryAttr>(attr), complete};
  CInterface interface;
  interface.location = reader.text("location");
  for (Attribute operand : reader.list("operands"))
    interface.operands.push_back(
        operandFrom({dyn_cast<DictionaryAttr>(operand), complete}));
  for (Attribute shared : reader.list("shared")) {
    auto four = dyn_cast<DenseI64ArrayAttr>(shared);
    if (!four || four.size() != 4 || !names(interface, four[0], four[1]) ||
        !names(interface, four[2], four[3]))
      return failure();
    interface.shared.push_back({four[0], four[1], four[2], four[3]});
  }
  if (!complete)
    return failure();
  return interface;
}
