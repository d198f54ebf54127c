//===- Grit.td - umbrella of the grit dialect -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRIT_TD
#define GRIT_DIALECT_GRIT_IR_GRIT_TD

include "grit/Dialect/Grit/IR/GritDialect.td"
include "grit/Dialect/Grit/IR/GritInterfaces.td"
include "grit/Dialect/Grit/IR/GritAttrs.td"
include "grit/Dialect/Grit/IR/GritTypes.td"
include "grit/Dialect/Grit/IR/GritOps.td"

#endif // GRIT_DIALECT_GRIT_IR_GRIT_TD
