//===- Device.h - a device that is a CPU -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_DEVICE_H
#define GRIT_UNITTESTS_EMULATOR_DEVICE_H

#include "Instrument.h"
#include "Scheduler.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <span>
#include <variant>

namespace grit::emulator {

/// Memory of the launch, passed to the kernel as a pointer to its first byte.
struct Buffer {
  std::span<std::byte> bytes;
  std::string name; ///< for messages
};

/// A kernel argument: memory, or an integer of 64 bits.
using KernelArgument = std::variant<Buffer, int64_t>;

struct Launch {
  std::string kernel;
  Dim3 grid, block;
  std::vector<KernelArgument> arguments;
};

/// Runs the kernels of one device module.
class Device {
public:
  /// Loads a `gpu.module` whose functions are in the LLVM dialect.
  static llvm::Expected<std::unique_ptr<Device>>
  load(mlir::gpu::GPUModuleOp module);

  /// Runs a kernel to its end under the schedule of `seed`; 0 is the natural
  /// order. A wrong access, a deadlock and an unknown kernel are errors.
  llvm::Error run(const Launch &launch, uint64_t seed = 0);

private:
  llvm::Error resolve();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  DeviceProgram program;
  std::vector<Buffer> shared;
};

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_DEVICE_H
