//===- GritTypes.td - the array type -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITTYPES_TD
#define GRIT_DIALECT_GRIT_IR_GRITTYPES_TD

include "grit/Dialect/Grit/IR/GritAttrs.td"

def Grit_ArrayType : Grit_Type<"Array", "array"> {
  let summary = "a quantized array: shape, contract, group axis, placements";
  let description = [{
    Syntax:

    ```
    array ::= `!grit.array<` dim `x` (dim `x`)* contract (`,` option)* `>`
    dim    ::= `?` | integer
    option ::= `axis` `=` integer
             | (`data` | `scale` | `meta`) `=` placement
             | `assumed` `=` `[` role (`,` role)* `]`
    placement ::= name | hexadecimal word | `layout` `(` string `)`
    role   ::= `data` | `scale` | `meta`
    ```

    `axis` is the group axis and defaults to the last; an omitted placement is
    the contract's canonical one, and "unspecified" must be written. Defaults
    are not printed. `layout("...")` holds the canonical text of a layout
    expression (GRIT v1, section 5.3); a word whose text is not known is
    printed as a number, and nothing can move bytes out of it.

    `assumed` names the kinds of planes whose placement somebody assumed
    (`grit.assume_placement`) and nobody has verified since. It says nothing
    about the values and sticks to whatever is made of the array without reading
    its bytes (GRIT v1, section 12).

    ```mlir
    !grit.array<4096x4096x#grit.grade<mxfp4>>
    !grit.array<?x256x#grit.grade<nvf4>, scale = swizzle_128x4b>
    !grit.array<512x1024x#grit.format<gguf.q4_k>>
    !grit.array<64x64x#grit.grade<mxfp4>, data = layout("Tile(RowMajor,[16,16])")>
    !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>
    ```

    The verifier runs steps 3 and 4 of grit_check: the placements must be
    acceptable and go with the contract, and the extents must hold whole groups.
    Right and wrong:

    ```mlir
    !grit.array<8x64x#grit.grade<mxfp4>>             // two groups a row
    // !grit.array<8x33x#grit.grade<mxfp4>>          // 33 is not a multiple of 32
    // !grit.array<64x8x#grit.grade<mxfp4>, axis = 0>
    //   a grade counts groups along the row-major index, so a group axis with a
    //   later extent above 1 would mean two things at once
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::grit::ir::ContractAttrInterface":$contract,
    "int64_t":$axis,
    "uint64_t":$dataPlacement, "uint64_t":$scalePlacement,
    "uint64_t":$metaPlacement, "uint8_t":$assumedRoles);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
      "::grit::ir::ContractAttrInterface":$contract,
      CArg<"int64_t", "-1">:$axis)>,
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ArrayType get(::mlir::MLIRContext *context,
                         ::llvm::ArrayRef<int64_t> shape,
                         ContractAttrInterface contract, int64_t axis,
                         ::grit::Placements placements,
                         ::grit::Assumptions assumed = {});
    /// The type, or null after a diagnostic that says why there is none.
    static ArrayType
    tryGet(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
           ::llvm::ArrayRef<int64_t> shape, ContractAttrInterface contract,
           int64_t axis, ::grit::Placements placements,
           ::grit::Assumptions assumed);

    int64_t getRank() const { return getShape().size(); }
    bool hasStaticShape() const;
    unsigned getNumDynamicDims() const;
    ::grit::Placements getPlacements() const;
    /// True when every placement is the contract's canonical one.
    bool hasCanonicalPlacements() const;
    /// Whose placements were assumed and are not verified.
    ::grit::Assumptions getAssumed() const;
    /// The same type with one part changed.
    ArrayType withPlacements(::grit::Placements placements) const;
    ArrayType withAssumed(::grit::Assumptions assumed) const;
    ArrayType withShape(::llvm::ArrayRef<int64_t> shape) const;

    /// The array in the format library's terms; the shape must be static.
    ::grit::ArraySpec getSpec() const;
    /// The same with `shape` in place of the type's own.
    ::grit::ArraySpec getSpec(::llvm::ArrayRef<int64_t> shape) const;
    /// The plane types, `tensor<Bxi8>` in stored order; B is dynamic when the
    /// shape is, save for planes of constant size.
    ::llvm::SmallVector<::mlir::RankedTensorType> getPlaneTypes() const;
  }];
}

#endif // GRIT_DIALECT_GRIT_IR_GRITTYPES_TD
