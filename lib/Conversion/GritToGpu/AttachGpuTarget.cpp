//===- AttachGpuTarget.cpp - which chip device modules are for -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

namespace grit {
#define GEN_PASS_DEF_ATTACHGPUTARGET
#include "grit/Conversion/Passes.h.inc"
} // namespace grit

using namespace mlir;
using namespace grit;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";
/// The first generation with every conversion that kernels use: bf16 came with
/// sm_80.
static constexpr unsigned kOldest = 80;

/// The number in "sm_90a"; 0 for what is not of that form.
static unsigned generation(StringRef chip) {
  unsigned number = 0;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return 0;
  return number;
}

/// Why no code can be made for `chip`, or "".
static std::string reasonAgainst(StringRef chip) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget("", triple, error);
  if (!target)
    return "this LLVM was built without its NVPTX target: " + error;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  SmallVector<StringRef> usable;
  bool isKnown = false;
  for (const llvm::SubtargetSubTypeKV &known :
       info->getAllProcessorDescriptions()) {
    isKnown |= known.Key == chip;
    if (generation(known.Key) >= kOldest)
      usable.push_back(known.Key);
  }
  if (llvm::is_contained(usable, chip))
    return "";
  std::string found = "chip '" + chip.str() + "' ";
  found += isKnown ? "is too old: kernels need the bf16 conversions of sm_80"
                   : "is unknown";
  return found + "; expected one of " + llvm::join(usable, ", ");
}

namespace {
struct AttachGpuTargetPass
    : grit::impl::AttachGpuTargetBase<AttachGpuTargetPass> {
  using AttachGpuTargetBase::AttachGpuTargetBase;

  void runOnOperation() override {
    if (std::string reason = reasonAgainst(chip); !reason.empty()) {
      getOperation()->emitError() << reason;
      return signalPassFailure();
    }
    auto target =
        NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3, kTriple, chip);
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      module.setTargetsAttr(ArrayAttr::get(&getContext(), target));
  }
};
} // namespace
