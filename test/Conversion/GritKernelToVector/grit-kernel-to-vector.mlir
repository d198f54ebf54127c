// RUN: grit-opt %s --grit-kernel-to-vector | FileCheck %s
// RUN: grit-opt %s --grit-kernel-to-vector=fma=false | FileCheck %s --check-prefix=NOFMA

// One shift for each bit position at which codes start, then a shuffle.
// CHECK-LABEL: func.func @unpack_nibbles
// CHECK-DAG: %[[LOW:.*]] = arith.andi %[[B:.*]], %{{.*}} : vector<2xi8>
// CHECK-DAG: %[[HIGH:.*]] = arith.shrui %{{.*}}, %{{.*}} : vector<2xi8>
// CHECK: %[[ALL:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3]
// CHECK: vector.shuffle %[[ALL]], %[[ALL]] [0, 2, 1, 3]
func.func @unpack_nibbles(%b: vector<2xi8>) -> vector<4xi8> {
  %c = grit_kernel.unpack %b offsets = [0, 4, 8, 12] width = 4 : vector<2xi8> -> vector<4xi8>
  return %c : vector<4xi8>
}

// A code that begins in one byte and ends in the next takes both.
// CHECK-LABEL: func.func @unpack_straddling
// CHECK: %[[NEXT:.*]] = vector.shuffle %[[B:.*]], %[[B]] [1, 2, 2]
// CHECK: %[[UP:.*]] = arith.shli %[[NEXT]]
// CHECK: %[[DOWN:.*]] = arith.shrui %[[B]]
// CHECK: arith.ori %[[UP]], %[[DOWN]]
func.func @unpack_straddling(%b: vector<3xi8>) -> vector<4xi8> {
  %c = grit_kernel.unpack %b offsets = [0, 6, 12, 18] width = 6 : vector<3xi8> -> vector<4xi8>
  return %c : vector<4xi8>
}

// A tree of selects, one level per bit.
// CHECK-LABEL: func.func @lookup
// CHECK-COUNT-3: arith.select
// CHECK-NOT: grit_kernel
func.func @lookup(%c: vector<16xi8>) -> vector<16xf32> {
  %e = grit_kernel.lookup %c table = dense<[0.0, 0.5, 1.0, 1.5]> : tensor<4xf32>
       : vector<16xi8> -> vector<16xf32>
  return %e : vector<16xf32>
}

// Two roundings, unless the accumulation contract allows one.
// CHECK-LABEL: func.func @dot
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[P]]
// CHECK: math.fma
// NOFMA-NOT: math.fma
func.func @dot(%a: vector<8xf32>, %b: vector<8xf32>, %acc: vector<8xf32>) -> vector<8xf32> {
  %r = grit_kernel.dot %a, %b, %acc : vector<8xf32>, vector<8xf32>
  %s = grit_kernel.dot %a, %b, %r fused : vector<8xf32>, vector<8xf32>
  return %s : vector<8xf32>
}

// Four products for each lane of the sum.
// CHECK-LABEL: func.func @dot_bytes
// CHECK-COUNT-4: arith.muli
func.func @dot_bytes(%a: vector<8xi8>, %b: vector<8xi8>, %acc: vector<2xi32>) -> vector<2xi32> {
  %r = grit_kernel.dot %a, %b, %acc : vector<8xi8>, vector<2xi32>
  return %r : vector<2xi32>
}
