//===- ExtentClasses.h - which extents of a function are equal -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_CINTERFACE_EXTENTCLASSES_H
#define GRIT_LIB_CONVERSION_CINTERFACE_EXTENTCLASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace grit {

/// The extents that the operations of a function require to be equal, as
/// classes. An extent is a dimension of a tensor or an array, or an `index`
/// value (dimension -1). What only some paths through a function require counts
/// as required: a call that breaks it is refused rather than run.
class ExtentClasses {
public:
  /// What the classes of a module's functions share: those of callees are
  /// computed once.
  struct Module {
    explicit Module(mlir::ModuleOp module) : symbols(module) {}
    mlir::SymbolTable symbols;
    llvm::DenseMap<mlir::Operation *, std::unique_ptr<ExtentClasses>> callees;
  };

  /// Reads every operation of `function`, and of what it calls.
  ExtentClasses(mlir::func::FuncOp function, Module &module);

  /// The class of an extent.
  unsigned classOf(mlir::Value value, int64_t dim);
  /// The extent that a class has in every call, or kDynamic.
  int64_t constantOf(unsigned extentClass) { return constants[extentClass]; }
  /// Two extents that must be equal and are not, or kDynamic twice.
  std::pair<int64_t, int64_t> contradiction() const { return contradictory; }

private:
  using Extent = std::pair<mlir::Value, int64_t>;

  void readOp(mlir::Operation *op);
  void readCall(mlir::func::CallOp call);
  void readLinalg(mlir::Operation *op);
  void readSizes(mlir::Value shaped, mlir::ValueRange sizes);
  void readReshape(mlir::Value wide, mlir::Value narrow,
                   llvm::ArrayRef<mlir::ReassociationIndices> groups);
  void readSlice(mlir::tensor::ExtractSliceOp slice);
  void readLoop(mlir::LoopLikeOpInterface loop);
  void unify(mlir::Value a, int64_t aDim, mlir::Value b, int64_t bDim);
  /// All extents of two values of the same rank.
  void unifyAll(mlir::Value a, mlir::Value b);
  unsigned find(unsigned node);
  void setConstant(unsigned root, int64_t constant);

  Module &module;
  mlir::func::ReturnOp firstReturn;
  llvm::DenseMap<Extent, unsigned> nodes;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<int64_t> constants;
  std::pair<int64_t, int64_t> contradictory = {mlir::ShapedType::kDynamic,
                                               mlir::ShapedType::kDynamic};
};

/// The extents of a tensor or an array type; nothing for any other.
std::optional<llvm::ArrayRef<int64_t>> extentsOf(mlir::Type type);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_CINTERFACE_EXTENTCLASSES_H
