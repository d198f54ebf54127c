// RUN: grit-opt %s --allow-unregistered-dialect --verify-roundtrip | FileCheck %s
// RUN: grit-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN: | grit-opt --allow-unregistered-dialect | FileCheck %s
// RUN: grit-opt %s --allow-unregistered-dialect --emit-bytecode \
// RUN: | grit-opt --allow-unregistered-dialect | FileCheck %s

// CHECK: = #grit.format<"gritfmt1(planes=[8/2@0],codes=p0:4@0+i*4,level=s4,scales=[],axis=2)">

//===----------------------------------------------------------------------===//
// Grades
//===----------------------------------------------------------------------===//

// A registered grade prints as its name, whatever its spelling.
// CHECK-LABEL: "test.registered"
// CHECK-SAME: by_alias = #mxfp4
// CHECK-SAME: by_fields = #mxfp4
// CHECK-SAME: by_name = #mxfp4
// CHECK-SAME: by_old_name = #mxfp4
// CHECK-SAME: by_string = #mxfp4
"test.registered"() {
  by_name = #grit.grade<mxfp4>,
  by_old_name = #grit.grade<GRADE_MXFP4>,
  by_fields = #grit.grade<k0 = 32, e = e2m1, s0 = e8m0, esr = exp2floormaxabs>,
  by_string = #grit.grade<"grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)">,
  by_alias = #grit.grade<"grit1(E=FP4, s0=ue8m0, k0=032, esr=exp2-floor)">
} : () -> ()

// CHECK-LABEL: "test.six"
// CHECK-SAME: #mxfp4, #mxfp4_rne, #nvf4, #nvf4_rtz, #q4ks, #i8s24
"test.six"() {grades = [
  #grit.grade<mxfp4>, #grit.grade<mxfp4_rne>, #grit.grade<nvf4>,
  #grit.grade<nvf4_rtz>, #grit.grade<q4ks>, #grit.grade<i8s24>]} : () -> ()

// CHECK-LABEL: "test.sparse_fields"
// CHECK-SAME: #i8s24
"test.sparse_fields"() {grade =
  #grit.grade<e = s8, k0 = 32, s0 = binary16, sp = 2:4:u2:asclsb, esr = ratiomaxabs>
} : () -> ()

// Any other grade prints as its canonical string.
// CHECK-LABEL: "test.unregistered"
// CHECK-SAME: #contract
"test.unregistered"() {grade =
  #grit.grade<e = int8, k0 = 32, s0 = f16, esr = ratiomaxabs>} : () -> ()

//===----------------------------------------------------------------------===//
// Foreign formats
//===----------------------------------------------------------------------===//

// CHECK-LABEL: "test.formats"
// CHECK-SAME: #gguf_q4_0, #gguf_q4_k, #gguf_q8_0, #gguf_mxfp4, #gguf_iq4_nl, #hurray_nf4
"test.formats"() {formats = [
  #grit.format<gguf.q4_0>, #grit.format<GGUF.Q4_K>, #grit.format<gguf.q8_0>,
  #grit.format<gguf.mxfp4>, #grit.format<"gguf.iq4_nl">,
  #grit.format<hurray.nf4>]} : () -> ()

// The default of a parameter is not printed.
// CHECK-LABEL: "test.parameter"
// CHECK-SAME: #hurray_nf4, #hurray_nf4_block_128
"test.parameter"() {formats = [
  #grit.format<hurray.nf4, block = 64>, #grit.format<hurray.nf4, block = 128>]}
  : () -> ()

// What a text describes is that text, in one spelling.
// CHECK-LABEL: "test.described"
// CHECK-SAME: #contract
"test.described"() {format =
  #grit.format<"gritfmt1(name = mine, planes=[bytes=8/2@0], codes=bytes:4@0+i*4, level=s4, scales=[], axis=2)">}
  : () -> ()

//===----------------------------------------------------------------------===//
// Words and placements
//===----------------------------------------------------------------------===//

// CHECK-LABEL: "test.words"
// CHECK-SAME: #grit.word<e2m1>, #grit.word<e2m1>, #grit.word<binary16>, #grit.word<0x3467>
"test.words"() {words = [
  #grit.word<e2m1>, #grit.word<0x2043>, #grit.word<binary16>,
  #grit.word<0x3467>]} : () -> ()

// CHECK-LABEL: "test.placements"
// CHECK-SAME: #grit.placement<row_major>, #grit.placement<swizzle_128x4b>
// CHECK-SAME: #grit.placement<unspecified>, #grit.placement<0x8000000000000123>
"test.placements"() {placements = [
  #grit.placement<row_major>, #grit.placement<0x1000000000000003>,
  #grit.placement<unspecified>, #grit.placement<0x8000000000000123>]} : () -> ()

//===----------------------------------------------------------------------===//
// Accumulation
//===----------------------------------------------------------------------===//

// CHECK-LABEL: "test.accum"
// CHECK-SAME: #grit.accum<>, #grit.accum<ao = seq>, #grit.accum<ao = pairwise8, ai = binary16, an = ftz>
// CHECK-SAME: #grit.accum<ao = tree, ap = e4m3, ab = binary16>
"test.accum"() {contracts = [
  #grit.accum<>, #grit.accum<ao = seq, ap = binary32>,
  #grit.accum<an = ftz, ai = binary16, ao = pairwise8>,
  #grit.accum<ao = tree, ap = e4m3, ab = binary16>]} : () -> ()
