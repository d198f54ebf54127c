//===- GritKernel.td - what kernels do to lanes -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRITKERNEL_GRITKERNEL_TD
#define GRIT_DIALECT_GRITKERNEL_GRITKERNEL_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def GritKernel_Dialect : Dialect {
  let name = "grit_kernel";
  let cppNamespace = "::grit::kernel";
  let summary = "the three lane operations that kernels are made of";
  let description = [{
    Kernels are written once, for all formats and all targets, out of upstream
    `vector` operations and three of this dialect: `unpack` takes codes out of
    bytes, `lookup` turns codes into levels, `dot` multiplies and accumulates.
    A target lowers them with its own instructions; a portable lowering exists
    for each (`grit-kernel-to-vector`).
  }];
}

class GritKernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<GritKernel_Dialect, mnemonic, traits # [Pure]>;

def GritKernel_UnpackOp : GritKernel_Op<"unpack"> {
  let summary = "one code per lane out of a run of bytes";
  let description = [{
    Lane i of the result holds the `width` bits (1 to 8) of `bytes` that start at
    bit `offsets[i]`, zero-extended. Bit b of the bytes is bit b % 8 of byte b / 8.

    ```mlir
    // Nibbles, low one first.
    %c = grit_kernel.unpack %bytes offsets = [0, 4, 8, 12] width = 4
         : vector<2xi8> -> vector<4xi8>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$bytes,
                       DenseI32ArrayAttr:$offsets,
                       ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<8>]>:$width);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$codes);
  let assemblyFormat = [{
    $bytes `offsets` `=` $offsets `width` `=` $width attr-dict `:` type($bytes)
    `->` type($codes)
  }];
  let hasVerifier = 1;
}

def GritKernel_LookupOp : GritKernel_Op<"lookup"> {
  let summary = "table[code] in every lane";
  let description = [{
    The table has a power of two entries and every code is below it.

    ```mlir
    %e = grit_kernel.lookup %codes table = dense<[0.0, 0.5, 1.0, 1.5]> : tensor<4xf32>
         : vector<16xi8> -> vector<16xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$codes,
                       ElementsAttr:$table);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$levels);
  let assemblyFormat = [{
    $codes `table` `=` $table attr-dict `:` type($codes) `->` type($levels)
  }];
  let hasVerifier = 1;
}

def GritKernel_DotOp : GritKernel_Op<"dot", [
    AllTypesMatch<["lhs", "rhs"]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "multiply and accumulate runs of lanes";
  let description = [{
    With g = lanes(lhs) / lanes(acc), lane j of the result is `acc[j]` plus the
    products of lanes g*j to g*j + g - 1. Binary32 lanes have g = 1; narrower
    lanes (bf16, i8) may have more, which is what dot-product instructions offer.
    With `fused` the product and the sum may be rounded once.

    ```mlir
    %r = grit_kernel.dot %a, %b, %acc fused : vector<16xf32>, vector<16xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32, BF16, I8]>:$lhs,
                       VectorOfRankAndType<[1], [F32, BF16, I8]>:$rhs,
                       VectorOfRankAndType<[1], [F32, I32]>:$acc,
                       UnitAttr:$fused);
  let results = (outs VectorOfRankAndType<[1], [F32, I32]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`fused` $fused^)? attr-dict `:` type($lhs) `,`
    type($acc)
  }];
  let hasVerifier = 1;
}

#endif // GRIT_DIALECT_GRITKERNEL_GRITKERNEL_TD
