// RUN: grit-opt %s --grit-insert-checks | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: grit-opt %s --grit-insert-checks=level=2 | FileCheck %s --check-prefixes=CHECK,TWO
// Law L9: level 0 changes nothing.
// RUN: grit-opt %s -o %t.plain.mlir
// RUN: grit-opt %s --grit-insert-checks=level=0 | diff - %t.plain.mlir
// RUN: not grit-opt %s --grit-insert-checks=level=3 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: the check level must be 0, 1 or 2, but got 3

!a = !grit.array<?x32x#grit.grade<mxfp4>>

// CHECK-LABEL: @public
// CHECK-SAME: (%[[A:.*]]: !grit.array<?x32x#mxfp4>, %[[Y:.*]]: tensor<?x32xf32>, %[[B:.*]]: !grit.array<?x32x#mxfp4>)
// ONE-NEXT: %[[CHECKED:.*]] = grit.check %[[A]] level 1
// TWO-NEXT: %[[CHECKED:.*]] = grit.check %[[A]] level 2
// CHECK-NEXT: grit.check %[[B]]
// CHECK-NEXT: grit.decode ins(%[[CHECKED]] : {{.*}}) outs(%[[Y]]
func.func @public(%a: !a, %y: tensor<?x32xf32>, %b: !a) -> tensor<?x32xf32> {
  %r = grit.decode ins(%a : !a) outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK-LABEL: @private
// CHECK-NOT: grit.check
func.func private @private(%a: !a) -> !a {
  return %a : !a
}

func.func private @declared(!a)
