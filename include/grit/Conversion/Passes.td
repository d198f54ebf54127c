//===- Passes.td - conversions out of the grit dialects -*- tablegen -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONVERSION_PASSES_TD
#define GRIT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachCpuTarget : Pass<"grit-attach-cpu-target"> {
  let summary = "tell LLVM which processor its functions run on";
  let description = [{
    Marks every `llvm.func` with the processor and its features, and with the
    width of the vectors that kernels were written for: some processors prefer
    narrower ones, and LLVM would then split what KernelGen emitted.

    ```mlir
    // before
    llvm.func @f()
    // after
    llvm.func @f() attributes {passthrough = [["min-legal-vector-width", "512"],
      ["prefer-vector-width", "512"]], target_cpu = "sapphirerapids", ...}
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", /*default=*/"\"\"",
           "processor as LLVM names it">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "target features as LLVM writes them">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"128",
           "width in bits of the vectors in use">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def GritKernelToVector : Pass<"grit-kernel-to-vector"> {
  let summary = "lower lane operations to upstream vector operations";
  let description = [{
    The portable lowering of `grit_kernel`: shifts, masks and shuffles for
    `unpack`, a tree of selects for `lookup`, a multiply and an add for `dot`.

    ```mlir
    // before
    %c = grit_kernel.unpack %b offsets = [0, 4] width = 4 : vector<2xi8> -> vector<2xi8>
    // after
    %low = arith.andi %b, %fifteen : vector<2xi8>
    %high = arith.shrui %b, %four : vector<2xi8>
    %c = vector.shuffle %low, %high [0, 2] : vector<2xi8>, vector<2xi8>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def GritKernelToX86 : Pass<"grit-kernel-to-x86"> {
  let summary = "lower lane operations to x86 instructions";
  let description = [{
    Lowers what x86 has an instruction for: a lookup in at most 16 levels is one
    register permute with AVX-512 and two with AVX2. What is left goes through
    `grit-kernel-to-vector`.

    ```mlir
    // before
    %e = grit_kernel.lookup %c table = dense<...> : tensor<16xf32>
         : vector<16xi8> -> vector<16xf32>
    // after
    %i = arith.extui %c : vector<16xi8> to vector<16xi32>
    %e = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%table, %i)
         : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
    ```
  }];
  let options = [
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "target features as LLVM writes them, e.g. +avx2,+avx512f">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def GritToLinalg : Pass<"grit-convert-to-linalg"> {
  let summary = "lower operations on arrays to linalg on builtin types";
  let description = [{
    The transparent route: bit-exact, target neutral, readable by any compiler
    that knows linalg. `decode` becomes a `linalg.generic` of integer arithmetic
    on the planes, `matmul` a decode and a contraction.

    ```mlir
    // before
    %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>)
                     outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
    // after
    %p:2 = grit.planes %a : ... -> tensor<64xi8>, tensor<4xi8>
    %r = linalg.generic {...} outs(%init : tensor<4x32xf32>) {
      %i = linalg.index 0 : index
      ...
      %byte = tensor.extract %p#0[%address] : tensor<64xi8>
    ```

    Arrays must have canonical placements (`grit-legalize-placements`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GritToVector : Pass<"grit-convert-to-vector"> {
  let summary = "lower operations on arrays to tiled vector kernels";
  let description = [{
    Writes each kernel once, for every format: a parallel loop over tiles around
    runs of lanes that KernelGen emits from the format description. What asks
    for an order of additions that lanes cannot keep falls back to the linalg
    route.

    ```mlir
    // before
    %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>)
                     outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
    // after
    %r = scf.forall (%t) in (%tiles) shared_outs(%o = %flat) -> (tensor<128xf32>) {
      ...
      %bytes = vector.transfer_read %data[%at], ... : tensor<64xi8>, vector<16xi8>
      %codes = grit_kernel.unpack %bytes ...
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "binary32 lanes of a vector register">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::grit::kernel::GritKernelDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // GRIT_CONVERSION_PASSES_TD
