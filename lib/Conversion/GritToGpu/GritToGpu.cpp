//===- GritToGpu.cpp - operations on arrays to launches of device kernels -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceKernel.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/GritKernel/GritKernel.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace grit {
#define GEN_PASS_DEF_GRITTOGPU
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;
using namespace grit::ir;

static constexpr StringLiteral kModuleName = "grit_kernels";

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// A contract as a part of a symbol: its registered name, or its id.
static std::string symbolPart(const grit::Contract &contract) {
  std::string name = contract.isRegistered()
                         ? contract.name()
                         : "id" + llvm::utohexstr(contract.id());
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name;
}

static std::string symbolPart(Value tensor) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(tensor.getType());
  return name;
}

/// How rows that are longer than the contract demands are told apart.
static std::string multiplePart(ArrayType array) {
  int64_t multiple = deviceRowMultiple(array);
  if (multiple == array.getContract().getContract().description().axisMultiple)
    return "";
  return "_x" + std::to_string(multiple);
}

/// One kernel serves all operations of this name: everything that its code
/// depends on is in it.
static std::string kernelName(DecodeOp op) {
  ArrayType array = op.getArray().getType();
  std::string name = "decode_" + symbolPart(array.getContract().getContract()) +
                     "_" + symbolPart(op.getInit()) + multiplePart(array);
  if (array.getAxis() != array.getRank() - 1)
    name += "_axis";
  return name;
}

static std::string kernelName(MatmulOp op) {
  ArrayType weight = op.getWeight().getType();
  std::string name = "matmul_" +
                     symbolPart(weight.getContract().getContract()) + "_" +
                     symbolPart(op.getInput()) + "_" +
                     symbolPart(op.getInit()) + multiplePart(weight);
  return op.getRequestedAccum().allowsAnyOrder() ? name : name + "_seq";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// What a launch does to memory: upstream leaves it open, and the deallocation
/// of buffers must know.
struct LaunchEffects
    : MemoryEffectOpInterface::ExternalModel<LaunchEffects, gpu::LaunchFuncOp> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<BaseMemRefType>(operand.get().getType()))
        continue;
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the operations of a module into launches.
class Launcher {
public:
  explicit Launcher(ModuleOp module) : module(module), rewriter(module) {}

  void launch(DecodeOp op);
  void launch(MatmulOp op);

private:
  /// The kernel of that name; `emit` writes it if there is none.
  gpu::GPUFuncOp
  kernel(StringRef name,
         function_ref<gpu::GPUFuncOp(gpu::GPUModuleOp, StringRef)> emit);
  Value toBuffer(Value tensor, bool readOnly);
  Value pointerTo(Value buffer);
  /// Launches one thread for each of `count` indices and replaces `op` by the
  /// contents of `out` afterwards.
  void launchThreads(Operation *op, gpu::GPUFuncOp kernel, Value count,
                     ArrayRef<Value> arguments, Value out);

  ModuleOp module;
  IRRewriter rewriter;
  gpu::GPUModuleOp kernels;
};
} // namespace

gpu::GPUFuncOp Launcher::kernel(
    StringRef name,
    function_ref<gpu::GPUFuncOp(gpu::GPUModuleOp, StringRef)> emit) {
  if (!kernels)
    kernels = module.lookupSymbol<gpu::GPUModuleOp>(kModuleName);
  if (!kernels) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    unsigned counter = 0;
    auto isTaken = [&](StringRef candidate) {
      return module.lookupSymbol(candidate) != nullptr;
    };
    SmallString<32> name(kModuleName);
    if (isTaken(name))
      name = SymbolTable::generateSymbolName<32>(kModuleName, isTaken, counter);
    kernels = gpu::GPUModuleOp::create(rewriter, module.getLoc(), name);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    rewriter.getUnitAttr());
  }
  if (auto known = kernels.lookupSymbol<gpu::GPUFuncOp>(name))
    return known;
  return emit(kernels, name);
}

Value Launcher::toBuffer(Value tensor, bool readOnly) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return bufferization::ToBufferOp::create(
      rewriter, tensor.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), tensor,
      readOnly);
}

Value Launcher::pointerTo(Value buffer) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return memref::ReinterpretCastOp::create(
      rewriter, buffer.getLoc(), MemRefType::get({}, element), buffer,
      /*offset=*/0, ArrayRef<int64_t>(), ArrayRef<int64_t>());
}

void Launcher::launchThreads(Operation *op, gpu::GPUFuncOp kernel, Value count,
                             ArrayRef<Value> arguments, Value out) {
  Location loc = op->getLoc();
  Loops loops{rewriter, loc};
  Value one = loops.constant(1);
  // A grid has at least one block.
  Value blocks = rewriter.createOrFold<arith::MaxUIOp>(
      loc, loops.ceilDiv(count, kBlockThreads), one);
  gpu::LaunchFuncOp::create(
      rewriter, loc, kernel, gpu::KernelDim3{blocks, one, one},
      gpu::KernelDim3{loops.constant(kBlockThreads), one, one},
      /*dynamicSharedMemorySize=*/Value(), arguments);
  Value result = bufferization::ToTensorOp::create(
      rewriter, loc, op->getResult(0).getType(), out, /*restrict=*/true,
      /*writable=*/true);
  rewriter.replaceOp(op, result);
}

void Launcher::launch(DecodeOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Loops loops{rewriter, loc};
  ArrayType array = op.getArray().getType();
  gpu::GPUFuncOp function =
      kernel(kernelName(op), [&](gpu::GPUModuleOp device, StringRef name) {
        return emitDecodeKernel(device, name, op);
      });
  Value out = toBuffer(op.getInit(), /*readOnly=*/false);
  SmallVector<Value> arguments;
  for (Value plane :
       PlanesOp::create(rewriter, loc, op.getArray()).getResults())
    arguments.push_back(pointerTo(toBuffer(plane, /*readOnly=*/true)));
  arguments.push_back(pointerTo(out));
  Value elements =
      extentProduct(rewriter, loc, op.getInit(), 0, array.getRank());
  arguments.push_back(elements);
  if (auto geometry = geometryOf(rewriter, loc, array, op.getInit())) {
    if (geometry->innerExtent)
      arguments.append({geometry->axisExtent, geometry->innerExtent});
    grit::Contract contract = array.getContract().getContract();
    if (kernelgen::needsExtents(contract.description()))
      arguments.append({geometry->columns,
                        extentProduct(rewriter, loc, op.getInit(),
                                      std::max<int64_t>(array.getRank() - 2, 0),
                                      array.getRank() - 1)});
  }
  Value threads = rewriter.createOrFold<arith::DivUIOp>(
      loc, elements, loops.constant(decodeStep(op)));
  launchThreads(op, function, threads, arguments, out);
}

void Launcher::launch(MatmulOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  gpu::GPUFuncOp function =
      kernel(kernelName(op), [&](gpu::GPUModuleOp device, StringRef name) {
        return emitMatmulKernel(device, name, op);
      });
  // The destination comes first: should an operand be the same tensor, it is
  // then read after a write, and bufferization makes a copy of one of them.
  Value out = toBuffer(op.getInit(), /*readOnly=*/false);
  SmallVector<Value> arguments;
  for (Value plane :
       PlanesOp::create(rewriter, loc, op.getWeight()).getResults())
    arguments.push_back(pointerTo(toBuffer(plane, /*readOnly=*/true)));
  arguments.push_back(pointerTo(toBuffer(op.getInput(), /*readOnly=*/true)));
  arguments.push_back(pointerTo(out));
  int64_t last = cast<RankedTensorType>(op.getInput().getType()).getRank() - 1;
  Value rows = extentProduct(rewriter, loc, op.getInput(), 0, last);
  Value columns = extentOf(rewriter, loc, op.getInit(), last);
  arguments.append(
      {rows, columns, extentOf(rewriter, loc, op.getInput(), last)});
  Value results = rewriter.createOrFold<arith::MulIOp>(loc, rows, columns);
  launchThreads(op, function, results, arguments, out);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlacements(Operation *op, ArrayType array) {
  if (array.hasCanonicalPlacements())
    return success();
  return op->emitOpError()
         << "reads an array outside the canonical placements of its contract; "
            "run grit-legalize-placements first";
}

namespace {
struct GritToGpuPass : grit::impl::GritToGpuBase<GritToGpuPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    GritToGpuBase::getDependentDialects(registry);
    registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
      gpu::LaunchFuncOp::attachInterface<LaunchEffects>(*context);
    });
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyKernels(module)) || failed(prepareEncode(module)))
      return signalPassFailure();
    SmallVector<Operation *> work;
    WalkResult legal = module.walk([&](Operation *op) {
      LogicalResult placed = success();
      if (auto decode = dyn_cast<DecodeOp>(op))
        placed = verifyPlacements(op, decode.getArray().getType());
      else if (auto matmul = dyn_cast<MatmulOp>(op))
        placed = verifyPlacements(op, matmul.getWeight().getType());
      else
        return WalkResult::advance();
      work.push_back(op);
      return WalkResult(placed);
    });
    if (legal.wasInterrupted())
      return signalPassFailure();

    Launcher launcher(module);
    for (Operation *op : work) {
      if (auto decode = dyn_cast<DecodeOp>(op))
        launcher.launch(decode);
      else
        launcher.launch(cast<MatmulOp>(op));
    }
  }
};
} // namespace
