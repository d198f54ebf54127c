// RUN: grit-opt %s --grit-lower-relayout --split-input-file --verify-diagnostics | FileCheck %s

!n = !grit.array<128x64x#grit.grade<nvf4>>
!swizzled = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>

// The scales move in runs of four; the codes and the tensor's scale stay.
// CHECK-LABEL: @scales
// CHECK: %[[P:.*]]:3 = grit.planes
// CHECK: %[[RUNS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<128x4xi8>)
// CHECK: %[[BYTE:.*]] = tensor.extract %[[P]]#1[%{{.*}}] : tensor<512xi8>
// CHECK-NEXT: linalg.yield %[[BYTE]] : i8
// CHECK: %[[MOVED:.*]] = tensor.collapse_shape %[[RUNS]]
// CHECK-NOT: linalg.generic
// CHECK: grit.bundle %[[P]]#0, %[[MOVED]], %[[P]]#2 : tensor<4096xi8>, tensor<512xi8>, tensor<4xi8> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
func.func @scales(%a: !n) -> !swizzled {
  %b = grit.relayout %a : !n -> !swizzled
  return %b : !swizzled
}

// Sixteen nibbles of a tile stay together: eight bytes.
// CHECK-LABEL: @tiles
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<512x8xi8>)
// CHECK-COUNT-1: tensor.extract %{{.*}} : tensor<4096xi8>
func.func @tiles(%a: !n) -> !grit.array<128x64x#grit.grade<nvf4>, data = tile_16x16> {
  %b = grit.relayout %a : !n -> !grit.array<128x64x#grit.grade<nvf4>, data = tile_16x16>
  return %b : !grit.array<128x64x#grit.grade<nvf4>, data = tile_16x16>
}

// Two nibbles from two places make a byte.
// CHECK-LABEL: @nibbles
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.extract %{{.*}} : tensor<4096xi8>
// CHECK: %[[BYTE:.*]] = arith.ori
// CHECK: linalg.yield %[[BYTE]] : i8
func.func @nibbles(%a: !n) -> !grit.array<128x64x#grit.grade<nvf4>, data = col_major> {
  %b = grit.relayout %a : !n -> !grit.array<128x64x#grit.grade<nvf4>, data = col_major>
  return %b : !grit.array<128x64x#grit.grade<nvf4>, data = col_major>
}

// A swizzle is an exclusive or: bits 4 and 5 of the slot onto bits 1 and 2.
// CHECK-LABEL: @swizzle
// CHECK: linalg.generic
// CHECK: arith.xori
// CHECK: tensor.extract %{{.*}} : tensor<512xi8>
func.func @swizzle(%a: !n) -> !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Swizzle(2,1,3)")> {
  %b = grit.relayout %a : !n -> !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Swizzle(2,1,3)")>
  return %b : !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Swizzle(2,1,3)")>
}

// A permutation is a table.
// CHECK-LABEL: @table
// CHECK: arith.constant dense<[1, 0, 2, 3]> : tensor<4xi32>
// CHECK: tensor.extract %{{.*}} : tensor<4xi32>
func.func @table(%a: !n) -> !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Perm([1,0,2,3])")> {
  %b = grit.relayout %a : !n -> !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Perm([1,0,2,3])")>
  return %b : !grit.array<128x64x#grit.grade<nvf4>, scale = layout("Perm([1,0,2,3])")>
}

// Nine nibbles leave half a byte, which is written as zero.
// CHECK-LABEL: @tail
// CHECK: %[[COUNT:.*]] = arith.constant 9 : index
// CHECK: %[[VALID:.*]] = arith.cmpi ult, %{{.*}}, %[[COUNT]]
// CHECK: arith.select %[[VALID]]
func.func @tail(%a: !grit.array<3x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>>) -> !grit.array<3x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>, data = col_major> {
  %b = grit.relayout %a : !grit.array<3x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>> -> !grit.array<3x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>, data = col_major>
  return %b : !grit.array<3x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>, data = col_major>
}

// A dynamic number of rows must hold whole tiles.
// CHECK-LABEL: @dynamic_rows
// CHECK: %[[N:.*]] = grit.dim %{{.*}}, 0
// CHECK: cf.assert %{{.*}}, "SizeMismatch: grit.relayout: rows must be a multiple of 128"
// CHECK: linalg.generic
// CHECK: grit.bundle {{.*}} sizes[%[[N]]]
func.func @dynamic_rows(%a: !grit.array<?x64x#grit.grade<nvf4>>) -> !grit.array<?x64x#grit.grade<nvf4>, scale = swizzle_128x4b> {
  %b = grit.relayout %a : !grit.array<?x64x#grit.grade<nvf4>> -> !grit.array<?x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
  return %b : !grit.array<?x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
}

// The rows of an axis that is not the last are the other dimensions.
// CHECK-LABEL: @rows_around_the_axis
// CHECK: %[[N:.*]] = grit.dim %{{.*}}, 0
// CHECK: %[[ROWS:.*]] = arith.muli %c3{{.*}}, %[[N]]
// CHECK: arith.remui %[[ROWS]], %c16
func.func @rows_around_the_axis(%a: !grit.array<?x2048x3x#grit.format<hurray.nf4>, axis = 1>)
    -> !grit.array<?x2048x3x#grit.format<hurray.nf4>, axis = 1, scale = tile_16x16> {
  %b = grit.relayout %a : !grit.array<?x2048x3x#grit.format<hurray.nf4>, axis = 1>
       -> !grit.array<?x2048x3x#grit.format<hurray.nf4>, axis = 1, scale = tile_16x16>
  return %b : !grit.array<?x2048x3x#grit.format<hurray.nf4>, axis = 1, scale = tile_16x16>
}

// Nothing lies elsewhere when there is nothing, or one value.
// CHECK-LABEL: @empty
// CHECK-NOT: linalg.generic
func.func @empty(%a: !grit.array<0x64x#grit.grade<nvf4>>) -> !grit.array<0x64x#grit.grade<nvf4>, data = col_major> {
  %b = grit.relayout %a : !grit.array<0x64x#grit.grade<nvf4>> -> !grit.array<0x64x#grit.grade<nvf4>, data = col_major>
  return %b : !grit.array<0x64x#grit.grade<nvf4>, data = col_major>
}

// -----

func.func @hash(%a: !grit.array<4x32x#grit.grade<mxfp4>>) -> !grit.array<4x32x#grit.grade<mxfp4>, data = 0x8000000000000123> {
  // expected-error@+6 {{'grit.relayout' op LOCAL_HASH(0x000000000000123) has no map from index to slot}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: row_major, col_major, swizzle_128x4b, tile_16x16 or linear_meta}}
  // expected-note@+3 {{found: LOCAL_HASH(0x000000000000123) (0x8000000000000123)}}
  // expected-note@+2 {{likely cause: the word is the hash of a layout expression, which is not at hand}}
  // expected-note@+1 {{fix: relayout the array where its layout is known}}
  %b = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<4x32x#grit.grade<mxfp4>, data = 0x8000000000000123>
  return %b : !grit.array<4x32x#grit.grade<mxfp4>, data = 0x8000000000000123>
}

// -----

func.func @tiles_that_do_not_divide(%a: !grit.array<4x32x#grit.grade<mxfp4>>) -> !grit.array<4x32x#grit.grade<mxfp4>, data = tile_16x16> {
  // expected-error@+6 {{'grit.relayout' op TILE_16x16 does not fit the plane}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: a multiple of 16 x 16 items}}
  // expected-note@+3 {{found: 4 x 32}}
  // expected-note@+2 {{likely cause: padded tiles would change the plane's size}}
  // expected-note@+1 {{fix: pad the array first, or use row_major}}
  %b = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<4x32x#grit.grade<mxfp4>, data = tile_16x16>
  return %b : !grit.array<4x32x#grit.grade<mxfp4>, data = tile_16x16>
}

// -----

// The address of column 1 is the number of rows.
func.func @dynamic_rows_in_columns(%a: !grit.array<?x32x#grit.grade<mxfp4>>) -> !grit.array<?x32x#grit.grade<mxfp4>, data = col_major> {
  // expected-error@+6 {{'grit.relayout' op COL_MAJOR has no map for a number of rows that is not known}}
  // expected-note@+5 {{field: placement}}
  // expected-note@+4 {{declared: a layout of whole rows or tiles}}
  // expected-note@+3 {{found: COL_MAJOR}}
  // expected-note@+2 {{likely cause: the slots depend on the number of rows}}
  // expected-note@+1 {{fix: make the extents static, or use row_major}}
  %b = grit.relayout %a : !grit.array<?x32x#grit.grade<mxfp4>> -> !grit.array<?x32x#grit.grade<mxfp4>, data = col_major>
  return %b : !grit.array<?x32x#grit.grade<mxfp4>, data = col_major>
}

// -----

func.func @dynamic_columns(%a: !grit.array<16x?x#grit.grade<mxfp4>>) -> !grit.array<16x?x#grit.grade<mxfp4>, data = tile_16x16> {
  // expected-error@+4 {{'grit.relayout' op a dynamic row length has no relayout}}
  // expected-note@+3 {{field: placement_data}}
  // expected-note@+2 {{likely cause: the maps of plane data depend on the extent of dimension 1}}
  // expected-note@+1 {{fix: make the extent static}}
  %b = grit.relayout %a : !grit.array<16x?x#grit.grade<mxfp4>> -> !grit.array<16x?x#grit.grade<mxfp4>, data = tile_16x16>
  return %b : !grit.array<16x?x#grit.grade<mxfp4>, data = tile_16x16>
}

// -----

// Super-blocks that run over the end of a row form no rows.
func.func @straddling_groups(%a: !grit.array<4x384x#grit.grade<q4ks>>) -> !grit.array<4x384x#grit.grade<q4ks>, scale = col_major> {
  // expected-error@+4 {{'grit.relayout' op the values of plane scale1 do not form rows in this shape}}
  // expected-note@+3 {{field: placement_scale}}
  // expected-note@+2 {{likely cause: groups run over the end of a row, so only the order of the groups is defined}}
  // expected-note@+1 {{fix: use the canonical placement}}
  %b = grit.relayout %a : !grit.array<4x384x#grit.grade<q4ks>> -> !grit.array<4x384x#grit.grade<q4ks>, scale = col_major>
  return %b : !grit.array<4x384x#grit.grade<q4ks>, scale = col_major>
}

// -----

func.func @blocks(%a: !grit.array<4x256x#grit.format<gguf.q4_k>, data = row_major>) -> !grit.array<4x256x#grit.format<gguf.q4_k>, data = col_major> {
  // expected-error@+4 {{'grit.relayout' op the values of plane blocks have one layout}}
  // expected-note@+3 {{field: placement_data}}
  // expected-note@+2 {{likely cause: they do not follow one another: the format packs several kinds of values into blocks}}
  // expected-note@+1 {{fix: use the canonical placement}}
  %b = grit.relayout %a : !grit.array<4x256x#grit.format<gguf.q4_k>, data = row_major> -> !grit.array<4x256x#grit.format<gguf.q4_k>, data = col_major>
  return %b : !grit.array<4x256x#grit.format<gguf.q4_k>, data = col_major>
}
