// Checks, run: a sound array passes, and every damage stops the program with the
// words that name it.
// RUN: grit-opt %s -o %t.mlir --pass-pipeline="builtin.module(grit-lower-check,grit-lower-relayout,grit-expand-arrays,canonicalize,grit-verify-stage{after=planes},one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-loops,convert-vector-to-scf,convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,grit-convert-assert-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,grit-verify-stage{after=llvm})"
// DEFINE: %{entry} =
// DEFINE: %{run} = mlir-runner %t.mlir -e %{entry} --entry-point-result=void --shared-libs=%mlir_lib/libmlir_c_runner_utils.so
// REDEFINE: %{entry} = sound
// RUN: %{run} | FileCheck %s --check-prefix=SOUND
// REDEFINE: %{entry} = short_plane
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=SHORT
// REDEFINE: %{entry} = cut_group
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=GROUP
// REDEFINE: %{entry} = negative_extent
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// REDEFINE: %{entry} = overflowing_extents
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// REDEFINE: %{entry} = falling_indices
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=FALLING

// SOUND: 1
// SHORT: SizeMismatch: argument 0 of @check: plane scale0 must have the bytes of numel / 32 x 8 bits
// GROUP: SizeMismatch: argument 0 of @check: extent 1 must be a multiple of 32 (whole groups)
// NEGATIVE: SizeMismatch: argument 0 of @check: extent 0 must not be negative
// OVERFLOW: SizeMismatch: argument 0 of @check: the number of elements must fit 64 bits
// FALLING: DigestMismatch: argument 0 of @check_sparse: the indices of plane aux must rise strictly in every run and stay below 4

!a = !grit.array<?x?x#grit.grade<mxfp4>>
!s = !grit.array<2x32x#grit.grade<i8s24>>

func.func private @check(%a: !a) {
  %b = grit.check %a level 1 : !a
  %one = arith.constant 1 : i32
  vector.print %one : i32
  return
}

func.func private @with(%bytes: index, %scales: index, %rows: index, %columns: index) {
  %data = tensor.empty(%bytes) : tensor<?xi8>
  %scale = tensor.empty(%scales) : tensor<?xi8>
  %a = grit.bundle %data, %scale sizes [%rows, %columns] : tensor<?xi8>, tensor<?xi8> -> !a
  call @check(%a) : (!a) -> ()
  return
}

func.func private @check_sparse(%a: !s) {
  %b = grit.check %a level 2 : !s
  return
}

func.func private @with_indices(%indices: tensor<8xi8>) {
  %data = arith.constant dense<1> : tensor<32xi8>
  %scale = arith.constant dense<1> : tensor<4xi8>
  %a = grit.bundle %data, %scale, %indices : tensor<32xi8>, tensor<4xi8>, tensor<8xi8> -> !s
  call @check_sparse(%a) : (!s) -> ()
  return
}

func.func @sound() {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  // Indices 0 and 1 in one run, 2 and 3 in the next.
  %rising = arith.constant dense<-28> : tensor<8xi8>
  call @with_indices(%rising) : (tensor<8xi8>) -> ()
  call @with(%c64, %c4, %c2, %c64) : (index, index, index, index) -> ()
  return
}

func.func @short_plane() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  call @with(%c64, %c3, %c2, %c64) : (index, index, index, index) -> ()
  return
}

func.func @cut_group() {
  %c2 = arith.constant 2 : index
  %c48 = arith.constant 48 : index
  call @with(%c48, %c2, %c2, %c48) : (index, index, index, index) -> ()
  return
}

func.func @negative_extent() {
  %rows = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  call @with(%c0, %c0, %rows, %c32) : (index, index, index, index) -> ()
  return
}

func.func @overflowing_extents() {
  %rows = arith.constant 4611686018427387904 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  call @with(%c0, %c0, %rows, %c32) : (index, index, index, index) -> ()
  return
}

func.func @falling_indices() {
  // One of eight bytes holds 1, 0.
  %falling = arith.constant dense<[-28, -28, -28, -28, -28, -31, -28, -28]> : tensor<8xi8>
  call @with_indices(%falling) : (tensor<8xi8>) -> ()
  return
}
