// RUN: grit-opt %s --grit-convert-copy-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK-SAME:      %[[A:.*]]: memref<4x?xf32, strided<[64, 1]>>, %[[B:.*]]: memref<4x?xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[A]]
// CHECK-SAME:      outs(%[[B]]
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @strided(%a: memref<4x?xf32, strided<[64, 1]>>, %b: memref<4x?xf32>) {
  memref.copy %a, %b : memref<4x?xf32, strided<[64, 1]>> to memref<4x?xf32>
  return
}

// CHECK-LABEL: func.func @contiguous
// CHECK:         memref.copy
func.func @contiguous(%a: memref<4x?xf32>, %b: memref<4x?xf32>) {
  memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32>
  return
}
