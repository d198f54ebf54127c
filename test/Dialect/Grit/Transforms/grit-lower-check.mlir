// RUN: grit-opt %s --grit-lower-check --split-input-file --verify-diagnostics | FileCheck %s

!d = !grit.array<?x32x#grit.grade<mxfp4>>
!s = !grit.array<?x32x#grit.grade<i8s24>>

// CHECK-LABEL: @level_1
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK: %[[P:.*]]:2 = grit.planes %[[A]]
// CHECK: %[[N:.*]] = grit.dim %[[A]], 0
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @level_1: extent 0 must not be negative"
// CHECK: arith.mulsi_extended
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @level_1: the number of elements must fit 64 bits"
// CHECK: tensor.dim %[[P]]#0
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @level_1: plane data must have the bytes of numel x 4 bits under !grit.array<?x32x#grit.grade<mxfp4>>"
// CHECK: tensor.dim %[[P]]#1
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @level_1: plane scale0 must have the bytes of numel / 32 x 8 bits under
// CHECK: return %[[A]]
func.func @level_1(%a: !d) -> !d {
  %b = grit.check %a level 1 : !d
  return %b : !d
}

// CHECK-LABEL: @level_0
// CHECK-NOT: cf.assert
func.func @level_0(%a: !d) -> !d {
  %b = grit.check %a level 0 : !d
  return %b : !d
}

// CHECK-LABEL: @static_shape
// CHECK-NOT: cf.assert
func.func @static_shape(%a: !grit.array<4x32x#grit.grade<mxfp4>>) -> !grit.array<4x32x#grit.grade<mxfp4>> {
  %b = grit.check %a level 1 : !grit.array<4x32x#grit.grade<mxfp4>>
  return %b : !grit.array<4x32x#grit.grade<mxfp4>>
}

// Planes of unknown size under a static type are compared as they came in.
// CHECK-LABEL: @unknown_plane_size
// CHECK-SAME: (%[[D:.*]]: tensor<?xi8>,
// CHECK: tensor.dim %[[D]]
// CHECK: cf.assert %{{.*}}, "SizeMismatch: the array: plane data must have
// CHECK-NOT: plane scale0
// CHECK: return
func.func @unknown_plane_size(%d: tensor<?xi8>, %s: tensor<4xi8>) -> !grit.array<4x32x#grit.grade<mxfp4>> {
  %a = grit.bundle %d, %s : tensor<?xi8>, tensor<4xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  %b = grit.check %a level 1 : !grit.array<4x32x#grit.grade<mxfp4>>
  return %b : !grit.array<4x32x#grit.grade<mxfp4>>
}

// A dynamic group axis must hold whole groups, and the array whole outer groups.
// CHECK-LABEL: @groups
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @groups: extent 1 must be a multiple of 32 (whole groups)"
// CHECK: cf.assert %{{.*}}, "SizeMismatch: argument 0 of @groups: the number of elements must be a multiple of 256 (whole outer groups)"
// CHECK: plane scale1 must have the bytes of numel / 256 x 32 bits
func.func @groups(%a: !grit.array<4x?x#grit.grade<q4ks>>) -> !grit.array<4x?x#grit.grade<q4ks>> {
  %b = grit.check %a level 1 : !grit.array<4x?x#grit.grade<q4ks>>
  return %b : !grit.array<4x?x#grit.grade<q4ks>>
}

// A scale of the whole tensor has its size by its type.
// CHECK-LABEL: @tensor_scale
// CHECK: plane scale0 must have
// CHECK-NOT: plane scale1
// CHECK: return
func.func @tensor_scale(%a: !grit.array<?x16x#grit.grade<nvf4>>) -> !grit.array<?x16x#grit.grade<nvf4>> {
  %b = grit.check %a level 1 : !grit.array<?x16x#grit.grade<nvf4>>
  return %b : !grit.array<?x16x#grit.grade<nvf4>>
}

// CHECK-LABEL: @level_2
// CHECK: plane aux must have
// CHECK: %[[RISE:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK: arith.cmpi ugt
// CHECK: arith.cmpi ult
// CHECK: %[[FLAG:.*]] = tensor.extract %[[RISE]][]
// CHECK-NEXT: %[[ALL:.*]] = arith.trunci %[[FLAG]] : i8 to i1
// CHECK: cf.assert %[[ALL]], "DigestMismatch: argument 0 of @level_2: the indices of plane aux must rise strictly in every run and stay below 4"
func.func @level_2(%a: !s) -> !s {
  %b = grit.check %a level 2 : !s
  return %b : !s
}

// Indices that lie elsewhere are read from a copy in order.
// CHECK-LABEL: @level_2_elsewhere
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK: cf.assert
// CHECK-NOT: grit.relayout
// CHECK: return
func.func @level_2_elsewhere(%a: !grit.array<4x32x#grit.grade<i8s24>, meta = col_major>) -> !grit.array<4x32x#grit.grade<i8s24>, meta = col_major> {
  %b = grit.check %a level 2 : !grit.array<4x32x#grit.grade<i8s24>, meta = col_major>
  return %b : !grit.array<4x32x#grit.grade<i8s24>, meta = col_major>
}

// A name in the location is the operand's name.
// CHECK-LABEL: @named
// CHECK: cf.assert %{{.*}}, "SizeMismatch: 'encoder.weight': extent 0
func.func @named(%a: !d loc("encoder.weight")) -> !d {
  %b = grit.check %a level 1 : !d
  return %b : !d
}

// -----

func.func @indices_out_of_reach(%a: !grit.array<4x32x#grit.grade<i8s24>, meta = meta_m16n8k32>) -> !grit.array<4x32x#grit.grade<i8s24>, meta = meta_m16n8k32> {
  // expected-error@+6 {{'grit.check' op META_M16N8K32 has no map from index to slot}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: row_major, col_major, swizzle_128x4b, tile_16x16 or linear_meta}}
  // expected-note@+3 {{found: META_M16N8K32 (0x1000000000000012)}}
  // expected-note@+2 {{likely cause: the fragment order of mma.sp is not a sum of digits of row and column}}
  // expected-note@+1 {{fix: relayout the array where its layout is known}}
  %b = grit.check %a level 2 : !grit.array<4x32x#grit.grade<i8s24>, meta = meta_m16n8k32>
  return %b : !grit.array<4x32x#grit.grade<i8s24>, meta = meta_m16n8k32>
}
