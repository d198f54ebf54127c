//===- Compiler.cpp - from MLIR text to code that runs -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Compiler/Compiler.h"
#include "CodeGen.h"
#include "SharedContracts.h"
#include "grit/InitAll.h"
#include "grit/Pipelines/Pipelines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Host.h"

using namespace grit;
using namespace mlir;

struct CompiledModule::Impl {
  explicit Impl(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {}

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CompilerOptions options;
  CpuTarget target;
  std::string sourceName;
  std::vector<CompiledFunction> functions;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledModule::CompiledModule(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
CompiledModule::~CompiledModule() = default;

//===----------------------------------------------------------------------===//
// Compile
//===----------------------------------------------------------------------===//

static void setPipelineOptions(const CompilerOptions &options,
                               CpuPipelineOptions &pipeline) {
  if (!options.cpu.empty())
    pipeline.cpu = options.cpu;
  pipeline.features = options.features;
  pipeline.threads = options.threads;
  pipeline.cInterface = true;
  pipeline.checkLevel = options.checkLevel;
  pipeline.packed = true;
}

static bool runPipeline(ModuleOp module, const CpuPipelineOptions &options) {
  PassManager pm(module->getName());
  auto emitError = [&](const Twine &message) {
    return module.emitError(message);
  };
  return succeeded(buildGritToCpuPipeline(pm, options, emitError)) &&
         succeeded(pm.run(module));
}

std::unique_ptr<CompiledModule>
CompiledModule::compile(StringRef source, StringRef sourceName,
                        const CompilerOptions &options, std::string &errors) {
  CpuPipelineOptions pipeline;
  setPipelineOptions(options, pipeline);
  auto refuse = [&](const Twine &message) -> LogicalResult {
    errors = ("error: " + message).str();
    return failure();
  };
  FailureOr<CpuTarget> target = checkCpuPipelineOptions(pipeline, refuse);
  if (failed(target) || !shareContracts(errors))
    return nullptr;
  DialectRegistry registry;
  registerDialectsForPipelines(registry);
  auto impl = std::make_unique<Impl>(registry);
  impl->options = options;
  impl->target = *target;
  impl->sourceName = sourceName.str();

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source, sourceName), llvm::SMLoc());
  llvm::raw_string_ostream stream(errors);
  SourceMgrDiagnosticHandler handler(sources, &impl->context, stream);
  impl->module = parseSourceFile<ModuleOp>(sources, &impl->context);
  if (!impl->module)
    return nullptr;
  nameArguments(*impl->module, source, sourceName);
  if (!runPipeline(*impl->module, pipeline))
    return nullptr;
  impl->functions = compiledFunctions(*impl->module);
  errors.clear(); // warnings of a module that was accepted
  return std::unique_ptr<CompiledModule>(new CompiledModule(std::move(impl)));
}

std::vector<CompiledFunction> grit::compiledFunctions(ModuleOp module) {
  std::vector<CompiledFunction> functions;
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>())
    if (Attribute attr = function->getAttr(CInterface::kAttribute))
      if (FailureOr<CInterface> interface = CInterface::fromAttr(attr);
          succeeded(interface))
        functions.push_back({function.getName().str(), std::move(*interface)});
  return functions;
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

bool CompiledModule::emit(Artifact artifact, SmallVectorImpl<char> &bytes,
                          std::string &errors) {
  llvm::raw_svector_ostream stream(bytes);
  switch (artifact) {
  case Artifact::Mlir:
    impl->module->print(stream);
    return true;
  case Artifact::Header:
    return emitHeader(impl->functions, impl->sourceName, stream, errors);
  case Artifact::Signatures:
    emitSignatures(impl->functions, stream);
    return true;
  case Artifact::Llvm:
  case Artifact::Assembly:
  case Artifact::Object:
    return emitCode(*impl->module, impl->target, artifact, stream, errors);
  }
  llvm_unreachable("no such artifact");
}

/// Code for another processor would stop the program with an illegal
/// instruction. Features that no processor reports are hints for tuning.
static bool checkRunsHere(const CpuTarget &target, std::string &errors) {
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    StringRef name = feature.first();
    if (feature.second || !target.has(name.str().c_str()))
      continue;
    errors = "error: the code is for a processor with '" + name.str() +
             "', which this one (" + llvm::sys::getHostCPUName().str() +
             ") does not have";
    return false;
  }
  return true;
}

void *CompiledModule::lookup(StringRef function, std::string &errors) {
  bool isKnown = llvm::any_of(impl->functions, [&](const auto &known) {
    return function == known.name || function == "grit_packed_" + known.name;
  });
  if (!isKnown) {
    errors = "error: the module has no public function '" + function.str() +
             "'; it has:";
    for (const CompiledFunction &known : impl->functions)
      errors += " " + known.name;
    return nullptr;
  }
  if (!impl->jit) {
    SmallVector<char, 0> object;
    if (!checkRunsHere(impl->target, errors) ||
        !emit(Artifact::Object, object, errors))
      return nullptr;
    impl->jit = loadObject({object.data(), object.size()}, impl->target,
                           impl->options.threads != 1, errors);
    if (!impl->jit)
      return nullptr;
  }
  // Which symbols are missing is reported to the session, not to the caller.
  std::string reported;
  llvm::orc::ExecutionSession &session = impl->jit->getExecutionSession();
  session.setErrorReporter([&](llvm::Error error) {
    reported += "\n  " + llvm::toString(std::move(error));
  });
  auto address = impl->jit->lookup(function);
  session.setErrorReporter([](llvm::Error error) {
    llvm::logAllUnhandledErrors(std::move(error), llvm::errs(), "grit: ");
  });
  if (!address) {
    errors = "error: " + llvm::toString(address.takeError()) + reported;
    return nullptr;
  }
  return address->toPtr<void *>();
}

CompiledModule::PackedFunction
CompiledModule::lookupPacked(StringRef function, std::string &errors) {
  return reinterpret_cast<PackedFunction>(
      lookup(("grit_packed_" + function).str(), errors));
}
