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
    of `cf`. `grit.bundle`, `grit.planes` and `grit.dim` vanish, and so do
    `grit.assume_placement` and `grit.reinterpret`, which touch no byte;
    `grit.constant` becomes one `arith.constant` per plane. The argument attributes of a function
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
    This pass puts a `grit.relayout` in front of every `grit.decode`,
    `grit.matmul`, `grit.slice`, `grit.transpose` and `grit.concat` whose array
    lies elsewhere, and behind every one of them and every `grit.encode` whose
    result does. One relayout serves all readers of an array. A placement
    without a map (unspecified, opaque, a hash without a text) is refused by
    name.

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

def ExpandRequantize : Pass<"grit-expand-requantize", "::mlir::ModuleOp"> {
  let summary = "write requantize as decode and encode";
  let description = [{
    ```mlir
    %b = grit.requantize %a : !grit.array<4x32x#grit.grade<mxfp4>>
         -> !grit.array<4x32x#grit.format<gguf.q8_0>>
    ```

    becomes

    ```mlir
    %e = tensor.empty() : tensor<4x32xf32>
    %v = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>)
                     outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
    %b = grit.encode %v : tensor<4x32xf32>
         -> !grit.array<4x32x#grit.format<gguf.q8_0>>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def InsertChecks : Pass<"grit-insert-checks", "::mlir::ModuleOp"> {
  let summary = "check arrays where they come into the module";
  let description = [{
    Puts a `grit.check` of the given level on every array that a public function
    takes, in front of all uses. At level 0 nothing is inserted. Law L9: a higher
    level changes nothing but this: a run that would have gone wrong ends in a
    diagnostic. What the types prove already is erased by canonicalization.

    ```mlir
    // grit-opt --grit-insert-checks=level=1
    func.func @f(%a: !grit.array<?x32x#grit.grade<mxfp4>>, %y: tensor<?x32xf32>)
        -> tensor<?x32xf32> {
      %r = grit.decode ins(%a : ...) outs(%y : ...) -> tensor<?x32xf32>
      return %r : tensor<?x32xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%a: ..., %y: ...) -> tensor<?x32xf32> {
      %checked = grit.check %a level 1 : !grit.array<?x32x#grit.grade<mxfp4>>
      %r = grit.decode ins(%checked : ...) outs(%y : ...) -> tensor<?x32xf32>
      return %r : tensor<?x32xf32>
    }
    ```
  }];
  let options = [Option<"level", "level", "int64_t", /*default=*/"1",
                        "The level of the checks: 0 (none), 1 (sizes) or 2 "
                        "(sizes and the order of sparse indices)">];
}

def LowerCheck : Pass<"grit-lower-check", "::mlir::ModuleOp"> {
  let summary = "turn boundary checks into comparisons and assertions";
  let description = [{
    Lowers `grit.check` and `grit.verify_placement`. At level 1 and above every plane of unknown size is
    compared with the size equation of the contract, and dynamic extents with
    the groups they must hold; products are checked for overflow. At level 2 the
    indices of a sparse array must also rise in every run and stay below M. Each
    comparison ends in a `cf.assert` whose message names the operand, the plane
    and the equation. A `grit.verify_placement` moves the planes that were
    assumed to where those of the reference lie and compares all bytes.

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
    Lowers `grit.relayout`: each plane whose placement changes is gathered by a
    `linalg.generic` whose addresses are the one map that leads from the old
    placement to the new one: digits, XOR swizzles and tables. Values that the
    map keeps together move as runs of bytes; values narrower than a byte that it
    does not are moved as bits. Planes that stay where they are are passed on. A
    dynamic number of rows is handled where the map does not depend on it; a
    number of rows that the tiles do not divide stops the program.

    ```mlir
    %b = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>>
         -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
    ```

    becomes

    ```mlir
    %p:3 = grit.planes %a : !grit.array<128x64x#grit.grade<nvf4>> -> ...
    %e = tensor.empty() : tensor<128x4xi8>
    %s = linalg.generic {...} outs(%e : tensor<128x4xi8>) {
      %run = linalg.index 0 : index
      %byte = linalg.index 1 : index
      %first = ... run / 4 * 4 + run % 4 * 128 ...
      %source = arith.addi %first, %byte : index
      %moved = tensor.extract %p#1[%source] : tensor<512xi8>
      linalg.yield %moved : i8
    } -> tensor<128x4xi8>
    %c = tensor.collapse_shape %s [[0, 1]] : tensor<128x4xi8> into tensor<512xi8>
    %b = grit.bundle %p#0, %c, %p#2 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerShapes : Pass<"grit-lower-shapes", "::mlir::ModuleOp"> {
  let summary = "turn slices, transposes and concatenations into those of planes";
  let description = [{
    Lowers `grit.slice`, `grit.transpose` and `grit.concat` of arrays in canonical
    placements. Each plane is seen as a tensor over the dimensions of the array,
    of which the last ones, as far as they hold whole units of the plane, are one:
    a number of bytes, or of parts of bytes where units are smaller. The operation
    is then `tensor.extract_slice`, `linalg.transpose` or `tensor.insert_slice`.
    A slice of leading rows moves nothing. What types do not prove (a dynamic
    offset, whole groups in a dynamic row) is asserted.

    ```mlir
    %b = grit.slice %a [2, 0] [4, 64]
         : !grit.array<8x64x#grit.grade<mxfp4>> -> !grit.array<4x64x#grit.grade<mxfp4>>
    ```

    becomes

    ```mlir
    %p:2 = grit.planes %a : ... -> tensor<256xi8>, tensor<16xi8>
    %data = tensor.extract_slice %p#0[64] [128] [1] : tensor<256xi8> to tensor<128xi8>
    %scale = tensor.extract_slice %p#1[4] [8] [1] : tensor<16xi8> to tensor<8xi8>
    %b = grit.bundle %data, %scale : ...
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
    | `kernels` | no grit.encode, grit.relayout, grit.check or grit.requantize; every array that is decoded or multiplied lies in the canonical placements of its contract |
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
