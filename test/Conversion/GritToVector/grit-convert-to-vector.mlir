// RUN: grit-opt %s --grit-convert-to-vector=lanes=16 -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @decode
// CHECK: %[[P:.*]]:2 = grit.planes
// CHECK: scf.for
// CHECK: %[[BYTES:.*]] = vector.transfer_read %[[P]]#0{{.*}} vector<16xi8>
// CHECK: %[[CODES:.*]] = grit_kernel.unpack %[[BYTES]] offsets = [0, 4, 8, 12, {{.*}}] width = 4 : vector<16xi8> -> vector<32xi8>
// CHECK: grit_kernel.lookup %[[CODES]]
// CHECK: vector.transfer_write {{.*}} vector<32xf32>
func.func @decode(%a: !grit.array<4x64x#grit.grade<mxfp4>>, %init: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = grit.decode ins(%a : !grit.array<4x64x#grit.grade<mxfp4>>) outs(%init : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// Six-bit scales packed in twelve bytes, and nibbles split in halves: the same
// emitter, from the description.
// CHECK-LABEL: func.func @split_halves
// CHECK: %[[P:.*]] = grit.planes
// CHECK: vector.transfer_read %[[P]]{{.*}} vector<32xi8>
// CHECK: grit_kernel.unpack {{.*}} offsets = [0, 8, 16, 24, {{.*}}] width = 4
// CHECK: grit_kernel.unpack {{.*}} offsets = [4, 12, 20, 28, {{.*}}] width = 4
func.func @split_halves(%a: !grit.array<2x256x#grit.format<gguf.q4_k>>, %init: tensor<2x256xf32>) -> tensor<2x256xf32> {
  %r = grit.decode ins(%a : !grit.array<2x256x#grit.format<gguf.q4_k>>) outs(%init : tensor<2x256xf32>) -> tensor<2x256xf32>
  return %r : tensor<2x256xf32>
}

// -----

// One row of activations: products in registers, no panel.
// CHECK-LABEL: func.func @row
// CHECK: scf.forall
// CHECK-NOT: tensor.empty
// CHECK: grit_kernel.dot {{.*}} fused
// CHECK: vector.reduction <add>
func.func @row(%x: tensor<1x64xf32>, %w: !grit.array<48x64x#grit.grade<mxfp4>>, %y: tensor<1x48xf32>) -> tensor<1x48xf32> {
  %r = grit.matmul ins(%x, %w : tensor<1x64xf32>, !grit.array<48x64x#grit.grade<mxfp4>>)
       outs(%y : tensor<1x48xf32>) -> tensor<1x48xf32>
  return %r : tensor<1x48xf32>
}

// -----

// Many rows: a panel of decoded weights that they share.
// CHECK-LABEL: func.func @rows
// CHECK: scf.forall
// CHECK: tensor.empty() : tensor<16x64xf32>
// CHECK: grit_kernel.dot {{.*}} fused : vector<16xf32>
func.func @rows(%x: tensor<8x64xbf16>, %w: !grit.array<48x64x#grit.grade<mxfp4>>, %y: tensor<8x48xf32>) -> tensor<8x48xf32> {
  %r = grit.matmul ins(%x, %w : tensor<8x64xbf16>, !grit.array<48x64x#grit.grade<mxfp4>>)
       outs(%y : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}

// -----

// An order of additions that lanes cannot keep goes the linalg route.
// CHECK-LABEL: func.func @in_sequence
// CHECK-NOT: grit_kernel.dot
// CHECK: linalg.generic {{.*}} "reduction"
func.func @in_sequence(%x: tensor<8x64xf32>, %w: !grit.array<48x64x#grit.grade<mxfp4>>, %y: tensor<8x48xf32>) -> tensor<8x48xf32> {
  %r = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<48x64x#grit.grade<mxfp4>>)
       outs(%y : tensor<8x48xf32>) accum = #grit.accum<ao = seq> -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
