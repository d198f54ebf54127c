// RUN: grit-opt %s --grit-convert-assert-to-llvm | FileCheck %s
// RUN: grit-opt %s --grit-convert-assert-to-llvm=handler=true | FileCheck %s --check-prefix=HANDLER

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

// The handler gets the status as a number, the words without it, and the place.
// HANDLER-DAG: llvm.mlir.global internal constant @{{.*}}("order\00")
// HANDLER-DAG: llvm.mlir.global internal constant @{{.*}}assert-to-llvm.mlir:{{[0-9]+}}: in called\00")
// HANDLER-DAG: llvm.func @grit_report_message(i32, !llvm.ptr, !llvm.ptr)
// HANDLER-NOT: @write
// HANDLER-LABEL: func.func private @called
// HANDLER:         %[[FOUR:.*]] = llvm.mlir.constant(4 : i32) : i32
// HANDLER:         llvm.call @grit_report_message(%[[FOUR]], %{{.*}}, %{{.*}})
// HANDLER:         return %{{.*}} : i32
