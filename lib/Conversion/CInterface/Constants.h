//===- Constants.h - constants of a module, each once -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_CINTERFACE_CONSTANTS_H
#define GRIT_LIB_CONVERSION_CINTERFACE_CONSTANTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace grit {

/// Makes internal constants, each once.
class Constants {
public:
  Constants(mlir::ModuleOp module, mlir::SymbolTable &symbols)
      : module(module), symbols(symbols), b(module.getLoc(), module) {
    pointer = mlir::LLVM::LLVMPointerType::get(module.getContext());
  }

  /// A zero-terminated text.
  llvm::StringRef text(llvm::StringRef content) {
    std::string bytes = content.str() + '\0';
    auto type = mlir::LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    return unique(type, b.getStringAttr(bytes));
  }
  /// Extents, -1 for one that is left open.
  llvm::StringRef extents(llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> numbers(shape);
    for (int64_t &extent : numbers)
      extent = mlir::ShapedType::isDynamic(extent) ? -1 : extent;
    auto type = mlir::LLVM::LLVMArrayType::get(b.getI64Type(), numbers.size());
    return unique(type, b.getI64TensorAttr(numbers));
  }

  /// A member of a structure: a number, or the address of another constant
  /// (null when its name is empty).
  struct Member {
    Member(llvm::StringRef symbol) : symbol(symbol), isAddress(true) {}
    Member(mlir::IntegerAttr number) : number(number) {}
    llvm::StringRef symbol;
    mlir::IntegerAttr number;
    bool isAddress = false;
  };
  llvm::StringRef structure(llvm::ArrayRef<Member> members);

private:
  llvm::StringRef unique(mlir::Type type, mlir::Attribute value);
  mlir::LLVM::GlobalOp create(mlir::Type type, mlir::Attribute value);

  mlir::ModuleOp module;
  mlir::SymbolTable &symbols;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVM::LLVMPointerType pointer;
  llvm::DenseMap<mlir::Attribute, llvm::StringRef> known;
};

} // namespace grit

#endif // GRIT_LIB_CONVERSION_CINTERFACE_CONSTANTS_H
