// Operations on placements and shapes: they print short and parse back.
// RUN: grit-opt %s | grit-opt | FileCheck %s
// RUN: grit-opt %s --mlir-print-op-generic | grit-opt | FileCheck %s
// RUN: grit-opt %s --emit-bytecode | grit-opt | FileCheck %s

!n = !grit.array<128x64x#grit.grade<nvf4>>
!unknown = !grit.array<128x64x#grit.grade<nvf4>, scale = unspecified>
!assumed = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>
!swizzled = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>

// CHECK-LABEL: @assume
// CHECK: grit.assume_placement %{{.*}} "see the exporter" : !grit.array<128x64x#nvf4, scale = unspecified> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b, assumed = [scale]>
func.func @assume(%a: !unknown) -> !assumed {
  %b = grit.assume_placement %a "see the exporter" : !unknown -> !assumed
  return %b : !assumed
}

// CHECK-LABEL: @verify
// CHECK: grit.verify_placement %{{.*}} against %{{.*}} : !grit.array<128x64x#nvf4, scale = swizzle_128x4b, assumed = [scale]>, !grit.array<128x64x#nvf4> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
func.func @verify(%a: !assumed, %reference: !n) -> !swizzled {
  %b = grit.verify_placement %a against %reference : !assumed, !n -> !swizzled
  return %b : !swizzled
}

// The roles print in order.
// CHECK-LABEL: @roles
// CHECK-SAME: assumed = [data, scale]
func.func private @roles(!grit.array<128x64x#grit.grade<nvf4>, assumed = [scale, data]>)

// CHECK-LABEL: @reinterpret
// CHECK: grit.reinterpret %{{.*}} : !grit.array<4x32x#mxfp4_rne> -> !grit.array<4x32x#mxfp4>
func.func @reinterpret(%a: !grit.array<4x32x#grit.grade<mxfp4_rne>>) -> !grit.array<4x32x#grit.grade<mxfp4>> {
  %b = grit.reinterpret %a : !grit.array<4x32x#grit.grade<mxfp4_rne>> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return %b : !grit.array<4x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @requantize
// CHECK: grit.requantize %{{.*}} : !grit.array<?x256x#gguf_q8_0> -> !grit.array<?x256x#mxfp4>
func.func @requantize(%a: !grit.array<?x256x#grit.format<gguf.q8_0>>) -> !grit.array<?x256x#grit.grade<mxfp4>> {
  %b = grit.requantize %a : !grit.array<?x256x#grit.format<gguf.q8_0>> -> !grit.array<?x256x#grit.grade<mxfp4>>
  return %b : !grit.array<?x256x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @slice
// CHECK: grit.slice %{{.*}} [0, 32] [4, %{{.*}}] : !grit.array<8x128x#mxfp4> -> !grit.array<4x?x#mxfp4>
// CHECK: grit.slice %{{.*}} [%{{.*}}, 0] [%{{.*}}, 128] : !grit.array<8x128x#mxfp4> -> !grit.array<?x128x#mxfp4>
func.func @slice(%a: !grit.array<8x128x#grit.grade<mxfp4>>, %i: index, %n: index) {
  %0 = grit.slice %a [0, 32] [4, %n] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<4x?x#grit.grade<mxfp4>>
  %1 = grit.slice %a [%i, 0] [%n, 128] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<?x128x#grit.grade<mxfp4>>
  return
}

// CHECK-LABEL: @transpose
// CHECK: grit.transpose %{{.*}} [1, 0, 2] : !grit.array<8x16x32x#mxfp4> -> !grit.array<16x8x32x#mxfp4>
func.func @transpose(%a: !grit.array<8x16x32x#grit.grade<mxfp4>>) -> !grit.array<16x8x32x#grit.grade<mxfp4>> {
  %b = grit.transpose %a [1, 0, 2] : !grit.array<8x16x32x#grit.grade<mxfp4>> -> !grit.array<16x8x32x#grit.grade<mxfp4>>
  return %b : !grit.array<16x8x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @concat
// CHECK: grit.concat dim 0 %{{.*}}, %{{.*}} : !grit.array<4x32x#mxfp4>, !grit.array<?x32x#mxfp4> -> !grit.array<?x32x#mxfp4>
func.func @concat(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %b: !grit.array<?x32x#grit.grade<mxfp4>>) -> !grit.array<?x32x#grit.grade<mxfp4>> {
  %c = grit.concat dim 0 %a, %b : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<?x32x#grit.grade<mxfp4>> -> !grit.array<?x32x#grit.grade<mxfp4>>
  return %c : !grit.array<?x32x#grit.grade<mxfp4>>
}

// What is assumed of an operand stays assumed.
// CHECK-LABEL: @sticky
// CHECK: grit.relayout %{{.*}} -> !grit.array<128x64x#nvf4, assumed = [scale]>
// CHECK: grit.slice %{{.*}} -> !grit.array<64x64x#nvf4, assumed = [scale]>
func.func @sticky(%a: !assumed) {
  %b = grit.relayout %a : !assumed -> !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]>
  %c = grit.slice %b [0, 0] [64, 64] : !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]> -> !grit.array<64x64x#grit.grade<nvf4>, assumed = [scale]>
  return
}

// A layout keeps its text.
// CHECK-LABEL: @layouts
// CHECK-SAME: data = layout("Tile(RowMajor,[16,16])")
// CHECK-SAME: #grit.placement<layout("Swizzle(3,4,3)")>
func.func private @layouts(!grit.array<64x64x#grit.grade<mxfp4>, data = layout("Tile(RowMajor,[16,16])")>)
    attributes {where = #grit.placement<layout("Swizzle(3,4,3)")>}
