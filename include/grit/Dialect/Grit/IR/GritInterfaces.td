//===- GritInterfaces.td - what operations and passes may ask of a contract -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITINTERFACES_TD
#define GRIT_DIALECT_GRIT_IR_GRITINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Grit_ContractAttrInterface : AttrInterface<"ContractAttrInterface"> {
  let cppNamespace = "::grit::ir";
  let description = [{
    A numeric contract. The one method gives the contract of the format library;
    its description holds planes, sizes, bit addresses, levels, scales, offsets
    and rounding, and is all that a verifier, a lowering or a kernel may use.
  }];
  let methods = [
    InterfaceMethod<"The contract itself (cheap to copy).",
                    "::grit::Contract", "getContract">,
  ];
}

#endif // GRIT_DIALECT_GRIT_IR_GRITINTERFACES_TD
