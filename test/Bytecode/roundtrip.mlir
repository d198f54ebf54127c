// Everything that is written as bytecode reads back as the same text.
// RUN: grit-opt %s --emit-bytecode -o %t.mlirbc
// RUN: grit-opt %t.mlirbc | FileCheck %s
// RUN: grit-opt %s -o %t.text
// RUN: grit-opt %t.mlirbc -o %t.back
// RUN: cmp %t.text %t.back

// CHECK-LABEL: @types
// CHECK-SAME: !grit.array<?x32x#mxfp4>
// CHECK-SAME: !grit.array<128x64x#nvf4, data = tile_16x16, scale = swizzle_128x4b>
// CHECK-SAME: !grit.array<64x8x#hurray_nf4_block_32, axis = 0>
// CHECK-SAME: !grit.array<4x32x#contract>
func.func private @types(
  !grit.array<?x32x#grit.grade<mxfp4>>,
  !grit.array<128x64x#grit.grade<nvf4>, data = tile_16x16, scale = swizzle_128x4b>,
  !grit.array<64x8x#grit.format<hurray.nf4, block = 32>, axis = 0>,
  !grit.array<4x32x#grit.grade<"grit1(e=s8,k0=32,s0=binary16,esr=ratiomaxabs)">>)

// CHECK-LABEL: @attributes
// CHECK-SAME: #grit.word<e4m3>
// CHECK-SAME: #grit.placement<0x8000000000000123>
func.func private @attributes(i32 {t.a = #grit.word<e4m3>, t.b = #grit.placement<0x8000000000000123>})

// CHECK-LABEL: @operations
// CHECK: grit.constant [dense_resource<data> : tensor<16xi8>, dense<127> : tensor<1xi8>]
// CHECK: grit.matmul {{.*}} accum = <ao = pairwise4>
func.func @operations(%x: tensor<?x32xf32>, %y: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %w = grit.constant [dense_resource<data> : tensor<16xi8>, dense<127> : tensor<1xi8>]
       : !grit.array<1x32x#grit.grade<mxfp4>>
  %r = grit.matmul ins(%x, %w : tensor<?x32xf32>, !grit.array<1x32x#grit.grade<mxfp4>>)
       outs(%y : tensor<?x1xf32>) accum = #grit.accum<ao = pairwise4> -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

{-#
  dialect_resources: {
    builtin: {
      data: "0x0100000020426476A8CAECFE0000000000000000"
    }
  }
#-}
