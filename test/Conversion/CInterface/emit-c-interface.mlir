// RUN: grit-opt %s -grit-to-cpu="c-interface=true" | FileCheck %s
// RUN: grit-opt %s -grit-to-cpu="c-interface=true check-level=2" | FileCheck %s --check-prefix=LEVEL2
// RUN: grit-opt %s -grit-to-cpu="c-interface=true check-level=0 packed=true" | FileCheck %s --check-prefix=NONE

// The checks come first, each operand in order, then the extents; only the last
// block loads the address of a plane.

// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("w\00")
// CHECK-DAG: llvm.func @grit_check_expected(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func internal @linear_impl{{.*}}(

// CHECK-LABEL: llvm.func @linear(
// CHECK-SAME:      %[[X:.*]]: !llvm.ptr, %[[W:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr) -> i32
// CHECK-NOT:     llvm.load
// CHECK:         llvm.call @grit_check_tensor_expected(%[[X]],
// CHECK-NOT:     llvm.load
// CHECK:         llvm.call @grit_check_expected(%[[W]],
// CHECK-NOT:     llvm.load
// CHECK:         llvm.call @grit_check_tensor_expected(%[[Y]],
// CHECK:         llvm.call @grit_check_shared_extent(
// CHECK:         llvm.cond_br
// CHECK:         llvm.load %{{.*}} -> !llvm.ptr
// CHECK:         llvm.call @linear_impl
// CHECK:         llvm.return %{{.*}} : i32
// CHECK:       ^{{.*}}(%[[STATUS:.*]]: i32):
// CHECK:         llvm.call @grit_report_failure(%[[STATUS]],
// CHECK:         llvm.return %[[STATUS]] : i32

// LEVEL2-LABEL: llvm.func @linear(
// LEVEL2:         %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
// LEVEL2:         llvm.call @grit_check_expected(%{{.*}}, %{{.*}}, %[[TWO]],

// NONE-NOT:   grit_check
// NONE-LABEL: llvm.func @linear(
// NONE-LABEL: llvm.func @grit_packed_linear(
// NONE:         llvm.call @linear(
func.func @linear(%x: tensor<?x64xf32>,
                  %w: !grit.array<32x64x#grit.grade<mxfp4>> {grit.name = "w"},
                  %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x64xf32>, !grit.array<32x64x#grit.grade<mxfp4>>)
                   outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
