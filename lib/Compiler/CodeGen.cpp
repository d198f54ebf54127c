//===- CodeGen.cpp - LLVM IR, assembly and objects -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGen.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace grit;
using namespace mlir;

std::unique_ptr<llvm::TargetMachine>
grit::createTargetMachine(const CpuTarget &target, std::string &errors) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(target.triple);
  std::string reason;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget("", triple, reason);
  if (!backend) {
    errors = "error: " + reason;
    return nullptr;
  }
  llvm::TargetOptions options;
  // A contract rounds a product and a sum apart unless it says otherwise; the
  // kernels write the fused operations that it allows.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    errors = "error: no code generator for " + target.triple;
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

bool grit::emitCode(ModuleOp module, const CpuTarget &target, Artifact artifact,
                    llvm::raw_pwrite_stream &stream, std::string &errors) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, errors);
  if (!machine)
    return false;
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerOpenMPDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        errors += "error: " + diagnostic.str() + "\n";
        return success();
      });
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "grit");
  if (!code)
    return false;
  errors.clear();
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  optimize(*code, *machine);
  if (artifact == Artifact::Llvm) {
    code->print(stream, nullptr);
    return true;
  }
  llvm::legacy::PassManager passes;
  auto kind = artifact == Artifact::Assembly
                  ? llvm::CodeGenFileType::AssemblyFile
                  : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, kind)) {
    errors = "error: the target " + target.triple + " cannot write this file";
    return false;
  }
  passes.run(*code);
  return true;
}
