// RUN: grit-opt %s --grit-expand-requantize | FileCheck %s

// CHECK-LABEL: @requantize
// CHECK-SAME: (%[[A:.*]]: !grit.array<?x256x#gguf_q8_0>)
// CHECK: %[[N:.*]] = grit.dim %[[A]], 0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x256xf32>
// CHECK: %[[V:.*]] = grit.decode ins(%[[A]] : !grit.array<?x256x#gguf_q8_0>) outs(%[[E]] : tensor<?x256xf32>)
// CHECK: %[[B:.*]] = grit.encode %[[V]] : tensor<?x256xf32> -> !grit.array<?x256x#mxfp4>
// CHECK: return %[[B]]
func.func @requantize(%a: !grit.array<?x256x#grit.format<gguf.q8_0>>) -> !grit.array<?x256x#grit.grade<mxfp4>> {
  %b = grit.requantize %a : !grit.array<?x256x#grit.format<gguf.q8_0>> -> !grit.array<?x256x#grit.grade<mxfp4>>
  return %b : !grit.array<?x256x#grit.grade<mxfp4>>
}
