// RUN: grit-opt %s --split-input-file --verify-diagnostics

// expected-error@+6 {{the group axis does not hold whole groups}}
// expected-note@+5 {{field: shape[1]}}
// expected-note@+4 {{declared: a multiple of 32 (k0=32)}}
// expected-note@+3 {{found: 33}}
// expected-note@+2 {{likely cause: a last group would be cut short, and mxfp4 has no ragged groups}}
// expected-note@+1 {{fix: pad the axis to 64, or choose another axis or contract}}
func.func private @group_cut_short(!grit.array<4x33x#grit.grade<mxfp4>>)

// -----

// What is known of a dynamic shape is checked.
// expected-error@+6 {{the group axis does not hold whole groups}}
// expected-note@+5 {{field: shape[1]}}
// expected-note@+4 {{declared: a multiple of 32 (k0=32)}}
// expected-note@+3 {{found: 33}}
// expected-note@+2 {{likely cause: a last group would be cut short, and mxfp4 has no ragged groups}}
// expected-note@+1 {{fix: pad the axis to 64, or choose another axis or contract}}
func.func private @group_cut_short_in_a_dynamic_shape(!grit.array<?x33x#grit.grade<mxfp4>>)

// -----

// expected-error@+5 {{the array does not hold whole level-1 groups}}
// expected-note@+4 {{field: shape}}
// expected-note@+3 {{declared: a number of elements that is a multiple of 256}}
// expected-note@+2 {{found: 64 elements in [2, 32]}}
// expected-note@+1 {{fix: pad the array, or choose another contract}}
func.func private @outer_group_cut_short(!grit.array<2x32x#grit.grade<q4ks>>)

// -----

// expected-error@+1 {{an array must have at least one dimension}}
func.func private @rank_zero(!grit.array<#grit.grade<mxfp4>>)

// -----

// expected-error@+5 {{too many dimensions}}
// expected-note@+4 {{field: rank}}
// expected-note@+3 {{declared: 1 to 8}}
// expected-note@+2 {{found: 9}}
// expected-note@+1 {{fix: merge leading dimensions}}
func.func private @rank_nine(!grit.array<1x1x1x1x1x1x1x1x32x#grit.grade<mxfp4>>)

// -----

// expected-error@+6 {{the number of elements exceeds 64 bits}}
// expected-note@+5 {{field: shape}}
// expected-note@+4 {{declared: less than 2^63 elements}}
// expected-note@+3 {{found: [4611686018427387904, 32]}}
// expected-note@+2 {{likely cause: damaged or hostile extents}}
// expected-note@+1 {{fix: correct the shape}}
func.func private @too_many_elements(!grit.array<4611686018427387904x32x#grit.grade<mxfp4>>)

// -----

// expected-error@+1 {{invalid dimension}}
func.func private @extent_beyond_64_bits(!grit.array<99999999999999999999x32x#grit.grade<mxfp4>>)

// -----

// expected-error@+1 {{expected a contract, such as #grit.grade<mxfp4>, but got -4 : i64}}
func.func private @extent_negative(!grit.array<-4x32x#grit.grade<mxfp4>>)

// -----

// expected-error@+1 {{expected 'x' in dimension list}}
func.func private @contract_missing(!grit.array<4x32>)

// -----

// expected-error@+1 {{expected a contract, such as #grit.grade<mxfp4>, but got f32}}
func.func private @contract_is_a_type(!grit.array<4x32xf32>)

// -----

// expected-error@+1 {{expected a contract, such as #grit.grade<mxfp4>, but got #grit.word<e2m1>}}
func.func private @contract_is_a_word(!grit.array<4x32x#grit.word<e2m1>>)

// -----

// expected-error@+5 {{unknown contract}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: a name (mxfp4, mxfp4_rne, nvf4, nvf4_rtz, q4ks, i8s24, mxfp8_e4m3, gguf.f32 and }}
// expected-note@+2 {{found: 'mxfp5'}}
// expected-note@+1 {{fix: did you mean 'mxfp4'?}}
func.func private @contract_unknown(!grit.array<4x32x#grit.grade<mxfp5>>)

// -----

// expected-error@+1 {{group axis 2 is out of range for rank 2}}
func.func private @axis_beyond_rank(!grit.array<4x32x#grit.grade<mxfp4>, axis = 2>)

// -----

// expected-error@+1 {{group axis -1 is out of range for rank 2}}
func.func private @axis_negative(!grit.array<4x32x#grit.grade<mxfp4>, axis = -1>)

// -----

// A grade counts groups along the row-major index.
// expected-error@+1 {{group axis 0 has a later extent above 1 (dimension 1): this contract counts groups along the row-major index, so its groups would not run along the axis; move the axis to the end or use a contract that groups along it}}
func.func private @axis_not_innermost(!grit.array<64x8x#grit.grade<mxfp4>, axis = 0>)

// -----

// expected-error@+1 {{group axis 0 has a later extent that may be above 1 (dimension 1): this contract counts groups along the row-major index, so its groups would not run along the axis; move the axis to the end or use a contract that groups along it}}
func.func private @axis_not_innermost_when_dynamic(!grit.array<64x?x#grit.grade<mxfp4>, axis = 0>)

// -----

// expected-error@+1 {{group axis 0 has a later extent above 1 (dimension 1): this contract counts groups along the row-major index, so its groups would not run along the axis; move the axis to the end or use a contract that groups along it}}
func.func private @axis_not_innermost_in_blocks(!grit.array<256x2x#grit.format<gguf.q4_k>, axis = 0>)

// -----

// expected-error@+5 {{unknown placement 'swizzle'}}
// expected-note@+4 {{field: placement}}
// expected-note@+3 {{declared: unspecified, row_major, col_major, swizzle_128x4b, tile_16x16, block_aos, linear_meta, meta_m16n8k32, pack_k4_12b, or a 0x word}}
// expected-note@+2 {{found: 'swizzle'}}
// expected-note@+1 {{fix: use one of the names}}
func.func private @placement_unknown(!grit.array<4x32x#grit.grade<mxfp4>, data = swizzle>)

// -----

// expected-error@+6 {{the placement word is not acceptable}}
// expected-note@+5 {{field: placement_data}}
// expected-note@+4 {{declared: 0, a registered word, a layout hash (class 8) or opaque (class 15)}}
// expected-note@+3 {{found: RESERVED_CLASS_0x2(0x2000000000000000)}}
// expected-note@+2 {{likely cause: the word belongs to another version, or bytes are damaged}}
// expected-note@+1 {{fix: use a registered placement, e.g. row_major}}
func.func private @placement_of_a_reserved_class(!grit.array<4x32x#grit.grade<mxfp4>, data = 0x2000000000000000>)

// -----

// expected-error@+1 {{expected valid keyword}}
func.func private @placement_is_a_string(!grit.array<4x32x#grit.grade<mxfp4>, data = "row_major">)

// -----

// expected-error@+6 {{a placement is given for a plane that does not exist}}
// expected-note@+5 {{field: placement_meta}}
// expected-note@+4 {{declared: UNSPECIFIED (0)}}
// expected-note@+3 {{found: ROW_MAJOR}}
// expected-note@+2 {{likely cause: the contract has no such plane}}
// expected-note@+1 {{fix: write 0}}
func.func private @placement_of_no_plane(!grit.array<4x32x#grit.grade<mxfp4>, meta = row_major>)

// -----

// expected-error@+6 {{a placement is given for a plane that does not exist}}
// expected-note@+5 {{field: placement_scale}}
// expected-note@+4 {{declared: UNSPECIFIED (0)}}
// expected-note@+3 {{found: ROW_MAJOR}}
// expected-note@+2 {{likely cause: the contract has no such plane}}
// expected-note@+1 {{fix: write 0}}
func.func private @placement_of_no_scale_plane(!grit.array<4x256x#grit.format<gguf.q4_k>, scale = row_major>)

// -----

// expected-error@+6 {{the array has an aux plane and no placement for it}}
// expected-note@+5 {{field: placement_meta}}
// expected-note@+4 {{declared: a placement other than 0}}
// expected-note@+3 {{found: UNSPECIFIED}}
// expected-note@+2 {{likely cause: the word was left out}}
// expected-note@+1 {{fix: use linear_meta}}
func.func private @placement_missing_for_aux(!grit.array<4x32x#grit.grade<i8s24>, meta = unspecified>)

// -----

// expected-error@+1 {{duplicate option 'data'}}
func.func private @option_duplicate(!grit.array<4x32x#grit.grade<mxfp4>, data = row_major, data = row_major>)

// -----

// expected-error@+1 {{unknown option 'order'; expected axis, data, scale, meta or assumed}}
func.func private @option_unknown(!grit.array<4x32x#grit.grade<mxfp4>, order = row_major>)

// -----

// expected-error@+1 {{expected '='}}
func.func private @option_without_equals(!grit.array<4x32x#grit.grade<mxfp4>, data row_major>)

// -----

// expected-error@+1 {{expected '>'}}
func.func private @option_comma_missing(!grit.array<4x32x#grit.grade<mxfp4>, axis = 1 data = row_major>)

// -----

// expected-error@+1 {{group axis 0 has a later extent that may be above 1 (dimension 2)}}
func.func private @axis_maybe_not_innermost(!grit.array<32x1x?x#grit.grade<mxfp4>, axis = 0>)
