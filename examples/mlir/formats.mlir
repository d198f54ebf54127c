// One operation for every format: what differs is the type of the array.
//
// $ grit-opt formats.mlir
// $ grit-opt --pass-pipeline='builtin.module(grit-to-linalg)' formats.mlir

#nvf4 = #grit.grade<nvf4>
#q4_k = #grit.format<gguf.q4_k>
// A grade need not be registered: this one has groups of 64.
#mine = #grit.grade<"grit1(e=e2m1,k0=64,s0=e8m0,esr=exp2floormaxabs)">

func.func @nvf4(%w: !grit.array<64x256x#nvf4>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = grit.decode ins(%w : !grit.array<64x256x#nvf4>)
                   outs(%y : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

func.func @q4_k(%w: !grit.array<64x256x#q4_k>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = grit.decode ins(%w : !grit.array<64x256x#q4_k>)
                   outs(%y : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

func.func @mine(%w: !grit.array<64x256x#mine>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = grit.decode ins(%w : !grit.array<64x256x#mine>)
                   outs(%y : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
