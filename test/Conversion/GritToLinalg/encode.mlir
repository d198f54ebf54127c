// RUN: grit-opt %s --grit-convert-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// Units of 32, a scale each, codes, then bytes of two codes.
// CHECK-LABEL: @exp2
// CHECK: tensor.collapse_shape
// CHECK: %[[UNITS:.*]] = tensor.expand_shape {{.*}} : tensor<128xf32> into tensor<4x32xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: grit.bundle %{{.*}}, %{{.*}} : tensor<64xi8>, tensor<4xi8> -> !grit.array<4x32x#mxfp4>
func.func @exp2(%x: tensor<4x32xf32>) -> !grit.array<4x32x#grit.grade<mxfp4>> {
  %a = grit.encode %x : tensor<4x32xf32> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return %a : !grit.array<4x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: @dynamic
// CHECK: grit.bundle {{.*}} sizes[%{{.*}}] : tensor<?xi8>, tensor<?xi8> -> !grit.array<?x32x#mxfp4>
func.func @dynamic(%x: tensor<?x32xf32>) -> !grit.array<?x32x#grit.grade<mxfp4>> {
  %a = grit.encode %x : tensor<?x32xf32> -> !grit.array<?x32x#grit.grade<mxfp4>>
  return %a : !grit.array<?x32x#grit.grade<mxfp4>>
}

// A constant is quantized by the library (GRIT v1, appendix B.2).
// CHECK-LABEL: @constant
// CHECK: grit.constant [dense<[127, 42, 127, 42, {{.*}}]> : tensor<16xi8>, dense<[12, 38]> : tensor<2xi8>, dense<-52> : tensor<4xi8>]
func.func @constant() -> !grit.array<32x#grit.grade<i8s24>> {
  %x = arith.constant dense<[3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0,
                             3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 1.0]> : tensor<32xf32>
  %a = grit.encode %x : tensor<32xf32> -> !grit.array<32x#grit.grade<i8s24>>
  return %a : !grit.array<32x#grit.grade<i8s24>>
}

// Also where the rule searches.
// CHECK-LABEL: @constant_searched
// CHECK: grit.constant
func.func @constant_searched() -> !grit.array<1x256x#grit.format<gguf.q4_k>> {
  %x = arith.constant dense<0.5> : tensor<1x256xf32>
  %a = grit.encode %x : tensor<1x256xf32> -> !grit.array<1x256x#grit.format<gguf.q4_k>>
  return %a : !grit.array<1x256x#grit.format<gguf.q4_k>>
}

// No code for what is not finite: the program stops.
// CHECK-LABEL: @asserts_finite
// CHECK: cf.assert %{{.*}}, "GradeUnknown: grit.encode: this contract has no code for a value that is not finite"
func.func @asserts_finite(%x: tensor<2x32xf32>) -> !grit.array<2x32x#grit.format<gguf.q4_0>> {
  %a = grit.encode %x : tensor<2x32xf32> -> !grit.array<2x32x#grit.format<gguf.q4_0>>
  return %a : !grit.array<2x32x#grit.format<gguf.q4_0>>
}

// -----

func.func @search(%x: tensor<1x256xf32>) -> !grit.array<1x256x#grit.format<gguf.q4_k>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule without a search}}
  // expected-note@+3 {{found: gguf.q4_k searches for the best scale of a block}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<1x256xf32> -> !grit.array<1x256x#grit.format<gguf.q4_k>>
  return %a : !grit.array<1x256x#grit.format<gguf.q4_k>>
}

// -----

func.func @library_only(%x: tensor<1x32xf32>) -> !grit.array<1x32x#grit.format<gguf.q4_1>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: gguf.q4_1 has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.format<gguf.q4_1>>
  return %a : !grit.array<1x32x#grit.format<gguf.q4_1>>
}

// -----

func.func @derived(%x: tensor<1x32xf32>) -> !grit.array<1x32x#grit.format<gguf.q8_1>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: s}}
  // expected-note@+4 {{declared: codes and scales alone}}
  // expected-note@+3 {{found: a field derived from them}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.format<gguf.q8_1>>
  return %a : !grit.array<1x32x#grit.format<gguf.q8_1>>
}

// -----

func.func @lines(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<ct.fp8_channel>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: ct.fp8_channel has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<ct.fp8_channel>>
  return %a : !grit.array<128x256x#grit.format<ct.fp8_channel>>
}

// -----

func.func @blocks(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<deepseek.fp8>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: deepseek.fp8 has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<deepseek.fp8>>
  return %a : !grit.array<128x256x#grit.format<deepseek.fp8>>
}

// -----

func.func @nested_scales(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<bnb.nf4_double>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: bnb.nf4_double has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<bnb.nf4_double>>
  return %a : !grit.array<128x256x#grit.format<bnb.nf4_double>>
}

// -----

func.func @zero_points(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<ct.int4_zp>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: ct.int4_zp has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<ct.int4_zp>>
  return %a : !grit.array<128x256x#grit.format<ct.int4_zp>>
}

// -----

func.func @middle_zero_points(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<gptq.q4>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: gptq.q4 has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<gptq.q4>>
  return %a : !grit.array<128x256x#grit.format<gptq.q4>>
}

// -----

func.func @inverse_scales(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<hqq.q4>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: hqq.q4 has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<hqq.q4>>
  return %a : !grit.array<128x256x#grit.format<hqq.q4>>
}

// -----

func.func @edges(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<mlx.q4_f16>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: encode rule}}
  // expected-note@+4 {{declared: a rule that the compiler knows}}
  // expected-note@+3 {{found: mlx.q4_f16 has one that only the library follows}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<mlx.q4_f16>>
  return %a : !grit.array<128x256x#grit.format<mlx.q4_f16>>
}

// -----

func.func @units_of_a_power_of_two(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<mxint8>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: level}}
  // expected-note@+4 {{declared: numbers of a word}}
  // expected-note@+3 {{found: multiples of them}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<mxint8>>
  return %a : !grit.array<128x256x#grit.format<mxint8>>
}

// -----

func.func @levels_out_of_order(%x: tensor<128x256xf32>) -> !grit.array<128x256x#grit.format<bnb.fp4>> {
  // expected-error@+6 {{'grit.encode' op encode of this contract has no lowering}}
  // expected-note@+5 {{field: level}}
  // expected-note@+4 {{declared: ascending levels}}
  // expected-note@+3 {{found: others}}
  // expected-note@+2 {{likely cause: the rule is not one that the compiler emits}}
  // expected-note@+1 {{fix: quantize with the grit command or the library, and pass the array in}}
  %a = grit.encode %x : tensor<128x256xf32> -> !grit.array<128x256x#grit.format<bnb.fp4>>
  return %a : !grit.array<128x256x#grit.format<bnb.fp4>>
}

// -----

// The library's own refusal, where it has one.
func.func @undefined(%x: tensor<1x32xf32>) -> !grit.array<1x32x#grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = affineminmax>> {
  // expected-error@+6 {{'grit.encode' op the encode rule affineminmax is not defined for this format}}
  // expected-note@+5 {{field: zps}}
  // expected-note@+4 {{declared: l1: a scale and a minimum of two levels}}
  // expected-note@+3 {{found: another structure of scales and offsets}}
  // expected-note@+2 {{likely cause: the format can be stored and decoded, but its text gives this rule no meaning}}
  // expected-note@+1 {{fix: encode into a registered format}}
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = affineminmax>>
  return %a : !grit.array<1x32x#grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = affineminmax>>
}

// -----

func.func @constant_not_finite() -> !grit.array<1x32x#grit.format<gguf.q4_0>> {
  %x = arith.constant dense<0x7FC00000> : tensor<1x32xf32>
  // expected-error@+6 {{'grit.encode' op this contract has no code for a value that is not finite}}
  // expected-note@+5 {{field: values[0]}}
  // expected-note@+4 {{declared: a finite number}}
  // expected-note@+3 {{found: nan}}
  // expected-note@+2 {{likely cause: the tensor holds NaN or infinity}}
  // expected-note@+1 {{fix: clean the tensor, or use a contract whose scales carry NaN}}
  %a = grit.encode %x : tensor<1x32xf32> -> !grit.array<1x32x#grit.format<gguf.q4_0>>
  return %a : !grit.array<1x32x#grit.format<gguf.q4_0>>
}
