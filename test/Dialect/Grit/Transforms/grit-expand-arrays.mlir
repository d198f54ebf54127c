// RUN: grit-opt %s --grit-expand-arrays --split-input-file --verify-diagnostics \
// RUN: --allow-unregistered-dialect | FileCheck %s

!d = !grit.array<?x32x#grit.grade<mxfp4>>
!n = !grit.array<128x64x#grit.grade<nvf4>>
!two = !grit.array<?x8x?x#grit.grade<mxfp4>>

// Planes in stored order, then the dynamic extents; the attributes of an argument
// go to all of them.
// CHECK: func.func private @declaration(tensor<?xi8> {test.w}, tensor<?xi8> {test.w}, index {test.w}, f32)
// CHECK-SAME: -> (tensor<4096xi8>, tensor<512xi8>, tensor<4xi8>)
func.func private @declaration(!d {test.w}, f32) -> !n

// CHECK-LABEL: func.func @function
// CHECK-SAME: (%[[D:.*]]: tensor<?xi8>, %[[S:.*]]: tensor<?xi8>, %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK-NEXT: return %[[D]], %[[S]], %[[N]], %[[M]]
func.func @function(%a: !two) -> !two {
  return %a : !two
}

// CHECK-LABEL: func.func @call
// CHECK: %[[R:.*]]:3 = call @declaration(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?xi8>, tensor<?xi8>, index, f32) -> (tensor<4096xi8>, tensor<512xi8>, tensor<4xi8>)
// CHECK: return %[[R]]#1
func.func @call(%a: !d, %f: f32) -> tensor<512xi8> {
  %r = call @declaration(%a, %f) : (!d, f32) -> !n
  %p:3 = grit.planes %r : !n -> tensor<4096xi8>, tensor<512xi8>, tensor<4xi8>
  return %p#1 : tensor<512xi8>
}

// CHECK-LABEL: func.func @bundle_and_dim
// CHECK-SAME: (%[[D:.*]]: tensor<?xi8>, %[[S:.*]]: tensor<?xi8>, %[[N:.*]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: return %[[N]], %[[C8]], %[[M]]
func.func @bundle_and_dim(%d: tensor<?xi8>, %s: tensor<?xi8>, %n: index, %m: index) -> (index, index, index) {
  %a = grit.bundle %d, %s sizes [%n, %m] : tensor<?xi8>, tensor<?xi8> -> !two
  %0 = grit.dim %a, 0 : !two
  %1 = grit.dim %a, 1 : !two
  %2 = grit.dim %a, 2 : !two
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @bundle_of_unknown_sizes
// CHECK: tensor.cast %{{.*}} : tensor<?xi8> to tensor<512xi8>
func.func @bundle_of_unknown_sizes(%d: tensor<4096xi8>, %s: tensor<?xi8>, %t: tensor<4xi8>) -> !n {
  %a = grit.bundle %d, %s, %t : tensor<4096xi8>, tensor<?xi8>, tensor<4xi8> -> !n
  return %a : !n
}

// A resource stays one.
// CHECK-LABEL: func.func @constant
// CHECK: %[[D:.*]] = arith.constant dense_resource<data> : tensor<16xi8>
// CHECK: %[[S:.*]] = arith.constant dense<127> : tensor<1xi8>
// CHECK: return %[[D]], %[[S]]
func.func @constant() -> !grit.array<1x32x#grit.grade<mxfp4>> {
  %a = grit.constant [dense_resource<data> : tensor<16xi8>, dense<127> : tensor<1xi8>]
       : !grit.array<1x32x#grit.grade<mxfp4>>
  return %a : !grit.array<1x32x#grit.grade<mxfp4>>
}

// CHECK-LABEL: func.func @if
// CHECK: scf.if %{{.*}} -> (tensor<?xi8>, tensor<?xi8>, index)
func.func @if(%a: !d, %b: !d, %c: i1) -> !d {
  %r = scf.if %c -> !d {
    scf.yield %a : !d
  } else {
    scf.yield %b : !d
  }
  return %r : !d
}

// CHECK-LABEL: func.func @for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<?xi8>, tensor<?xi8>, index)
func.func @for(%a: !d, %n: index) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> !d {
    %y = func.call @identity(%x) : (!d) -> !d
    scf.yield %y : !d
  }
  return %r : !d
}
func.func private @identity(!d) -> !d

// CHECK-LABEL: func.func @while
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<?xi8>, tensor<?xi8>, index) -> (tensor<?xi8>, tensor<?xi8>, index)
func.func @while(%a: !d, %c: i1) -> !d {
  %r = scf.while (%x = %a) : (!d) -> !d {
    scf.condition(%c) %x : !d
  } do {
  ^bb0(%x: !d):
    scf.yield %x : !d
  }
  return %r : !d
}

// CHECK-LABEL: func.func @index_switch
// CHECK: scf.index_switch %{{.*}} -> tensor<?xi8>, tensor<?xi8>, index
func.func @index_switch(%a: !d, %b: !d, %i: index) -> !d {
  %r = scf.index_switch %i -> !d
  case 0 {
    scf.yield %a : !d
  }
  default {
    scf.yield %b : !d
  }
  return %r : !d
}

// What a loop captures expands where it is.
// CHECK-LABEL: func.func @forall
// CHECK-SAME: (%{{.*}}: tensor<?xi8>, %[[S:.*]]: tensor<?xi8>, %{{.*}}: index
// CHECK: scf.forall
// CHECK: tensor.extract %[[S]]
func.func @forall(%a: !d, %out: tensor<8xi8>) -> tensor<8xi8> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %out) -> tensor<8xi8> {
    %p:2 = grit.planes %a : !d -> tensor<?xi8>, tensor<?xi8>
    %s = tensor.extract %p#1[%i] : tensor<?xi8>
    %t = tensor.from_elements %s : tensor<1xi8>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xi8> into tensor<8xi8>
    }
  }
  return %r : tensor<8xi8>
}

// CHECK-LABEL: func.func @branches
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi8>, tensor<?xi8>, index), ^bb1
// CHECK: ^bb1(%{{.*}}: tensor<?xi8>, %{{.*}}: tensor<?xi8>, %{{.*}}: index):
// CHECK: cf.br ^bb2(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi8>, tensor<?xi8>, index)
func.func @branches(%a: !d, %b: !d, %c: i1) -> !d {
  cf.cond_br %c, ^bb1(%a : !d), ^bb1(%b : !d)
^bb1(%x: !d):
  cf.br ^bb2(%x : !d)
^bb2(%y: !d):
  return %y : !d
}

// -----

func.func @decode_left(%a: !grit.array<4x32x#grit.grade<mxfp4>>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  // expected-error@+1 {{'grit.decode' must be lowered before arrays are expanded}}
  %r = grit.decode ins(%a : !grit.array<4x32x#grit.grade<mxfp4>>) outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %r : tensor<4x32xf32>
}

// -----

func.func @unknown_operation(%a: !grit.array<4x32x#grit.grade<mxfp4>>) {
  // expected-error@+1 {{'test.use' holds an array and does not expand}}
  "test.use"(%a) : (!grit.array<4x32x#grit.grade<mxfp4>>) -> ()
  return
}

// -----

func.func @block_argument_of_an_unknown_operation() {
  // expected-error@+1 {{'test.region' holds an array and does not expand}}
  "test.region"() ({
  ^bb0(%a: !grit.array<4x32x#grit.grade<mxfp4>>):
    "test.end"() : () -> ()
  }) : () -> ()
  return
}

// -----

// expected-error@+1 {{'func.func' holds an array inside another type, which has no expansion}}
func.func private @nested(tuple<!grit.array<4x32x#grit.grade<mxfp4>>, i32>)

{-#
  dialect_resources: {
    builtin: {
      data: "0x0100000020426476A8CAECFE0000000000000000"
    }
  }
#-}
