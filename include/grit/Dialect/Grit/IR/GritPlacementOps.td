//===- GritPlacementOps.td - placements and boundaries -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITPLACEMENTOPS_TD
#define GRIT_DIALECT_GRIT_IR_GRITPLACEMENTOPS_TD

include "grit/Dialect/Grit/IR/GritTypes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Grit_RelayoutOp : Grit_Op<"relayout", [Pure]> {
  let summary = "moves the values of an array to other placements";
  let description = [{
    Permutes bytes so that the result lies as its type says; the values stay the
    same (laws L1 and L2). There is no way out of an opaque or an unspecified
    placement, nor between two layout expressions whose texts are not known
    (L3, P17). What was assumed of the operand is assumed of the result.

    ```mlir
    %b = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>>
         -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array attr-dict `:` qualified(type($array)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Grit_AssumePlacementOp : Grit_Op<"assume_placement", [Pure]> {
  let summary = "states where bytes lie, unproved";
  let description = [{
    The audited way around the laws (GRIT v1, section 12): the bytes of `array`
    are said to lie as the result type says. No byte is read or moved. `reason`
    is mandatory and not blank. The kinds of planes whose placement changes are
    marked `assumed` in the result type, and stay so until
    `grit.verify_placement`.

    ```mlir
    %b = grit.assume_placement %a "the exporter writes tiles, see its manual"
         : !grit.array<128x64x#grit.grade<nvf4>, scale = unspecified>
         -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array, StrAttr:$reason);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array $reason attr-dict `:` qualified(type($array)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Grit_VerifyPlacementOp : Grit_Op<"verify_placement"> {
  let summary = "proves an assumed placement by reading the bytes";
  let description = [{
    Compares the planes of `array`, read as its type says, with those of
    `reference`: an array of the same contract and shape whose placements nobody
    assumed. Where a value differs, the program stops (DigestMismatch).
    The result is the array without the marks of the planes that were compared:
    those that are `assumed` in the operand type and not in the result type.

    ```mlir
    %b = grit.verify_placement %a against %reference
         : !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>,
           !grit.array<128x64x#grit.grade<nvf4>>
         -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array, Grit_ArrayType:$reference);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array `against` $reference attr-dict `:` qualified(type($array)) `,`
    qualified(type($reference)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The planes that are compared: what the result no longer assumes.
    ::grit::Assumptions getVerified();
  }];
}

def Grit_ReinterpretOp : Grit_Op<"reinterpret", [Pure]> {
  let summary = "reads the bytes of an array under another contract";
  let description = [{
    Allowed between contracts that a chain of supersedes edges connects, in the
    scope of decode (GRIT v1, section 11): they differ in how encode chooses
    codes, so every stored byte means the same under both. Shape, axis and
    placements stay; no byte is read or moved. To change what bytes mean, use
    `grit.requantize`.

    ```mlir
    %b = grit.reinterpret %a : !grit.array<4x32x#grit.grade<mxfp4_rne>>
         -> !grit.array<4x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array attr-dict `:` qualified(type($array)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Grit_CheckOp : Grit_Op<"check", [AllTypesMatch<["array", "result"]>]> {
  let summary = "the boundary check, at run time";
  let description = [{
    Runs the part of grit_check that the type has not already proved: at level
    1 the size equations of an array with dynamic extents, or of one bundled from
    planes of unknown size; at level 2 also that the indices of a sparse array
    rise in every run. A failure stops the program with a message that names the
    operand, the plane and the equation. Level 0 checks nothing. The result is
    the array.

    ```mlir
    %b = grit.check %a level 1 : !grit.array<?x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array,
                       ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<2>]>:$level);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = "$array `level` $level attr-dict `:` qualified(type($array))";
  let hasCanonicalizer = 1;
}

#endif // GRIT_DIALECT_GRIT_IR_GRITPLACEMENTOPS_TD
