//===- Program.cpp - grit operations, run on the emulated device -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "grit/InitAll.h"
#include "grit/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace grit::emulator;
using namespace mlir;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

Expected<std::unique_ptr<Program>> Program::compile(const std::string &text,
                                                    const std::string &chip) {
  auto program = std::make_unique<Program>();
  MLIRContext &context = program->context;
  DialectRegistry registry;
  grit::registerDialectsForPipelines(registry);
  context.appendDialectRegistry(registry);
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  program->module = parseSourceString<ModuleOp>(text, &context);
  if (!program->module)
    return createStringError(diagnostics);
  PassManager passes(&context);
  grit::NvvmPipelineOptions options;
  options.chip = chip;
  grit::buildGritToNvvmPipeline(passes, options);
  if (failed(passes.run(*program->module)))
    return createStringError(diagnostics);
  return program;
}

gpu::GPUModuleOp Program::deviceModule() {
  auto modules = module->getOps<gpu::GPUModuleOp>();
  return modules.empty() ? gpu::GPUModuleOp() : *modules.begin();
}

Error Program::load() {
  Expected<std::unique_ptr<Device>> loaded = Device::load(deviceModule());
  if (!loaded)
    return loaded.takeError();
  device = std::move(*loaded);
  return Error::success();
}

static Expected<int64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return createStringError("a launch needs constant extents");
  return constant.getSExtValue();
}

/// The argument of the host function that a pointer comes from.
static Expected<unsigned> argumentOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::CastOp>(op))
      return createStringError("a launch reads memory that is not an argument");
    pointer = op->getOperand(0);
  }
  return cast<BlockArgument>(pointer).getArgNumber();
}

static Expected<Dim3> constantsOf(gpu::KernelDim3 dim) {
  Dim3 result;
  for (auto [part, value] :
       {std::pair(&result.x, dim.x), {&result.y, dim.y}, {&result.z, dim.z}}) {
    Expected<int64_t> extent = constantOf(value);
    if (!extent)
      return extent.takeError();
    *part = *extent;
  }
  return result;
}

static Expected<Launch> describe(gpu::LaunchFuncOp op,
                                 ArrayRef<Buffer> arguments) {
  Launch launch;
  launch.kernel = op.getKernelName().str();
  Expected<Dim3> grid = constantsOf(op.getGridSizeOperandValues());
  if (!grid)
    return grid.takeError();
  Expected<Dim3> block = constantsOf(op.getBlockSizeOperandValues());
  if (!block)
    return block.takeError();
  launch.grid = *grid;
  launch.block = *block;
  for (Value operand : op.getKernelOperands()) {
    if (isa<MemRefType>(operand.getType())) {
      Expected<unsigned> number = argumentOf(operand);
      if (!number)
        return number.takeError();
      launch.arguments.push_back(arguments[*number]);
      continue;
    }
    Expected<int64_t> extent = constantOf(operand);
    if (!extent)
      return extent.takeError();
    launch.arguments.push_back(*extent);
  }
  return launch;
}

Error Program::run(StringRef function, ArrayRef<Buffer> arguments,
                   uint64_t seed) {
  if (!device)
    if (Error error = load())
      return error;
  auto host = module->lookupSymbol<func::FuncOp>(function);
  if (!host || host.getNumArguments() != arguments.size())
    return createStringError("no function '" + function + "' with " +
                             Twine(arguments.size()) + " arguments");
  SmallVector<gpu::LaunchFuncOp> launches;
  host.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
  if (launches.empty())
    return createStringError("'" + function + "' launches nothing");
  for (gpu::LaunchFuncOp op : launches) {
    Expected<Launch> launch = describe(op, arguments);
    if (!launch)
      return launch.takeError();
    if (Error error = device->run(*launch, seed))
      return error;
  }
  return Error::success();
}
