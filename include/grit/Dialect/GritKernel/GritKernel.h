//===- GritKernel.h - the grit_kernel dialect -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRITKERNEL_GRITKERNEL_H
#define GRIT_DIALECT_GRITKERNEL_GRITKERNEL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "grit/Dialect/GritKernel/GritKernelDialect.h.inc"

#define GET_OP_CLASSES
#include "grit/Dialect/GritKernel/GritKernelOps.h.inc"

#endif // GRIT_DIALECT_GRITKERNEL_GRITKERNEL_H
