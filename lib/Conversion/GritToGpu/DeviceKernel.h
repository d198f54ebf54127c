//===- DeviceKernel.h - building blocks of device kernels -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device kernel is one `gpu.func` per operation, contract and element types,
// for all shapes. Its arguments are, in this order: a pointer to each plane of
// the array, a pointer to each buffer of numbers, then extents. Pointers are
// memrefs of rank 0, the one form whose calling convention is a bare pointer.
// They are aligned to 16 bytes, as device allocations are.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_GRITTOGPU_DEVICEKERNEL_H
#define GRIT_LIB_CONVERSION_GRITTOGPU_DEVICEKERNEL_H

#include "../GritToVector/Kernels.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace grit {

/// Threads of a block.
inline constexpr int64_t kBlockThreads = 128;

/// Bytes that one memory access of a thread moves at most, and to which the
/// pointers of a kernel are aligned.
inline constexpr int64_t kAccessBytes = 16;

/// How a thread walks an array: `walk` in lanes where the format allows it, one
/// element at a time where it does not.
struct ThreadWalk {
  kernelgen::Walk walk;
  bool isScalar = false;

  static ThreadWalk choose(const FormatDescription &description,
                           int64_t maxLanes, int64_t multiple);
};

/// What divides the length of every row that a kernel serves. Kernels are for
/// all shapes, so of a known extent only as much counts as vectors can use.
int64_t deviceRowMultiple(ir::ArrayType array);

/// A kernel under construction.
class DeviceKernel {
public:
  /// Adds an empty kernel to `module`.
  DeviceKernel(mlir::gpu::GPUModuleOp module, mlir::Location loc,
               mlir::StringRef name, const FormatDescription &description,
               mlir::TypeRange bufferElements, unsigned extents);

  mlir::gpu::GPUFuncOp function() { return func; }
  mlir::Value extent(unsigned i);
  /// Buffer `i` as `count` numbers.
  mlir::Value buffer(unsigned i, mlir::Value count);
  /// The planes of an array of `elements` elements.
  mlir::SmallVector<mlir::Value> planes(mlir::Value elements);
  /// Emits `body` once for every index below `count`, one thread each; the
  /// function is complete afterwards.
  void forEachThread(mlir::Value count,
                     mlir::function_ref<void(mlir::Value)> body);
  /// The values of the lanes from `base + offset` on; `line` as in Run.
  mlir::Value values(kernelgen::Emitter &emitter, const ThreadWalk &walk,
                     mlir::Value base, int64_t offset, bool canonicalNan,
                     mlir::Value line = {});
  kernelgen::Emitter
  emitter(mlir::ValueRange planes,
          std::optional<kernelgen::Geometry> geometry = std::nullopt);

  mlir::OpBuilder b;
  mlir::Location loc;
  Loops loops;

private:
  mlir::Value readTable(mlir::OpBuilder &at, mlir::Location place,
                        mlir::DenseElementsAttr table, mlir::Value index,
                        int64_t count);
  mlir::Value asVector(mlir::Value pointer, mlir::Value count);

  const FormatDescription &description;
  mlir::gpu::GPUFuncOp func;
};

/// Reads and writes lanes of a rank-1 memref, with the alignment that the index
/// is known to have.
mlir::Value loadLanes(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value memref, mlir::Value index, int64_t lanes);
void storeLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lanes,
                mlir::Value memref, mlir::Value index);

/// Kernels, one per operation. `name` is the symbol of the new function.
mlir::gpu::GPUFuncOp emitDecodeKernel(mlir::gpu::GPUModuleOp module,
                                      mlir::StringRef name, ir::DecodeOp op);
mlir::gpu::GPUFuncOp emitMatmulKernel(mlir::gpu::GPUModuleOp module,
                                      mlir::StringRef name, ir::MatmulOp op);

/// Elements that one thread of the decode kernel serves.
int64_t decodeStep(ir::DecodeOp op);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_GRITTOGPU_DEVICEKERNEL_H
