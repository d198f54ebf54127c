//===- Program.h - grit operations, run on the emulated device -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_PROGRAM_H
#define GRIT_UNITTESTS_EMULATOR_PROGRAM_H

#include "Device.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

namespace grit::emulator {

/// A module that went through `grit-to-nvvm`.
class Program {
public:
  /// Compiles MLIR text; a diagnostic becomes the error.
  static llvm::Expected<std::unique_ptr<Program>>
  compile(const std::string &text, const std::string &chip = "sm_80");

  /// The device module, for tests that damage it before it is loaded.
  mlir::gpu::GPUModuleOp deviceModule();
  /// Loads the device module; implied by `run`.
  llvm::Error load();
  /// Performs the launches of a host function in order, with its own grid,
  /// block and argument order. `arguments` stand for the function's arguments;
  /// its extents must be static, so that all else is constant.
  llvm::Error run(llvm::StringRef function, llvm::ArrayRef<Buffer> arguments,
                  uint64_t seed = 0);

private:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Device> device;
};

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_PROGRAM_H
