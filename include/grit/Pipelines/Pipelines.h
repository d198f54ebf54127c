//===- Pipelines.h - named pipelines and their options -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_PIPELINES_PIPELINES_H
#define GRIT_PIPELINES_PIPELINES_H

#include "grit/Pipelines/CpuTarget.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>

namespace grit {

/// Options of `grit-to-cpu`.
struct CpuPipelineOptions : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<std::string> cpu{
      *this, "cpu",
      llvm::cl::desc("processor as LLVM names it, or 'native' (default)"),
      llvm::cl::init("native")};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("target features on top of the processor's, e.g. "
                     "+avx2,-avx512f"),
      llvm::cl::init("")};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("threads of a kernel: 1 (default) makes plain loops, 0 "
                     "leaves the number to OpenMP, N asks for N"),
      llvm::cl::init(1)};
  Option<bool> cInterface{
      *this, "c-interface",
      llvm::cl::desc("export public functions as C functions over "
                     "grit_array_view_t and grit_tensor_view_t"),
      llvm::cl::init(false)};
  Option<int64_t> checkLevel{
      *this, "check-level",
      llvm::cl::desc("what a C function checks before it runs: 0 nothing, 1 "
                     "(default) descriptors, shapes and sizes, 2 also planes"),
      llvm::cl::init(1)};
  Option<bool> packed{
      *this, "packed",
      llvm::cl::desc("also export grit_packed_NAME(void **operands)"),
      llvm::cl::init(false)};
};

/// Options of `grit-to-nvvm`.
struct NvvmPipelineOptions : mlir::PassPipelineOptions<NvvmPipelineOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("chip as LLVM names it: sm_80 (default), sm_90a, sm_100a, "
                     "sm_120a, ..."),
      llvm::cl::init("sm_80")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("what becomes of the device module: none (default) leaves "
                     "it in the LLVM dialect, llvm makes LLVM bitcode, isa PTX "
                     "text, bin a cubin (needs ptxas)"),
      llvm::cl::init("none")};
};

/// The transparent route: arrays become byte planes, operations linalg on
/// builtin types. Ends in stage `planes`.
void buildGritToLinalgPipeline(mlir::OpPassManager &pm);

/// Says what is wrong: an `emitError` of an operation, for example.
using OptionErrorHandler =
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>;

/// Resolves the processor of `options`. Fails on one that LLVM does not know,
/// on an unknown feature, and on any option out of its range.
mlir::FailureOr<CpuTarget>
checkCpuPipelineOptions(const CpuPipelineOptions &options,
                        OptionErrorHandler emitError);

/// Kernels for the processor, down to the LLVM dialect. A checker pass after
/// each stage says what is unsupported in terms of the operation it met. Fails
/// where `checkCpuPipelineOptions` does.
mlir::LogicalResult buildGritToCpuPipeline(mlir::OpPassManager &pm,
                                           const CpuPipelineOptions &options,
                                           OptionErrorHandler emitError);

/// Device kernels for the chip: the device module down to the LLVM dialect or
/// further, the host side as loops on buffers with `gpu.launch_func`.
void buildGritToNvvmPipeline(mlir::OpPassManager &pm,
                             const NvvmPipelineOptions &options);

/// Registers `grit-to-linalg`, `grit-to-cpu` and `grit-to-nvvm`.
void registerPipelines();

} // namespace grit

#endif // GRIT_PIPELINES_PIPELINES_H
