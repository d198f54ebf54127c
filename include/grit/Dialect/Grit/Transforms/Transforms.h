//===- Transforms.h - rewrites inside the grit dialect -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_TRANSFORMS_TRANSFORMS_H
#define GRIT_DIALECT_GRIT_TRANSFORMS_TRANSFORMS_H

#include "grit/Dialect/Grit/IR/GritDialect.h"

namespace mlir {
class ConversionTarget;
class RewritePatternSet;
class RewriterBase;
class TypeConverter;
} // namespace mlir

namespace grit {

/// Adds the conversion of `!grit.array` to its planes, in stored order,
/// followed by one index for every dynamic extent, in order.
void populateArrayTypeConversion(mlir::TypeConverter &converter);

/// Patterns that expand arrays in grit.bundle, grit.planes, grit.dim,
/// grit.constant, functions, calls, scf and cf, and what is legal afterwards.
/// `converter` must have the conversion above.
void populateExpandArraysPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  mlir::ConversionTarget &target);

/// Turns a relayout into byte permutations of planes, or refuses it in the name
/// of `asker`, the operation that needs it where that is another one.
mlir::FailureOr<ir::BundleOp> lowerRelayout(mlir::RewriterBase &rewriter,
                                            ir::RelayoutOp op,
                                            mlir::Operation *asker = nullptr);

/// Turns a check into comparisons and cf.assert, or refuses it.
mlir::LogicalResult lowerCheck(mlir::RewriterBase &rewriter, ir::CheckOp op);

/// Turns the proof of a placement into comparisons and cf.assert, or refuses
/// it.
mlir::LogicalResult lowerVerifyPlacement(mlir::RewriterBase &rewriter,
                                         ir::VerifyPlacementOp op);

} // namespace grit

#endif // GRIT_DIALECT_GRIT_TRANSFORMS_TRANSFORMS_H
