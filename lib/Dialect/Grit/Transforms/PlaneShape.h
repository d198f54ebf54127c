//===- PlaneShape.h - a plane as a tensor of rows -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plane in the canonical placement stores a unit of bits for so many elements
// (PlaneInfo), one unit after the other in the order in which its elements are
// counted. So it is a tensor over the array's dimensions, of which the last
// ones are one: where they hold whole units, their product is a number of
// bytes, or of parts of bytes. Slices, transposes and concatenations of arrays
// are those of these tensors.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANESHAPE_H
#define GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANESHAPE_H

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/IR/Builders.h"

namespace grit::ir {

/// How one plane counts the elements of an array.
class PlaneShape {
public:
  PlaneShape(mlir::OpBuilder &builder, mlir::Location loc, ArrayType type,
             unsigned plane);

  /// One unit for the whole array: nothing to slice or to move.
  bool isConstant() const { return unit == 0; }
  /// The array's dimensions as the plane counts them, slowest first.
  llvm::ArrayRef<unsigned> order() const { return dims; }

  /// Chooses what the tensors are made of: bytes when every extent of the last
  /// dimension that `extents` (counts of elements) lists is known to fill whole
  /// bytes, else the largest part of a byte.
  void chooseParts(llvm::ArrayRef<mlir::OpFoldResult> extents);

  /// The extent of so many elements in parts. Stops the program when they do
  /// not hold whole units, unless that is known.
  mlir::OpFoldResult partsOf(mlir::OpFoldResult elements,
                             const llvm::Twine &what) const;

  /// The plane as a tensor of these extents, the last one in parts.
  mlir::Value view(mlir::Value plane,
                   llvm::ArrayRef<mlir::OpFoldResult> extents) const;
  /// All that the plane holds of an array of these extents, in a tensor of rank
  /// 1: bits behind the last value are left out.
  mlir::Value values(mlir::Value plane,
                     llvm::ArrayRef<mlir::OpFoldResult> extents);
  /// The plane that a tensor is a view of.
  mlir::Value plane(mlir::Value view) const;

private:
  mlir::Value unpack(mlir::Value plane, mlir::OpFoldResult count) const;
  mlir::Value pack(mlir::Value parts) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t unit = 0, bits = 0, partBits = 8;
  bool msbFirst = false; ///< bytes are filled from their high bits
  llvm::SmallVector<unsigned> dims;
};

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_TRANSFORMS_PLANESHAPE_H
