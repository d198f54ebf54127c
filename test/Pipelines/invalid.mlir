// What no route has code for is refused by each of them, with the same words.

// RUN: grit-opt %s --grit-to-linalg --split-input-file --verify-diagnostics
// RUN: grit-opt %s --grit-to-cpu --split-input-file --verify-diagnostics
// RUN: grit-opt %s --grit-to-nvvm --split-input-file --verify-diagnostics

#projected = #grit.grade<"grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs,dt=binary16)">
func.func @projection(%a: !grit.array<1x32x#projected>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  // expected-error@+5 {{'grit.decode' op no kernel is generated for this contract}}
  // expected-note@+4 {{field: dt}}
  // expected-note@+3 {{declared: binary32}}
  // expected-note@+2 {{found: binary16}}
  // expected-note@+1 {{fix: decode it with the library}}
  %r = grit.decode ins(%a : !grit.array<1x32x#projected>) outs(%y : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

#apart = #grit.grade<"grit1(e=e2m1,k0=32,s0=e4m3,k1=65535,s1=binary32,esr=ratiomaxabs)">
func.func @groups_that_do_not_nest(%x: tensor<?x?xf32>) -> !grit.array<?x?x#apart> {
  // expected-error@+6 {{'grit.encode' op the encode rule ratiomaxabs is not defined for this format}}
  // expected-note@+5 {{field: k1}}
  // expected-note@+4 {{declared: 0 (one outer scale per array)}}
  // expected-note@+3 {{found: an outer scale per 2097120 elements}}
  // expected-note@+2 {{likely cause}}
  // expected-note@+1 {{fix: encode into a registered format}}
  %a = grit.encode %x : tensor<?x?xf32> -> !grit.array<?x?x#apart>
  return %a : !grit.array<?x?x#apart>
}
