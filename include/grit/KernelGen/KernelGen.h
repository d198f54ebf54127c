//===- KernelGen.h - bytes to lanes, from a description -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place in the compiler that knows how to turn bytes into numbers. A
// kernel asks it for the values of a run of lanes, or of one element. What it
// emits (codes, levels, S and Z, and their combination) follows from the format
// description alone, for every target.
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
  /// The number of the line of the last dimension that the run lies in, where
  /// the kernel has it at hand; the emitter divides for it elsewhere.
  mlir::Value line = {};
};

/// How a kernel may walk an array: in steps whose bit addresses differ by whole
/// bytes, each made of `step / run` runs.
struct Walk {
  int64_t step = 1; ///< elements per step; divides the extent of the axis
  int64_t run = 1;  ///< lanes per run
};

/// The walk with the longest runs of at most `maxLanes` lanes, or nothing when
/// the codes of the format cannot be addressed in whole bytes. Rows, and the
/// array, hold a multiple of `multiple` elements, itself one of the format's
/// `axisMultiple`.
std::optional<Walk> chooseWalk(const FormatDescription &description,
                               int64_t maxLanes, int64_t multiple);

/// Why the emitter has no code for a format; nothing when it has. What holds it
/// back is its 32-bit arithmetic, and the projection of decoded values.
std::optional<Error> whyNotEmitted(const FormatDescription &description);

/// Extents of an array, as index values, as far as the groups of its factors
/// need them.
struct Geometry {
  mlir::Value axisExtent;
  /// The product of the extents behind the group axis; null where it is the
  /// last.
  mlir::Value innerExtent = {};
  /// The last extent, and the one before it: null where the array has one
  /// matrix only.
  mlir::Value columns = {}, rows = {};
};

/// Whether groups of a format are counted with the help of extents even where
/// the group axis is the last.
bool needsExtents(const FormatDescription &description);

/// Reads bytes of the planes: `count` bytes from `offset` (index) on, as i8 for
/// a count of 1, else vector<count x i8>. Planes are rank-1 byte tensors or
/// memrefs.
using ByteReader = std::function<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value plane, mlir::Value offset,
    int64_t count)>;

/// Reads `count` entries of a constant list (rank 1, i8, i32 or f32) from
/// `index` on, as its element type for a count of 1, else vector<count x it>.
using TableReader = std::function<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::DenseElementsAttr table,
    mlir::Value index, int64_t count)>;

/// Emits IR for one array. The builder's insertion point decides where.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          const FormatDescription &description, mlir::ValueRange planes,
          std::optional<Geometry> geometry = std::nullopt);

  /// Replaces the way bytes are read (the default uses tensor.extract,
  /// memref.load and vector.transfer_read).
  void setByteReader(ByteReader newReader) { reader = std::move(newReader); }
  /// Replaces the way tables are read (the default makes tensor constants).
  void setTableReader(TableReader newReader) {
    tableReader = std::move(newReader);
  }

  // Runs of lanes.

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

private:
  /// A code with the flag that says whether it is stored at all.
  struct SparseCode {
    mlir::Value keep; ///< i1, or i1 lanes
    mlir::Value code;
  };
  using Factors = llvm::SmallVector<const Factor *>;

  // Fields.
  mlir::Value lanesOf(const BitField &field, mlir::Value indexBase,
                      int64_t indexAlign, llvm::ArrayRef<int64_t> laneIndices);
  mlir::Value lanesOfSlice(const BitSlice &slice, mlir::Value plane,
                           mlir::Value indexBase, int64_t indexAlign,
                           llvm::ArrayRef<int64_t> laneIndices);
  mlir::Value lanesOfWindow(mlir::Value window, unsigned width,
                            int64_t firstByte, llvm::ArrayRef<int64_t> bits);
  mlir::Value digitAt(const Digit &digit, mlir::Value index);
  mlir::Value sliceAt(const BitSlice &slice, mlir::Value plane,
                      mlir::Value index);
  mlir::Value bitsAt(mlir::Value plane, mlir::Value bit, int64_t alignment,
                     unsigned width);
  mlir::Value radixDigit(mlir::Value bits, mlir::Value power,
                         const BitField &field);

  // Levels.
  SparseCode sparseCodesOf(const Run &run);
  SparseCode sparseCodeAt(mlir::Value index);
  mlir::Value denseCodes(const Run &run);
  mlir::Value levels(mlir::Value codes);
  mlir::Value levelsOf(const Run &run);
  mlir::Value levelAt(mlir::Value index);
  mlir::Value gridOf(const Run &run);
  mlir::Value negate(mlir::Value level, mlir::Value word, mlir::Value bit);
  mlir::Value withParity(mlir::Value word);
  mlir::Value signedLevelsOf(const Run &run, mlir::Value level);
  mlir::Value signedLevelAt(mlir::Value index, mlir::Value level);
  mlir::Value lookup(mlir::Value code, llvm::ArrayRef<float> table);
  mlir::Value entryAt(llvm::ArrayRef<float> table, mlir::Value index);

  // Factors.
  Factors factorsBefore() const;
  Factors factorsAfter() const;
  Factors offsetFactors() const;
  mlir::Value lineOf(mlir::Value index, mlir::Value line);
  mlir::Value blockOf(const Factor &factor, mlir::Value index,
                      mlir::Value line);
  mlir::Value statedGroupOf(const Factor &factor, mlir::Value index,
                            mlir::Value line);
  mlir::Value groupOf(const Factor &factor, mlir::Value index,
                      mlir::Value line);
  mlir::Value join(const Factor &factor, mlir::Value value, mlir::Value other);
  mlir::Value joinedAt(llvm::ArrayRef<const Factor *> factors,
                       mlir::Value index, mlir::Value line = {});
  mlir::Value joinedOf(llvm::ArrayRef<const Factor *> factors, const Run &run);

  /// The one order of operations; `factorOf` gives a factor after the level.
  mlir::Value combine(mlir::Value level, mlir::Value scale, mlir::Value offset,
                      llvm::function_ref<mlir::Value(const Factor *)> factorOf,
                      bool canonicalNan);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const FormatDescription &description;
  llvm::SmallVector<mlir::Value> planes;
  std::optional<Geometry> geometry;
  ByteReader reader;
  TableReader tableReader;
};

} // namespace grit::kernelgen

#endif // GRIT_KERNELGEN_KERNELGEN_H
