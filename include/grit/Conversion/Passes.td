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

def AssertToLLVM : Pass<"grit-convert-assert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "say what failed, then stop";
  let description = [{
    Upstream prints the message of a `cf.assert` to standard output, which is
    buffered, and then ends the program, which does not flush it: in a pipe the
    message is lost. Here it is written to the file descriptor of standard error,
    or, with `handler`, given to `grit_report_message` of libgrit together with
    the status that it begins with and the place of the operation in its source:
    the program's own failure handler hears of it before anything else happens.
    A function that C calls (`grit.interface`) then returns the status that the
    message begins with, and leaves what it had allocated; any other function, and
    an assertion inside a parallel region, ends the program.

    ```mlir
    // before
    cf.assert %ok, "SizeMismatch: ..."
    // after
    cf.cond_br %ok, ^after, ^failed
    ^failed:
      %message = llvm.mlir.addressof @assert_message : !llvm.ptr
      llvm.call @write(%two, %message, %length) : (i32, !llvm.ptr, i64) -> i64
      llvm.call @abort() : () -> ()
      llvm.unreachable
    ```
  }];
  let options = [Option<"handler", "handler", "bool", /*default=*/"false",
                        "Report to grit_report_message, which the program must "
                        "link, instead of standard error">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

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

def AttachGpuTarget : Pass<"grit-attach-gpu-target", "::mlir::ModuleOp"> {
  let summary = "choose the chip of device modules, or refuse it";
  let description = [{
    Attaches an NVVM target to every `gpu.module`, and refuses a chip that LLVM
    does not know or that lacks what kernels use. Upstream then verifies the
    operations of the module against the chip.

    ```mlir
    // before
    gpu.module @grit_kernels {
    // after
    gpu.module @grit_kernels [#nvvm.target<O = 3, chip = "sm_90a">] {
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "chip as LLVM names it, sm_80 or later">,
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def CopyToLinalg : Pass<"grit-convert-copy-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "copy between strided buffers by loops, not by a library";
  let description = [{
    LLVM's lowering of `memref.copy` calls a function of MLIR's runtime library
    when a buffer is not contiguous. Compiled kernels need no such library: these
    copies become `linalg.generic`, which turns into loops. Contiguous copies stay,
    and become `memcpy`.

    ```mlir
    // before
    memref.copy %a, %b : memref<4x?xf32, strided<[64, 1]>> to memref<4x?xf32>
    // after
    linalg.generic {...} ins(%a : ...) outs(%b : ...) { linalg.yield %in : f32 }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def EmitCInterface : Pass<"grit-emit-c-interface", "::mlir::ModuleOp"> {
  let summary = "write the functions that C calls";
  let description = [{
    For every function with a recorded interface (`grit-record-interface`),
    writes a function of the same name over `grit_array_view_t` and
    `grit_tensor_view_t` (grit-c/grit.h). It checks each operand and the extents
    they share, in order; a failure goes to `grit_report_failure` and its status
    is returned. Then it calls the function itself, which becomes internal. No
    plane and no tensor is read before every check has passed. The tables of
    what is expected are constants of the module.

    ```mlir
    // before
    llvm.func @f(%data: !llvm.ptr, ..., %size: i64, %stride: i64)
        attributes {grit.interface = {...}, sym_visibility = "private"}
    // after
    llvm.func @f(%a: !llvm.ptr) -> i32 {
      %s = llvm.call @grit_check_expected(%a, %expected, %level, %detail)
      llvm.cond_br %ok, ^call, ^failed(%s : i32)
      ...
      llvm.call @f_impl(%data, ..., %size, %one)
    ```
  }];
  let options = [
    Option<"checkLevel", "check-level", "int64_t", /*default=*/"1",
           "0 omits the checks, 1 reads descriptors, shapes and sizes, 2 also "
           "the planes of sparse arrays">,
    Option<"packed", "packed", "bool", /*default=*/"false",
           "also write grit_packed_NAME, which takes an array of addresses, one "
           "for each parameter">,
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
  let options = [
    Option<"fma", "fma", "bool", /*default=*/"true",
           "the target has fused multiply-adds, for a `dot` that may be fused">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def GritKernelToX86 : Pass<"grit-kernel-to-x86"> {
  let summary = "lower lane operations to x86 instructions";
  let description = [{
    Lowers what x86 has an instruction for: a lookup in at most 16 levels is one
    register permute with AVX-512 and two with AVX2. What is left goes through
    `grit-kernel-to-vector`. Conversions from and to bf16, and without F16C from
    and to binary16, become integer arithmetic: LLVM would call a function for each
    number, or use an instruction that takes subnormal numbers for zero.

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

def GritToGpu : Pass<"grit-convert-to-gpu", "::mlir::ModuleOp"> {
  let summary = "lower operations on arrays to launches of device kernels";
  let description = [{
    Every `decode` and `matmul` becomes the launch of a `gpu.func` that KernelGen
    writes from the format description: one thread for a run of values or for an
    element of the product. One kernel serves every shape; it takes a pointer to
    each plane and to each tensor, then the extents. Pointers are aligned to 16
    bytes.

    ```mlir
    // before
    %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>)
                     outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
    // after
    gpu.module @grit_kernels {
      gpu.func @decode_mxfp4_f32(%data: memref<i8>, %scale: memref<i8>,
                                 %out: memref<f32>, %elements: index) kernel {
        ...
        %bytes = vector.load %d[%at] : memref<?xi8>, vector<2xi8>
        %codes = grit_kernel.unpack %bytes ...
    ...
    gpu.launch_func @grit_kernels::@decode_mxfp4_f32 blocks in (...) ...
    %r = bufferization.to_tensor %buffer restrict writable : ...
    ```

    Arrays must have canonical placements (`grit-legalize-placements`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::gpu::GPUDialect",
                           "::grit::kernel::GritKernelDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def GritToLinalg : Pass<"grit-convert-to-linalg"> {
  let summary = "lower operations on arrays to linalg on builtin types";
  let description = [{
    The transparent route: bit-exact, target neutral, readable by any compiler
    that knows linalg. `decode` becomes a `linalg.generic` of integer arithmetic
    on the planes, `matmul` a decode and a contraction, `encode` reductions over
    groups and tables of the steps at which codes change. Constants are encoded
    at once; encoders that search for a scale take nothing but constants.

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
                           "::mlir::cf::ControlFlowDialect",
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
                           "::mlir::cf::ControlFlowDialect",
                           "::grit::kernel::GritKernelDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerReshapes : Pass<"grit-lower-reshapes"> {
  let summary = "reshape buffers that have several dynamic extents";
  let description = [{
    Kernels see a tensor as a vector or a matrix and give the result its extents
    back. Upstream's lowering of `memref.expand_shape` knows at most one dynamic
    extent in a group. An expansion that undoes a collapse is the buffer itself;
    any other, of a contiguous buffer, becomes `memref.reinterpret_cast`.

    ```mlir
    // before
    %e = memref.expand_shape %v [[0, 1]] output_shape [%m, %n]
         : memref<?xf32> into memref<?x?xf32>
    // after
    %s = memref.reinterpret_cast %v to offset: [0], sizes: [%m, %n], strides: [%n, 1]
         : memref<?xf32> to memref<?x?xf32, strided<[?, 1]>>
    %e = memref.cast %s : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def OrderSurvivors : Pass<"grit-order-survivors", "::mlir::ModuleOp"> {
  let summary = "put the codes of malformed sparse arrays in place";
  let description = [{
    In a sparse array a repeated index counts once and one beyond M not at all,
    and the codes of all later runs move up. Kernels take the codes of a run
    where its number says, so in front of each one that reads a sparse array
    this pass looks whether every run names N positions. Where all do, as in
    every array of rising indices that passes grit_check at level 2, the array
    stays; else its codes are put in place first. Arrays that encode wrote, that
    a `grit.check` of level 2 saw, and constants that pass one are left alone.

    ```mlir
    // before
    %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<i8s24>>) ...
    // after
    %p:3 = grit.planes %a : ...
    %full = call @sparse_runs_are_full(%p#0, %p#1, %p#2) : (...) -> i1
    %q:3 = scf.if %full -> (...) {
      scf.yield %p#0, %p#1, %p#2 : ...
    } else {
      %o:3 = call @sparse_order_survivors(%p#0, %p#1, %p#2) : (...) -> (...)
      scf.yield %o#0, %o#1, %o#2 : ...
    }
    %b = grit.bundle %q#0, %q#1, %q#2 : ...
    %r = grit.decode ins(%b : !grit.array<4x32x#grit.grade<i8s24>>) ...
    ```

    Arrays must have canonical placements (`grit-legalize-placements`).
  }];
  let options = [Option<"lanes", "lanes", "int64_t", /*default=*/"1",
                        "runs looked at at a time; above 1 in vectors">];
  let dependentDialects = ["::grit::ir::GritDialect",
                           "::grit::kernel::GritKernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def PlaceResults : Pass<"grit-place-results", "::mlir::func::FuncOp"> {
  let summary = "put returned buffers where C wants them";
  let description = [{
    After bufferization, for functions whose interface was recorded: a returned
    buffer that is the argument which `grit.holds` says it goes to is there
    already; any other is copied. The function then returns nothing.

    ```mlir
    // before
    func.func private @f(%x: memref<4xf32>, %y: memref<4xf32> {grit.holds = 0 : i64})
        -> memref<4xf32> {
      return %x : memref<4xf32>
    }
    // after
    func.func private @f(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def RecordInterface : Pass<"grit-record-interface", "::mlir::ModuleOp"> {
  let summary = "record how C will call the public functions";
  let description = [{
    Reads the C signature of every public function while its arrays and tensors
    are still there: contract, shape, axis, placements, element types, and which
    extents the operations require to be equal. Keeps it in the attribute
    `grit.interface`. Names come from `grit.name` on arguments and results.

    Every result gets a place: the argument that it is written into where there
    is one (destination style), else a new last argument, for an array one for
    each plane. `grit.holds` on the argument says which returned value it is for;
    `grit-place-results` sees to it once values are buffers. A result that starts
    from an empty tensor starts from its place instead. Other arguments are marked
    as not writable. A function that the
    module also calls is copied first. Public functions become private:
    `grit-emit-c-interface` exports what C calls.

    ```mlir
    // before
    func.func @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %r = linalg.copy ins(%x : ...) outs(%y : ...) -> tensor<?x4xf32>
      return %r : tensor<?x4xf32>
    }
    // after
    func.func private @f(%x: tensor<?x4xf32> {bufferization.writable = false},
                         %y: tensor<?x4xf32> {grit.holds = 0 : i64}) -> tensor<?x4xf32>
        attributes {grit.interface = {..., shared = [[0, 0, 1, 0]]}} {
      %r = linalg.copy ins(%x : ...) outs(%y : ...) -> tensor<?x4xf32>
      return %r : tensor<?x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // GRIT_CONVERSION_PASSES_TD
