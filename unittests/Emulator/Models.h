//===- Models.h - what device instructions do -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_MODELS_H
#define GRIT_UNITTESTS_EMULATOR_MODELS_H

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace grit::emulator {

/// A functional model: a C++ function that stands for an intrinsic.
struct Model {
  std::string_view intrinsic; ///< "llvm.nvvm.read.ptx.sreg.tid.x"
  std::string_view type;      ///< "i32 ()", as LLVM prints it
  void *function;
};

/// All intrinsics that the emulator knows. A new instruction is a new line.
std::span<const Model> models();

/// Library functions that LLVM's code generation may call on the host.
struct Helper {
  std::string_view name;
  void *function;
};
std::span<const Helper> hostHelpers();

/// Memory that device code may touch.
struct Region {
  uintptr_t begin = 0;
  uint64_t bytes = 0;
  std::string_view name;
};

/// Regions of the launch that is running.
std::vector<Region> &accessibleRegions();

/// Called before every load and store: stops the block when an access leaves
/// its region or is less aligned than the code claims, either of which is a
/// fault on a device.
void checkAccess(const void *address, uint64_t bytes, uint64_t alignment,
                 bool isWrite);

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_MODELS_H
