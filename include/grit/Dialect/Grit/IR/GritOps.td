//===- GritOps.td - operations on quantized arrays -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_IR_GRITOPS_TD
#define GRIT_DIALECT_GRIT_IR_GRITOPS_TD

include "grit/Dialect/Grit/IR/GritPlacementOps.td"
include "grit/Dialect/Grit/IR/GritShapeOps.td"
include "grit/Dialect/Grit/IR/GritTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

class Grit_DpsOp<string mnemonic, list<Trait> traits = []>
    : Grit_Op<mnemonic, traits # [Pure, DestinationStyleOpInterface,
        AllTypesMatch<["init", "result"]>]> {
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
}

def Grit_PlaneTensor : 1DTensorOf<[I8]>;

//===----------------------------------------------------------------------===//
// Arrays and their planes
//===----------------------------------------------------------------------===//

def Grit_ConstantOp : Grit_Op<"constant", [Pure]> {
  let summary = "an array whose bytes are known";
  let description = [{
    One elements attribute per plane, in stored order; `dense_resource` keeps
    big planes out of the printed text. Sizes must satisfy the size equations of
    the contract, plane by plane.

    ```mlir
    %w = grit.constant [dense<"0x20426476A8CAECFE0000000000000000"> : tensor<16xi8>,
                        dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins ArrayAttr:$planes);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = "$planes attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Grit_BundleOp : Grit_Op<"bundle", [Pure, AttrSizedOperandSegments]> {
  let summary = "states what byte planes mean";
  let description = [{
    Makes an array out of its planes, in stored order (four at most for a grade:
    data, scale0, scale1, aux, the absent ones left out; one for an array of
    structures; two for NF4). A dynamic extent is given in `sizes`, in order.
    No byte is read or moved. Static plane sizes must satisfy the size equations.

    ```mlir
    %a = grit.bundle %data, %scale : tensor<64xi8>, tensor<4xi8>
         -> !grit.array<4x32x#grit.grade<mxfp4>>
    %b = grit.bundle %d, %s sizes [%n] : tensor<?xi8>, tensor<?xi8>
         -> !grit.array<?x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Variadic<Grit_PlaneTensor>:$planes,
                       Variadic<Index>:$sizes);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $planes (`sizes` `[` $sizes^ `]`)? attr-dict `:` type($planes) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Grit_PlanesOp : Grit_Op<"planes", [Pure]> {
  let summary = "the byte planes of an array";
  let description = [{
    The inverse of `grit.bundle`: each plane as a rank-1 byte tensor, in stored
    order.

    ```mlir
    %data, %scale = grit.planes %a : !grit.array<4x32x#grit.grade<mxfp4>>
                    -> tensor<64xi8>, tensor<4xi8>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array);
  let results = (outs Variadic<Grit_PlaneTensor>:$planes);
  let assemblyFormat = [{
    $array attr-dict `:` qualified(type($array)) `->` type($planes)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$array)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Grit_DimOp : Grit_Op<"dim", [Pure]> {
  let summary = "an extent of an array";
  let description = [{
    The extent of dimension `dim`, as `tensor.dim` gives it for a tensor. Folds
    when the extent is static.

    ```mlir
    %n = grit.dim %a, 0 : !grit.array<?x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `,` $dim attr-dict `:` qualified(type($array))";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

def Grit_DecodeOp : Grit_DpsOp<"decode"> {
  let summary = "the values of an array";
  let description = [{
    Writes every value of `array` into the destination, bit for bit as the
    contract says (GRIT v1, section 8): `S = s1 * s0`, `S * e`, then the offset,
    each step rounded to binary32; masked positions are +0.0; every NaN is
    0x7FC00000. A destination of bf16 or f16 receives that result rounded once
    more (nearest, ties to even).

    ```mlir
    %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>)
                     outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array,
                       TensorOf<[F32, BF16, F16]>:$init);
  let results = (outs TensorOf<[F32, BF16, F16]>:$result);
  let assemblyFormat = [{
    attr-dict `ins` `(` $array `:` qualified(type($array)) `)`
    `outs` `(` $init `:` type($init) `)` `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Grit_EncodeOp : Grit_Op<"encode", [Pure]> {
  let summary = "quantizes a tensor under a contract";
  let description = [{
    Chooses codes and scales by the contract's own rule (GRIT v1, sections 9 and
    10), bit for bit. Contracts whose rule searches are refused where no kernel
    offers the search.

    ```mlir
    %a = grit.encode %x : tensor<4x32xf32> -> !grit.array<4x32x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins TensorOf<[F32]>:$input);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Grit_RequantizeOp : Grit_Op<"requantize", [Pure]> {
  let summary = "the values of an array under another contract";
  let description = [{
    `grit.encode` of the binary32 values of `grit.decode`: the only way from one
    contract to another that changes bytes, and from one group axis to another.
    Rounds as the contract of the result says, also where both contracts are the
    same.

    ```mlir
    %b = grit.requantize %a : !grit.array<4x256x#grit.format<gguf.q8_0>>
         -> !grit.array<4x256x#grit.grade<mxfp4>>
    ```
  }];
  let arguments = (ins Grit_ArrayType:$array);
  let results = (outs Grit_ArrayType:$result);
  let assemblyFormat = [{
    $array attr-dict `:` qualified(type($array)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Grit_MatmulOp : Grit_DpsOp<"matmul"> {
  let summary = "activations times a transposed quantized weight";
  let description = [{
    For activations `x` of shape [..., M, K], a weight array `w` of shape [N, K]
    and a destination `y` of shape [..., M, N]:

    ```
    y[..., m, n] += sum over k of x[..., m, k] * decode(w)[n, k]
    ```

    in binary32 under the accumulation contract `accum`; without one, under that
    of the weight's grade, which is "any order" unless its keys 19 to 23 say
    otherwise. The sums that come out carry the join of both (G23); where there
    is none, the operation is refused.
    Activations may be f32, bf16 or f16 and are widened exactly; the destination
    may be any of them and is rounded once at the end. The group axis of `w`
    must be its last one, the contraction.

    ```mlir
    %r = grit.matmul ins(%x, %w : tensor<?x384xf32>, !grit.array<1536x384x#grit.grade<mxfp4>>)
                     outs(%y : tensor<?x1536xf32>) accum = #grit.accum<ao = seq>
                     -> tensor<?x1536xf32>
    ```
  }];
  let arguments = (ins TensorOf<[F32, BF16, F16]>:$input,
                       Grit_ArrayType:$weight,
                       TensorOf<[F32, BF16, F16]>:$init,
                       OptionalAttr<Grit_AccumAttr>:$accum);
  let results = (outs TensorOf<[F32, BF16, F16]>:$result);
  let assemblyFormat = [{
    attr-dict `ins` `(` $input `,` $weight `:` type($input) `,`
    qualified(type($weight)) `)`
    `outs` `(` $init `:` type($init) `)` (`accum` `=` $accum^)? `->`
    type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    /// The accumulation contract that a kernel must keep: the one asked for, or
    /// that of the weight.
    AccumAttr getRequestedAccum();
    /// What the sums carry: the join of the request and the weight's contract.
    AccumAttr getResultAccum();
  }];
}

#endif // GRIT_DIALECT_GRIT_IR_GRITOPS_TD
