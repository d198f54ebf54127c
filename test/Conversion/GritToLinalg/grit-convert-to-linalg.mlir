// RUN: grit-opt %s --grit-convert-to-linalg -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @decode
// CHECK: %[[P:.*]]:2 = grit.planes
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// The scale byte, then the code and its level.
// CHECK: tensor.extract %[[P]]#1
// CHECK: tensor.extract %[[P]]#0
// CHECK: tensor.extract %{{.*}} : tensor<16xf32>
// CHECK: arith.mulf
// Every NaN leaves as 0x7FC00000.
// CHECK: arith.cmpf uno
// CHECK: linalg.yield
// CHECK-NOT: grit.decode
func.func @decode(%a: !grit.array<4x64x#grit.grade<mxfp4>>, %init: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = grit.decode ins(%a : !grit.array<4x64x#grit.grade<mxfp4>>) outs(%init : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// A format whose values are always finite needs no NaN to be canonical; a
// destination of bf16 is rounded once.
// CHECK-LABEL: func.func @decode_to_bf16
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @decode_to_bf16(%a: !grit.array<?x64x#grit.format<gguf.q8_0>>, %init: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = grit.decode ins(%a : !grit.array<?x64x#grit.format<gguf.q8_0>>) outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

// -----

// A decode and a contraction that adds in sequence, each product rounded first
// (G20).
// CHECK-LABEL: func.func @matmul
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[PRODUCT]]
func.func @matmul(%x: tensor<3x64xf16>, %w: !grit.array<8x64x#grit.grade<nvf4>>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %r = grit.matmul ins(%x, %w : tensor<3x64xf16>, !grit.array<8x64x#grit.grade<nvf4>>)
       outs(%y : tensor<3x8xf32>) accum = #grit.accum<ao = seq> -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// -----

func.func @refuses_precision(%x: tensor<3x64xf32>, %w: !grit.array<8x64x#grit.grade<e = e2m1, k0 = 16, s0 = e4m3, esr = ratiomaxabs, ai = binary16>>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // The weight asks for it, so that the two have a common contract.
  // expected-error @+2 {{requested accumulation #grit.accum<ai = binary16>; kernels offer binary32 sums that preserve subnormals}}
  // expected-note @+1 {{fix: relax ap, ab and ai to binary32 and an to any}}
  %r = grit.matmul ins(%x, %w : tensor<3x64xf32>, !grit.array<8x64x#grit.grade<e = e2m1, k0 = 16, s0 = e4m3, esr = ratiomaxabs, ai = binary16>>)
       outs(%y : tensor<3x8xf32>) accum = #grit.accum<ai = binary16> -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
