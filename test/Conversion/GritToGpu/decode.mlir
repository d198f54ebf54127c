// RUN: grit-opt %s --grit-convert-to-gpu | FileCheck %s

#mxfp4 = #grit.grade<mxfp4>
#nf4 = #grit.format<hurray.nf4>

// One kernel serves both shapes.
// CHECK: gpu.module @grit_kernels
// CHECK: gpu.func @decode_mxfp4_f32(%[[D:.*]]: memref<i8> {{.*}}, %[[S:.*]]: memref<i8> {{.*}}, %[[O:.*]]: memref<f32> {{.*}}, %[[N:.*]]: index) kernel
// CHECK-DAG: %[[B:.*]] = gpu.block_id x
// CHECK-DAG: %[[T:.*]] = gpu.thread_id x
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: vector.load %{{.*}} {alignment = 2 : i64} : memref<?xi8>, vector<2xi8>
// CHECK: grit_kernel.unpack {{.*}} width = 4
// CHECK: grit_kernel.lookup
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK-NOT: gpu.func @decode_mxfp4_f32
// CHECK: gpu.func @decode_mxfp4_bf16
// CHECK: arith.truncf
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
// Groups along another axis need its extents.
// CHECK: gpu.func @decode_hurray_nf4_f32_axis({{.*}}index, %{{.*}}: index, %{{.*}}: index) kernel

// CHECK-LABEL: func.func @decode
// CHECK-SAME: %[[ARRAY:.*]]: !grit.array<4x32x#mxfp4>, %[[INIT:.*]]: tensor<4x32xf32>
// CHECK: %[[OUT:.*]] = bufferization.to_buffer %[[INIT]] : tensor<4x32xf32> to memref<4x32xf32>
// CHECK: %[[P:.*]]:2 = grit.planes %[[ARRAY]]
// CHECK: bufferization.to_buffer %[[P]]#0 read_only : tensor<64xi8> to memref<64xi8>
// CHECK: bufferization.to_buffer %[[P]]#1 read_only : tensor<4xi8> to memref<4xi8>
// CHECK: gpu.launch_func @grit_kernels::@decode_mxfp4_f32
// CHECK: bufferization.to_tensor %[[OUT]] restrict writable
func.func @decode(%a: !grit.array<4x32x#mxfp4>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %r = grit.decode ins(%a : !grit.array<4x32x#mxfp4>) outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}

// CHECK-LABEL: func.func @decode_dynamic
// CHECK: tensor.dim
// CHECK: gpu.launch_func @grit_kernels::@decode_mxfp4_f32
func.func @decode_dynamic(%a: !grit.array<?x32x#mxfp4>, %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %r = grit.decode ins(%a : !grit.array<?x32x#mxfp4>) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @decode_bf16
// CHECK: gpu.launch_func @grit_kernels::@decode_mxfp4_bf16
func.func @decode_bf16(%a: !grit.array<4x32x#mxfp4>, %init: tensor<4x32xbf16>) -> tensor<4x32xbf16> {
  %r = grit.decode ins(%a : !grit.array<4x32x#mxfp4>) outs(%init : tensor<4x32xbf16>) -> tensor<4x32xbf16>
  return %r : tensor<4x32xbf16>
}

// CHECK-LABEL: func.func @decode_axis
// CHECK: gpu.launch_func @grit_kernels::@decode_hurray_nf4_f32_axis
func.func @decode_axis(%a: !grit.array<64x3x#nf4, axis = 0>, %init: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %r = grit.decode ins(%a : !grit.array<64x3x#nf4, axis = 0>) outs(%init : tensor<64x3xf32>) -> tensor<64x3xf32>
  return %r : tensor<64x3xf32>
}
