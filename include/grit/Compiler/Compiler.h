//===- Compiler.h - from MLIR text to code that runs -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a module with the pipeline grit-to-cpu and LLVM's optimizer, to an
// object file or into this process. Public functions become C functions over
// the views of grit-c/grit.h. No fast-math, and no contraction that the module
// does not write.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_COMPILER_COMPILER_H
#define GRIT_COMPILER_COMPILER_H

#include "grit-c/grit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>

namespace grit {

struct CompilerOptions {
  /// As LLVM names it, or "native" for this machine.
  std::string cpu = "native";
  /// On top of the processor's: "+avx2,-avx512f".
  std::string features = "";
  /// 1: plain loops. 0: OpenMP decides. N: OpenMP with N threads.
  int64_t threads = 1;
  /// What a compiled function checks before it runs: 0 nothing, 1 descriptors,
  /// shapes and sizes, 2 also the planes of sparse arrays.
  int64_t checkLevel = 1;
};

/// What a compiled module can be written as.
enum class Artifact {
  Mlir,       ///< the LLVM dialect, as the pipeline leaves it
  Llvm,       ///< LLVM IR after optimization
  Assembly,   ///< for the processor
  Object,     ///< position independent
  Header,     ///< the declarations in C, also valid C++
  Signatures, ///< the same as JSON
};

/// A module that went through the pipeline. Errors come as text with
/// locations, as compilers print them.
class CompiledModule {
public:
  /// Compiles MLIR text or bytecode; null when it is refused. `sourceName` is
  /// the file that messages speak of.
  static std::unique_ptr<CompiledModule> compile(llvm::StringRef source,
                                                 llvm::StringRef sourceName,
                                                 const CompilerOptions &options,
                                                 std::string &errors);
  ~CompiledModule();

  /// Appends the artifact to `bytes`; false when it is refused.
  bool emit(Artifact artifact, llvm::SmallVectorImpl<char> &bytes,
            std::string &errors);
  /// The address of a public function in this process, compiled on the first
  /// call; null when there is none, or it cannot run here. It lives as long as
  /// this object.
  void *lookup(llvm::StringRef function, std::string &errors);
  /// The same function over addresses: those of views, and of numbers.
  using PackedFunction = grit_status_t (*)(void *const *operands);
  PackedFunction lookupPacked(llvm::StringRef function, std::string &errors);

private:
  struct Impl;
  explicit CompiledModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace grit

#endif // GRIT_COMPILER_COMPILER_H
