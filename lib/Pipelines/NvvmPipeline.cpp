//===- NvvmPipeline.cpp - down to NVVM and PTX -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "grit/Conversion/Passes.h"
#include "grit/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace grit;

/// From lanes to the LLVM and NVVM dialects, inside a device module.
static void addDevicePasses(OpPassManager &pm) {
  pm.addPass(createGritKernelToVector());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  endStage(pm, "lanes");
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.useBarePtrCallConv = true;
  // Before the conversion that would call libdevice for an fma.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  endStage(pm, "llvm");
}

void grit::buildGritToNvvmPipeline(OpPassManager &pm,
                                   const NvvmPipelineOptions &options) {
  addContractPasses(pm);
  pm.addPass(createGritToGpu());
  AttachGpuTargetOptions target;
  target.chip = options.chip;
  pm.addPass(createAttachGpuTarget(target));
  addPlanePasses(pm);
  addBufferizePasses(pm);
  pm.nest<func::FuncOp>().addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  endStage(pm, "lanes");
  addDevicePasses(pm.nest<gpu::GPUModuleOp>());
  if (options.format == "none")
    return;
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = options.format;
  pm.addPass(createGpuModuleToBinaryPass(binary));
}
