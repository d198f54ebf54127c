//===- Jit.cpp - code in this process -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGen.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace grit;
using namespace llvm::orc;

/// What compiled functions call in libgrit.so: the copy that this library is
/// linked with, wherever the process keeps it.
static SymbolMap runtimeSymbols(LLJIT &jit) {
  SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = ExecutorSymbolDef::fromPtr(
        function,
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  };
  add("grit_check_expected", &grit_check_expected);
  add("grit_check_tensor_expected", &grit_check_tensor_expected);
  add("grit_check_shared_extent", &grit_check_shared_extent);
  add("grit_report_failure", &grit_report_failure);
  add("grit_report_message", &grit_report_message);
  return symbols;
}

/// The library with __kmpc_fork_call and its kin.
static llvm::Error addOpenMp(LLJIT &jit) {
  char prefix = jit.getDataLayout().getGlobalPrefix();
  std::string reasons;
  for (const char *library : {GRIT_OMP_LIBRARY, "libomp.so.5", "libomp.so"}) {
    if (!*library)
      continue;
    auto symbols = DynamicLibrarySearchGenerator::Load(library, prefix);
    if (symbols) {
      jit.getMainJITDylib().addGenerator(std::move(*symbols));
      return llvm::Error::success();
    }
    reasons += "\n  " + llvm::toString(symbols.takeError());
  }
  return llvm::createStringError(
      "threads need LLVM's OpenMP library, libomp.so (Debian: libomp-dev), "
      "which cannot be loaded:" +
      reasons + "\n  fix: install it, or compile for one thread");
}

static llvm::Expected<std::unique_ptr<LLJIT>>
createJit(llvm::StringRef object, const CpuTarget &target, bool needsThreads) {
  JITTargetMachineBuilder machine{llvm::Triple(target.triple)};
  machine.setCPU(target.cpu);
  auto jit =
      LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!jit)
    return jit.takeError();
  JITDylib &library = (*jit)->getMainJITDylib();
  if (auto error = library.define(absoluteSymbols(runtimeSymbols(**jit))))
    return error;
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (needsThreads)
    if (auto error = addOpenMp(**jit))
      return error;
  if (auto error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "grit")))
    return error;
  return jit;
}

std::unique_ptr<LLJIT> grit::loadObject(llvm::StringRef object,
                                        const CpuTarget &target,
                                        bool needsThreads,
                                        std::string &errors) {
  auto jit = createJit(object, target, needsThreads);
  if (jit)
    return std::move(*jit);
  errors = "error: " + llvm::toString(jit.takeError());
  return nullptr;
}
