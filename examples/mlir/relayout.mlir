// Scales in the tiles that a tensor core reads. The values stay the same; the type
// says where the bytes lie, and an operation moves them.
//
// $ grit-opt relayout.mlir
// $ grit-opt --pass-pipeline='builtin.module(grit-to-linalg)' relayout.mlir

#w = #grit.grade<nvf4>
func.func @tile(%a: !grit.array<128x64x#w>)
    -> !grit.array<128x64x#w, scale = swizzle_128x4b> {
  %b = grit.relayout %a : !grit.array<128x64x#w>
       -> !grit.array<128x64x#w, scale = swizzle_128x4b>
  return %b : !grit.array<128x64x#w, scale = swizzle_128x4b>
}
