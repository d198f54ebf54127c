//===- KernelGen.h - bytes to lanes, from a description -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place in the compiler that knows how to turn bytes into numbers. A
// kernel asks it, for a run of lanes, for four things: codes, levels, S (the
// scale) and Z (the offset); or for their combination, the values. What it
// emits follows from the format description alone, for every target.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_KERNELGEN_KERNELGEN_H
#define GRIT_KERNELGEN_KERNELGEN_H

#include "grit/Format/Description.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <functional>
#include <optional>

namespace grit::kernelgen {

/// A run of consecutive elements (in row-major order of the array): `length`
/// elements from `base + offset` on. `base` is a multiple of `align`, and the
/// run does not reach beyond `align`: offset + length <= align.
struct Run {
  mlir::Value base; ///< index
  int64_t align = 1;
  int64_t offset = 0;
  int64_t length = 1;
};

/// How a kernel may walk an array: in steps whose bit addresses differ by whole
/// bytes, each made of `step / run` runs.
struct Walk {
  int64_t step = 1; ///< elements per step; divides the extent of the axis
  int64_t run = 1;  ///< lanes per run
};

/// The walk with the longest runs of at most `maxLanes` lanes, or nothing when
/// the codes of the format cannot be addressed in whole bytes.
std::optional<Walk> chooseWalk(const FormatDescription &description,
                               int64_t maxLanes);

/// Why the emitter has no code for a format; nothing when it has. What holds it
/// back is its 32-bit arithmetic, and the projection of decoded values.
std::optional<Error> whyNotEmitted(const FormatDescription &description);

/// Extents around the group axis; needed only by factors that count along an
/// axis other than the last (`inner` > 1). Index values.
struct AxisGeometry {
  mlir::Value axisExtent;
  mlir::Value innerExtent;
};

/// Reads bytes of the planes: `count` bytes from `offset` (index) on, as i8 for
/// a count of 1, else vector<count x i8>. Planes are rank-1 byte tensors or
/// memrefs.
using ByteReader = std::function<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value plane, mlir::Value offset,
    int64_t count)>;

/// Emits IR for one array. The builder's insertion point decides where.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          const FormatDescription &description, mlir::ValueRange planes,
          std::optional<AxisGeometry> geometry = std::nullopt);

  /// Replaces the way bytes are read (the default uses tensor.extract,
  /// memref.load and vector.transfer_read).
  void setByteReader(ByteReader newReader) { reader = std::move(newReader); }

  // Runs of lanes.

  /// The codes of a run: vector<length x i8>, or i32 lanes beyond 8 bits.
  mlir::Value codes(const Run &run);
  /// The level of a code (i32) or of each lane of codes: f32, or lanes of it.
  mlir::Value levels(mlir::Value codes);
  /// S of a run: f32 when the run lies in one group, else vector<length x f32>;
  /// null for a format without scales.
  mlir::Value scale(const Run &run);
  /// Z of a run (the offset factors' product, or the zero point), like `scale`;
  /// null for a format without offset.
  mlir::Value offset(const Run &run);
  /// The values of a run, bit for bit: vector<length x f32>. With
  /// `canonicalNan` every NaN is 0x7FC00000, as decode demands; a contraction,
  /// whose NaNs carry no payload, can do without.
  mlir::Value values(const Run &run, bool canonicalNan = true);

  /// Whether the indices of each of `runs` runs of a sparse array name N
  /// positions below M, rising where the contract says so: i1 for one run, else
  /// vector<runs x i1>. `first` is a multiple of `runs`.
  mlir::Value fullRuns(mlir::Value first, int64_t runs);

  // One element.

  /// The value of the element at a row-major index, in scalar arithmetic on
  /// builtin types only.
  mlir::Value valueAt(mlir::Value index, bool canonicalNan = true);

  /// The value of a field, zero-extended to i32, at an index.
  mlir::Value fieldAt(const BitField &field, mlir::Value index);
  /// A code as a number (f32 or a vector of them; `code` is i32 or lanes).
  mlir::Value number(mlir::Value code, const Number &number, unsigned width);
  /// The index of the group of `factor` that holds an element.
  mlir::Value groupOf(const Factor &factor, mlir::Value index);

private:
  /// A code with the flag that says whether it is stored at all.
  struct SparseCode {
    mlir::Value keep; ///< i1, or i1 lanes
    mlir::Value code;
  };
  SparseCode sparseCodesOf(const Run &run);
  SparseCode sparseCodeAt(mlir::Value index);
  mlir::Value denseCodes(const Run &run);
  mlir::Value lanesOf(const BitField &field, mlir::Value indexBase,
                      int64_t indexAlign, llvm::ArrayRef<int64_t> laneIndices);
  mlir::Value lanesOfSlice(const BitSlice &slice, mlir::Value plane,
                           mlir::Value indexBase, int64_t indexAlign,
                           llvm::ArrayRef<int64_t> laneIndices);
  mlir::Value lanesOfWindow(mlir::Value window, unsigned width,
                            int64_t firstByte, llvm::ArrayRef<int64_t> bits);
  mlir::Value sliceAt(const BitSlice &slice, mlir::Value plane,
                      mlir::Value index);
  mlir::Value bitsAt(mlir::Value plane, mlir::Value bit, int64_t alignment,
                     unsigned width);
  mlir::Value productOfRun(llvm::ArrayRef<Factor> factors, const Run &run);
  mlir::Value productAt(llvm::ArrayRef<Factor> factors, mlir::Value index);
  mlir::Value combine(mlir::Value level, mlir::Value scale, mlir::Value offset,
                      bool canonicalNan);
  mlir::Value lookup(mlir::Value code, llvm::ArrayRef<float> table);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const FormatDescription &description;
  llvm::SmallVector<mlir::Value> planes;
  std::optional<AxisGeometry> geometry;
  ByteReader reader;
};

} // namespace grit::kernelgen

#endif // GRIT_KERNELGEN_KERNELGEN_H
