// RUN: grit-opt %s --grit-place-results | FileCheck %s

// CHECK-LABEL: func.func private @there(
// CHECK-SAME:      %[[Y:.*]]: memref<4xf32>) {
// CHECK-NEXT:    return
func.func private @there(%y: memref<4xf32> {grit.holds = 0 : i64}) -> memref<4xf32> {
  return %y : memref<4xf32>
}

// CHECK-LABEL: func.func private @elsewhere(
// CHECK-SAME:      %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>) {
// CHECK-NEXT:    memref.copy %[[X]], %[[Y]]
// CHECK-NEXT:    return
func.func private @elsewhere(%x: memref<4xf32>, %y: memref<4xf32> {grit.holds = 0 : i64}) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// Each result lies in the other's place: both are copied aside first.
// CHECK-LABEL: func.func private @swapped(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>) {
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK-NEXT:    memref.copy %[[Y]], %[[A]]
// CHECK:         %[[B:.*]] = memref.alloc
// CHECK-NEXT:    memref.copy %[[X]], %[[B]]
// CHECK-NEXT:    memref.copy %[[A]], %[[X]]
// CHECK-NEXT:    memref.copy %[[B]], %[[Y]]
// CHECK-NEXT:    return
func.func private @swapped(%x: memref<?xf32> {grit.holds = 0 : i64}, %y: memref<?xf32> {grit.holds = 1 : i64})
    -> (memref<?xf32>, memref<?xf32>) {
  return %y, %x : memref<?xf32>, memref<?xf32>
}

// A function without a recorded interface stays as it is.
// CHECK-LABEL: func.func private @plain(
// CHECK-SAME:      -> memref<4xf32>
func.func private @plain(%y: memref<4xf32>) -> memref<4xf32> {
  return %y : memref<4xf32>
}
