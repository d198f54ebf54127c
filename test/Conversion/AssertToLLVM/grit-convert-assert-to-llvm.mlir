// RUN: grit-opt %s --grit-convert-assert-to-llvm | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[M:.*]]("grit: too short\0A")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("grit: DigestMismatch: order\0A")
// CHECK-DAG: llvm.func @write(i32, !llvm.ptr, i64) -> i64
// CHECK-DAG: llvm.func @abort()
// CHECK-LABEL: func.func @f
// CHECK:         cf.cond_br %{{.*}}, ^[[AFTER:.*]], ^[[FAILED:.*]]
// CHECK:       ^[[FAILED]]:
// CHECK:         %[[A:.*]] = llvm.mlir.addressof @[[M]]
// CHECK:         llvm.call @write(%{{.*}}, %[[A]], %{{.*}})
// CHECK:         llvm.call @abort()
// CHECK:         llvm.unreachable
// CHECK:       ^[[AFTER]]:
// CHECK:         return
func.func @f(%ok: i1) {
  cf.assert %ok, "too short"
  return
}

// CHECK-LABEL: func.func @none
// CHECK-NEXT:    return
func.func @none() {
  return
}

// What C calls returns a status instead.
// CHECK-LABEL: func.func private @called(%{{.*}}: i1) -> i32
// CHECK:         llvm.call @write
// CHECK:         %[[FOUR:.*]] = llvm.mlir.constant(4 : i32) : i32
// CHECK:         return %[[FOUR]]
// CHECK:         %[[OK:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK:         return %[[OK]]
func.func private @called(%ok: i1) attributes {grit.interface = {}} {
  cf.assert %ok, "DigestMismatch: order"
  return
}
