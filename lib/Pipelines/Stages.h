//===- Stages.h - parts that pipelines share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_PIPELINES_STAGES_H
#define GRIT_LIB_PIPELINES_STAGES_H

#include "mlir/Pass/PassManager.h"

namespace grit {

/// The checker pass at the end of a stage.
void endStage(mlir::OpPassManager &pm, llvm::StringRef stage);

/// Stage 1 to 2: contracts as the kernels want to meet them.
void addContractPasses(mlir::OpPassManager &pm);

/// What is left of arrays becomes planes.
void addPlanePasses(mlir::OpPassManager &pm);

/// Tensors become buffers, which are freed where they are no longer needed.
void addBufferizePasses(mlir::OpPassManager &pm);

} // namespace grit

#endif // GRIT_LIB_PIPELINES_STAGES_H
