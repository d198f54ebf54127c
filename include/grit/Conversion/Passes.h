//===- Passes.h - conversions out of the grit dialects -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONVERSION_PASSES_H
#define GRIT_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
namespace affine {
class AffineDialect;
} // namespace affine
namespace arith {
class ArithDialect;
} // namespace arith
namespace bufferization {
class BufferizationDialect;
} // namespace bufferization
namespace cf {
class ControlFlowDialect;
} // namespace cf
namespace gpu {
class GPUDialect;
} // namespace gpu
namespace linalg {
class LinalgDialect;
} // namespace linalg
namespace LLVM {
class LLVMDialect;
} // namespace LLVM
namespace math {
class MathDialect;
} // namespace math
namespace memref {
class MemRefDialect;
} // namespace memref
namespace NVVM {
class NVVMDialect;
} // namespace NVVM
namespace scf {
class SCFDialect;
} // namespace scf
namespace tensor {
class TensorDialect;
} // namespace tensor
namespace vector {
class VectorDialect;
} // namespace vector
} // namespace mlir

namespace grit::kernel {
class GritKernelDialect;
} // namespace grit::kernel

namespace grit {

#define GEN_PASS_DECL
#include "grit/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "grit/Conversion/Passes.h.inc"

/// decode and matmul to linalg.
void populateGritToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// encode to linalg.
void populateGritEncodeToLinalgPatterns(mlir::RewritePatternSet &patterns);
/// Before these patterns: quantizes the constants under `root` and refuses
/// encoders that have no lowering, each in one diagnostic.
mlir::LogicalResult prepareEncode(mlir::Operation *root);

/// decode and matmul to tiled loops of vectors with `lanes` binary32 lanes.
void populateGritToVectorPatterns(mlir::RewritePatternSet &patterns,
                                  int64_t lanes);

/// The portable lowering of grit_kernel.
void populateGritKernelToVectorPatterns(mlir::RewritePatternSet &patterns,
                                        bool fma = true);

/// What x86 with the given features does better.
void populateGritKernelToX86Patterns(mlir::RewritePatternSet &patterns,
                                     llvm::StringRef features);

} // namespace grit

#endif // GRIT_CONVERSION_PASSES_H
