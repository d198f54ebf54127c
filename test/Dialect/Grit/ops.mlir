// RUN: grit-opt %s --verify-roundtrip | FileCheck %s
// RUN: grit-opt %s --mlir-print-op-generic | grit-opt --verify-roundtrip | FileCheck %s
// RUN: grit-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

#mxfp4 = #grit.grade<mxfp4>
#nvf4 = #grit.grade<nvf4>

// CHECK-LABEL: @constant
// CHECK: grit.constant [dense<{{.*}}> : tensor<16xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#mxfp4>
// GENERIC: "grit.constant"() <{planes = [dense<{{.*}}> : tensor<16xi8>, dense<127> : tensor<1xi8>]}>
func.func @constant() -> !grit.array<1x32x#mxfp4> {
  %w = grit.constant [
    dense<"0x20426476A8CAECFE0000000000000000"> : tensor<16xi8>,
    dense<127> : tensor<1xi8>] : !grit.array<1x32x#mxfp4>
  return %w : !grit.array<1x32x#mxfp4>
}

// CHECK-LABEL: @constant_resource
// CHECK: grit.constant [dense_resource<w_data> : tensor<16xi8>, dense_resource<w_scale> : tensor<1xi8>]
func.func @constant_resource() -> !grit.array<1x32x#mxfp4> {
  %w = grit.constant [dense_resource<w_data> : tensor<16xi8>,
                      dense_resource<w_scale> : tensor<1xi8>]
       : !grit.array<1x32x#mxfp4>
  return %w : !grit.array<1x32x#mxfp4>
}

// CHECK-LABEL: @bundle
// CHECK: grit.bundle %{{.*}}, %{{.*}} : tensor<64xi8>, tensor<4xi8> -> !grit.array<4x32x#mxfp4>
// GENERIC: "grit.bundle"(%{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 2, 0>}>
func.func @bundle(%data: tensor<64xi8>, %scale: tensor<4xi8>) -> !grit.array<4x32x#mxfp4> {
  %a = grit.bundle %data, %scale : tensor<64xi8>, tensor<4xi8> -> !grit.array<4x32x#mxfp4>
  return %a : !grit.array<4x32x#mxfp4>
}

// CHECK-LABEL: @bundle_dynamic
// CHECK: grit.bundle %{{.*}}, %{{.*}} sizes[%{{.*}}] : tensor<?xi8>, tensor<?xi8> -> !grit.array<?x32x#mxfp4>
func.func @bundle_dynamic(%data: tensor<?xi8>, %scale: tensor<?xi8>, %n: index) -> !grit.array<?x32x#mxfp4> {
  %a = grit.bundle %data, %scale sizes [%n] : tensor<?xi8>, tensor<?xi8> -> !grit.array<?x32x#mxfp4>
  return %a : !grit.array<?x32x#mxfp4>
}

// Planes of unknown size may claim a static shape; grit.check compares them.
// CHECK-LABEL: @bundle_unknown_sizes
// CHECK: grit.bundle %{{.*}} : tensor<?xi8> -> !grit.array<4x256x#gguf_q4_k>
func.func @bundle_unknown_sizes(%blocks: tensor<?xi8>) -> !grit.array<4x256x#grit.format<gguf.q4_k>> {
  %a = grit.bundle %blocks : tensor<?xi8> -> !grit.array<4x256x#grit.format<gguf.q4_k>>
  return %a : !grit.array<4x256x#grit.format<gguf.q4_k>>
}

// One plane for an array of structures, two for NF4, three for two scale levels;
// a scale of the whole tensor has a size of its own.
// CHECK-LABEL: @planes
// CHECK: grit.planes %{{.*}} : !grit.array<2x32x#gguf_q4_0> -> tensor<36xi8>
// CHECK: grit.planes %{{.*}} : !grit.array<2x64x#hurray_nf4> -> tensor<64xi8>, tensor<8xi8>
// CHECK: grit.planes %{{.*}} : !grit.array<?x16x#nvf4> -> tensor<?xi8>, tensor<?xi8>, tensor<4xi8>
// CHECK: grit.planes %{{.*}} : !grit.array<4x384x#q4ks> -> tensor<768xi8>, tensor<48xi8>, tensor<24xi8>, tensor<48xi8>
func.func @planes(%a: !grit.array<2x32x#grit.format<gguf.q4_0>>,
                  %b: !grit.array<2x64x#grit.format<hurray.nf4>>,
                  %c: !grit.array<?x16x#nvf4>,
                  %d: !grit.array<4x384x#grit.grade<q4ks>>) {
  %0 = grit.planes %a : !grit.array<2x32x#grit.format<gguf.q4_0>> -> tensor<36xi8>
  %1:2 = grit.planes %b : !grit.array<2x64x#grit.format<hurray.nf4>> -> tensor<64xi8>, tensor<8xi8>
  %2:3 = grit.planes %c : !grit.array<?x16x#nvf4> -> tensor<?xi8>, tensor<?xi8>, tensor<4xi8>
  %3:4 = grit.planes %d : !grit.array<4x384x#grit.grade<q4ks>>
         -> tensor<768xi8>, tensor<48xi8>, tensor<24xi8>, tensor<48xi8>
  return
}

// CHECK-LABEL: @dim
// CHECK: grit.dim %{{.*}}, 0 : !grit.array<?x32x#mxfp4>
func.func @dim(%a: !grit.array<?x32x#mxfp4>) -> index {
  %n = grit.dim %a, 0 : !grit.array<?x32x#mxfp4>
  return %n : index
}

// CHECK-LABEL: @decode
// CHECK: grit.decode ins(%{{.*}} : !grit.array<4x32x#mxfp4>) outs(%{{.*}} : tensor<4x32xf32>) -> tensor<4x32xf32>
// CHECK: grit.decode ins(%{{.*}} : !grit.array<4x32x#mxfp4>) outs(%{{.*}} : tensor<?x32xbf16>) -> tensor<?x32xbf16>
func.func @decode(%a: !grit.array<4x32x#mxfp4>, %f: tensor<4x32xf32>, %b: tensor<?x32xbf16>) {
  %0 = grit.decode ins(%a : !grit.array<4x32x#mxfp4>) outs(%f : tensor<4x32xf32>) -> tensor<4x32xf32>
  %1 = grit.decode ins(%a : !grit.array<4x32x#mxfp4>) outs(%b : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// CHECK-LABEL: @encode
// CHECK: grit.encode %{{.*}} : tensor<?x32xf32> -> !grit.array<?x32x#mxfp4>
func.func @encode(%x: tensor<?x32xf32>) -> !grit.array<?x32x#mxfp4> {
  %a = grit.encode %x : tensor<?x32xf32> -> !grit.array<?x32x#mxfp4>
  return %a : !grit.array<?x32x#mxfp4>
}

// CHECK-LABEL: @matmul
// CHECK: grit.matmul ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, !grit.array<128x64x#nvf4>) outs(%{{.*}} : tensor<?x128xf32>) -> tensor<?x128xf32>
// CHECK: grit.matmul ins(%{{.*}}, %{{.*}} : tensor<2x5x64xbf16>, !grit.array<128x64x#nvf4>) outs(%{{.*}} : tensor<2x5x128xf16>) accum = <ao = seq> -> tensor<2x5x128xf16>
// CHECK: grit.matmul ins(%{{.*}}, %{{.*}} : tensor<64xf32>
func.func @matmul(%x: tensor<?x64xf32>, %xb: tensor<2x5x64xbf16>, %xv: tensor<64xf32>,
                  %w: !grit.array<128x64x#nvf4>, %y: tensor<?x128xf32>,
                  %yb: tensor<2x5x128xf16>, %yv: tensor<128xf32>) {
  %0 = grit.matmul ins(%x, %w : tensor<?x64xf32>, !grit.array<128x64x#nvf4>)
       outs(%y : tensor<?x128xf32>) -> tensor<?x128xf32>
  %1 = grit.matmul ins(%xb, %w : tensor<2x5x64xbf16>, !grit.array<128x64x#nvf4>)
       outs(%yb : tensor<2x5x128xf16>) accum = #grit.accum<ao = seq> -> tensor<2x5x128xf16>
  %2 = grit.matmul ins(%xv, %w : tensor<64xf32>, !grit.array<128x64x#nvf4>)
       outs(%yv : tensor<128xf32>) -> tensor<128xf32>
  return
}

// CHECK-LABEL: @relayout
// CHECK: grit.relayout %{{.*}} : !grit.array<128x64x#nvf4> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
func.func @relayout(%a: !grit.array<128x64x#nvf4>) -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b> {
  %b = grit.relayout %a : !grit.array<128x64x#nvf4> -> !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
  return %b : !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
}

// CHECK-LABEL: @check
// CHECK: grit.check %{{.*}} level 2 : !grit.array<?x32x#mxfp4>
func.func @check(%a: !grit.array<?x32x#mxfp4>) -> !grit.array<?x32x#mxfp4> {
  %b = grit.check %a level 2 : !grit.array<?x32x#mxfp4>
  return %b : !grit.array<?x32x#mxfp4>
}

{-#
  dialect_resources: {
    builtin: {
      w_data: "0x0100000020426476A8CAECFE0000000000000000",
      w_scale: "0x010000007F"
    }
  }
#-}
