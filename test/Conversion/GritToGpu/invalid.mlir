// RUN: grit-opt %s --grit-convert-to-gpu --split-input-file --verify-diagnostics

#nvf4 = #grit.grade<nvf4>
!swizzled = !grit.array<128x64x#nvf4, scale = swizzle_128x4b>
func.func @placement(%a: !swizzled, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // expected-error @+1 {{reads an array outside the canonical placements of its contract; run grit-legalize-placements first}}
  %r = grit.decode ins(%a : !swizzled) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// -----

#mxfp4 = #grit.grade<mxfp4>
!w = !grit.array<8x32x#mxfp4>
func.func @accumulation(%x: tensor<4x32xf32>, %w: !w, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+2 {{kernels offer binary32 sums that preserve subnormals}}
  // expected-note @+1 {{fix: relax}}
  %r = grit.matmul ins(%x, %w : tensor<4x32xf32>, !w) outs(%y : tensor<4x8xf32>) accum = #grit.accum<an = ftz> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
