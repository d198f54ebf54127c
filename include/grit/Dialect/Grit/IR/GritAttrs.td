//===- GritAttrs.td - contracts, words, placements, accumulation -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITATTRS_TD
#define GRIT_DIALECT_GRIT_IR_GRITATTRS_TD

include "grit/Dialect/Grit/IR/GritDialect.td"
include "grit/Dialect/Grit/IR/GritInterfaces.td"

def Grit_WordAttr : Grit_Attr<"Word", "word"> {
  let summary = "a 16-bit format word";
  let description = [{
    Names a number format (GRIT v1, section 2): width, precision, infinities,
    NaN encoding, sign. Written as the token of a registered word or as a
    hexadecimal number.

    ```mlir
    #grit.word<e2m1>
    #grit.word<0x2043>   // the same, printed as e2m1
    ```

    The bits must name a format: width 2 to 32, at least one exponent bit in a
    float, no special values in an integer.
  }];
  let parameters = (ins "uint16_t":$bits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::grit::FormatWord getWord() const { return ::grit::FormatWord(getBits()); }
  }];
}

class Grit_ContractAttr<string name, string mnemonic>
    : Grit_Attr<name, mnemonic,
                [DeclareAttrInterfaceMethods<Grit_ContractAttrInterface>]> {
  let parameters = (ins StringRefParameter<"canonical spelling">:$spelling);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Grit_GradeAttr : Grit_ContractAttr<"Grade", "grade"> {
  let summary = "a grade of GRIT v1";
  let description = [{
    A contract that the 23 keys of a grade spell (GRIT v1, section 4). Syntax:

    ```
    grade ::= `#grit.grade<` ( name | string | field (`,` field)* ) `>`
    field ::= key `=` token
    ```

    A name is a registered one in any case (`mxfp4`, `mxfp4_rne`, `nvf4`,
    `nvf4_rtz`, `q4ks`, `i8s24`, or `GRADE_MXFP4` ...); the string form takes
    every spelling that the grammar accepts, aliases included. A registered
    grade prints as its name, any other as its canonical string.

    ```mlir
    #grit.grade<mxfp4>
    #grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = exp2floormaxabs>  // mxfp4
    #grit.grade<"grit1(e=s8,k0=32,s0=binary16,esr=ratiomaxabs)">
    ```
  }];
}

def Grit_FormatAttr : Grit_ContractAttr<"Format", "format"> {
  let summary = "a foreign format, given by its description";
  let description = [{
    A contract that no grade spells: GGUF blocks, codebooks and others. Its
    identity is its canonical text `gritfmt1(...)`. A family with a parameter
    takes it after the name.

    ```mlir
    #grit.format<gguf.q4_k>
    #grit.format<hurray.nf4>                // block = 64
    #grit.format<hurray.nf4, block = 128>
    ```
  }];
}

def Grit_PlacementAttr : Grit_Attr<"Placement", "placement"> {
  let summary = "a 64-bit placement word";
  let description = [{
    Where the values of a plane lie (GRIT v1, section 5). Written as a
    registered name, as a hexadecimal word, or as the canonical text of a layout
    expression.

    ```mlir
    #grit.placement<row_major>
    #grit.placement<swizzle_128x4b>
    #grit.placement<layout("Tile(RowMajor,[16,16])")>
    #grit.placement<0x8000000000000123>
    ```
  }];
  let parameters = (ins "uint64_t":$bits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::grit::Placement getPlacement() const {
      return ::grit::Placement(getBits());
    }
  }];
}

def Grit_AccumAttr : Grit_Attr<"Accum", "accum"> {
  let summary = "an accumulation contract (grade keys 19 to 23)";
  let description = [{
    What a contraction promises about its sums (GRIT v1, section 4.2): order
    `ao` (`seq`, `pairwiseK`, `tree`, `unspec`), precision of products `ap`,
    across blocks `ab` and inside a block `ai` (format words), and subnormals
    `an` (`preserve`, `ftz`, `any`). Omitted keys have the grade's defaults:
    `ao = unspec`, the rest `binary32` and `any`. Only `unspec` lets a kernel
    contract a multiply and an add into one rounding.

    ```mlir
    #grit.accum<ao = seq>
    #grit.accum<ao = tree, ai = binary32>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"accumulation order">:$ao,
    "uint16_t":$ap, "uint16_t":$ab, "uint16_t":$ai,
    StringRefParameter<"subnormals">:$an);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::grit::Accumulation &":$accumulation)>,
  ];
  let extraClassDeclaration = [{
    /// The same in the format library's terms.
    ::grit::Accumulation getAccumulation() const;
    /// ao = unspec, everything else at its default.
    static AccumAttr getDefault(::mlir::MLIRContext *context);
    /// True when the order of additions is the kernel's to choose.
    bool allowsAnyOrder() const { return getAo() == "unspec"; }
    /// True when all precisions are binary32.
    bool isBinary32() const;
  }];
}

#endif // GRIT_DIALECT_GRIT_IR_GRITATTRS_TD
