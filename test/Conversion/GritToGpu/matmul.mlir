// RUN: grit-opt %s --grit-convert-to-gpu | FileCheck %s

#q4_k = #grit.format<gguf.q4_k>

// Any order of additions: lanes, fused.
// CHECK: gpu.func @matmul_gguf_q4_k_bf16_f32(%{{.*}}: memref<i8> {{.*}}, %{{.*}}: memref<bf16> {{.*}}, %{{.*}}: memref<f32> {{.*}}, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index) kernel
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>)
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// CHECK: grit_kernel.dot {{.*}} fused
// CHECK: vector.reduction <add>
// A fixed order: one sum, each product and each sum rounded.
// CHECK: gpu.func @matmul_gguf_q4_k_bf16_f32_seq
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK-NOT: grit_kernel.dot
// CHECK: arith.addf {{.*}} : f32

// The destination is taken first, so that an activation which is the same
// tensor is copied.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: %[[X:.*]]: tensor<2x3x256xbf16>, %[[W:.*]]: !grit.array<5x256x#gguf_q4_k>, %[[Y:.*]]: tensor<2x3x5xf32>
// CHECK: bufferization.to_buffer %[[Y]] :
// CHECK: bufferization.to_buffer %[[X]] read_only
// CHECK-DAG: %[[M:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[N:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[K:.*]] = arith.constant 256 : index
// CHECK: gpu.launch_func @grit_kernels::@matmul_gguf_q4_k_bf16_f32
// CHECK-SAME: memref<f32>, %{{.*}} : index, %{{.*}} : index, %{{.*}} : index
func.func @matmul(%x: tensor<2x3x256xbf16>, %w: !grit.array<5x256x#q4_k>, %y: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = grit.matmul ins(%x, %w : tensor<2x3x256xbf16>, !grit.array<5x256x#q4_k>) outs(%y : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @matmul_seq
// CHECK: gpu.launch_func @grit_kernels::@matmul_gguf_q4_k_bf16_f32_seq
func.func @matmul_seq(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#q4_k>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#q4_k>) outs(%y : tensor<?x?xf32>) accum = #grit.accum<ao = seq> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
