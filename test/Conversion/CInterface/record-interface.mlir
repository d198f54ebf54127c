// RUN: grit-opt %s -split-input-file -grit-record-interface | FileCheck %s

// What the operations require is read off them: K of x is K of w, M and N of y
// are those of x and w.

// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME:      %[[X:.*]]: tensor<?x?xf32> {bufferization.writable = false},
// CHECK-SAME:      %[[W:.*]]: !grit.array<?x?x#{{.*}}> {bufferization.writable = false},
// CHECK-SAME:      %[[Y:.*]]: tensor<?x?xf32> {grit.holds = 0 : i64}) -> tensor<?x?xf32>
// CHECK-SAME:  access = "in"
// CHECK-SAME:  element = "f32", kind = "tensor", name = "x"
// CHECK-SAME:  access = "in"
// CHECK-SAME:  element = "mxfp4"
// CHECK-SAME:  kind = "array", name = "weight"
// CHECK-SAME:  slots = array<i64: 0, 1>
// CHECK-SAME:  access = "inout"
// CHECK-SAME:  name = "arg2"
// CHECK-SAME:  shared = [array<i64: 0, 1, 1, 1>, array<i64: 0, 0, 2, 0>, array<i64: 1, 0, 2, 1>]
// CHECK:         %[[R:.*]] = grit.matmul
// CHECK:         return %[[R]]
func.func @matmul(%x: tensor<?x?xf32> {grit.name = "x"},
                  %w: !grit.array<?x?x#grit.grade<mxfp4>> {grit.name = "weight"},
                  %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x?xf32>, !grit.array<?x?x#grit.grade<mxfp4>>)
                   outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A dynamic extent that a static one decides becomes static for the caller; the
// function itself is still told.

// CHECK-LABEL: func.func private @decided(
// CHECK-SAME:  dynamic = array<i64: 0, 1>
// CHECK-SAME:  name = "arg0"
// CHECK-SAME:  shape = array<i64: 4, 64>
// CHECK-SAME:  access = "inout"
// CHECK-SAME:  name = "arg1"
func.func @decided(%a: !grit.array<?x?x#grit.grade<mxfp4>>,
                   %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %c = tensor.cast %y : tensor<4x64xf32> to tensor<?x?xf32>
  %r = grit.decode ins(%a : !grit.array<?x?x#grit.grade<mxfp4>>)
                   outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = tensor.cast %r : tensor<?x?xf32> to tensor<4x64xf32>
  return %s : tensor<4x64xf32>
}

// -----

// A result that no argument holds gets a place of its own, an array one for
// each plane; its contract and placements are recorded.

// CHECK-LABEL: func.func private @encode(
// CHECK-SAME:      %{{.*}}: tensor<4x64xf32> {bufferization.writable = false},
// CHECK-SAME:      %[[DATA:.*]]: tensor<128xi8> {grit.holds = 0 : i64}, %[[SCALE:.*]]: tensor<8xi8> {grit.holds = 1 : i64}) -> (tensor<128xi8>, tensor<8xi8>)
// CHECK-SAME:  access = "out", axis = 1 : i64, bytes = array<i64: 128, 8>
// CHECK-SAME:  name = "packed"
// CHECK:         %[[P:.*]]:2 = grit.planes
// CHECK:         return %[[P]]#0, %[[P]]#1
func.func @encode(%x: tensor<4x64xf32>)
    -> (!grit.array<4x64x#grit.grade<mxfp4>> {grit.name = "packed"}) {
  %a = grit.encode %x : tensor<4x64xf32> -> !grit.array<4x64x#grit.grade<mxfp4>>
  return %a : !grit.array<4x64x#grit.grade<mxfp4>>
}

// -----

// What the module calls stays, and C gets a copy. The extents that a callee
// requires to be equal are required of its caller.

// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:  grit.interface
// CHECK:       func.func private @inner_body_0(
// CHECK-NOT:   grit.interface
// CHECK-LABEL: func.func private @outer(
// CHECK-SAME:  shared = [array<i64: 0, 0, 1, 0>, array<i64: 0, 0, 2, 0>]
// CHECK:         call @inner_body_0
func.func @inner(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @outer(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = func.call @inner(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Reshapes that only add or drop extents of 1 keep the others, and so do slices.

// CHECK-LABEL: func.func private @reshapes(
// CHECK-SAME:  shared = [array<i64: 0, 0, 1, 0>]
func.func @reshapes(%x: tensor<?x1x4xf32>) -> tensor<?x1x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x4xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x1x4xf32> into tensor<?x4xf32>
  %s = tensor.extract_slice %c[0, 1] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %e = tensor.expand_shape %s [[0, 1], [2]] output_shape [%n, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
  return %e : tensor<?x1x2xf32>
}

// -----

// What starts from an empty tensor starts from the result's place.

// CHECK-LABEL: func.func private @fresh(
// CHECK-SAME:      %[[A:[^:]*]]: !grit.array<4x64x{{[^>]*}}> {bufferization.writable = false},
// CHECK-SAME:      %[[Y:[^:]*]]: tensor<4x64xf32> {grit.holds = 0 : i64})
// CHECK:         %[[R:.*]] = grit.decode {{.*}} outs(%[[Y]]
// CHECK:         return %[[R]]
func.func @fresh(%a: !grit.array<4x64x#grit.grade<mxfp4>>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %r = grit.decode ins(%a : !grit.array<4x64x#grit.grade<mxfp4>>)
                   outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// Both branches write the same argument, or keep it: it holds the result.

// CHECK-LABEL: func.func private @branches(
// CHECK-SAME:      tensor<?xf32> {grit.holds = 0 : i64}) -> tensor<?xf32>
// CHECK-SAME:  access = "inout"
func.func @branches(%c: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %b = arith.cmpi eq, %c, %zero : index
  %r = scf.if %b -> tensor<?xf32> {
    %f = linalg.fill ins(%v : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %f : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
