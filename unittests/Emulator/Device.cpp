//===- Device.cpp - a device that is a CPU -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Models.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/Support/TargetSelect.h"
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace grit::emulator;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The functions that device code calls, and those that the host's code
/// generator may.
static orc::SymbolMap builtins(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, void *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
  for (const Model &model : models())
    define(modelName(model.intrinsic), model.function);
  for (const Helper &helper : hostHelpers())
    define(helper.name, helper.function);
  define(kCheckAccess, reinterpret_cast<void *>(checkAccess));
  return symbols;
}

/// This processor without its conversions to bfloat16: those flush subnormal
/// numbers, which a device's `cvt.rn.bf16.f32` does not.
static Expected<orc::JITTargetMachineBuilder> hostThatKeepsSubnormals() {
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (host && host->getTargetTriple().isX86())
    host->addFeatures({"-avx512bf16", "-avxneconvert", "-avx10.2-512"});
  return host;
}

Expected<std::unique_ptr<Device>> Device::load(mlir::gpu::GPUModuleOp module) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  mlir::DialectRegistry registry;
  mlir::registerAllToLLVMIRTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  auto context = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> code =
      mlir::translateModuleToLLVMIR(module, *context);
  if (!code)
    return createStringError("emulator: the module has no LLVM IR");

  Expected<orc::JITTargetMachineBuilder> host = hostThatKeepsSubnormals();
  if (!host)
    return host.takeError();
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
  if (!jit)
    return jit.takeError();
  auto device = std::make_unique<Device>();
  device->jit = std::move(*jit);
  Expected<DeviceProgram> program = instrument(
      *code, device->jit->getDataLayout(), device->jit->getTargetTriple());
  if (!program)
    return program.takeError();
  device->program = std::move(*program);
  orc::JITDylib &library = device->jit->getMainJITDylib();
  if (Error error =
          library.define(orc::absoluteSymbols(builtins(*device->jit))))
    return error;
  if (Error error = device->jit->addIRModule(
          orc::ThreadSafeModule(std::move(code), std::move(context))))
    return error;
  if (Error error = device->resolve())
    return error;
  return device;
}

/// Finds shared memory in the loaded code.
Error Device::resolve() {
  for (const SharedVariable &variable : program.shared) {
    Expected<orc::ExecutorAddr> address = jit->lookup(variable.name);
    if (!address)
      return address.takeError();
    shared.push_back({{address->toPtr<std::byte *>(), variable.bytes},
                      "shared memory " + variable.name});
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// What shared memory holds when a block starts: as binary32 a NaN.
static constexpr std::byte kPoison{0xFF};

/// The blocks of a grid in the order of a schedule.
static std::vector<uint64_t> orderedBlocks(Dim3 grid, uint64_t seed) {
  std::vector<uint64_t> order(grid.size());
  std::iota(order.begin(), order.end(), 0);
  if (seed != 0)
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

/// Makes the memory of a launch, and nothing else, accessible.
static void setRegions(const Launch &launch, ArrayRef<Buffer> shared) {
  std::vector<Region> &regions = accessibleRegions();
  regions.clear();
  auto add = [&](const Buffer &buffer) {
    regions.push_back({reinterpret_cast<uintptr_t>(buffer.bytes.data()),
                       buffer.bytes.size(), buffer.name});
  };
  for (const KernelArgument &argument : launch.arguments)
    if (auto *buffer = std::get_if<Buffer>(&argument))
      add(*buffer);
  for (const Buffer &buffer : shared)
    add(buffer);
}

Error Device::run(const Launch &launch, uint64_t seed) {
  if (!is_contained(program.kernels, launch.kernel))
    return createStringError("emulator: no kernel '" + launch.kernel + "'");
  Expected<orc::ExecutorAddr> entry = jit->lookup(entryName(launch.kernel));
  if (!entry)
    return entry.takeError();
  auto *function = entry->toPtr<void (*)(void **)>();

  // As a driver takes them: pointers to the arguments.
  std::vector<uint64_t> values;
  for (const KernelArgument &argument : launch.arguments) {
    auto *buffer = std::get_if<Buffer>(&argument);
    values.push_back(buffer ? reinterpret_cast<uint64_t>(buffer->bytes.data())
                            : std::get<int64_t>(argument));
  }
  std::vector<void *> arguments;
  for (uint64_t &value : values)
    arguments.push_back(&value);

  setRegions(launch, shared);
  Scheduler scheduler(launch.grid, launch.block, seed);
  for (uint64_t block : orderedBlocks(launch.grid, seed)) {
    for (Buffer &variable : shared)
      std::fill(variable.bytes.begin(), variable.bytes.end(), kPoison);
    Dim3 index{uint32_t(block % launch.grid.x),
               uint32_t(block / launch.grid.x % launch.grid.y),
               uint32_t(block / launch.grid.x / launch.grid.y)};
    std::string failure =
        scheduler.runBlock(index, [&] { function(arguments.data()); });
    if (!failure.empty())
      return createStringError("emulator: " + launch.kernel + ", " + failure);
  }
  return Error::success();
}
