// RUN: grit-opt %s --grit-lower-shapes --canonicalize | FileCheck %s

// A slice of rows is one run of every plane.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[A:.*]]: !grit.array<8x64x#mxfp4>)
// CHECK-NEXT: %[[P:.*]]:2 = grit.planes %[[A]]
// CHECK-NEXT: %[[D:.*]] = tensor.extract_slice %[[P]]#0[64] [128] [1] : tensor<256xi8> to tensor<128xi8>
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[P]]#1[4] [8] [1] : tensor<16xi8> to tensor<8xi8>
// CHECK-NEXT: %[[B:.*]] = grit.bundle %[[D]], %[[S]]
// CHECK-NEXT: return %[[B]]
func.func @rows(%a: !grit.array<8x64x#grit.grade<mxfp4>>) -> !grit.array<4x64x#grit.grade<mxfp4>> {
  %b = grit.slice %a [2, 0] [4, 64] : !grit.array<8x64x#grit.grade<mxfp4>> -> !grit.array<4x64x#grit.grade<mxfp4>>
  return %b : !grit.array<4x64x#grit.grade<mxfp4>>
}

// Along the group axis, rows are cut: 16 bytes of data and one of scales.
// CHECK-LABEL: @columns
// CHECK: %[[D:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [8, 32] : tensor<256xi8> into tensor<8x32xi8>
// CHECK: tensor.extract_slice %[[D]][0, 16] [8, 16] [1, 1]
// CHECK: %[[S:.*]] = tensor.expand_shape %{{.*}} output_shape [8, 2] : tensor<16xi8> into tensor<8x2xi8>
// CHECK: tensor.extract_slice %[[S]][0, 1] [8, 1] [1, 1]
func.func @columns(%a: !grit.array<8x64x#grit.grade<mxfp4>>) -> !grit.array<8x32x#grit.grade<mxfp4>> {
  %b = grit.slice %a [0, 32] [8, 32] : !grit.array<8x64x#grit.grade<mxfp4>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return %b : !grit.array<8x32x#grit.grade<mxfp4>>
}

// Nine nibbles a row: parts of bytes get a byte each.
// CHECK-LABEL: @nibbles
// CHECK: linalg.generic
// CHECK: tensor.extract_slice %{{.*}}[9] [18] [1] : tensor<27xi8> to tensor<18xi8>
// CHECK: linalg.generic
func.func @nibbles(%a: !grit.array<3x9x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>)
    -> !grit.array<2x9x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>> {
  %b = grit.slice %a [1, 0] [2, 9] : !grit.array<3x9x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>
       -> !grit.array<2x9x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>
  return %b : !grit.array<2x9x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>
}

// What only the run can know is asserted.
// CHECK-LABEL: @dynamic
// CHECK-DAG: cf.assert %{{.*}}, "SizeMismatch: grit.slice: offset 1 is outside of the array"
// CHECK-DAG: cf.assert %{{.*}}, "SizeMismatch: grit.slice: offset and size 1 reach beyond the array"
// CHECK-DAG: cf.assert %{{.*}}, "SizeMismatch: grit.slice: an offset must be a multiple of 32 elements (whole groups)"
func.func @dynamic(%a: !grit.array<8x64x#grit.grade<mxfp4>>, %k: index) -> !grit.array<8x32x#grit.grade<mxfp4>> {
  %b = grit.slice %a [0, %k] [8, 32] : !grit.array<8x64x#grit.grade<mxfp4>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return %b : !grit.array<8x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @transpose
// CHECK: linalg.transpose ins(%{{.*}} : tensor<8x16x16xi8>) outs(%{{.*}} : tensor<16x8x16xi8>) permutation = [1, 0, 2]
// CHECK: linalg.transpose ins(%{{.*}} : tensor<8x16x1xi8>) outs(%{{.*}} : tensor<16x8x1xi8>) permutation = [1, 0, 2]
func.func @transpose(%a: !grit.array<8x16x32x#grit.grade<mxfp4>>) -> !grit.array<16x8x32x#grit.grade<mxfp4>> {
  %b = grit.transpose %a [1, 0, 2] : !grit.array<8x16x32x#grit.grade<mxfp4>> -> !grit.array<16x8x32x#grit.grade<mxfp4>>
  return %b : !grit.array<16x8x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @concat
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0] [64] [1] : tensor<64xi8> into tensor<96xi8>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[64] [32] [1] : tensor<32xi8> into tensor<96xi8>
func.func @concat(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %b: !grit.array<2x32x#grit.grade<mxfp4>>) -> !grit.array<6x32x#grit.grade<mxfp4>> {
  %c = grit.concat dim 0 %a, %b : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<2x32x#grit.grade<mxfp4>> -> !grit.array<6x32x#grit.grade<mxfp4>>
  return %c : !grit.array<6x32x#grit.grade<mxfp4>>
}
