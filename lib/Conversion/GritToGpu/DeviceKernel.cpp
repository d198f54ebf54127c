//===- DeviceKernel.cpp - building blocks of device kernels -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace grit;

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// The largest power of two, up to `kAccessBytes`, that divides every value of
/// an index.
static int64_t divisorOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return std::gcd(constant.getSExtValue(), kAccessBytes);
  Operation *op = index.getDefiningOp();
  if (!op)
    return 1;
  if (isa<arith::AddIOp>(op))
    return std::gcd(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return std::gcd(divisorOf(op->getOperand(0)) * divisorOf(op->getOperand(1)),
                    kAccessBytes);
  if (isa<arith::DivUIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    int64_t divisor = divisorOf(op->getOperand(0));
    int64_t by = constant.getSExtValue();
    return by > 0 && divisor % by == 0 ? divisor / by : 1;
  }
  return 1;
}

static llvm::Align alignmentAt(Value memref, Value index) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return llvm::Align(std::min(divisorOf(index) * bytes, kAccessBytes));
}

Value grit::loadLanes(OpBuilder &b, Location loc, Value memref, Value index,
                      int64_t lanes) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return vector::LoadOp::create(b, loc, VectorType::get({lanes}, element),
                                memref, index, /*nontemporal=*/false,
                                alignmentAt(memref, index));
}

void grit::storeLanes(OpBuilder &b, Location loc, Value lanes, Value memref,
                      Value index) {
  vector::StoreOp::create(b, loc, lanes, memref, index, /*nontemporal=*/false,
                          alignmentAt(memref, index));
}

/// The bytes that KernelGen asks for.
static Value readBytes(OpBuilder &b, Location loc, Value plane, Value offset,
                       int64_t count) {
  if (count == 1)
    return memref::LoadOp::create(b, loc, plane, offset);
  return loadLanes(b, loc, plane, offset, count);
}

//===----------------------------------------------------------------------===//
// ThreadWalk
//===----------------------------------------------------------------------===//

ThreadWalk ThreadWalk::choose(const FormatDescription &description,
                              int64_t maxLanes, int64_t multiple) {
  if (auto walk = kernelgen::chooseWalk(description, maxLanes, multiple))
    return {*walk, false};
  return {{1, 1}, true};
}

int64_t grit::deviceRowMultiple(ir::ArrayType array) {
  constexpr int64_t kMost = 16;
  int64_t demanded =
      array.getContract().getContract().description().axisMultiple;
  return std::lcm(demanded, std::gcd(rowMultiple(array), kMost));
}

//===----------------------------------------------------------------------===//
// DeviceKernel
//===----------------------------------------------------------------------===//

DeviceKernel::DeviceKernel(gpu::GPUModuleOp module, Location loc,
                           StringRef name, const FormatDescription &description,
                           TypeRange bufferElements, unsigned extents)
    : b(module.getContext()), loc(loc), loops{b, loc},
      description(description) {
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(description.planes.size(),
                          MemRefType::get({}, b.getI8Type()));
  for (Type element : bufferElements)
    types.push_back(MemRefType::get({}, element));
  unsigned pointers = types.size();
  types.append(extents, b.getIndexType());
  func = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({kBlockThreads, 1, 1}));
  for (unsigned i = 0; i < pointers; ++i) {
    func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                    b.getUnitAttr());
    func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(kAccessBytes));
  }
  b.setInsertionPointToStart(&func.getBody().front());
}

Value DeviceKernel::extent(unsigned i) {
  ArrayRef<BlockArgument> arguments = func.getArguments();
  return *llvm::find_if(arguments, [&](BlockArgument argument) {
    return argument.getType().isIndex() && i-- == 0;
  });
}

Value DeviceKernel::asVector(Value pointer, Value count) {
  Type element = cast<MemRefType>(pointer.getType()).getElementType();
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get({ShapedType::kDynamic}, element), pointer,
      OpFoldResult(b.getIndexAttr(0)), OpFoldResult(count),
      OpFoldResult(b.getIndexAttr(1)));
}

Value DeviceKernel::buffer(unsigned i, Value count) {
  return asVector(func.getArgument(description.planes.size() + i), count);
}

SmallVector<Value> DeviceKernel::planes(Value elements) {
  SmallVector<Value> result;
  for (auto [i, plane] : llvm::enumerate(description.planes)) {
    // The size equation of the plane; memory accesses need no size, so that
    // nothing of it is left in the end.
    Value bytes = loops.constant(llvm::divideCeil(plane.bits, 8));
    if (plane.elements > 0) {
      Value units = b.createOrFold<arith::DivUIOp>(
          loc, elements, loops.constant(plane.elements));
      bytes = loops.ceilDiv(loops.mul(units, loops.constant(plane.bits)), 8);
    }
    result.push_back(asVector(func.getArgument(i), bytes));
  }
  return result;
}

void DeviceKernel::forEachThread(Value count, function_ref<void(Value)> body) {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value index =
      loops.add(loops.mul(block, loops.constant(kBlockThreads)), thread);
  Value isInside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, count);
  auto guard = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
  gpu::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(guard.thenBlock());
  body(index);
}

kernelgen::Emitter
DeviceKernel::emitter(ValueRange planes,
                      std::optional<kernelgen::Geometry> geometry) {
  kernelgen::Emitter result(b, loc, description, planes, geometry);
  result.setByteReader(readBytes);
  result.setTableReader([this](OpBuilder &at, Location place,
                               DenseElementsAttr table, Value index,
                               int64_t count) {
    return readTable(at, place, table, index, count);
  });
  return result;
}

/// A table of the device module, which each kernel of it may use.
static memref::GlobalOp globalOf(gpu::GPUModuleOp module, Location loc,
                                 DenseElementsAttr table) {
  for (auto global : module.getOps<memref::GlobalOp>())
    if (global.getInitialValueAttr() == table)
      return global;
  unsigned counter = 0;
  auto isTaken = [&](StringRef name) {
    return module.lookupSymbol(name) != nullptr;
  };
  SmallString<16> name =
      SymbolTable::generateSymbolName<16>("table", isTaken, counter);
  OpBuilder b(module.getBodyRegion());
  auto type =
      MemRefType::get(table.getType().getShape(), table.getElementType());
  return memref::GlobalOp::create(
      b, loc, name, b.getStringAttr("private"), type, table,
      /*constant=*/true, b.getI64IntegerAttr(kAccessBytes));
}

Value DeviceKernel::readTable(OpBuilder &at, Location place,
                              DenseElementsAttr table, Value index,
                              int64_t count) {
  memref::GlobalOp global =
      globalOf(func->getParentOfType<gpu::GPUModuleOp>(), loc, table);
  Value list = memref::GetGlobalOp::create(at, place, global.getType(),
                                           global.getSymName());
  if (count == 1)
    return memref::LoadOp::create(at, place, list, index);
  return loadLanes(at, place, list, index, count);
}

Value DeviceKernel::values(kernelgen::Emitter &emitter, const ThreadWalk &walk,
                           Value base, int64_t offset, bool canonicalNan,
                           Value line) {
  if (!walk.isScalar)
    return emitter.values({base, walk.walk.step, offset, walk.walk.run, line},
                          canonicalNan);
  Value value = emitter.valueAt(base, canonicalNan);
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({1}, value.getType()), value);
}
