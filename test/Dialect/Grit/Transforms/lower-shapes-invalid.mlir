// RUN: grit-opt %s --grit-lower-shapes --grit-lower-relayout --split-input-file --verify-diagnostics=only-expected

func.func @placed(%a: !grit.array<8x64x#grit.grade<mxfp4>, scale = col_major>) {
  // expected-error@+1 {{'grit.slice' op has an array outside the canonical placements of its contract; run grit-legalize-placements first}}
  %b = grit.slice %a [0, 0] [4, 64] : !grit.array<8x64x#grit.grade<mxfp4>, scale = col_major> -> !grit.array<4x64x#grit.grade<mxfp4>, scale = col_major>
  return
}

// -----

// Three nibbles a row: where the last byte ends, only the run knows.
func.func @tail(%a: !grit.array<?x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>>) {
  // expected-error@+1 {{'grit.relayout' op a dynamic number of rows that are no whole bytes has no relayout}}
  %b = grit.relayout %a : !grit.array<?x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>>
       -> !grit.array<?x3x#grit.grade<e = e2m1, k0 = 3, s0 = e8m0, esr = exp2floormaxabs>, data = layout("Perm([2,0,1])")>
  return
}
