// Two functions for C, and one that only the module calls.

!weight = !grit.array<96x256x#grit.grade<mxfp4>>

func.func @linear(%x: tensor<?x256xf32>, %weight: !weight,
                  %y: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %r = grit.matmul ins(%x, %weight : tensor<?x256xf32>, !weight)
                   outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}

func.func private @helper(%a: !grit.array<4x64x#grit.format<gguf.q8_0>>,
                          %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = grit.decode ins(%a : !grit.array<4x64x#grit.format<gguf.q8_0>>)
                   outs(%y : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

func.func @decode(%a: !grit.array<4x64x#grit.format<gguf.q8_0>>)
    -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %r = func.call @helper(%a, %e)
      : (!grit.array<4x64x#grit.format<gguf.q8_0>>, tensor<4x64xf32>)
      -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
