// RUN: grit-opt %s --grit-lower-reshapes | FileCheck %s

// CHECK-LABEL: func.func @inverse
// CHECK-SAME:      %[[X:.*]]: memref<?x?x8xf32>
// CHECK:         return %[[X]]
func.func @inverse(%x: memref<?x?x8xf32>) -> memref<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?x8xf32>
  %n = memref.dim %x, %c1 : memref<?x?x8xf32>
  %c = memref.collapse_shape %x [[0, 1, 2]] : memref<?x?x8xf32> into memref<?xf32>
  %e = memref.expand_shape %c [[0, 1, 2]] output_shape [%m, %n, 8] : memref<?xf32> into memref<?x?x8xf32>
  return %e : memref<?x?x8xf32>
}

// Other extents: the same bytes, seen as another shape.
// CHECK-LABEL: func.func @other
// CHECK-SAME:      %[[X:.*]]: memref<?x?x8xf32>, %[[M:.*]]: index, %[[N:.*]]: index
// CHECK:         %[[C:.*]] = memref.collapse_shape %[[X]]
// CHECK:         %[[S:.*]] = arith.muli %[[N]], %c8
// CHECK:         %[[R:.*]] = memref.reinterpret_cast %[[C]] to offset: [0], sizes: [%[[M]], %[[N]], 8], strides: [%[[S]], 8, 1]
// CHECK:         memref.cast %[[R]] : memref<?x?x8xf32, strided<[?, 8, 1]>> to memref<?x?x8xf32>
func.func @other(%x: memref<?x?x8xf32>, %m: index, %n: index) -> memref<?x?x8xf32> {
  %c = memref.collapse_shape %x [[0, 1, 2]] : memref<?x?x8xf32> into memref<?xf32>
  %e = memref.expand_shape %c [[0, 1, 2]] output_shape [%m, %n, 8] : memref<?xf32> into memref<?x?x8xf32>
  return %e : memref<?x?x8xf32>
}

// One dynamic extent is left to upstream.
// CHECK-LABEL: func.func @one
// CHECK:         memref.expand_shape
func.func @one(%x: memref<?xf32>, %m: index) -> memref<?x8xf32> {
  %e = memref.expand_shape %x [[0, 1]] output_shape [%m, 8] : memref<?xf32> into memref<?x8xf32>
  return %e : memref<?x8xf32>
}
