//===- CInterface.h - how C calls a compiled function -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The signature of a function as C sees it. `grit-record-interface` reads it
// off the tensors and arrays of a function while they are still there, and
// keeps it in an attribute; `grit-emit-c-interface` writes the C function, and
// the compiler its declaration, from that attribute.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONVERSION_CINTERFACE_H
#define GRIT_CONVERSION_CINTERFACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace grit {

/// One parameter of the C function.
struct CInterfaceOperand {
  enum class Kind { Array, Tensor, Scalar };
  /// Whether the function reads what it is given, and whether it writes.
  enum class Access { In, InOut, Out };

  Kind kind = Kind::Tensor;
  Access access = Access::In;
  std::string name;
  /// Of an array or a tensor, ShapedType::kDynamic where any extent will do.
  llvm::SmallVector<int64_t> shape;
  /// Which extents are dynamic in the function itself: the call hands them
  /// over.
  llvm::SmallVector<int64_t> dynamicDims;
  /// The MLIR element type of a tensor ("f32"), the type of a scalar ("index"),
  /// the name of an array's contract ("mxfp4").
  std::string element;

  // Of an array.
  uint64_t contractId = 0;
  bool isGrade = false;
  int64_t axis = 0;
  std::array<uint64_t, 3> placements = {};
  /// Where each plane is in a view, and its bytes (dynamic when the shape is).
  llvm::SmallVector<int64_t> slots, planeBytes;

  bool isWritten() const { return access != Access::In; }
};

/// Two extents that must be equal. The dimension of a scalar (an `index` that
/// some extent is given by) is -1.
struct SharedExtent {
  int64_t first, firstDim;
  int64_t second, secondDim;
};

/// The C function of one function.
struct CInterface {
  /// The attribute of a function that holds this.
  static constexpr llvm::StringLiteral kAttribute = "grit.interface";
  /// The attribute of an argument or a result that names it.
  static constexpr llvm::StringLiteral kNameAttribute = "grit.name";
  /// The attribute of an argument whose memory a returned value goes to: the
  /// number of that value.
  static constexpr llvm::StringLiteral kHoldsAttribute = "grit.holds";

  /// "file:line", or empty.
  std::string location;
  std::vector<CInterfaceOperand> operands;
  llvm::SmallVector<SharedExtent> shared;

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// Fails on an attribute that `toAttr` did not make.
  static mlir::FailureOr<CInterface> fromAttr(mlir::Attribute attr);
};

/// The numbers of grit_dtype_t for the element types that have one.
int32_t cDtype(llvm::StringRef element);

} // namespace grit

#endif // GRIT_CONVERSION_CINTERFACE_H
