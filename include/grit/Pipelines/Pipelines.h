//===- Pipelines.h - named pipelines and their options -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_PIPELINES_PIPELINES_H
#define GRIT_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>

namespace grit {

/// Options of `grit-to-cpu`.
struct CpuPipelineOptions
    : mlir::PassPipelineOptions<CpuPipelineOptions> {
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
};

/// The transparent route: arrays become byte planes, operations linalg on
/// builtin types. Ends in stage `planes`.
void buildGritToLinalgPipeline(mlir::OpPassManager &pm);

/// Kernels for the processor, down to the LLVM dialect. A checker pass after
/// each stage says what is unsupported in terms of the operation it met.
void buildGritToCpuPipeline(mlir::OpPassManager &pm,
                            const CpuPipelineOptions &options);

/// Registers `grit-to-linalg` and `grit-to-cpu`.
void registerPipelines();

} // namespace grit

#endif // GRIT_PIPELINES_PIPELINES_H
