//===- Passes.h - passes inside the grit dialect -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_H
#define GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace grit {

#define GEN_PASS_DECL
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "grit/Dialect/Grit/Transforms/Passes.h.inc"

} // namespace grit

#endif // GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_H
