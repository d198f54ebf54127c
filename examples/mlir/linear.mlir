// A linear layer with weights under the grade MXFP4, any number of rows.
//
// As plain linalg code on tensors of bytes, for any other compiler:
// $ grit-opt --pass-pipeline='builtin.module(grit-to-linalg)' linear.mlir
// As vector code for a processor, in the LLVM dialect:
// $ grit-opt --pass-pipeline='builtin.module(grit-to-cpu{cpu=x86-64-v3})' linear.mlir

#w = #grit.grade<mxfp4>
func.func @linear(%x: tensor<?x384xf32>, %w: !grit.array<1536x384x#w>,
                  %y: tensor<?x1536xf32>) -> tensor<?x1536xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x384xf32>, !grit.array<1536x384x#w>)
                   outs(%y : tensor<?x1536xf32>) -> tensor<?x1536xf32>
  return %r : tensor<?x1536xf32>
}
