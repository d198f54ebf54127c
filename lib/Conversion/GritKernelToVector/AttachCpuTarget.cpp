//===- AttachCpuTarget.cpp - processor and vector width on LLVM functions -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace grit {
#define GEN_PASS_DEF_ATTACHCPUTARGET
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;

namespace {
struct AttachCpuTargetPass
    : grit::impl::AttachCpuTargetBase<AttachCpuTargetPass> {
  using AttachCpuTargetBase::AttachCpuTargetBase;

  void runOnOperation() override {
    Builder b(&getContext());
    std::string bits = std::to_string(vectorBits);
    auto pair = [&](StringRef key) -> Attribute {
      return b.getStrArrayAttr({key, bits});
    };
    ArrayAttr widths = b.getArrayAttr(
        {pair("min-legal-vector-width"), pair("prefer-vector-width")});
    getOperation()->walk([&](LLVM::LLVMFuncOp function) {
      if (function.isExternal())
        return;
      if (!cpu.empty())
        function.setTargetCpu(cpu.getValue());
      if (!features.empty())
        function.setTargetFeaturesAttr(
            LLVM::TargetFeaturesAttr::get(&getContext(), features.getValue()));
      function.setPassthroughAttr(widths);
    });
  }
};
} // namespace
