// A linear layer with an MXFP4 weight: y += x * decode(w) transposed. The
// number of rows is known when it runs, the layer's shape when it is compiled.
//
//   grit compile linear.mlir -o linear.o --header linear.h

!weight = !grit.array<96x256x#grit.grade<mxfp4>>

func.func @linear(%x: tensor<?x256xf32>, %w: !weight, %y: tensor<?x96xf32>)
    -> tensor<?x96xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xf32>, !weight)
                   outs(%y : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}
