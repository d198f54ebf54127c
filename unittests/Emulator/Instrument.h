//===- Instrument.h - device code, made runnable on the host -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_INSTRUMENT_H
#define GRIT_UNITTESTS_EMULATOR_INSTRUMENT_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace grit::emulator {

/// A variable in shared memory.
struct SharedVariable {
  std::string name;
  uint64_t bytes = 0;
};

/// What the device needs to know of an instrumented module.
struct DeviceProgram {
  std::vector<std::string> kernels;
  std::vector<SharedVariable> shared;
};

/// The host function that calls a kernel: it takes an array of pointers to the
/// arguments, as a driver does.
std::string entryName(llvm::StringRef kernel);

/// The symbol of an intrinsic's model.
std::string modelName(llvm::StringRef intrinsic);

/// The symbol of the check before memory accesses.
inline constexpr const char *kCheckAccess = "emulator_check_access";

/// Retargets a device module to the host: every device intrinsic becomes a call
/// of its model, every access to memory is checked, every kernel gets an entry.
/// An instruction without a model is an error that names it.
llvm::Expected<DeviceProgram> instrument(llvm::Module &module,
                                         const llvm::DataLayout &hostLayout,
                                         const llvm::Triple &hostTriple);

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_INSTRUMENT_H
