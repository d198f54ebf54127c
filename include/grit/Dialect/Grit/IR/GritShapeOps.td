//===- GritShapeOps.td - parts and arrangements of arrays -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITSHAPEOPS_TD
#define GRIT_DIALECT_GRIT_IR_GRITSHAPEOPS_TD

include "grit/Dialect/Grit/IR/GritTypes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Grit_SliceOp : Grit_Op<"slice", [Pure, AttrSizedOperandSegments]> {
  let summary = "a part of an array, in whole groups";
  let description = [{
    The elements from `offsets` on, `sizes` of them in every dimension, under the
    same contract. Law L5: no group is cut. Along the group axis, offset and size
    must be multiples of the group (of M and of the outer group where the
    contract has them); what is static is verified, a dynamic offset or size is
    checked at run time. There is no slice of a part of a group: decode, or
    requantize. A contract with one scale for the whole array keeps it.

    A slice of leading rows in canonical placements is a view; no byte moves.

    ```mlir
    %b = grit.slice %a [0, 32] [4, %n]
         : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<4x?x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array,
                       Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_offsets,
                       DenseI64ArrayAttr:$static_sizes);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes) attr-dict `:`
    qualified(type($array)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets() {
      ::mlir::Builder b(getContext());
      return ::mlir::getMixedValues(getStaticOffsets(), getOffsets(), b);
    }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSizes() {
      ::mlir::Builder b(getContext());
      return ::mlir::getMixedValues(getStaticSizes(), getSizes(), b);
    }
  }];
}

def Grit_TransposeOp : Grit_Op<"transpose", [Pure]> {
  let summary = "an array with its dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand. Law
    L4: every group must stay whole and in order, so the group axis keeps its
    neighbours; a transpose that would change groups is refused, and is only
    available as `grit.encode` of the transpose of the decoded values.

    ```mlir
    %b = grit.transpose %a [1, 0, 2]
         : !grit.array<8x16x32x#grit.grade<mxfp4>> -> !grit.array<16x8x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array, DenseI64ArrayAttr:$permutation);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array $permutation attr-dict `:` qualified(type($array)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Grit_ConcatOp : Grit_Op<"concat", [Pure]> {
  let summary = "arrays one behind the other, in whole groups";
  let description = [{
    The arrays must have one contract and agree in every extent but that of
    `dim`. No group may span two of them (law L5). A contract with one scale for
    the whole array has no concat: the arrays' scales would have to be equal,
    which no type says; requantize. The result keeps the placements of the
    operands, as it does for slice and transpose; where one has no map over the
    result, the operation is refused.

    ```mlir
    %c = grit.concat dim 0 %a, %b
         : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<?x32x#grit.grade<mxfp4>>
         -> !grit.array<?x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Variadic<Grit_ArrayType>:$arrays, I64Attr:$dim);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    `dim` $dim $arrays attr-dict `:` qualified(type($arrays)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // GRIT_DIALECT_GRIT_IR_GRITSHAPEOPS_TD
