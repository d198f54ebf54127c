// RUN: grit-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a format word has 16 bits, but got 73795}}
func.func private @word_too_wide(i32 {a = #grit.word<0x12043>})

// -----

// expected-error@+1 {{unknown format word 'e9m9'; expected a registered token such as e2m1, or a hexadecimal word}}
func.func private @word_unknown_token(i32 {a = #grit.word<e9m9>})

// -----

// The library says what no format can be.
// expected-error@+6 {{formats of one bit do not exist}}
// expected-note@+5 {{field: format word 0x43e0}}
// expected-note@+4 {{declared: width >= 2}}
// expected-note@+3 {{found: width 1}}
// expected-note@+2 {{likely cause: the word is corrupt or of a later version}}
// expected-note@+1 {{fix: use a word that names a format}}
func.func private @word_of_one_bit(i32 {a = #grit.word<0x43E0>})

// -----

// expected-error@+6 {{the fraction leaves no room for an exponent}}
// expected-note@+5 {{field: format word 0x2083}}
// expected-note@+4 {{declared: at least one exponent bit}}
// expected-note@+3 {{found: width 4, precision 4}}
// expected-note@+2 {{likely cause: the word is corrupt or of a later version}}
// expected-note@+1 {{fix: use a word that names a format}}
func.func private @word_without_exponent(i32 {a = #grit.word<0x2083>})

// -----

// expected-error@+1 {{expected integer value}}
func.func private @word_string(i32 {a = #grit.word<"e2m1">})

// -----

// expected-error@+5 {{unknown contract}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: a name (mxfp4, mxfp4_rne, nvf4, nvf4_rtz, q4ks, i8s24, mxfp8_e4m3, gguf.f32 and }}
// expected-note@+2 {{found: 'mxfp5'}}
// expected-note@+1 {{fix: did you mean 'mxfp4'?}}
func.func private @grade_unknown_name(i32 {a = #grit.grade<mxfp5>})

// -----

// expected-error@+5 {{key 's0' is missing}}
// expected-note@+4 {{field: s0}}
// expected-note@+3 {{declared: e, k0, s0 and esr in every grade}}
// expected-note@+2 {{found: no 's0'}}
// expected-note@+1 {{fix: add s0=...}}
func.func private @grade_missing_key(i32 {a = #grit.grade<e = e2m1, k0 = 32>})

// -----

// Placements are no part of a grade.
// expected-error@+5 {{unknown key 'layout'}}
// expected-note@+4 {{field: grade}}
// expected-note@+3 {{declared: one of e, k0, s0, k1, s1, zp, zpc, zps, sp, ct, po, er, es, esr, esn, dr, ds, dt, ao, ap, ab, ai, an}}
// expected-note@+2 {{found: 'layout=row'}}
// expected-note@+1 {{fix: remove it: placements and names are not part of a grade}}
func.func private @grade_unknown_key(i32 {a = #grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = exp2floormaxabs, layout = row>})

// -----

// expected-error@+5 {{key 'e' is given twice}}
// expected-note@+4 {{field: e}}
// expected-note@+3 {{declared: each key once}}
// expected-note@+2 {{found: 'e=e2m1'}}
// expected-note@+1 {{fix: keep one of the two, also where they agree}}
func.func private @grade_duplicate_key(i32 {a = #grit.grade<e = e2m1, e = e2m1, k0 = 32, s0 = e8m0, esr = exp2floormaxabs>})

// -----

// expected-error@+1 {{expected valid keyword}}
func.func private @grade_value_missing(i32 {a = #grit.grade<e = , k0 = 32>})

// -----

// expected-error@+1 {{expected ',' or '>' in a grade; a spelling with other characters needs the string form, #grit.grade<"grit1(...)">}}
func.func private @grade_comma_missing(i32 {a = #grit.grade<e = e2m1, k0 = 32 s0 = e8m0>})

// -----

// expected-error@+1 {{expected ',' or '>' in a grade; a spelling with other characters needs the string form, #grit.grade<"grit1(...)">}}
func.func private @grade_hyphen_outside_a_string(i32 {a = #grit.grade<e = e2m1, k0 = 32, s0 = e8m0, esr = exp2-floor>})

// -----

// expected-error@+1 {{'gguf.q4_k' is a foreign format; write #grit.format<...>}}
func.func private @grade_is_foreign(i32 {a = #grit.grade<"gguf.q4_k">})

// -----

// The grammar admits it, no array can have it.
// expected-error@+6 {{group size out of range}}
// expected-note@+5 {{field: k0}}
// expected-note@+4 {{declared: 1 to 65535}}
// expected-note@+3 {{found: 0}}
// expected-note@+2 {{likely cause: the grade string parses, but no array can have this grade: grit1(e=e2m1,k0=0,s0=e8m0,esr=exp2floormaxabs)}}
// expected-note@+1 {{fix: correct the grade string}}
func.func private @grade_without_groups(i32 {a = #grit.grade<e = e2m1, k0 = 0, s0 = e8m0, esr = exp2floormaxabs>})

// -----

// expected-error@+6 {{the index format cannot hold every position}}
// expected-note@+5 {{field: sp}}
// expected-note@+4 {{declared: M at most 4 for u2}}
// expected-note@+3 {{found: 4:8}}
// expected-note@+2 {{likely cause: the grade string parses, but no array can have this grade: grit1(e=s8,k0=32,s0=binary16,sp=4:8:u2:asclsb,esr=ratiomaxabs)}}
// expected-note@+1 {{fix: correct the grade string}}
func.func private @grade_sparsity_indices_too_narrow(i32 {a = #grit.grade<e = s8, k0 = 32, s0 = binary16, sp = 4:8:u2:asclsb, esr = ratiomaxabs>})

// -----

// expected-error@+1 {{'mxfp4' is a grade; write #grit.grade<...>}}
func.func private @format_is_a_grade(i32 {a = #grit.format<mxfp4>})

// -----

// expected-error@+5 {{unknown contract}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: a name (mxfp4, mxfp4_rne, nvf4, nvf4_rtz, q4ks, i8s24, mxfp8_e4m3, gguf.f32 and }}
// expected-note@+2 {{found: 'gguf.q4_x'}}
// expected-note@+1 {{fix: did you mean 'gguf.q4_0'?}}
func.func private @format_unknown(i32 {a = #grit.format<gguf.q4_x>})

// -----

// expected-error@+5 {{gguf.q4_0 takes no parameter}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: gguf.q4_0}}
// expected-note@+2 {{found: 'gguf.q4_0(block=64)'}}
// expected-note@+1 {{fix: write the name alone}}
func.func private @format_takes_no_parameter(i32 {a = #grit.format<gguf.q4_0, block = 64>})

// -----

// expected-error@+5 {{block size of hurray.nf4 is not one that the format has}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: hurray.nf4(block=N), N a power of two from 8 to 2147483648}}
// expected-note@+2 {{found: 'hurray.nf4(block=63)'}}
// expected-note@+1 {{fix: choose a power of two within the limits}}
func.func private @format_parameter_out_of_range(i32 {a = #grit.format<hurray.nf4, block = 63>})

// -----

// expected-error@+5 {{malformed parameter of hurray.nf4}}
// expected-note@+4 {{field: contract}}
// expected-note@+3 {{declared: hurray.nf4(block=N), N a power of two from 8 to 2147483648}}
// expected-note@+2 {{found: 'hurray.nf4(size=64)'}}
// expected-note@+1 {{fix: write e.g. hurray.nf4(block=64)}}
func.func private @format_parameter_unknown(i32 {a = #grit.format<hurray.nf4, size = 64>})

// -----

// expected-error@+1 {{expected integer value}}
func.func private @format_parameter_not_an_integer(i32 {a = #grit.format<hurray.nf4, block = big>})

// -----

// expected-error@+5 {{unknown placement 'swizzle'}}
// expected-note@+4 {{field: placement}}
// expected-note@+3 {{declared: unspecified, row_major, col_major, swizzle_128x4b, tile_16x16, block_aos, linear_meta, meta_m16n8k32, pack_k4_12b, or a 0x word}}
// expected-note@+2 {{found: 'swizzle'}}
// expected-note@+1 {{fix: use one of the names}}
func.func private @placement_unknown(i32 {a = #grit.placement<swizzle>})

// -----

// expected-error@+1 {{placement word RESERVED_CLASS_0x2(0x2000000000000000) is neither registered, an expression hash, opaque nor unspecified}}
func.func private @placement_of_a_reserved_class(i32 {a = #grit.placement<0x2000000000000000>})

// -----

// expected-error@+1 {{integer value too large}}
func.func private @placement_too_wide(i32 {a = #grit.placement<0x12000000000000000>})

// -----

// expected-error@+1 {{unknown accumulation order 'fast'; expected seq, pairwiseK, tree or unspec}}
func.func private @accum_unknown_order(i32 {a = #grit.accum<ao = fast>})

// -----

// expected-error@+1 {{unknown accumulation order 'pairwise0'; expected seq, pairwiseK, tree or unspec}}
func.func private @accum_pairs_of_none(i32 {a = #grit.accum<ao = pairwise0>})

// -----

// expected-error@+1 {{unknown subnormal mode 'flush'; expected preserve, ftz or any}}
func.func private @accum_unknown_subnormals(i32 {a = #grit.accum<an = flush>})

// -----

// expected-error@+1 {{unknown accumulation key 'ax'; expected ao, ap, ab, ai or an}}
func.func private @accum_unknown_key(i32 {a = #grit.accum<ax = seq>})

// -----

// expected-error@+1 {{duplicate accumulation key 'ao'}}
func.func private @accum_duplicate_key(i32 {a = #grit.accum<ao = seq, ao = seq>})

// -----

// expected-error@+1 {{unknown format word 'f99'; expected a registered token such as e2m1, or a hexadecimal word}}
func.func private @accum_unknown_precision(i32 {a = #grit.accum<ap = f99>})

// -----

// expected-error@+6 {{formats of one bit do not exist}}
// expected-note@+5 {{field: format word 0x43e0}}
// expected-note@+4 {{declared: width >= 2}}
// expected-note@+3 {{found: width 1}}
// expected-note@+2 {{likely cause: the word is corrupt or of a later version}}
// expected-note@+1 {{fix: use a word that names a format}}
func.func private @accum_precision_is_no_format(i32 {a = #grit.accum<ap = 0x43E0>})

// -----

// expected-error@+1 {{expected ','}}
func.func private @accum_comma_missing(i32 {a = #grit.accum<ao = seq an = any>})
