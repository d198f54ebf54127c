//===- GritDialect.cpp - registration of the grit dialect -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace grit::ir;

#include "grit/Dialect/Grit/IR/GritDialect.cpp.inc"
#include "grit/Dialect/Grit/IR/GritInterfaces.cpp.inc"

namespace {
/// Contracts and arrays print as short aliases at the top of a module.
struct GritAsmInterface : mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(mlir::Attribute attr,
                       llvm::raw_ostream &os) const override {
    auto contract = llvm::dyn_cast<ContractAttrInterface>(attr);
    if (!contract)
      return AliasResult::NoAlias;
    grit::Contract value = contract.getContract();
    if (!value.isRegistered()) {
      os << "contract";
      return AliasResult::OverridableAlias;
    }
    for (char c : llvm::StringRef(value.name()).rtrim(')'))
      os << (llvm::isAlnum(c) ? c : '_');
    return AliasResult::OverridableAlias;
  }
};

/// No operation of the dialect depends on the function that it is in.
struct GritInlinerInterface : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool,
                       mlir::IRMapping &) const override {
    return true;
  }
};
} // namespace

void GritDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "grit/Dialect/Grit/IR/GritOps.cpp.inc"
      >();
  addInterfaces<GritAsmInterface, GritInlinerInterface>();
}

void grit::ir::describeError(mlir::InFlightDiagnostic diagnostic,
                             const grit::Error &error) {
  diagnostic << error.message;
  auto note = [&](llvm::StringRef part, const std::string &text) {
    if (!text.empty())
      diagnostic.attachNote() << part << ": " << text;
  };
  note("field", error.field);
  note("declared", error.declared);
  note("found", error.found);
  note("likely cause", error.cause);
  note("fix", error.fix);
}
