//===- Passes.td - passes inside the grit dialect -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_TD
#define GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandArrays : Pass<"grit-expand-arrays", "::mlir::ModuleOp"> {
  let summary = "replace arrays by their byte planes";
  let description = [{
    Replaces every value of type `!grit.array` by its planes, in stored order,
    and one `index` for every dynamic extent, in order: in functions, calls,
    `scf.if`, `scf.for`, `scf.while`, `scf.index_switch` and the block arguments
    of `cf`. `grit.bundle`, `grit.planes` and `grit.dim` vanish, `grit.constant`
    becomes one `arith.constant` per plane. The argument attributes of a function
    go to every value that the argument becomes.

    No grit type and no grit operation remains. Operations that read or make the
    values of arrays must have been lowered before; what is left is an error that
    names it.

    ```mlir
    func.func @f(%a: !grit.array<?x32x#grit.grade<mxfp4>>) -> tensor<?xi8> {
      %data, %scale = grit.planes %a : !grit.array<?x32x#grit.grade<mxfp4>>
                      -> tensor<?xi8>, tensor<?xi8>
      return %scale : tensor<?xi8>
    }
    ```

    becomes

    ```mlir
    func.func @f(%data: tensor<?xi8>, %scale: tensor<?xi8>, %n: index)
        -> tensor<?xi8> {
      return %scale : tensor<?xi8>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LegalizePlacements
    : Pass<"grit-legalize-placements", "::mlir::ModuleOp"> {
  let summary = "bring arrays to the placements that kernels read";
  let description = [{
    Kernels read and write arrays in the canonical placements of their contract.
    This pass puts a `grit.relayout` in front of every `grit.decode` and
    `grit.matmul` whose array lies elsewhere, and behind every `grit.encode`
    whose result does. One relayout serves all readers of an array. A placement
    without a map (unspecified, opaque, a hash) is refused by name.

    ```mlir
    %r = grit.decode ins(%a : !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>)
                     outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
    ```

    becomes

    ```mlir
    %c = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
         -> !grit.array<128x64x#grit.grade<nvf4>>
    %r = grit.decode ins(%c : !grit.array<128x64x#grit.grade<nvf4>>)
                     outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
    ```
  }];
}

def LowerCheck : Pass<"grit-lower-check", "::mlir::ModuleOp"> {
  let summary = "turn boundary checks into comparisons and assertions";
  let description = [{
    Lowers `grit.check`. At level 1 and above every plane of unknown size is
    compared with the size equation of the contract, and dynamic extents with
    the groups they must hold; products are checked for overflow. At level 2 the
    indices of a sparse array must also rise in every run and stay below M. Each
    comparison ends in a `cf.assert` whose message names the operand, the plane
    and the equation.

    ```mlir
    %b = grit.check %a level 1 : !grit.array<?x32x#grit.grade<mxfp4>>
    ```

    becomes (one plane shown)

    ```mlir
    %data, %scale = grit.planes %a : ...
    %n = grit.dim %a, 0 : ...
    %bytes = tensor.dim %scale, %c0 : tensor<?xi8>
    %required = ... n * 32 / 32 * 8 bits, rounded up to bytes ...
    %same = arith.cmpi eq, %bytes64, %required : i64
    cf.assert %same, "SizeMismatch: argument 0 of @f: plane scale0 must have ..."
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerRelayout : Pass<"grit-lower-relayout", "::mlir::ModuleOp"> {
  let summary = "turn relayouts into permutations of bytes";
  let description = [{
    Lowers `grit.relayout`: each plane whose placement changes is gathered, byte
    by byte, by a `linalg.generic` whose addresses are the composition of the
    two placement maps. Values narrower than a byte are moved as bits. Planes
    that stay where they are are passed on. A dynamic number of rows is handled
    where the maps do not depend on it; a number of rows that the tiles do not
    divide stops the program.

    ```mlir
    %b = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>>
         -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
    ```

    becomes

    ```mlir
    %p:3 = grit.planes %a : !grit.array<128x64x#grit.grade<nvf4>> -> ...
    %e = tensor.empty() : tensor<512xi8>
    %s = linalg.generic {...} outs(%e : tensor<512xi8>) {
      %slot = linalg.index 0 : index
      %source = ... slot floordiv 4 mod 4 * 128 + ...
      %byte = tensor.extract %p#1[%source] : tensor<512xi8>
      linalg.yield %byte : i8
    } -> tensor<512xi8>
    %b = grit.bundle %p#0, %s, %p#2 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VerifyStage : Pass<"grit-verify-stage"> {
  let summary = "check which operations and types a stage leaves";
  let description = [{
    Fails when the IR holds what the named stage should have removed, so that
    the user hears of it in the words of the stage and not from a later
    conversion. Changes nothing.

    | stage | what remains |
    |---|---|
    | `contracts` | anything |
    | `kernels` | no grit.encode, grit.relayout or grit.check; every array that is decoded or multiplied lies in the canonical placements of its contract |
    | `planes` | no grit operation or type: tensors and structured operations |
    | `lanes` | vectors, buffers and loops: no tensor and no structured operation |
    | `llvm` | operations and types of the LLVM family (llvm, nvvm, omp, gpu modules) |

    ```mlir
    // RUN: grit-opt --grit-verify-stage=after=planes
    // error: 'grit.decode' op may not remain after stage 'planes'
    ```
  }];
  let options = [Option<"after", "after", "std::string", /*default=*/"\"\"",
                        "The stage that has just run: contracts, kernels, "
                        "planes, lanes or llvm">];
}

#endif // GRIT_DIALECT_GRIT_TRANSFORMS_PASSES_TD
