// RUN: grit-opt %s --grit-write-through-reshapes | FileCheck %s
// RUN: grit-opt %s -split-input-file --grit-write-through-reshapes --cse --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=BUFFERS

// The kernel works on a vector, the destination is a matrix.
// CHECK-LABEL: func.func @expand
// CHECK-SAME:      %[[Y:.*]]: tensor<?x8xf32>, %[[V:.*]]: f32
// CHECK:         %[[R:.*]] = linalg.fill
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1]]
// CHECK:         %[[M:.*]] = bufferization.materialize_in_destination %[[R]] in %[[C]]
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[M]]
// CHECK:         return %[[E]]

// BUFFERS-LABEL: func.func @expand
// BUFFERS-NOT:     memref.copy
// BUFFERS:         memref.collapse_shape
// BUFFERS-NOT:     memref.copy
// BUFFERS:         return
func.func @expand(%y: tensor<?x8xf32>, %v: f32) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %r = linalg.fill ins(%v : f32) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %e = tensor.expand_shape %r [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
  %m = bufferization.materialize_in_destination %e in %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %m : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @collapse
// CHECK-SAME:      %[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[Y]]
// CHECK:         %[[M:.*]] = bufferization.materialize_in_destination %[[X]] in %[[E]]
// CHECK:         tensor.collapse_shape %[[M]]
func.func @collapse(%x: tensor<?x8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %m = bufferization.materialize_in_destination %c in %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// CHECK-LABEL: func.func @cast
// CHECK-SAME:      %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK:         %[[C:.*]] = tensor.cast %[[Y]] : tensor<?xf32> to tensor<4xf32>
// CHECK:         %[[M:.*]] = bufferization.materialize_in_destination %[[X]] in %[[C]]
// CHECK:         tensor.cast %[[M]] : tensor<4xf32> to tensor<?xf32>
func.func @cast(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %m = bufferization.materialize_in_destination %c in %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// CHECK-LABEL: func.func @empty
// CHECK:         tensor.empty() : tensor<32xf32>
func.func @empty() -> tensor<32xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  return %c : tensor<32xf32>
}

// The extents are equal when the program runs; their types cannot be undone.
// CHECK-LABEL: func.func @unknown
// CHECK:         %[[E:.*]] = tensor.expand_shape
// CHECK:         bufferization.materialize_in_destination %[[E]]
func.func @unknown(%x: tensor<32xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %e = tensor.expand_shape %x [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %m = bufferization.materialize_in_destination %e in %y : (tensor<4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %m : tensor<?x8xf32>
}
