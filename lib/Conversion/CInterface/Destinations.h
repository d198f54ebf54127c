//===- Destinations.h - where the values of a function lie -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONVERSION_CINTERFACE_DESTINATIONS_H
#define GRIT_LIB_CONVERSION_CINTERFACE_DESTINATIONS_H

#include "mlir/IR/Value.h"

namespace grit {

/// The argument that a value starts from, and whether anything writes into it.
struct Destination {
  mlir::BlockArgument argument;
  bool isWritten = false;
};

/// Follows a value of a function with the entry block `entry` through
/// destinations, casts, loops and branches to the argument whose memory it can
/// take; no argument when it has memory of its own.
Destination destinationOf(mlir::Value value, mlir::Block &entry);

/// Where a value starts from an empty tensor of its own, lets it start from
/// `argument` instead: what it computes is then written there.
void startFrom(mlir::BlockArgument argument, mlir::Value value);

} // namespace grit

#endif // GRIT_LIB_CONVERSION_CINTERFACE_DESTINATIONS_H
