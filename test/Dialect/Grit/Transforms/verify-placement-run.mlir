// A true assumption passes, a false one stops the program.
// RUN: grit-opt %s -o %t.mlir --pass-pipeline="builtin.module(grit-lower-check,grit-lower-relayout,grit-expand-arrays,canonicalize,grit-verify-stage{after=planes},one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-loops,convert-vector-to-scf,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,grit-convert-assert-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,grit-verify-stage{after=llvm})"
// DEFINE: %{entry} =
// DEFINE: %{run} = mlir-runner %t.mlir -e %{entry} --entry-point-result=void --shared-libs=%mlir_lib/libmlir_c_runner_utils.so
// REDEFINE: %{entry} = true_claim
// RUN: %{run} | FileCheck %s --check-prefix=TRUE
// REDEFINE: %{entry} = unused_bits
// RUN: %{run} | FileCheck %s --check-prefix=TRUE
// REDEFINE: %{entry} = false_claim
// RUN: not --crash %{run} 2>&1 | FileCheck %s --check-prefix=FALSE

// TRUE: 1
// FALSE: DigestMismatch: grit.verify_placement: plane scale0 does not lie as was assumed

!row_major = !grit.array<2x64x#grit.grade<mxfp4>>
!unknown = !grit.array<2x64x#grit.grade<mxfp4>, scale = unspecified>
!claimed = !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major, assumed = [scale]>
!columns = !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major>

func.func private @verify(%a: !unknown) {
  %data = arith.constant dense<0> : tensor<64xi8>
  %scales = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %reference = grit.bundle %data, %scales : tensor<64xi8>, tensor<4xi8> -> !row_major
  %b = grit.assume_placement %a "the file says columns" : !unknown -> !claimed
  %c = grit.verify_placement %b against %reference : !claimed, !row_major -> !columns
  %one = arith.constant 1 : i32
  vector.print %one : i32
  return
}

func.func @true_claim() {
  %data = arith.constant dense<0> : tensor<64xi8>
  %scales = arith.constant dense<[1, 3, 2, 4]> : tensor<4xi8>
  %a = grit.bundle %data, %scales : tensor<64xi8>, tensor<4xi8> -> !unknown
  call @verify(%a) : (!unknown) -> ()
  return
}

func.func @false_claim() {
  %data = arith.constant dense<0> : tensor<64xi8>
  %scales = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %a = grit.bundle %data, %scales : tensor<64xi8>, tensor<4xi8> -> !unknown
  call @verify(%a) : (!unknown) -> ()
  return
}

// Nine nibbles: half of the last byte is nobody's.
!nine = !grit.array<3x3x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>
!nine_assumed = !grit.array<3x3x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>, data = col_major, assumed = [data]>
!nine_columns = !grit.array<3x3x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>, data = col_major>

func.func private @verify_nine(%data: tensor<5xi8>, %other: tensor<5xi8>) {
  %scales = arith.constant dense<1> : tensor<3xi8>
  %a = grit.bundle %data, %scales : tensor<5xi8>, tensor<3xi8> -> !nine_assumed
  %reference = grit.bundle %other, %scales : tensor<5xi8>, tensor<3xi8> -> !nine
  %c = grit.verify_placement %a against %reference : !nine_assumed, !nine -> !nine_columns
  %one = arith.constant 1 : i32
  vector.print %one : i32
  return
}

func.func @unused_bits() {
  %data = arith.constant dense<[0x11, 0x11, 0x11, 0x11, 0x01]> : tensor<5xi8>
  %other = arith.constant dense<[0x11, 0x11, 0x11, 0x11, 0x71]> : tensor<5xi8>
  call @verify_nine(%data, %other) : (tensor<5xi8>, tensor<5xi8>) -> ()
  return
}
