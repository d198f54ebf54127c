//===- CodeGen.h - the parts of the compiler -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_COMPILER_CODEGEN_H
#define GRIT_LIB_COMPILER_CODEGEN_H

#include "grit/Compiler/Compiler.h"
#include "grit/Conversion/CInterface.h"
#include "grit/Pipelines/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace grit {

/// Names the arguments of functions as the source does: MLIR keeps where an
/// argument was written, not how. Arguments of other origin keep no name.
void nameArguments(mlir::ModuleOp module, llvm::StringRef source,
                   llvm::StringRef sourceName);

/// The public functions of a module that went through the pipeline.
struct CompiledFunction {
  std::string name;
  CInterface interface;
};
std::vector<CompiledFunction> compiledFunctions(mlir::ModuleOp module);

/// The machine that code is made for; null with an error.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const CpuTarget &target, std::string &errors);

/// Translates to LLVM IR, optimizes, and writes it as text, assembly or object.
bool emitCode(mlir::ModuleOp module, const CpuTarget &target, Artifact artifact,
              llvm::raw_pwrite_stream &stream, std::string &errors);

/// Declarations of the functions in C; false when C cannot name one.
bool emitHeader(llvm::ArrayRef<CompiledFunction> functions,
                llvm::StringRef sourceName, llvm::raw_ostream &stream,
                std::string &errors);
void emitSignatures(llvm::ArrayRef<CompiledFunction> functions,
                    llvm::raw_ostream &stream);

/// Loads an object file into this process; null with an error.
std::unique_ptr<llvm::orc::LLJIT> loadObject(llvm::StringRef object,
                                             const CpuTarget &target,
                                             bool needsThreads,
                                             std::string &errors);

} // namespace grit

#endif // GRIT_LIB_COMPILER_CODEGEN_H
