//===- OpVerifiers.h - what verifiers of operations share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_IR_OPVERIFIERS_H
#define GRIT_LIB_DIALECT_GRIT_IR_OPVERIFIERS_H

#include "grit/Dialect/Grit/IR/GritDialect.h"

namespace grit::ir {

/// Emits `error` on `op` in the words of the format library.
inline mlir::LogicalResult refuse(mlir::Operation *op,
                                  const grit::Error &error) {
  describeError(op->emitOpError(), error);
  return mlir::failure();
}

/// Static extents that meet must agree.
inline mlir::LogicalResult verifyExtents(mlir::Operation *op,
                                         llvm::StringRef what, int64_t required,
                                         int64_t found) {
  if (mlir::ShapedType::isDynamic(required) ||
      mlir::ShapedType::isDynamic(found) || required == found)
    return mlir::success();
  return op->emitOpError() << what << " must be " << required << ", but got "
                           << found;
}

/// What was assumed of operands must be assumed of the result, and nothing
/// else (GRIT v1, section 12: the note is sticky).
inline mlir::LogicalResult verifyAssumed(mlir::Operation *op,
                                         grit::Assumptions required,
                                         ArrayType result) {
  if (required == result.getAssumed())
    return mlir::success();
  return op->emitOpError()
         << "result must be " << result.withAssumed(required)
         << ", which assumes what its operands assume, but got " << result;
}

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_IR_OPVERIFIERS_H
