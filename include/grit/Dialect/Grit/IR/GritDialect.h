//===- GritDialect.h - the grit dialect, its attributes, types and operations
//-*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITDIALECT_H
#define GRIT_DIALECT_GRIT_IR_GRITDIALECT_H

#include "grit/Format/Audit.h"
#include "grit/Format/Contract.h"
#include "grit/Format/GradeOrder.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "grit/Dialect/Grit/IR/GritDialect.h.inc"
#include "grit/Dialect/Grit/IR/GritInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "grit/Dialect/Grit/IR/GritAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "grit/Dialect/Grit/IR/GritTypes.h.inc"

#define GET_OP_CLASSES
#include "grit/Dialect/Grit/IR/GritOps.h.inc"

namespace grit::ir {

/// Emits `error` with its parts as notes on `diagnostic`.
void describeError(::mlir::InFlightDiagnostic diagnostic,
                   const ::grit::Error &error);

/// The array whose planes `array` has, maybe in another order: looks through
/// whatever keeps the values.
::mlir::Value sourceOfPlanes(::mlir::Value array);

/// The contract attribute for a contract of the format library.
ContractAttrInterface getContractAttr(::mlir::MLIRContext *context,
                                      const ::grit::Contract &contract);

} // namespace grit::ir

#endif // GRIT_DIALECT_GRIT_IR_GRITDIALECT_H
