//===- InsertChecks.cpp - checks where arrays come in -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "grit/Dialect/Grit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace grit {
#define GEN_PASS_DEF_INSERTCHECKS
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"
} // namespace grit

using namespace grit::ir;
using namespace mlir;

/// Lets every use of `argument` see the checked array instead.
static void insertCheck(OpBuilder &builder, BlockArgument argument,
                        int64_t level) {
  auto check = CheckOp::create(builder, argument.getLoc(), argument.getType(),
                               argument, level);
  argument.replaceAllUsesExcept(check.getResult(), check);
}

namespace {
struct InsertChecks : grit::impl::InsertChecksBase<InsertChecks> {
  using InsertChecksBase::InsertChecksBase;

  void runOnOperation() override {
    if (level < 0 || level > 2) {
      getOperation().emitError()
          << "the check level must be 0, 1 or 2, but got " << level.getValue();
      return signalPassFailure();
    }
    if (level == 0)
      return;
    getOperation().walk([&](FunctionOpInterface function) {
      // Callers inside of the module hand over what was checked where it came
      // in.
      if (function.isExternal() || function.isPrivate())
        return;
      auto builder =
          OpBuilder::atBlockBegin(&function.getFunctionBody().front());
      for (BlockArgument argument : function.getArguments())
        if (isa<ArrayType>(argument.getType()))
          insertCheck(builder, argument, level);
    });
  }
};
} // namespace
