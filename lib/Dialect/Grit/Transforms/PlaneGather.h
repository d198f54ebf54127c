//===- PlaneGather.h - a plane with its values moved -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEGATHER_H
#define GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEGATHER_H

#include "PlaneMoves.h"
#include "mlir/IR/Builders.h"

namespace grit::ir {

/// Emits a plane whose values lie as the move says; `plane` is tensor<Bxi8>.
/// Values that stay next to each other are moved in runs of bytes; others bit
/// group by bit group.
mlir::Value emitPlaneMove(mlir::OpBuilder &builder, mlir::Location loc,
                          const PlaneMove &move, mlir::Value plane);

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANEGATHER_H
