// RUN: grit-opt %s --canonicalize | FileCheck %s

!a = !grit.array<4x32x#grit.grade<mxfp4>>
!d = !grit.array<?x32x#grit.grade<mxfp4>>
!n = !grit.array<128x64x#grit.grade<nvf4>>
!swizzled = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
!tiled = !grit.array<128x64x#grit.grade<nvf4>, data = tile_16x16>
!s = !grit.array<4x32x#grit.grade<i8s24>>
!unordered = !grit.array<4x32x#grit.grade<e = s8, k0 = 32, s0 = binary16, sp = 2:4:u2:unord, esr = ratiomaxabs>>

// CHECK-LABEL: @planes_of_bundle
// CHECK-SAME: (%[[DATA:.*]]: tensor<64xi8>, %[[SCALE:.*]]: tensor<4xi8>)
// CHECK-NEXT: return %[[DATA]], %[[SCALE]]
func.func @planes_of_bundle(%data: tensor<64xi8>, %scale: tensor<4xi8>) -> (tensor<64xi8>, tensor<4xi8>) {
  %a = grit.bundle %data, %scale : tensor<64xi8>, tensor<4xi8> -> !a
  %p:2 = grit.planes %a : !a -> tensor<64xi8>, tensor<4xi8>
  return %p#0, %p#1 : tensor<64xi8>, tensor<4xi8>
}

// CHECK-LABEL: @planes_of_bundle_of_unknown_sizes
// CHECK-SAME: (%[[DATA:.*]]: tensor<?xi8>, %[[SCALE:.*]]: tensor<4xi8>)
// CHECK-NEXT: %[[CAST:.*]] = tensor.cast %[[DATA]] : tensor<?xi8> to tensor<64xi8>
// CHECK-NEXT: return %[[CAST]], %[[SCALE]]
func.func @planes_of_bundle_of_unknown_sizes(%data: tensor<?xi8>, %scale: tensor<4xi8>) -> (tensor<64xi8>, tensor<4xi8>) {
  %a = grit.bundle %data, %scale : tensor<?xi8>, tensor<4xi8> -> !a
  %p:2 = grit.planes %a : !a -> tensor<64xi8>, tensor<4xi8>
  return %p#0, %p#1 : tensor<64xi8>, tensor<4xi8>
}

// CHECK-LABEL: @bundle_of_planes
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK-NEXT: return %[[A]]
func.func @bundle_of_planes(%a: !a) -> !a {
  %p:2 = grit.planes %a : !a -> tensor<64xi8>, tensor<4xi8>
  %b = grit.bundle %p#0, %p#1 : tensor<64xi8>, tensor<4xi8> -> !a
  return %b : !a
}

// Another contract reads the same bytes: no identity.
// CHECK-LABEL: @bundle_of_planes_under_another_contract
// CHECK: grit.bundle
func.func @bundle_of_planes_under_another_contract(%a: !a) -> !grit.array<4x32x#grit.grade<mxfp4_rne>> {
  %p:2 = grit.planes %a : !a -> tensor<64xi8>, tensor<4xi8>
  %b = grit.bundle %p#0, %p#1 : tensor<64xi8>, tensor<4xi8> -> !grit.array<4x32x#grit.grade<mxfp4_rne>>
  return %b : !grit.array<4x32x#grit.grade<mxfp4_rne>>
}

// CHECK-LABEL: @dim_static
// CHECK: arith.constant 32 : index
func.func @dim_static(%a: !d) -> index {
  %n = grit.dim %a, 1 : !d
  return %n : index
}

// CHECK-LABEL: @dim_of_bundle
// CHECK-SAME: %[[N:[a-z0-9]+]]: index)
// CHECK-NEXT: return %[[N]]
func.func @dim_of_bundle(%data: tensor<?xi8>, %scale: tensor<?xi8>, %n: index) -> index {
  %a = grit.bundle %data, %scale sizes [%n] : tensor<?xi8>, tensor<?xi8> -> !d
  %m = grit.dim %a, 0 : !d
  return %m : index
}

// CHECK-LABEL: @dim_of_check
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK: grit.dim %[[A]], 0
func.func @dim_of_check(%a: !d) -> index {
  %b = grit.check %a level 1 : !d
  %n = grit.dim %b, 0 : !d
  return %n : index
}

// CHECK-LABEL: @relayout_to_itself
// CHECK-NOT: grit.relayout
func.func @relayout_to_itself(%a: !n) -> !n {
  %b = grit.relayout %a : !n -> !n
  return %b : !n
}

// CHECK-LABEL: @relayout_of_relayout
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK-NEXT: %[[B:.*]] = grit.relayout %[[A]] : {{.*}} -> !grit.array<128x64x#nvf4, data = tile_16x16>
// CHECK-NEXT: return %[[B]]
func.func @relayout_of_relayout(%a: !n) -> !tiled {
  %b = grit.relayout %a : !n -> !swizzled
  %c = grit.relayout %b : !swizzled -> !tiled
  return %c : !tiled
}

// There and back again is nothing.
// CHECK-LABEL: @relayout_there_and_back
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK-NEXT: return %[[A]]
func.func @relayout_there_and_back(%a: !n) -> !n {
  %b = grit.relayout %a : !n -> !swizzled
  %c = grit.relayout %b : !swizzled -> !n
  return %c : !n
}

// The type has proved a static shape.
// CHECK-LABEL: @check_of_static_shape
// CHECK-NOT: grit.check
func.func @check_of_static_shape(%a: !a) -> !a {
  %b = grit.check %a level 2 : !a
  return %b : !a
}

// CHECK-LABEL: @check_level_0
// CHECK-NOT: grit.check
func.func @check_level_0(%a: !d) -> !d {
  %b = grit.check %a level 0 : !d
  return %b : !d
}

// CHECK-LABEL: @check_of_dynamic_shape
// CHECK: grit.check
func.func @check_of_dynamic_shape(%a: !d) -> !d {
  %b = grit.check %a level 1 : !d
  return %b : !d
}

// A bundle states a size that its planes need not have.
// CHECK-LABEL: @check_of_unknown_plane_sizes
// CHECK: grit.check
func.func @check_of_unknown_plane_sizes(%data: tensor<?xi8>, %scale: tensor<4xi8>) -> !a {
  %a = grit.bundle %data, %scale : tensor<?xi8>, tensor<4xi8> -> !a
  %b = grit.check %a level 1 : !a
  return %b : !a
}

// Level 2 reads the indices of a sparse array, if they have an order.
// CHECK-LABEL: @check_of_ordered_indices
// CHECK: grit.check
func.func @check_of_ordered_indices(%a: !s) -> !s {
  %b = grit.check %a level 2 : !s
  return %b : !s
}

// CHECK-LABEL: @check_of_unordered_indices
// CHECK-NOT: grit.check
func.func @check_of_unordered_indices(%a: !unordered) -> !unordered {
  %b = grit.check %a level 2 : !unordered
  return %b : !unordered
}

// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%x: tensor<4x32xf32>) {
  %a = grit.encode %x : tensor<4x32xf32> -> !a
  %p:2 = grit.planes %a : !a -> tensor<64xi8>, tensor<4xi8>
  return
}

// The check looks at the planes as they came in, behind a relayout.
// CHECK-LABEL: @check_behind_relayout
// CHECK: grit.check
!nv = !grit.array<128x64x#grit.grade<nvf4>>
!nvs = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
func.func @check_behind_relayout(%d: tensor<?xi8>, %s: tensor<?xi8>, %t: tensor<4xi8>) -> !nvs {
  %x = grit.bundle %d, %s, %t : tensor<?xi8>, tensor<?xi8>, tensor<4xi8> -> !nv
  %r = grit.relayout %x : !nv -> !nvs
  %c = grit.check %r level 1 : !nvs
  return %c : !nvs
}

// Nothing is written into an empty destination, and a sum over nothing adds
// nothing.
// CHECK-LABEL: @empty
// CHECK-SAME: %[[A:[^:]*]]: !grit.array<0x32x
// CHECK-SAME: %[[INIT:[^:]*]]: tensor<0x32xf32>
// CHECK-SAME: %[[Y:[^:]*]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[INIT]], %[[Y]]
func.func @empty(%a: !grit.array<0x32x#grit.grade<mxfp4>>, %init: tensor<0x32xf32>,
                 %x: tensor<4x0xf32>, %w: !grit.array<8x0x#grit.grade<mxfp4>>, %y: tensor<4x8xf32>)
    -> (tensor<0x32xf32>, tensor<4x8xf32>) {
  %r = grit.decode ins(%a : !grit.array<0x32x#grit.grade<mxfp4>>) outs(%init : tensor<0x32xf32>) -> tensor<0x32xf32>
  %p = grit.matmul ins(%x, %w : tensor<4x0xf32>, !grit.array<8x0x#grit.grade<mxfp4>>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r, %p : tensor<0x32xf32>, tensor<4x8xf32>
}
