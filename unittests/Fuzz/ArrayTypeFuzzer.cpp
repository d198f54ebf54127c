//===- ArrayTypeFuzzer.cpp - the parser of types and attributes -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the input as a type, `!grit.array<...>` in the corpus. What is refused
// must come with a diagnostic, and what is accepted must print as text that
// parses to the same type.
//
//===----------------------------------------------------------------------===//

#include "grit/Dialect/Grit/IR/GritDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <memory>

using namespace mlir;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A context with the dialect. Types live as long as their context, so a new
/// one is made from time to time to bound the memory.
static MLIRContext &freshContext() {
  static std::unique_ptr<MLIRContext> context;
  static int numUses = 0;
  if (!context || ++numUses == 2000) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<grit::ir::GritDialect>();
    numUses = 0;
  }
  return *context;
}

/// LLVM's headers poison what their allocators have not given out yet. The
/// code in libMLIR, which has no sanitizers, uses the same allocators and never
/// takes the poison away.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = freshContext();
  int numErrors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    numErrors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });

  // The lexer reads up to a terminating NUL, so the input needs a copy.
  std::string text(reinterpret_cast<const char *>(data), size);
  Type type = parseType(text, &context);
  if (!type) {
    require(numErrors > 0);
    return 0;
  }
  std::string printed;
  llvm::raw_string_ostream(printed) << type;
  require(parseType(printed, &context) == type);
  return 0;
}
