//===- PlacementSyntax.h - how placements are written -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_DIALECT_GRIT_IR_PLACEMENTSYNTAX_H
#define GRIT_LIB_DIALECT_GRIT_IR_PLACEMENTSYNTAX_H

#include "grit/Format/Audit.h"
#include "mlir/IR/OpImplementation.h"

namespace grit::ir {

/// placement ::= name | hexadecimal word | `layout` `(` string `)`
///
/// The text of a layout goes to LayoutTable::global().
mlir::ParseResult parsePlacement(mlir::AsmParser &parser,
                                 grit::Placement &placement);
void printPlacement(mlir::AsmPrinter &printer, grit::Placement placement);

/// roles ::= `[` role (`,` role)* `]`
mlir::ParseResult parseRoles(mlir::AsmParser &parser,
                             grit::Assumptions &assumed);
void printRoles(mlir::AsmPrinter &printer, grit::Assumptions assumed);

} // namespace grit::ir

#endif // GRIT_LIB_DIALECT_GRIT_IR_PLACEMENTSYNTAX_H
