// Operations on arrays whose bytes are known are done by the compiler.
// RUN: grit-opt %s --canonicalize | FileCheck %s

!a = !grit.array<2x32x#grit.grade<mxfp4>>

// OCP MX puts the largest of a group at the largest exponent of e2m1: 0.25 is
// 4.0 (code 6) times 2^-4 (byte 123).
// CHECK-LABEL: @encode
// CHECK-NEXT: %[[A:.*]] = grit.constant [dense<102> : tensor<16xi8>, dense<123> : tensor<1xi8>] : !grit.array<1x32x#mxfp4>
// CHECK-NEXT: return %[[A]]
func.func @encode() -> !grit.array<1x32x#grit.grade<mxfp4>> {
  %x = arith.constant dense<0.25> : tensor<1x32xf32>
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.grade<mxfp4>>
  return %a : !grit.array<1x32x#grit.grade<mxfp4>>
}

// Code 7 is 6.0; the second row has the scale 2^1.
// CHECK-LABEL: @decode
// CHECK-NEXT: %[[V:.*]] = arith.constant dense<{{\[\[}}6.000000e+00, {{.*}}6.000000e+00], [1.200000e+01, {{.*}}]]> : tensor<2x32xf32>
// CHECK-NEXT: return %[[V]]
func.func @decode(%y: tensor<2x32xf32>) -> tensor<2x32xf32> {
  %a = grit.constant [dense<0x77> : tensor<32xi8>, dense<[127, -128]> : tensor<2xi8>] : !a
  %r = grit.decode ins(%a : !a) outs(%y : tensor<2x32xf32>) -> tensor<2x32xf32>
  return %r : tensor<2x32xf32>
}

// CHECK-LABEL: @decode_to_bf16
// CHECK-NEXT: arith.constant dense<6.000000e+00> : tensor<1x32xbf16>
func.func @decode_to_bf16(%y: tensor<1x32xbf16>) -> tensor<1x32xbf16> {
  %a = grit.constant [dense<0x77> : tensor<16xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  %r = grit.decode ins(%a : !grit.array<1x32x#grit.grade<mxfp4>>) outs(%y : tensor<1x32xbf16>) -> tensor<1x32xbf16>
  return %r : tensor<1x32xbf16>
}

// A scale of byte 255 is not a number.
// CHECK-LABEL: @decode_nan
// CHECK-NEXT: arith.constant dense<0x7FC00000> : tensor<1x32xf32>
func.func @decode_nan(%y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %a = grit.constant [dense<0x77> : tensor<16xi8>, dense<-1> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  %r = grit.decode ins(%a : !grit.array<1x32x#grit.grade<mxfp4>>) outs(%y : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// The second scale of a row comes after the first of the next one.
// CHECK-LABEL: @relayout
// CHECK-NEXT: grit.constant [dense<0> : tensor<64xi8>, dense<[1, 3, 2, 4]> : tensor<4xi8>] : !grit.array<2x64x#mxfp4, scale = col_major>
// CHECK-NEXT: return
func.func @relayout() -> !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major> {
  %a = grit.constant [dense<0> : tensor<64xi8>, dense<[1, 2, 3, 4]> : tensor<4xi8>] : !grit.array<2x64x#grit.grade<mxfp4>>
  %b = grit.relayout %a : !grit.array<2x64x#grit.grade<mxfp4>> -> !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major>
  return %b : !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major>
}

// CHECK-LABEL: @shapes
// CHECK-DAG: %[[S:.*]] = grit.constant [dense<0> : tensor<16xi8>, dense<2> : tensor<1xi8>] : !grit.array<1x32x#mxfp4>
// CHECK-DAG: %[[C:.*]] = grit.constant [dense<0> : tensor<48xi8>, dense<[1, 2, 2]> : tensor<3xi8>] : !grit.array<3x32x#mxfp4>
// CHECK: return %[[S]], %[[C]]
func.func @shapes() -> (!grit.array<1x32x#grit.grade<mxfp4>>, !grit.array<3x32x#grit.grade<mxfp4>>) {
  %a = grit.constant [dense<0> : tensor<32xi8>, dense<[1, 2]> : tensor<2xi8>] : !a
  %b = grit.slice %a [1, 0] [1, 32] : !a -> !grit.array<1x32x#grit.grade<mxfp4>>
  %c = grit.concat dim 0 %a, %b : !a, !grit.array<1x32x#grit.grade<mxfp4>> -> !grit.array<3x32x#grit.grade<mxfp4>>
  return %b, %c : !grit.array<1x32x#grit.grade<mxfp4>>, !grit.array<3x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @transpose
// CHECK-NEXT: grit.constant [dense<0> : tensor<64xi8>, dense<[1, 3, 2, 4]> : tensor<4xi8>] : !grit.array<2x2x32x#mxfp4>
func.func @transpose() -> !grit.array<2x2x32x#grit.grade<mxfp4>> {
  %a = grit.constant [dense<0> : tensor<64xi8>, dense<[1, 2, 3, 4]> : tensor<4xi8>] : !grit.array<2x2x32x#grit.grade<mxfp4>>
  %b = grit.transpose %a [1, 0, 2] : !grit.array<2x2x32x#grit.grade<mxfp4>> -> !grit.array<2x2x32x#grit.grade<mxfp4>>
  return %b : !grit.array<2x2x32x#grit.grade<mxfp4>>
}

// q8_0 keeps 1.0 as 127 / 127 in binary16, which is less: 6.0 (code 7) times 2^-3.
// CHECK-LABEL: @requantize
// CHECK-NEXT: grit.constant [dense<119> : tensor<16xi8>, dense<124> : tensor<1xi8>] : !grit.array<1x32x#mxfp4>
func.func @requantize() -> !grit.array<1x32x#grit.grade<mxfp4>> {
  %x = arith.constant dense<1.0> : tensor<1x32xf32>
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.format<gguf.q8_0>>
  %b = grit.requantize %a : !grit.array<1x32x#grit.format<gguf.q8_0>> -> !grit.array<1x32x#grit.grade<mxfp4>>
  return %b : !grit.array<1x32x#grit.grade<mxfp4>>
}

// Long planes go to resources.
// CHECK-LABEL: @resource
// CHECK-NEXT: grit.constant [dense_resource<plane{{.*}}> : tensor<512xi8>, dense<127> : tensor<32xi8>]
func.func @resource() -> !grit.array<32x32x#grit.grade<mxfp4_rne>> {
  %a = grit.constant [dense_resource<long> : tensor<512xi8>, dense<127> : tensor<32xi8>] : !grit.array<32x32x#grit.grade<mxfp4>>
  %b = grit.reinterpret %a : !grit.array<32x32x#grit.grade<mxfp4>> -> !grit.array<32x32x#grit.grade<mxfp4_rne>>
  return %b : !grit.array<32x32x#grit.grade<mxfp4_rne>>
}

// Indices that rise pass the check; those that do not are checked at run time.
// CHECK-LABEL: @checks
// CHECK-NEXT: grit.constant
// CHECK-NEXT: %[[BAD:.*]] = grit.constant
// CHECK-NEXT: %[[CHECKED:.*]] = grit.check %[[BAD]] level 2
// CHECK-NEXT: return %{{.*}}, %[[CHECKED]]
func.func @checks() -> (!grit.array<1x32x#grit.grade<i8s24>>, !grit.array<1x32x#grit.grade<i8s24>>) {
  %a = grit.constant [dense<1> : tensor<16xi8>, dense<0> : tensor<2xi8>, dense<0x44> : tensor<4xi8>] : !grit.array<1x32x#grit.grade<i8s24>>
  %b = grit.check %a level 2 : !grit.array<1x32x#grit.grade<i8s24>>
  %c = grit.constant [dense<1> : tensor<16xi8>, dense<0> : tensor<2xi8>, dense<0x11> : tensor<4xi8>] : !grit.array<1x32x#grit.grade<i8s24>>
  %d = grit.check %c level 2 : !grit.array<1x32x#grit.grade<i8s24>>
  return %b, %d : !grit.array<1x32x#grit.grade<i8s24>>, !grit.array<1x32x#grit.grade<i8s24>>
}

// What few letters say can be more than there is memory for.
// CHECK-LABEL: @left_alone
// CHECK: grit.slice
func.func @left_alone() -> !grit.array<2x549755813888x#grit.grade<mxfp4>> {
  %a = grit.constant [dense<0> : tensor<1099511627776xi8>, dense<0> : tensor<68719476736xi8>] : !grit.array<4x549755813888x#grit.grade<mxfp4>>
  %b = grit.slice %a [0, 0] [2, 549755813888] : !grit.array<4x549755813888x#grit.grade<mxfp4>> -> !grit.array<2x549755813888x#grit.grade<mxfp4>>
  return %b : !grit.array<2x549755813888x#grit.grade<mxfp4>>
}

// What assumes a placement stays to be seen.
// CHECK-LABEL: @assume
// CHECK: grit.assume_placement
func.func @assume() -> !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major, assumed = [scale]> {
  %a = grit.constant [dense<0> : tensor<64xi8>, dense<[1, 2, 3, 4]> : tensor<4xi8>] : !grit.array<2x64x#grit.grade<mxfp4>>
  %b = grit.assume_placement %a "test" : !grit.array<2x64x#grit.grade<mxfp4>> -> !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major, assumed = [scale]>
  return %b : !grit.array<2x64x#grit.grade<mxfp4>, scale = col_major, assumed = [scale]>
}

{-#
  dialect_resources: {
    builtin: {
      long: "0x010000007F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F"
    }
  }
#-}
