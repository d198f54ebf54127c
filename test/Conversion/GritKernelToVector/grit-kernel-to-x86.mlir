// RUN: grit-opt %s --grit-kernel-to-x86=features=+avx2,+avx512f | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: grit-opt %s --grit-kernel-to-x86=features=+avx2 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: grit-opt %s --grit-kernel-to-x86=features=-avx2 | FileCheck %s --check-prefixes=CHECK,NONE,NOF16C
// RUN: grit-opt %s --grit-kernel-to-x86=features=+f16c | FileCheck %s --check-prefixes=F16C

// Sixteen levels: one permute of a 512-bit register, or two of 256 bits and a
// choice by the high bit.
// CHECK-LABEL: func.func @lookup16
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// AVX512-NOT: grit_kernel.lookup
// AVX2-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2: arith.cmpi uge
// AVX2: arith.select
// NONE: grit_kernel.lookup
func.func @lookup16(%c: vector<16xi8>) -> vector<16xf32> {
  %e = grit_kernel.lookup %c table = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32>
       : vector<16xi8> -> vector<16xf32>
  return %e : vector<16xf32>
}

// A short table is repeated to fill its register; lanes go register by register.
// CHECK-LABEL: func.func @lookup4
// AVX512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// AVX2-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.permps"
// NONE: grit_kernel.lookup
func.func @lookup4(%c: vector<32xi8>) -> vector<32xf32> {
  %e = grit_kernel.lookup %c table = dense<[0.0, 0.5, 1.0, 1.5]> : tensor<4xf32>
       : vector<32xi8> -> vector<32xf32>
  return %e : vector<32xf32>
}

// Without F16C, conversions are integer arithmetic; those of bf16 always are.
// NOF16C-LABEL: func.func @binary16
// NOF16C-NOT:     arith.extf
// NOF16C-NOT:     arith.truncf
// NOF16C:         return
// F16C-LABEL: func.func @binary16
// F16C:         arith.extf
// F16C:         arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
func.func @binary16(%x: vector<8xf16>, %y: vector<8xf32>) -> (vector<8xf32>, vector<8xf16>) {
  %a = arith.extf %x : vector<8xf16> to vector<8xf32>
  %b = arith.truncf %y : vector<8xf32> to vector<8xf16>
  return %a, %b : vector<8xf32>, vector<8xf16>
}

// F16C-LABEL: func.func @bf16
// F16C-NOT:     arith.truncf
// F16C:         return
func.func @bf16(%y: vector<8xf32>) -> vector<8xbf16> {
  %b = arith.truncf %y : vector<8xf32> to vector<8xbf16>
  return %b : vector<8xbf16>
}
