// RUN: grit-opt %s --split-input-file --verify-diagnostics=only-expected

// L1: relayout changes placements only.
func.func @relayout_drops_assumption(%a: !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]>) {
  // expected-error@+1 {{'grit.relayout' op result must be '!grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>', which assumes what its operands assume, but got '!grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>'}}
  %b = grit.relayout %a : !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]> -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
  return
}

// -----

// L3, P17: a hash without its text leads nowhere.
func.func @relayout_from_hash(%a: !grit.array<64x64x#grit.grade<mxfp4>, data = 0x8000000000000123>) {
  // expected-error@below {{'grit.relayout' op}}
  %b = grit.relayout %a : !grit.array<64x64x#grit.grade<mxfp4>, data = 0x8000000000000123> -> !grit.array<64x64x#grit.grade<mxfp4>>
  return
}

// -----

func.func @assume_without_reason(%a: !grit.array<128x64x#grit.grade<nvf4>>) {
  // expected-error@below {{'grit.assume_placement' op an assumption needs a reason}}
  %b = grit.assume_placement %a " " : !grit.array<128x64x#grit.grade<nvf4>> -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>
  return
}

// -----

func.func @assume_nothing(%a: !grit.array<128x64x#grit.grade<nvf4>>) {
  // expected-error@+1 {{'grit.assume_placement' op assumes nothing: no placement changes}}
  %b = grit.assume_placement %a "why" : !grit.array<128x64x#grit.grade<nvf4>> -> !grit.array<128x64x#grit.grade<nvf4>>
  return
}

// -----

func.func @assume_in_secret(%a: !grit.array<128x64x#grit.grade<nvf4>>) {
  // expected-error@+1 {{result must be '!grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b, assumed = [scale]>'}}
  %b = grit.assume_placement %a "why" : !grit.array<128x64x#grit.grade<nvf4>> -> !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
  return
}

// -----

func.func @verify_by_assumption(%a: !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]>) {
  // expected-error@+1 {{'grit.verify_placement' op reference must not assume what it is to prove}}
  %b = grit.verify_placement %a against %a : !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]>, !grit.array<128x64x#grit.grade<nvf4>, assumed = [scale]> -> !grit.array<128x64x#grit.grade<nvf4>>
  return
}

// -----

func.func @verify_nothing(%a: !grit.array<128x64x#grit.grade<nvf4>>) {
  // expected-error@+1 {{'grit.verify_placement' op must lift at least one assumption and add none}}
  %b = grit.verify_placement %a against %a : !grit.array<128x64x#grit.grade<nvf4>>, !grit.array<128x64x#grit.grade<nvf4>> -> !grit.array<128x64x#grit.grade<nvf4>>
  return
}

// -----

// A5: what has no map cannot be compared, not even with itself.
func.func @verify_without_map(%a: !grit.array<128x64x#grit.grade<nvf4>, data = unspecified, assumed = [data]>,
                              %r: !grit.array<128x64x#grit.grade<nvf4>, data = unspecified>) {
  // expected-error@+1 {{'grit.verify_placement' op data placement cannot go from UNSPECIFIED to UNSPECIFIED: there is no map for an opaque or unspecified placement}}
  %b = grit.verify_placement %a against %r : !grit.array<128x64x#grit.grade<nvf4>, data = unspecified, assumed = [data]>, !grit.array<128x64x#grit.grade<nvf4>, data = unspecified> -> !grit.array<128x64x#grit.grade<nvf4>, data = unspecified>
  return
}

// -----

func.func @reinterpret_without_edge(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@below {{'grit.reinterpret' op no supersedes edge says that bytes of #grit.grade<mxfp4> may be read as #grit.grade<"grit1(e=s4,k0=32,s0=e8m0,esr=exp2floormaxabs)">}}
  // expected-note@below {{fix: use grit.requantize, which writes new bytes}}
  %b = grit.reinterpret %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<4x32x#grit.grade<e = s4, k0 = 32, s0 = e8m0, esr = exp2floormaxabs>>
  return
}

// -----

func.func @requantize_other_shape(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.requantize' op must keep the shape}}
  %b = grit.requantize %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<2x64x#grit.grade<mxfp4>>
  return
}

// -----

// L5.
func.func @slice_cuts_group(%a: !grit.array<8x128x#grit.grade<mxfp4>>) {
  // expected-error@below {{'grit.slice' op}}
  %b = grit.slice %a [0, 16] [8, 32] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return
}

// -----

// L5: where a slice of unknown length begins.
func.func @slice_begins_in_group(%a: !grit.array<8x?x#grit.grade<mxfp4>>, %n: index) {
  // expected-error@below {{'grit.slice' op}}
  %b = grit.slice %a [0, 16] [8, %n] : !grit.array<8x?x#grit.grade<mxfp4>> -> !grit.array<8x?x#grit.grade<mxfp4>>
  return
}

// -----

func.func @slice_outside(%a: !grit.array<8x128x#grit.grade<mxfp4>>) {
  // expected-error@below {{'grit.slice' op}}
  %b = grit.slice %a [4, 0] [8, 128] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<8x128x#grit.grade<mxfp4>>
  return
}

// -----

func.func @slice_result(%a: !grit.array<8x128x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.slice' op extent 0 of the result must be 4, but got '!grit.array<5x128x#grit.grade<mxfp4>>'}}
  %b = grit.slice %a [4, 0] [4, 128] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<5x128x#grit.grade<mxfp4>>
  return
}

// -----

func.func @slice_numbers(%a: !grit.array<8x128x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.slice' op needs 2 offsets and sizes, but got 1 and 2}}
  %b = grit.slice %a [4] [4, 128] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<4x128x#grit.grade<mxfp4>>
  return
}

// -----

func.func @slice_overflow(%a: !grit.array<8x128x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.slice' op offsets and sizes must be 0 to 2^48, but got 9223372036854775807}}
  %b = grit.slice %a [9223372036854775807, 0] [4, 128] : !grit.array<8x128x#grit.grade<mxfp4>> -> !grit.array<4x128x#grit.grade<mxfp4>>
  return
}

// -----

func.func @slice_operands(%a: !grit.array<8x128x#grit.grade<mxfp4>>, %n: index) {
  // expected-error@+1 {{'grit.slice' op needs one operand per dynamic offset and size, 0, but got 1}}
  %b = "grit.slice"(%a, %n) {static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 8, 128>, operandSegmentSizes = array<i32: 1, 1, 0>} : (!grit.array<8x128x#grit.grade<mxfp4>>, index) -> !grit.array<8x128x#grit.grade<mxfp4>>
  return
}

// -----

// L4.
func.func @transpose_group_axis(%a: !grit.array<32x64x#grit.grade<mxfp4>>) {
  // expected-error@below {{'grit.transpose' op}}
  %b = grit.transpose %a [1, 0] : !grit.array<32x64x#grit.grade<mxfp4>> -> !grit.array<64x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @transpose_no_permutation(%a: !grit.array<8x16x32x#grit.grade<mxfp4>>) {
  // expected-error@below {{'grit.transpose' op}}
  %b = grit.transpose %a [0, 0, 2] : !grit.array<8x16x32x#grit.grade<mxfp4>> -> !grit.array<8x8x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @concat_contracts(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %b: !grit.array<4x32x#grit.grade<mxfp4_rne>>) {
  // expected-error@below {{'grit.concat' op}}
  %c = grit.concat dim 0 %a, %b : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<4x32x#grit.grade<mxfp4_rne>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return
}

// -----

// One scale for the whole array.
func.func @concat_of_nvf4(%a: !grit.array<4x64x#grit.grade<nvf4>>) {
  // expected-error@below {{'grit.concat' op}}
  %c = grit.concat dim 0 %a, %a : !grit.array<4x64x#grit.grade<nvf4>>, !grit.array<4x64x#grit.grade<nvf4>> -> !grit.array<8x64x#grit.grade<nvf4>>
  return
}

// -----

func.func @concat_extents(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %b: !grit.array<4x64x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.concat' op extent 1 of an operand must be 32, but got 64}}
  %c = grit.concat dim 0 %a, %b : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<4x64x#grit.grade<mxfp4>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @concat_dim(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.concat' op dimension 2 is out of range for rank 2}}
  %c = grit.concat dim 2 %a, %a : !grit.array<4x32x#grit.grade<mxfp4>>, !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<8x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @concat_nothing() {
  // expected-error@+1 {{'grit.concat' op needs at least one operand}}
  %c = "grit.concat"() {dim = 0} : () -> !grit.array<8x32x#grit.grade<mxfp4>>
  return
}

// -----

// G23: sums of two different precisions have no common contract.
func.func @matmul_without_join(%x: tensor<3x64xf32>, %w: !grit.array<8x64x#grit.grade<mxfp4>>, %y: tensor<3x8xf32>) {
  // expected-error@below {{'grit.matmul' op the accumulation contracts have no common one}}
  %r = grit.matmul ins(%x, %w : tensor<3x64xf32>, !grit.array<8x64x#grit.grade<mxfp4>>)
       outs(%y : tensor<3x8xf32>) accum = #grit.accum<ai = binary16> -> tensor<3x8xf32>
  return
}

// -----

// expected-error@+1 {{assumes the placement of planes that the contract does not have}}
func.func private @assumed_role(!grit.array<4x32x#grit.grade<mxfp4>, assumed = [meta]>)

// -----

func.func @encode_assumed(%x: tensor<4x32xf32>) {
  // expected-error@+1 {{'grit.encode' op result must be '!grit.array<4x32x#grit.grade<mxfp4>>', which assumes what its operands assume}}
  %a = grit.encode %x : tensor<4x32xf32> -> !grit.array<4x32x#grit.grade<mxfp4>, assumed = [data]>
  return
}

// -----

// Lines of unknown length are cut nowhere.
func.func @slice_of_lines_of_unknown_length(%a: !grit.array<4x?x#grit.format<ct.fp8_channel>>) {
  // expected-error@+6 {{'grit.slice' op extents that decide a unit must be static}}
  // expected-note@+5 {{field: shape}}
  // expected-note@+4 {{declared: known extents}}
  // expected-note@+3 {{found: a dynamic one}}
  // expected-note@+2 {{likely cause: plane scale of ct.fp8_channel has a value for each line of the shape}}
  // expected-note@+1 {{fix: give the extent of the group axis}}
  %b = grit.slice %a [0, 0] [2, 64] : !grit.array<4x?x#grit.format<ct.fp8_channel>> -> !grit.array<2x64x#grit.format<ct.fp8_channel>>
  return
}

// -----

func.func @blocks_of_unknown_matrices(%a: !grit.array<?x64x#grit.format<deepseek.fp8>>) {
  // expected-error@+6 {{'grit.concat' op extents that decide a unit must be static}}
  // expected-note@+5 {{field: shape}}
  // expected-note@+4 {{declared: known extents}}
  // expected-note@+3 {{found: a dynamic one}}
  // expected-note@+2 {{likely cause: plane scale of deepseek.fp8 has a value for each block of the shape}}
  // expected-note@+1 {{fix: give all extents}}
  %b = grit.concat dim 0 %a, %a : !grit.array<?x64x#grit.format<deepseek.fp8>>, !grit.array<?x64x#grit.format<deepseek.fp8>> -> !grit.array<?x64x#grit.format<deepseek.fp8>>
  return
}
