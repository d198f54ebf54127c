//===- InitAll.h - registration of everything grit adds -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_INITALL_H
#define GRIT_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace grit {

/// Registers grit's dialects and the interface models they bring.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers grit's dialects and every upstream dialect and extension that its
/// pipelines produce or consume.
void registerDialectsForPipelines(mlir::DialectRegistry &registry);

/// Registers grit's passes and named pipelines. Call once a process.
void registerPasses();

} // namespace grit

#endif // GRIT_INITALL_H
