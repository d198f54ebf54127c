// RUN: grit-opt %s --verify-roundtrip | FileCheck %s

#sparse = #grit.grade<i8s24>

// CHECK-LABEL: @defaults_are_not_printed
// CHECK-SAME: !grit.array<4x32x#mxfp4>
func.func private @defaults_are_not_printed(
  !grit.array<4x32x#grit.grade<mxfp4>, axis = 1, data = row_major, scale = row_major>)

// CHECK-LABEL: @placements
// CHECK-SAME: !grit.array<128x64x#nvf4, data = tile_16x16, scale = swizzle_128x4b>
// CHECK-SAME: !grit.array<128x64x#nvf4, data = col_major>
// CHECK-SAME: !grit.array<128x64x#nvf4, scale = unspecified>
func.func private @placements(
  !grit.array<128x64x#grit.grade<nvf4>, scale = SWIZZLE_128x4B, data = tile_16x16>,
  !grit.array<128x64x#grit.grade<nvf4>, data = 0x1000000000000002>,
  !grit.array<128x64x#grit.grade<nvf4>, scale = unspecified>)

// A hash of a layout expression and an opaque word have no names.
// CHECK-LABEL: @words_without_names
// CHECK-SAME: data = 0x8000000000000123
// CHECK-SAME: data = 0xf000000000000001
func.func private @words_without_names(
  !grit.array<4x32x#grit.grade<mxfp4>, data = 0x8000000000000123>,
  !grit.array<4x32x#grit.grade<mxfp4>, data = 0xF000000000000001>)

// CHECK-LABEL: @meta
// CHECK-SAME: !grit.array<4x32x#i8s24>
// CHECK-SAME: !grit.array<4x32x#i8s24, meta = meta_m16n8k32>
func.func private @meta(
  !grit.array<4x32x#sparse, meta = linear_meta>,
  !grit.array<4x32x#sparse, meta = meta_m16n8k32>)

// CHECK-LABEL: @dynamic_extents
// CHECK-SAME: !grit.array<?x256x#q4ks>
// CHECK-SAME: !grit.array<2x?x?x#mxfp4>
func.func private @dynamic_extents(!grit.array<?x256x#grit.grade<q4ks>>,
                                   !grit.array<2x?x?x#grit.grade<mxfp4>>)

// The sizes of planes with a value per line or per block follow at run time.
// CHECK-LABEL: @lines_and_blocks_of_dynamic_shapes
func.func private @lines_and_blocks_of_dynamic_shapes(
  !grit.array<?x?x#grit.format<ct.fp8_channel>>,
  !grit.array<2x?x64x#grit.format<deepseek.fp8>>)

// CHECK-LABEL: @extents_at_the_edge
// CHECK-SAME: !grit.array<0x32x#mxfp4>
// CHECK-SAME: !grit.array<32x#mxfp4>
// CHECK-SAME: !grit.array<1x1x1x1x1x1x1x32x#mxfp4>
func.func private @extents_at_the_edge(
  !grit.array<0x32x#grit.grade<mxfp4>>, !grit.array<32x#grit.grade<mxfp4>>,
  !grit.array<1x1x1x1x1x1x1x32x#grit.grade<mxfp4>>)

// Super-blocks of Q4KS may run over the end of a row.
// CHECK-LABEL: @super_blocks_straddle_rows
// CHECK-SAME: !grit.array<4x384x#q4ks>
func.func private @super_blocks_straddle_rows(!grit.array<4x384x#grit.grade<q4ks>>)

// CHECK-LABEL: @group_axis
// CHECK-SAME: !grit.array<32x1x#mxfp4, axis = 0>
// CHECK-SAME: !grit.array<64x8x#hurray_nf4, axis = 0>
func.func private @group_axis(!grit.array<32x1x#grit.grade<mxfp4>, axis = 0>,
                              !grit.array<64x8x#grit.format<hurray.nf4>, axis = 0>)

// CHECK-LABEL: @blocks
// CHECK-SAME: !grit.array<512x1024x#gguf_q4_k>
func.func private @blocks(!grit.array<512x1024x#grit.format<gguf.q4_k>, data = block_aos>)

// Dynamic extents are thought of as whole groups in one dimension only.
// CHECK-LABEL: @many_dynamic_extents
func.func private @many_dynamic_extents(
    !grit.array<?x?x?x?x?x?x?x?x#grit.format<gguf.q4_k>>,
    !grit.array<?x?x#grit.grade<"grit1(e=e2m1,k0=65535,s0=e4m3,k1=65535,s1=binary32,esr=ratiomaxabs)">>)
