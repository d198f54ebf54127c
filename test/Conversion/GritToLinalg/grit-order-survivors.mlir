// Sparse arrays are looked at before a kernel reads them, unless their runs are
// known to have all positions.
// RUN: grit-opt %s --split-input-file --grit-order-survivors | FileCheck %s
// RUN: grit-opt %s --split-input-file --grit-order-survivors=lanes=64 | FileCheck %s --check-prefix=LANES
// RUN: not grit-opt %s --split-input-file --grit-order-survivors=lanes=3 2>&1 | FileCheck %s --check-prefix=ODD

// ODD: lanes must be a power of two up to 256, but got 3

#sparse = #grit.grade<i8s24>
!array = !grit.array<?x32x#sparse>

// CHECK-LABEL: func.func @unknown
// CHECK-SAME: (%[[A:.*]]: !grit.array
// CHECK: %[[P:.*]]:3 = grit.planes %[[A]]
// CHECK: %[[N:.*]] = grit.dim %[[A]], 0
// CHECK: %[[FULL:.*]] = call @sparse_runs_are_full(%[[P]]#0, %[[P]]#1, %[[P]]#2, %[[N]])
// CHECK: %[[Q:.*]]:3 = scf.if %[[FULL]]
// CHECK:   scf.yield %[[P]]#0, %[[P]]#1, %[[P]]#2
// CHECK: } else {
// CHECK:   %[[O:.*]]:3 = func.call @sparse_order_survivors(%[[P]]#0, %[[P]]#1, %[[P]]#2, %[[N]])
// CHECK:   scf.yield %[[O]]#0, %[[O]]#1, %[[O]]#2
// CHECK: %[[B:.*]] = grit.bundle %[[Q]]#0, %[[Q]]#1, %[[Q]]#2 sizes[%[[N]]]
// CHECK: grit.decode ins(%[[B]]
func.func @unknown(%a: !array, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %r = grit.decode ins(%a : !array) outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// One pair of functions serves all arrays of a type.
// CHECK-LABEL: func.func @again
// CHECK: call @sparse_runs_are_full(
// CHECK: grit.matmul
func.func @again(%x: tensor<?x32xf32>, %w: !array, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x32xf32>, !array) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @checked
// CHECK-NOT: call
// CHECK: return
func.func @checked(%a: !array, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %b = grit.check %a level 2 : !array
  %r = grit.decode ins(%b : !array) outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK: func.func private @sparse_runs_are_full
// CHECK-SAME: no_inline
// CHECK: scf.for
// CHECK: arith.cmpi ugt, %{{.*}}, %{{.*}} : i32
// CHECK: func.func private @sparse_order_survivors
// LANES: func.func private @sparse_runs_are_full
// LANES: arith.cmpi ugt, %{{.*}}, %{{.*}} : vector<64xi8>
// LANES: vector.reduction <and>

// -----

// CHECK-LABEL: func.func @encoded
// CHECK-NOT: call
func.func @encoded(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %a = grit.encode %x : tensor<4x32xf32> -> !grit.array<4x32x#grit.grade<i8s24>>
  %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<i8s24>>) outs(%y : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}

// -----

// A constant is looked at here and now: the first has 0, 1 in every run, the
// second 0, 0.
!few = !grit.array<1x32x#grit.grade<i8s24>>

// CHECK-LABEL: func.func @constants
// CHECK: grit.decode
// CHECK: call @sparse_runs_are_full
// CHECK: grit.decode
func.func @constants(%y: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %rises = grit.constant [dense<1> : tensor<16xi8>, dense<0> : tensor<2xi8>, dense<0x44> : tensor<4xi8>] : !few
  %a = grit.decode ins(%rises : !few) outs(%y : tensor<1x32xf32>) -> tensor<1x32xf32>
  %repeats = grit.constant [dense<1> : tensor<16xi8>, dense<0> : tensor<2xi8>, dense<0> : tensor<4xi8>] : !few
  %b = grit.decode ins(%repeats : !few) outs(%y : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %a, %b : tensor<1x32xf32>, tensor<1x32xf32>
}

// -----

// Level 2 proves nothing of indices in any order.
!any = !grit.array<?x32x#grit.grade<"grit1(e=s8,k0=32,s0=binary16,sp=2:4:u2:unord,esr=ratiomaxabs)">>

// CHECK-LABEL: func.func @any_order
// CHECK: call @sparse_runs_are_full
// CHECK: func.func private @sparse_runs_are_full
// CHECK: arith.cmpi ne
func.func @any_order(%a: !any, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %b = grit.check %a level 2 : !any
  %r = grit.decode ins(%b : !any) outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
