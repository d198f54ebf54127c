// RUN: grit-opt %s --verify-roundtrip | FileCheck %s
// RUN: grit-opt %s -mlir-print-op-generic | grit-opt | FileCheck %s

// CHECK-LABEL: func.func @unpack
func.func @unpack(%b: vector<2xi8>) -> vector<4xi8> {
  // CHECK: grit_kernel.unpack %{{.*}} offsets = [0, 4, 8, 12] width = 4 : vector<2xi8> -> vector<4xi8>
  %c = grit_kernel.unpack %b offsets = [0, 4, 8, 12] width = 4 : vector<2xi8> -> vector<4xi8>
  return %c : vector<4xi8>
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%c: vector<16xi8>) -> vector<16xf32> {
  // CHECK: grit_kernel.lookup %{{.*}} table = dense<{{.*}}> : tensor<4xf32> : vector<16xi8> -> vector<16xf32>
  %e = grit_kernel.lookup %c table = dense<[0.0, 0.5, 1.0, 1.5]> : tensor<4xf32>
       : vector<16xi8> -> vector<16xf32>
  return %e : vector<16xf32>
}

// CHECK-LABEL: func.func @dot
func.func @dot(%a: vector<8xf32>, %b: vector<8xf32>, %acc: vector<8xf32>) -> vector<8xf32> {
  // CHECK: grit_kernel.dot %{{.*}}, %{{.*}}, %{{.*}} fused : vector<8xf32>, vector<8xf32>
  %r = grit_kernel.dot %a, %b, %acc fused : vector<8xf32>, vector<8xf32>
  return %r : vector<8xf32>
}

// CHECK-LABEL: func.func @dot_bytes
func.func @dot_bytes(%a: vector<8xi8>, %b: vector<8xi8>, %acc: vector<2xi32>) -> vector<2xi32> {
  // CHECK: grit_kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi8>, vector<2xi32>
  %r = grit_kernel.dot %a, %b, %acc : vector<8xi8>, vector<2xi32>
  return %r : vector<2xi32>
}
