// RUN: grit-opt %s --split-input-file --verify-diagnostics

func.func @constant_dynamic_shape() {
  // expected-error@+1 {{'grit.constant' op shape must be static, but got '!grit.array<?x32x#grit.grade<mxfp4>>'}}
  %0 = grit.constant [dense<0> : tensor<16xi8>, dense<127> : tensor<1xi8>] : !grit.array<?x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_plane_missing() {
  // expected-error@+1 {{'grit.constant' op contract #grit.grade<mxfp4> has 2 plane(s), but got 1}}
  %0 = grit.constant [dense<0> : tensor<16xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_plane_too_short() {
  // expected-error@+6 {{'grit.constant' op the size of plane data is not what the shape demands}}
  // expected-note@+5 {{field: plane_bytes[data]}}
  // expected-note@+4 {{declared: 16 bytes: numel=32 x 4 bits = 16 bytes}}
  // expected-note@+3 {{found: 15 bytes}}
  // expected-note@+2 {{likely cause: the bytes are cut short}}
  // expected-note@+1 {{fix: check the shape [1, 32] and the contract mxfp4}}
  %0 = grit.constant [dense<0> : tensor<15xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

// -----

// The likeliest cause is named.
func.func @constant_groups_of_another_size() {
  // expected-error@+6 {{'grit.constant' op the size of plane scale0 is not what the shape demands}}
  // expected-note@+5 {{field: plane_bytes[scale0]}}
  // expected-note@+4 {{declared: 2 bytes: numel=64 / 32 x 8 bits = 2 bytes}}
  // expected-note@+3 {{found: 4 bytes}}
  // expected-note@+2 {{likely cause: it fits groups of 16 elements instead of 32}}
  // expected-note@+1 {{fix: check the shape [2, 32] and the contract mxfp4}}
  %0 = grit.constant [dense<0> : tensor<32xi8>, dense<127> : tensor<4xi8>] : !grit.array<2x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_plane_of_words() {
  // expected-error@+1 {{'grit.constant' op each plane must be an elements attribute of type tensor<Bxi8>, but got dense<127> : tensor<1xi32>}}
  %0 = grit.constant [dense<0> : tensor<16xi8>, dense<127> : tensor<1xi32>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_plane_of_rank_two() {
  // expected-error@+1 {{'grit.constant' op each plane must be an elements attribute of type tensor<Bxi8>, but got dense<0> : tensor<4x4xi8>}}
  %0 = grit.constant [dense<0> : tensor<4x4xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_plane_not_elements() {
  // expected-error@+1 {{'grit.constant' op each plane must be an elements attribute of type tensor<Bxi8>, but got 127 : i8}}
  %0 = grit.constant [dense<0> : tensor<16xi8>, 127 : i8] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_plane_size(%data: tensor<64xi8>, %scale: tensor<5xi8>) {
  // expected-error@+6 {{'grit.bundle' op the size of plane scale0 is not what the shape demands}}
  // expected-note@+5 {{field: plane_bytes[scale0]}}
  // expected-note@+4 {{declared: 4 bytes: numel=128 / 32 x 8 bits = 4 bytes}}
  // expected-note@+3 {{found: 5 bytes}}
  // expected-note@+2 {{likely cause: there are bytes too many: padding, or another shape}}
  // expected-note@+1 {{fix: check the shape [4, 32] and the contract mxfp4}}
  %0 = grit.bundle %data, %scale : tensor<64xi8>, tensor<5xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_plane_size_beside_an_unknown_one(%data: tensor<?xi8>, %scale: tensor<5xi8>) {
  // expected-error@+1 {{'grit.bundle' op bytes of plane 1 must be 4, but got 5}}
  %0 = grit.bundle %data, %scale : tensor<?xi8>, tensor<5xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

// A scale of the whole tensor has its size whatever the shape.
func.func @bundle_constant_size(%data: tensor<?xi8>, %scale: tensor<?xi8>, %one: tensor<8xi8>, %n: index) {
  // expected-error@+1 {{'grit.bundle' op bytes of plane 2 must be 4, but got 8}}
  %0 = grit.bundle %data, %scale, %one sizes [%n] : tensor<?xi8>, tensor<?xi8>, tensor<8xi8> -> !grit.array<?x16x#grit.grade<nvf4>>
  return
}

// -----

func.func @bundle_plane_missing(%data: tensor<64xi8>) {
  // expected-error@+1 {{'grit.bundle' op contract #grit.grade<mxfp4> has 2 plane(s), but got 1}}
  %0 = grit.bundle %data : tensor<64xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_size_missing(%data: tensor<?xi8>, %scale: tensor<?xi8>) {
  // expected-error@+1 {{'grit.bundle' op needs one size per dynamic extent, 1, but got 0}}
  %0 = grit.bundle %data, %scale : tensor<?xi8>, tensor<?xi8> -> !grit.array<?x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_size_of_a_static_extent(%data: tensor<64xi8>, %scale: tensor<4xi8>, %n: index) {
  // expected-error@+1 {{'grit.bundle' op needs one size per dynamic extent, 0, but got 1}}
  %0 = grit.bundle %data, %scale sizes [%n] : tensor<64xi8>, tensor<4xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_plane_of_words(%data: tensor<16xi32>, %scale: tensor<4xi8>) {
  // expected-error@+1 {{'grit.bundle' op operand #0 must be variadic of 1D tensor of 8-bit signless integer values, but got 'tensor<16xi32>'}}
  %0 = grit.bundle %data, %scale : tensor<16xi32>, tensor<4xi8> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @bundle_into_a_tensor(%data: tensor<16xi8>, %scale: tensor<4xi8>) {
  // expected-error@+1 {{'grit.bundle' op result #0 must be a quantized array: shape, contract, group axis, placements, but got 'tensor<4x32xf32>'}}
  %0 = "grit.bundle"(%data, %scale) <{operandSegmentSizes = array<i32: 2, 0>}> : (tensor<16xi8>, tensor<4xi8>) -> tensor<4x32xf32>
  return
}

// -----

func.func @planes_of_another_size(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.planes' op plane 1 must be 'tensor<4xi8>', but got 'tensor<5xi8>'}}
  %0:2 = grit.planes %a : !grit.array<4x32x#grit.grade<mxfp4>> -> tensor<64xi8>, tensor<5xi8>
  return
}

// -----

func.func @planes_of_another_number(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.planes' op contract #grit.grade<mxfp4> has 2 plane(s), but got 1}}
  %0 = grit.planes %a : !grit.array<4x32x#grit.grade<mxfp4>> -> tensor<64xi8>
  return
}

// -----

func.func @dim_beyond_rank(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.dim' op dimension 2 is out of range for rank 2}}
  %0 = grit.dim %a, 2 : !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @dim_negative(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.dim' op dimension -1 is out of range for rank 2}}
  %0 = grit.dim %a, -1 : !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @decode_extent(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<4x31xf32>) {
  // expected-error@+1 {{'grit.decode' op extent 1 of the destination must be 32, but got 31}}
  %0 = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<4x31xf32>) -> tensor<4x31xf32>
  return
}

// -----

func.func @decode_rank(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<128xf32>) {
  // expected-error@+1 {{'grit.decode' op rank of the destination must be 2, but got 1}}
  %0 = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<128xf32>) -> tensor<128xf32>
  return
}

// -----

func.func @decode_unranked(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<*xf32>) {
  // expected-error@+1 {{'grit.decode' op destination must be a ranked tensor}}
  %0 = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @decode_into_integers(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<4x32xi32>) {
  // expected-error@+1 {{'grit.decode' op operand #1 must be tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<4x32xi32>'}}
  %0 = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<4x32xi32>) -> tensor<4x32xi32>
  return
}

// -----

func.func @decode_of_a_tensor(%a: tensor<4x32xf32>) {
  // expected-error@+1 {{'grit.decode' op operand #0 must be a quantized array: shape, contract, group axis, placements, but got 'tensor<4x32xf32>'}}
  %0 = "grit.decode"(%a, %a) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @decode_result_differs_from_destination(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<4x32xf32>) {
  // expected-error@+1 {{'grit.decode' op failed to verify that all of {init, result} have same type}}
  %0 = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<4x32xf32>) -> tensor<4x32xf16>
  return
}

// -----

func.func @encode_extent(%x: tensor<4x64xf32>) {
  // expected-error@+1 {{'grit.encode' op extent 1 of the input must be 32, but got 64}}
  %0 = grit.encode %x : tensor<4x64xf32> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @encode_of_bf16(%x: tensor<4x32xbf16>) {
  // expected-error@+1 {{'grit.encode' op operand #0 must be tensor of 32-bit float values, but got 'tensor<4x32xbf16>'}}
  %0 = grit.encode %x : tensor<4x32xbf16> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @encode_without_a_rule(%x: tensor<4x32xf32>) {
  // expected-error@+1 {{'grit.encode' op contract #grit.grade<"grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:mine)"> defines no encoding}}
  %0 = grit.encode %x : tensor<4x32xf32> -> !grit.array<4x32x#grit.grade<"grit1(e=e2m1,k0=32,s0=e8m0,esr=custom:mine)">>
  return
}

// -----

func.func @matmul_contraction(%x: tensor<8x32xf32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<8x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op the last extent of the activations (K) must be 64, but got 32}}
  %0 = grit.matmul ins(%x, %w : tensor<8x32xf32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @matmul_rows_of_the_weight(%x: tensor<8x64xf32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<8x17xf32>) {
  // expected-error@+1 {{'grit.matmul' op the last extent of the destination (N) must be 16, but got 17}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<8x17xf32>) -> tensor<8x17xf32>
  return
}

// -----

func.func @matmul_leading_extent(%x: tensor<8x64xf32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<9x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op extent 0 of the destination must be 8, but got 9}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<9x16xf32>) -> tensor<9x16xf32>
  return
}

// -----

func.func @matmul_rank(%x: tensor<8x64xf32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<1x8x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op activations and destination must have the same rank of at least 1, but got 2 and 3}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  return
}

// -----

func.func @matmul_scalar(%x: tensor<f32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<f32>) {
  // expected-error@+1 {{'grit.matmul' op activations and destination must have the same rank of at least 1, but got 0 and 0}}
  %0 = grit.matmul ins(%x, %w : tensor<f32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @matmul_unranked(%x: tensor<*xf32>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<8x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op activations and destination must be ranked tensors}}
  %0 = grit.matmul ins(%x, %w : tensor<*xf32>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @matmul_weight_rank(%x: tensor<8x64xf32>, %w: !grit.array<2x16x64x#grit.grade<mxfp4>>, %y: tensor<8x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op weight must have rank 2 ([N, K]), but got '!grit.array<2x16x64x#grit.grade<mxfp4>>'}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<2x16x64x#grit.grade<mxfp4>>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @matmul_group_axis(%x: tensor<8x64xf32>, %w: !grit.array<64x64x#grit.format<hurray.nf4>, axis = 0>, %y: tensor<8x64xf32>) {
  // expected-error@+1 {{'grit.matmul' op group axis of the weight must be 1, the contraction, but got 0}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xf32>, !grit.array<64x64x#grit.format<hurray.nf4>, axis = 0>) outs(%y : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @matmul_of_integers(%x: tensor<8x64xi8>, %w: !grit.array<16x64x#grit.grade<mxfp4>>, %y: tensor<8x16xf32>) {
  // expected-error@+1 {{'grit.matmul' op operand #0 must be tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<8x64xi8>'}}
  %0 = grit.matmul ins(%x, %w : tensor<8x64xi8>, !grit.array<16x64x#grit.grade<mxfp4>>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @relayout_changes_the_shape(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.relayout' op may change placements only, but goes from '!grit.array<4x32x#grit.grade<mxfp4>>' to '!grit.array<2x64x#grit.grade<mxfp4>>'}}
  %0 = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<2x64x#grit.grade<mxfp4>>
  return
}

// -----

func.func @relayout_changes_the_contract(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.relayout' op may change placements only, but goes from '!grit.array<4x32x#grit.grade<mxfp4>>' to '!grit.array<4x32x#grit.grade<mxfp4_rne>>'}}
  %0 = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<4x32x#grit.grade<mxfp4_rne>>
  return
}

// -----

func.func @relayout_out_of_unspecified(%a: !grit.array<4x32x#grit.grade<mxfp4>, data = unspecified>) {
  // expected-error@+1 {{'grit.relayout' op data placement cannot go from UNSPECIFIED to ROW_MAJOR: there is no map for an opaque or unspecified placement}}
  %0 = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>, data = unspecified> -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @relayout_into_opaque(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.relayout' op scale placement cannot go from ROW_MAJOR to OPAQUE(0x000000000000001): there is no map for an opaque or unspecified placement}}
  %0 = grit.relayout %a : !grit.array<4x32x#grit.grade<mxfp4>> -> !grit.array<4x32x#grit.grade<mxfp4>, scale = 0xF000000000000001>
  return
}

// -----

func.func @relayout_of_meta_out_of_opaque(%a: !grit.array<4x32x#grit.grade<i8s24>, meta = 0xF000000000000001>) {
  // expected-error@+1 {{'grit.relayout' op meta placement cannot go from OPAQUE(0x000000000000001) to LINEAR_META: there is no map for an opaque or unspecified placement}}
  %0 = grit.relayout %a : !grit.array<4x32x#grit.grade<i8s24>, meta = 0xF000000000000001> -> !grit.array<4x32x#grit.grade<i8s24>>
  return
}

// -----

func.func @check_level(%a: !grit.array<?x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.check' op attribute 'level' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 2}}
  %0 = grit.check %a level 3 : !grit.array<?x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @check_changes_the_type(%a: !grit.array<?x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'grit.check' op failed to verify that all of {array, result} have same type}}
  %0 = "grit.check"(%a) <{level = 1}> : (!grit.array<?x32x#grit.grade<mxfp4>>) -> !grit.array<4x32x#grit.grade<mxfp4>>
  return
}

// -----

func.func @constant_resource_too_short() {
  // expected-error@+6 {{'grit.constant' op the resource of plane 0 is not as long as its type}}
  // expected-note@+5 {{field: planes[0]}}
  // expected-note@+4 {{declared: 16 bytes}}
  // expected-note@+3 {{found: 4 bytes}}
  // expected-note@+2 {{likely cause: the resource is cut short, or belongs to another plane}}
  // expected-note@+1 {{fix: give the whole plane}}
  %0 = grit.constant [dense_resource<short> : tensor<16xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x0100000001020304"
    }
  }
#-}
