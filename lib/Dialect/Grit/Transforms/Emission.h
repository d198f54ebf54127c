//===- Emission.h - pieces of IR that lowerings share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_TRANSFORMS_EMISSION_H
#define GRIT_LIB_DIALECT_GRIT_TRANSFORMS_EMISSION_H

#include "grit/KernelGen/Arithmetic.h"
#include "mlir/IR/Builders.h"

namespace grit::ir {

/// A tensor of bytes with these extents; `body` gives the byte at an index.
mlir::Value emitBytes(
    mlir::OpBuilder &builder, mlir::Location loc,
    llvm::ArrayRef<mlir::OpFoldResult> extents,
    llvm::function_ref<mlir::Value(kernelgen::Arithmetic, mlir::ValueRange)>
        body);

/// The extents of an array, or only those that its type leaves open.
llvm::SmallVector<mlir::OpFoldResult>
extentsOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value array);
llvm::SmallVector<mlir::Value> dynamicExtentsOf(mlir::OpBuilder &builder,
                                                mlir::Location loc,
                                                mlir::Value array);

/// Sums and products of extents, folded where they are known.
mlir::OpFoldResult sumOf(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::OpFoldResult> extents);
mlir::OpFoldResult productOf(mlir::OpBuilder &builder, mlir::Location loc,
                             llvm::ArrayRef<mlir::OpFoldResult> extents);

/// Stops the program with SizeMismatch and `message` unless `condition` holds;
/// nothing where it is known to.
void emitRequire(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value condition, const llvm::Twine &message);

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_TRANSFORMS_EMISSION_H
