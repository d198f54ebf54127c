//===- Pipelines.cpp - named pipelines -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Pipelines/Pipelines.h"
#include "Stages.h"
#include "grit/Conversion/Passes.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "grit/Pipelines/CpuTarget.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace grit;

void grit::endStage(OpPassManager &pm, StringRef stage) {
  VerifyStageOptions options;
  options.after = stage.str();
  pm.addPass(createVerifyStage(options));
}

void grit::addContractPasses(OpPassManager &pm) {
  pm.addPass(createExpandRequantize());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createLegalizePlacements());
  pm.addPass(createCanonicalizerPass());
}

void grit::addPlanePasses(OpPassManager &pm) {
  // Checks first: they look at planes as they came in, behind relayouts.
  pm.addPass(createLowerCheck());
  pm.addPass(createLowerShapes());
  pm.addPass(createLowerRelayout());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createExpandArrays());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  endStage(pm, "planes");
}

void grit::buildGritToLinalgPipeline(OpPassManager &pm) {
  addContractPasses(pm);
  pm.addPass(createOrderSurvivors());
  pm.addPass(createGritToLinalg());
  addPlanePasses(pm);
}

void grit::addBufferizePasses(OpPassManager &pm) {
  // Users write elementwise arithmetic on tensors around our operations.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // A loop may carry an array that each turn makes anew.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // A reshape and its inverse fold, so that results are seen in their place.
  pm.addPass(createLowerReshapes());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createPlaceResults());
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  pm.addPass(memref::createExpandReallocPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCopyToLinalg());
}

/// Loops and lanes are what remains.
static void addBufferPasses(OpPassManager &pm, int64_t threads) {
  addBufferizePasses(pm);
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createConvertLinalgToLoopsPass());
  functions.addPass(threads == 1 ? createForallToForLoopPass()
                                 : createForallToParallelLoopPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  endStage(pm, "lanes");
}

static void addLlvmPasses(OpPassManager &pm,
                          const CpuPipelineOptions &options) {
  int64_t threads = options.threads;
  if (threads != 1) {
    ConvertSCFToOpenMPPassOptions openmp;
    openmp.numThreads = threads;
    pm.addPass(createConvertSCFToOpenMPPass(openmp));
    // Inlines the scopes that the conversion makes for stack memory: they take
    // one block, and control flow makes several.
    pm.addPass(createCanonicalizerPass());
  }
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  // A function that C calls has libgrit at hand where it checks its operands.
  AssertToLLVMOptions assertions;
  assertions.handler = options.cInterface && options.checkLevel > 0;
  pm.addPass(createAssertToLLVM(assertions));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  if (threads != 1)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

FailureOr<CpuTarget>
grit::checkCpuPipelineOptions(const CpuPipelineOptions &options,
                              OptionErrorHandler emitError) {
  if (options.threads < 0 || options.threads > 4096)
    return emitError("threads must be 0 to 4096, but got " +
                     Twine(options.threads));
  if (options.checkLevel < 0 || options.checkLevel > 2)
    return emitError("the check level must be 0, 1 or 2, but got " +
                     Twine(options.checkLevel));
  std::string reason;
  CpuTarget target =
      resolveCpuTarget("", options.cpu, options.features, reason);
  if (target.triple.empty())
    return emitError(reason);
  return target;
}

LogicalResult grit::buildGritToCpuPipeline(OpPassManager &pm,
                                           const CpuPipelineOptions &options,
                                           OptionErrorHandler emitError) {
  FailureOr<CpuTarget> resolved = checkCpuPipelineOptions(options, emitError);
  if (failed(resolved))
    return failure();
  const CpuTarget &target = *resolved;
  if (options.cInterface)
    pm.addPass(createRecordInterface());
  addContractPasses(pm);
  OrderSurvivorsOptions survivors;
  survivors.lanes = target.vectorBits() / 8; // indices are bytes in lanes
  pm.addPass(createOrderSurvivors(survivors));
  GritToVectorOptions kernels;
  kernels.lanes = target.vectorBits() / 32;
  pm.addPass(createGritToVector(kernels));
  addPlanePasses(pm);
  addBufferPasses(pm, options.threads);

  GritKernelToX86Options lanes;
  lanes.features = target.features;
  pm.addPass(createGritKernelToX86(lanes));
  GritKernelToVectorOptions portable;
  portable.fma = target.has("fma");
  pm.addPass(createGritKernelToVector(portable));
  pm.addPass(createCanonicalizerPass());
  addLlvmPasses(pm, options);
  if (options.cInterface) {
    EmitCInterfaceOptions wrappers;
    wrappers.checkLevel = options.checkLevel;
    wrappers.packed = options.packed;
    pm.addPass(createEmitCInterface(wrappers));
  }
  AttachCpuTargetOptions attach;
  attach.cpu = target.cpu;
  attach.features = target.features;
  attach.vectorBits = target.vectorBits();
  pm.addPass(createAttachCpuTarget(attach));
  endStage(pm, "llvm");
  return success();
}

void grit::registerPipelines() {
  PassPipelineRegistration<> linalg(
      "grit-to-linalg",
      "Lower arrays to byte planes and linalg on builtin types, bit-exact",
      buildGritToLinalgPipeline);
  // Not a PassPipelineRegistration: its builders cannot refuse an option.
  registerPassPipeline(
      "grit-to-cpu",
      "Lower arrays to vector kernels for a processor, in the LLVM dialect",
      [](OpPassManager &pm, StringRef text, OptionErrorHandler emitError) {
        CpuPipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        return buildGritToCpuPipeline(pm, options, emitError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(CpuPipelineOptions());
      });
  PassPipelineRegistration<NvvmPipelineOptions> nvvm(
      "grit-to-nvvm",
      "Lower arrays to device kernels for a chip, in the NVVM dialect or PTX",
      buildGritToNvvmPipeline);
}
