// RUN: split-file %s %t
// RUN: grit-opt %t/contracts.mlir --grit-verify-stage=after=contracts | FileCheck %t/contracts.mlir
// RUN: grit-opt %t/kernels.mlir --grit-verify-stage=after=kernels --verify-diagnostics
// RUN: grit-opt %t/planes.mlir --grit-verify-stage=after=planes --verify-diagnostics
// RUN: grit-opt %t/lanes.mlir --grit-verify-stage=after=lanes --verify-diagnostics
// RUN: grit-opt %t/llvm.mlir --grit-verify-stage=after=llvm --verify-diagnostics
// RUN: grit-opt %t/unknown.mlir --grit-verify-stage=after=soup --verify-diagnostics

//--- contracts.mlir

// CHECK: grit.check
func.func @anything(%a: !grit.array<?x32x#grit.grade<mxfp4>>) -> !grit.array<?x32x#grit.grade<mxfp4>> {
  %b = grit.check %a level 1 : !grit.array<?x32x#grit.grade<mxfp4>>
  return %b : !grit.array<?x32x#grit.grade<mxfp4>>
}

//--- kernels.mlir

!n = !grit.array<128x64x#grit.grade<nvf4>>
!swizzled = !grit.array<128x64x#grit.grade<nvf4>, scale = swizzle_128x4b>

func.func @good(%a: !n, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = grit.decode ins(%a : !n) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

func.func @other_placement(%a: !swizzled, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // expected-error@+1 {{'grit.decode' may not remain after stage 'kernels', which leaves decode and matmul of arrays in canonical placements: it reads an array outside the canonical placements of its contract}}
  %r = grit.decode ins(%a : !swizzled) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

func.func @pending_relayout(%a: !n) -> !swizzled {
  // expected-error@+1 {{'grit.relayout' may not remain after stage 'kernels', which leaves decode and matmul of arrays in canonical placements: it should have been lowered}}
  %b = grit.relayout %a : !n -> !swizzled
  return %b : !swizzled
}

//--- planes.mlir

func.func @good(%a: tensor<4xi8>) -> tensor<4xi8> {
  return %a : tensor<4xi8>
}

// A declaration has no values, only a type.
// expected-error@+1 {{'func.func' may not remain after stage 'planes', which leaves tensors and structured operations: it holds a quantized array}}
func.func private @signature(!grit.array<4x32x#grit.grade<mxfp4>>)

func.func @operation() {
  // expected-error@+1 {{'grit.constant' may not remain after stage 'planes', which leaves tensors and structured operations: it belongs to a dialect of an earlier stage}}
  %a = grit.constant [dense<0> : tensor<16xi8>, dense<127> : tensor<1xi8>] : !grit.array<1x32x#grit.grade<mxfp4>>
  return
}

//--- lanes.mlir

func.func @good(%a: memref<16xf32>, %i: index) -> vector<16xf32> {
  %v = vector.load %a[%i] : memref<16xf32>, vector<16xf32>
  return %v : vector<16xf32>
}

// expected-error@+1 {{'func.func' may not remain after stage 'lanes', which leaves vectors, buffers and loops: it holds a tensor}}
func.func @tensor(%a: tensor<4xf32>) {
  return
}

func.func @structured(%a: memref<4xf32>, %x: f32) {
  // expected-error@+1 {{'linalg.fill' may not remain after stage 'lanes', which leaves vectors, buffers and loops: it belongs to a dialect of an earlier stage}}
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

//--- llvm.mlir

llvm.func @good(%a: i32) -> i32 {
  llvm.return %a : i32
}

llvm.func @left_over(%a: i32) -> i32 {
  // expected-error@+1 {{'arith.addi' may not remain after stage 'llvm', which leaves operations of the LLVM family: it belongs to a dialect of an earlier stage}}
  %b = arith.addi %a, %a : i32
  llvm.return %b : i32
}

llvm.func @cast(%a: i32) -> i64 {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' may not remain after stage 'llvm', which leaves operations of the LLVM family: it should have been lowered}}
  %b = builtin.unrealized_conversion_cast %a : i32 to i64
  llvm.return %b : i64
}

//--- unknown.mlir

// expected-error@+1 {{unknown stage 'soup'; expected one of contracts, kernels, planes, lanes, llvm}}
module {
}
