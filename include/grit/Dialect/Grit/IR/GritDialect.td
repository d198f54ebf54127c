//===- GritDialect.td - the dialect and its base classes -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITDIALECT_TD
#define GRIT_DIALECT_GRIT_IR_GRITDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def Grit_Dialect : Dialect {
  let name = "grit";
  let cppNamespace = "::grit::ir";
  let summary = "quantized arrays whose type says what their bytes mean";
  let description = [{
    Quantized bytes mean something only under a contract: element and scale
    formats, group sizes, zero-point conventions, bit order, placement and
    rounding. The grit dialect puts the whole contract in the type:

    ```mlir
    #w = #grit.grade<mxfp4>
    !weight = !grit.array<1536x384x#w>
    ```

    An array is a type of its own, not a tensor with an encoding: an operation
    that does not know the contract cannot touch it. `grit.bundle` and
    `grit.planes` lead to and from its byte planes, which are ordinary
    `tensor<Bxi8>` values.

    Contracts are attributes that implement `ContractAttrInterface`. Operations
    and passes speak to the interface only, and everything they need (plane
    sizes, bit addresses, levels, scales, rounding) follows from the format
    description behind it. Verifiers call the same functions that check arrays
    at run time and speak with their words.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasCanonicalizer = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Grit_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Grit_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Grit_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Grit_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

class Grit_Op<string mnemonic, list<Trait> traits = []>
    : Op<Grit_Dialect, mnemonic, traits>;

#endif // GRIT_DIALECT_GRIT_IR_GRITDIALECT_TD
