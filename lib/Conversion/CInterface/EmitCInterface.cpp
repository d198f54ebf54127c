//===- EmitCInterface.cpp - write the functions that C calls -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constants.h"
#include "grit-c/grit.h"
#include "grit/Conversion/CInterface.h"
#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace grit {
#define GEN_PASS_DEF_EMITCINTERFACE
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace grit;
using namespace mlir;

using Kind = CInterfaceOperand::Kind;

//===----------------------------------------------------------------------===//
// Fields of views
//===----------------------------------------------------------------------===//

namespace {
/// Where the fields of a view are, in bytes.
struct ViewLayout {
  int32_t shape, planes, planeBytes;
};
} // namespace

static ViewLayout layoutOf(const CInterfaceOperand &operand) {
  constexpr int32_t base = offsetof(grit_array_view_t, u);
  if (operand.kind == Kind::Tensor)
    return {offsetof(grit_tensor_view_t, shape),
            offsetof(grit_tensor_view_t, data), 0};
  if (operand.isGrade)
    return {base + static_cast<int32_t>(offsetof(grit_view_t, shape)),
            base + static_cast<int32_t>(offsetof(grit_view_t, plane)),
            base + static_cast<int32_t>(offsetof(grit_view_t, plane_bytes))};
  return {base + static_cast<int32_t>(offsetof(grit_foreign_view_t, shape)),
          base + static_cast<int32_t>(offsetof(grit_foreign_view_t, plane)),
          base +
              static_cast<int32_t>(offsetof(grit_foreign_view_t, plane_bytes))};
}

//===----------------------------------------------------------------------===//
// The function that C calls
//===----------------------------------------------------------------------===//

namespace {
/// Writes the C function of one function.
class WrapperEmitter {
public:
  WrapperEmitter(LLVM::LLVMFuncOp function, CInterface interface,
                 SymbolTable &symbols, Constants &constants, int64_t level)
      : function(function), interface(std::move(interface)), symbols(symbols),
        constants(constants), level(level), b(function.getLoc(), function) {
    pointer = LLVM::LLVMPointerType::get(b.getContext());
    i32 = b.getI32Type();
    i64 = b.getI64Type();
  }

  LogicalResult emit();
  void emitPacked();

private:
  Value number(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }
  Value address(StringRef symbol) {
    return LLVM::AddressOfOp::create(b, pointer, symbol);
  }
  Value load(Type type, Value base, int32_t offset) {
    Value place = LLVM::GEPOp::create(b, pointer, b.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, type, place);
  }
  Value call(StringRef callee, Type result, ValueRange arguments);
  Value extent(int64_t operand, int64_t dim);
  StringRef expectation(const CInterfaceOperand &operand);
  void require(Value status);
  void emitChecks();
  void appendArray(const CInterfaceOperand &operand, Value view,
                   SmallVectorImpl<Value> &arguments);
  void appendTensor(int64_t index, SmallVectorImpl<Value> &arguments);
  LogicalResult callFunction();

  LLVM::LLVMFuncOp function;
  CInterface interface;
  SymbolTable &symbols;
  Constants &constants;
  int64_t level;
  ImplicitLocOpBuilder b;
  LLVM::LLVMPointerType pointer;
  Type i32, i64;
  LLVM::LLVMFuncOp wrapper;
  Block *failed = nullptr;
  Value detail;
};
} // namespace

/// The declaration of a function of the run-time library is made when it is
/// first called.
Value WrapperEmitter::call(StringRef callee, Type result,
                           ValueRange arguments) {
  if (!symbols.lookup(callee)) {
    auto type = LLVM::LLVMFunctionType::get(
        result, SmallVector<Type>(arguments.getTypes()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    symbols.insert(LLVM::LLVMFuncOp::create(b, callee, type));
  }
  auto op = LLVM::CallOp::create(
      b, isa<LLVM::LLVMVoidType>(result) ? TypeRange() : TypeRange(result),
      callee, arguments);
  return op->getNumResults() ? op->getResult(0) : Value();
}

Value WrapperEmitter::extent(int64_t operand, int64_t dim) {
  Value argument = wrapper.getArgument(operand);
  if (dim < 0)
    return argument;
  int64_t shape = layoutOf(interface.operands[operand]).shape;
  return load(i64, argument, shape + dim * 8);
}

/// The constant that says what the function demands of an operand.
StringRef WrapperEmitter::expectation(const CInterfaceOperand &operand) {
  StringRef name = constants.text(operand.name);
  StringRef shape =
      operand.shape.empty() ? StringRef() : constants.extents(operand.shape);
  IntegerAttr rank = b.getI32IntegerAttr(operand.shape.size());
  if (operand.kind == Kind::Tensor)
    return constants.structure(
        {name, b.getI32IntegerAttr(cDtype(operand.element)), rank, shape});
  auto word = [&](uint64_t bits) {
    return b.getI64IntegerAttr(static_cast<int64_t>(bits));
  };
  return constants.structure(
      {name, word(operand.contractId), rank, b.getI32IntegerAttr(operand.axis),
       shape, word(operand.placements[0]), word(operand.placements[1]),
       word(operand.placements[2])});
}

/// Goes on in a new block when `status` is GRIT_OK.
void WrapperEmitter::require(Value status) {
  Block *next = b.createBlock(failed);
  b.setInsertionPointToEnd(next->getPrevNode());
  Value isOk = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, status,
                                    number(i32, GRIT_OK));
  LLVM::CondBrOp::create(b, isOk, next, ValueRange(), failed,
                         ValueRange(status));
  b.setInsertionPointToStart(next);
}

void WrapperEmitter::emitChecks() {
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), sizeof(grit_detail_t));
  detail = LLVM::AllocaOp::create(b, pointer, bytes, number(i32, 1),
                                  alignof(grit_detail_t));
  failed = b.createBlock(&wrapper.getBody(), wrapper.getBody().end(), {i32},
                         {b.getLoc()});
  StringRef place =
      constants.text(interface.location.empty() ? wrapper.getName().str()
                                                : interface.location + ": in " +
                                                      wrapper.getName().str());
  Value status = failed->getArgument(0);
  call("grit_report_failure", LLVM::LLVMVoidType::get(b.getContext()),
       {status, detail, address(place)});
  LLVM::ReturnOp::create(b, status);

  b.setInsertionPointToEnd(&wrapper.front());
  for (auto [index, operand] : llvm::enumerate(interface.operands)) {
    if (operand.kind == Kind::Scalar)
      continue;
    Value view = wrapper.getArgument(index);
    Value expected = address(expectation(operand));
    if (operand.kind == Kind::Array)
      require(call("grit_check_expected", i32,
                   {view, expected, number(i32, level), detail}));
    else
      require(
          call("grit_check_tensor_expected", i32, {view, expected, detail}));
  }
  for (const SharedExtent &shared : interface.shared) {
    StringRef names = constants.structure(
        {constants.text(interface.operands[shared.first].name),
         constants.text(interface.operands[shared.second].name),
         b.getI32IntegerAttr(shared.firstDim),
         b.getI32IntegerAttr(shared.secondDim)});
    require(call("grit_check_shared_extent", i32,
                 {address(names), extent(shared.first, shared.firstDim),
                  extent(shared.second, shared.secondDim), detail}));
  }
}

/// One memref of bytes for each plane, and the dynamic extents of an argument.
void WrapperEmitter::appendArray(const CInterfaceOperand &operand, Value view,
                                 SmallVectorImpl<Value> &arguments) {
  ViewLayout layout = layoutOf(operand);
  Value zero = number(i64, 0), one = number(i64, 1);
  for (auto [slot, bytes] :
       llvm::zip_equal(operand.slots, operand.planeBytes)) {
    Value plane = load(pointer, view, layout.planes + slot * 8);
    Value size = ShapedType::isDynamic(bytes)
                     ? load(i64, view, layout.planeBytes + slot * 8)
                     : number(i64, bytes);
    arguments.append({plane, plane, zero, size, one});
  }
  if (operand.access == CInterfaceOperand::Access::Out)
    return;
  for (int64_t dim : operand.dynamicDims)
    arguments.push_back(load(i64, view, layout.shape + dim * 8));
}

/// A row-major memref.
void WrapperEmitter::appendTensor(int64_t index,
                                  SmallVectorImpl<Value> &arguments) {
  const CInterfaceOperand &operand = interface.operands[index];
  Value data =
      load(pointer, wrapper.getArgument(index), layoutOf(operand).planes);
  SmallVector<Value> sizes, strides(operand.shape.size());
  for (int64_t dim = 0, rank = operand.shape.size(); dim < rank; ++dim)
    sizes.push_back(llvm::is_contained(operand.dynamicDims, dim)
                        ? extent(index, dim)
                        : number(i64, operand.shape[dim]));
  Value stride = number(i64, 1);
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    if (dim > 0)
      stride = LLVM::MulOp::create(b, stride, sizes[dim]);
  }
  arguments.append({data, data, number(i64, 0)});
  arguments.append(sizes);
  arguments.append(strides);
}

LogicalResult WrapperEmitter::callFunction() {
  SmallVector<Value> arguments;
  for (auto [index, operand] : llvm::enumerate(interface.operands)) {
    if (operand.kind == Kind::Array)
      appendArray(operand, wrapper.getArgument(index), arguments);
    else if (operand.kind == Kind::Tensor)
      appendTensor(index, arguments);
    else
      arguments.push_back(wrapper.getArgument(index));
  }
  // A function with assertions says how it went.
  LLVM::LLVMFunctionType type = function.getFunctionType();
  bool hasStatus = type.getReturnType() == i32;
  if ((!hasStatus && !isa<LLVM::LLVMVoidType>(type.getReturnType())) ||
      TypeRange(ValueRange(arguments).getTypes()) !=
          TypeRange(type.getParams()))
    return function.emitError()
           << "has another signature than its recorded interface: a result "
              "was not bufferized into its destination";
  auto called =
      LLVM::CallOp::create(b, hasStatus ? TypeRange(i32) : TypeRange(),
                           function.getSymName(), arguments);
  LLVM::ReturnOp::create(b,
                         hasStatus ? called.getResult() : number(i32, GRIT_OK));
  return success();
}

static Type scalarType(Builder &b, StringRef name) {
  if (name == "f32")
    return b.getF32Type();
  if (name == "f64")
    return b.getF64Type();
  return name == "i32" ? b.getI32Type() : b.getI64Type();
}

LogicalResult WrapperEmitter::emit() {
  std::string name = function.getSymName().str();
  unsigned counter = 0;
  SmallString<32> inner = SymbolTable::generateSymbolName<32>(
      (name + "_impl").c_str(),
      [&](StringRef candidate) { return symbols.lookup(candidate) != nullptr; },
      counter);
  if (mlir::failed(symbols.rename(function, inner)))
    return failure();
  function->removeAttr(CInterface::kAttribute);
  function.setVisibility(SymbolTable::Visibility::Public);
  function.setLinkage(LLVM::Linkage::Internal);

  SmallVector<Type> types;
  for (const CInterfaceOperand &operand : interface.operands)
    types.push_back(operand.kind == Kind::Scalar
                        ? scalarType(b, operand.element)
                        : pointer);
  b.setInsertionPointAfter(function);
  wrapper = LLVM::LLVMFuncOp::create(b, name,
                                     LLVM::LLVMFunctionType::get(i32, types));
  symbols.insert(wrapper);
  wrapper->setAttr(CInterface::kAttribute, interface.toAttr(b.getContext()));
  b.setInsertionPointToStart(wrapper.addEntryBlock(b));
  if (level > 0)
    emitChecks();
  return callFunction();
}

/// grit_packed_NAME(addresses): views as they are, scalars behind theirs.
void WrapperEmitter::emitPacked() {
  b.setInsertionPointAfter(wrapper);
  auto packed =
      LLVM::LLVMFuncOp::create(b, ("grit_packed_" + wrapper.getSymName()).str(),
                               LLVM::LLVMFunctionType::get(i32, {pointer}));
  symbols.insert(packed);
  Block *entry = packed.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (auto [index, operand] : llvm::enumerate(interface.operands)) {
    Value place = load(pointer, entry->getArgument(0), index * 8);
    arguments.push_back(operand.kind == Kind::Scalar
                            ? load(scalarType(b, operand.element), place, 0)
                            : place);
  }
  auto status =
      LLVM::CallOp::create(b, TypeRange(i32), wrapper.getSymName(), arguments);
  LLVM::ReturnOp::create(b, status.getResult());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct EmitCInterfacePass : grit::impl::EmitCInterfaceBase<EmitCInterfacePass> {
  using EmitCInterfaceBase::EmitCInterfaceBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    Constants constants(module, symbols);
    for (LLVM::LLVMFuncOp function :
         llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
      Attribute attr = function->getAttr(CInterface::kAttribute);
      if (!attr)
        continue;
      FailureOr<CInterface> interface = CInterface::fromAttr(attr);
      if (failed(interface)) {
        function.emitError()
            << "has a malformed '" << CInterface::kAttribute << "' attribute";
        return signalPassFailure();
      }
      WrapperEmitter emitter(function, *interface, symbols, constants,
                             checkLevel);
      if (failed(emitter.emit()))
        return signalPassFailure();
      if (packed)
        emitter.emitPacked();
    }
    // What only the module calls is no symbol of the object.
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal() && function.isPrivate())
        function.setLinkage(LLVM::Linkage::Internal);
  }
};
} // namespace
