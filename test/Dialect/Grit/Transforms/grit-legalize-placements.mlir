// RUN: grit-opt %s --grit-legalize-placements --split-input-file --verify-diagnostics | FileCheck %s

!n = !grit.array<128x64x#grit.grade<nvf4>>
!swizzled = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>

// CHECK-LABEL: @canonical
// CHECK-NOT: grit.relayout
func.func @canonical(%a: !n, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = grit.decode ins(%a : !n) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// CHECK-LABEL: @decode
// CHECK: %[[C:.*]] = grit.relayout %{{.*}} : !grit.array<128x64x#nvf4, scale = swizzle_128x4b> -> !grit.array<128x64x#nvf4>
// CHECK: grit.decode ins(%[[C]] : !grit.array<128x64x#nvf4>)
func.func @decode(%a: !swizzled, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = grit.decode ins(%a : !swizzled) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// One copy serves every reader, in front of the loop.
// CHECK-LABEL: @one_copy
// CHECK: %[[C:.*]] = grit.relayout
// CHECK-NOT: grit.relayout
// CHECK: scf.for
// CHECK: grit.matmul ins(%{{.*}}, %[[C]] :
// CHECK: grit.matmul ins(%{{.*}}, %[[C]] :
func.func @one_copy(%x: tensor<8x64xf32>, %w: !swizzled, %y: tensor<8x128xf32>, %n: index) -> tensor<8x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %y) -> tensor<8x128xf32> {
    %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !swizzled) outs(%acc : tensor<8x128xf32>) -> tensor<8x128xf32>
    %1 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !swizzled) outs(%0 : tensor<8x128xf32>) -> tensor<8x128xf32>
    scf.yield %1 : tensor<8x128xf32>
  }
  return %r : tensor<8x128xf32>
}

// CHECK-LABEL: @encode
// CHECK: %[[E:.*]] = grit.encode %{{.*}} : tensor<128x64xf32> -> !grit.array<128x64x#nvf4>
// CHECK: %[[M:.*]] = grit.relayout %[[E]] : !grit.array<128x64x#nvf4> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
// CHECK: return %[[M]]
func.func @encode(%x: tensor<128x64xf32>) -> !swizzled {
  %a = grit.encode %x : tensor<128x64xf32> -> !swizzled
  return %a : !swizzled
}

// -----

func.func @unspecified(%a: !grit.array<4x32x#grit.grade<mxfp4>, data = unspecified>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  // expected-error@+6 {{'grit.decode' op UNSPECIFIED has no map from index to slot}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: row_major, col_major, swizzle_128x4b, tile_16x16 or linear_meta}}
  // expected-note@+3 {{found: UNSPECIFIED (0x0000000000000000)}}
  // expected-note@+2 {{likely cause: nobody has said where the values lie}}
  // expected-note@+1 {{fix: relayout the array where its layout is known}}
  %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>, data = unspecified>) outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}

// -----

func.func @opaque(%x: tensor<8x32xf32>, %w: !grit.array<4x32x#grit.grade<mxfp4>, scale = 0xF000000000000001>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+6 {{'grit.matmul' op OPAQUE(0x000000000000001) has no map from index to slot}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: row_major, col_major, swizzle_128x4b, tile_16x16 or linear_meta}}
  // expected-note@+3 {{found: OPAQUE(0x000000000000001) (0xf000000000000001)}}
  // expected-note@+2 {{likely cause: an opaque placement never says where the values lie}}
  // expected-note@+1 {{fix: relayout the array where its layout is known}}
  %r = grit.matmul ins(%x, %w : tensor<8x32xf32>, !grit.array<4x32x#grit.grade<mxfp4>, scale = 0xF000000000000001>) outs(%y : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Blocks of somebody else's format cannot lie row-major.
func.func @encode_of_blocks(%x: tensor<4x256xf32>) -> !grit.array<4x256x#grit.format<gguf.q4_0>, data = row_major> {
  // expected-error@+6 {{'grit.encode' op BLOCK_AOS has no map from index to slot}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: row_major, col_major, swizzle_128x4b, tile_16x16 or linear_meta}}
  // expected-note@+3 {{found: BLOCK_AOS (0x1000000000000005)}}
  // expected-note@+2 {{likely cause: the planes are interleaved in block structures of a foreign format}}
  // expected-note@+1 {{fix: relayout the array where its layout is known}}
  %a = grit.encode %x : tensor<4x256xf32> -> !grit.array<4x256x#grit.format<gguf.q4_0>, data = row_major>
  return %a : !grit.array<4x256x#grit.format<gguf.q4_0>, data = row_major>
}
