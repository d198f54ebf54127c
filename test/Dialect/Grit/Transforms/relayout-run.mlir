// Relayouts, run: every value must lie where the placement says, by formulas
// written out here, and must come back.
// RUN: grit-opt %s --pass-pipeline="builtin.module(grit-lower-relayout,grit-expand-arrays,canonicalize,grit-verify-stage{after=planes},one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-loops,convert-vector-to-scf,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,grit-verify-stage{after=llvm})" \
// RUN: | mlir-runner -e main --entry-point-result=void --shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

!row_major = !grit.array<256x64x#grit.grade<nvf4>>
!swizzled = !grit.array<256x64x#grit.grade<nvf4>, scale = swizzle_128x4b>
!tiled = !grit.array<256x64x#grit.grade<nvf4>, data = tile_16x16>
!columns = !grit.array<256x64x#grit.grade<nvf4>, data = col_major, scale = col_major>

// Sparse: nibbles of indices and bytes of survivors, 16-bit scales.
!sparse = !grit.array<16x64x#grit.grade<i8s24>>
!sparse_columns = !grit.array<16x64x#grit.grade<i8s24>, data = col_major, scale = col_major, meta = col_major>

// The first code of a byte has its high bits; six bits cross bytes.
!msb = !grit.array<32x32x#grit.grade<e = u4, k0 = 32, s0 = e8m0, po = msb, esr = ratiomaxabs>>
!msb_tiled = !grit.array<32x32x#grit.grade<e = u4, k0 = 32, s0 = e8m0, po = msb, esr = ratiomaxabs>, data = tile_16x16>
!six = !grit.array<3x32x#grit.grade<e = u6, k0 = 32, s0 = e8m0, esr = ratiomaxabs>>
!six_columns = !grit.array<3x32x#grit.grade<e = u6, k0 = 32, s0 = e8m0, esr = ratiomaxabs>, data = col_major>
// Nine nibbles: half a byte is left.
!nine = !grit.array<3x3x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>>
!nine_columns = !grit.array<3x3x#grit.grade<e = u4, k0 = 3, s0 = e8m0, esr = ratiomaxabs>, data = col_major>

// Bytes without a pattern.
func.func private @noise(%count: index, %seed: index) -> tensor<?xi8> {
  %e = tensor.empty(%count) : tensor<?xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
       outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %s = arith.addi %i, %seed : index
    %x = arith.index_cast %s : index to i32
    %k = arith.constant 0x9E3779B1 : i32
    %m = arith.muli %x, %k : i32
    %c17 = arith.constant 17 : i32
    %h = arith.shrui %m, %c17 : i32
    %b = arith.trunci %h : i32 to i8
    linalg.yield %b : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
}

// How many bytes differ.
func.func private @differences(%a: tensor<?xi8>, %b: tensor<?xi8>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?xi8>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> index {
    %x = tensor.extract %a[%i] : tensor<?xi8>
    %y = tensor.extract %b[%i] : tensor<?xi8>
    %ne = arith.cmpi ne, %x, %y : i8
    %one = arith.index_castui %ne : i1 to index
    %s = arith.addi %sum, %one : index
    scf.yield %s : index
  }
  return %r : index
}

// Nibble number %i, low one first.
func.func private @nibble(%a: tensor<?xi8>, %i: index) -> i8 {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : i8
  %byte = arith.divui %i, %c2 : index
  %half = arith.remui %i, %c2 : index
  %bit = arith.muli %half, %c4 : index
  %shift = arith.index_cast %bit : index to i8
  %x = tensor.extract %a[%byte] : tensor<?xi8>
  %y = arith.shrui %x, %shift : i8
  %z = arith.andi %y, %c15 : i8
  return %z : i8
}

// Scales of 256 x 4: byte (r, c) of a 128 x 4 tile lies at (r mod 32) * 16 + (r / 32) * 4 + c.
func.func private @misplaced_scales(%source: tensor<?xi8>, %target: tensor<?xi8>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %r = scf.for %row = %c0 to %c256 step %c1 iter_args(%outer = %c0) -> index {
    %s = scf.for %col = %c0 to %c4 step %c1 iter_args(%sum = %outer) -> index {
      %a0 = arith.muli %row, %c4 : index
      %a = arith.addi %a0, %col : index
      %tile = arith.divui %row, %c128 : index
      %inTile = arith.remui %row, %c128 : index
      %low = arith.remui %inTile, %c32 : index
      %high = arith.divui %inTile, %c32 : index
      %b0 = arith.muli %tile, %c512 : index
      %b1 = arith.muli %low, %c16 : index
      %b2 = arith.muli %high, %c4 : index
      %b3 = arith.addi %b0, %b1 : index
      %b4 = arith.addi %b2, %col : index
      %b = arith.addi %b3, %b4 : index
      %x = tensor.extract %source[%a] : tensor<?xi8>
      %y = tensor.extract %target[%b] : tensor<?xi8>
      %ne = arith.cmpi ne, %x, %y : i8
      %one = arith.index_castui %ne : i1 to index
      %t = arith.addi %sum, %one : index
      scf.yield %t : index
    }
    scf.yield %s : index
  }
  return %r : index
}

// Nibbles of 256 x 64 in 16 x 16 tiles, row-major both.
func.func private @misplaced_tiles(%source: tensor<?xi8>, %target: tensor<?xi8>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %r = scf.for %row = %c0 to %c256 step %c1 iter_args(%outer = %c0) -> index {
    %s = scf.for %col = %c0 to %c64 step %c1 iter_args(%sum = %outer) -> index {
      %a0 = arith.muli %row, %c64 : index
      %a = arith.addi %a0, %col : index
      %tr = arith.divui %row, %c16 : index
      %tc = arith.divui %col, %c16 : index
      %t0 = arith.muli %tr, %c4 : index
      %t1 = arith.addi %t0, %tc : index
      %t2 = arith.muli %t1, %c256 : index
      %ir = arith.remui %row, %c16 : index
      %ic = arith.remui %col, %c16 : index
      %i0 = arith.muli %ir, %c16 : index
      %i1 = arith.addi %i0, %ic : index
      %b = arith.addi %t2, %i1 : index
      %x = func.call @nibble(%source, %a) : (tensor<?xi8>, index) -> i8
      %y = func.call @nibble(%target, %b) : (tensor<?xi8>, index) -> i8
      %ne = arith.cmpi ne, %x, %y : i8
      %one = arith.index_castui %ne : i1 to index
      %t = arith.addi %sum, %one : index
      scf.yield %t : index
    }
    scf.yield %s : index
  }
  return %r : index
}

// Nibbles of 256 x 64, first axis fastest.
func.func private @misplaced_columns(%source: tensor<?xi8>, %target: tensor<?xi8>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %r = scf.for %row = %c0 to %c256 step %c1 iter_args(%outer = %c0) -> index {
    %s = scf.for %col = %c0 to %c64 step %c1 iter_args(%sum = %outer) -> index {
      %a0 = arith.muli %row, %c64 : index
      %a = arith.addi %a0, %col : index
      %b0 = arith.muli %col, %c256 : index
      %b = arith.addi %b0, %row : index
      %x = func.call @nibble(%source, %a) : (tensor<?xi8>, index) -> i8
      %y = func.call @nibble(%target, %b) : (tensor<?xi8>, index) -> i8
      %ne = arith.cmpi ne, %x, %y : i8
      %one = arith.index_castui %ne : i1 to index
      %t = arith.addi %sum, %one : index
      scf.yield %t : index
    }
    scf.yield %s : index
  }
  return %r : index
}

func.func private @dense() {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %bytes = arith.constant 8192 : index
  %groups = arith.constant 1024 : index
  %four = arith.constant 4 : index
  %d = call @noise(%bytes, %c0) : (index, index) -> tensor<?xi8>
  %s = call @noise(%groups, %c7) : (index, index) -> tensor<?xi8>
  %t = call @noise(%four, %c7) : (index, index) -> tensor<?xi8>
  %a = grit.bundle %d, %s, %t : tensor<?xi8>, tensor<?xi8>, tensor<?xi8> -> !row_major

  // CHECK: 0
  %swizzled = grit.relayout %a : !row_major -> !swizzled
  %p0:3 = grit.planes %swizzled : !swizzled -> tensor<8192xi8>, tensor<1024xi8>, tensor<4xi8>
  %s0 = tensor.cast %p0#1 : tensor<1024xi8> to tensor<?xi8>
  %n0 = call @misplaced_scales(%s, %s0) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n0 : index

  // CHECK-NEXT: 0
  %tiled = grit.relayout %a : !row_major -> !tiled
  %p1:3 = grit.planes %tiled : !tiled -> tensor<8192xi8>, tensor<1024xi8>, tensor<4xi8>
  %d1 = tensor.cast %p1#0 : tensor<8192xi8> to tensor<?xi8>
  %n1 = call @misplaced_tiles(%d, %d1) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n1 : index

  // CHECK-NEXT: 0
  %columns = grit.relayout %a : !row_major -> !columns
  %p2:3 = grit.planes %columns : !columns -> tensor<8192xi8>, tensor<1024xi8>, tensor<4xi8>
  %d2 = tensor.cast %p2#0 : tensor<8192xi8> to tensor<?xi8>
  %n2 = call @misplaced_columns(%d, %d2) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n2 : index

  // All the way round: row_major, swizzled, columns, tiled, row_major. The
  // permutations are real: most bytes of the copies differ.
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0
  // CHECK-NEXT: {{[1-9][0-9][0-9][0-9]}}
  %r0 = grit.relayout %swizzled : !swizzled -> !columns
  %r1 = grit.relayout %r0 : !columns -> !tiled
  %r2 = grit.relayout %r1 : !tiled -> !row_major
  %p3:3 = grit.planes %r2 : !row_major -> tensor<8192xi8>, tensor<1024xi8>, tensor<4xi8>
  %d3 = tensor.cast %p3#0 : tensor<8192xi8> to tensor<?xi8>
  %s3 = tensor.cast %p3#1 : tensor<1024xi8> to tensor<?xi8>
  %n3 = call @differences(%d, %d3) : (tensor<?xi8>, tensor<?xi8>) -> index
  %n4 = call @differences(%s, %s3) : (tensor<?xi8>, tensor<?xi8>) -> index
  %n5 = call @differences(%d, %d2) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n3 : index
  vector.print %n4 : index
  vector.print %n5 : index
  return
}

func.func private @sparse() {
  %c0 = arith.constant 0 : index
  %bytes = arith.constant 512 : index
  %groups = arith.constant 64 : index
  %indices = arith.constant 128 : index
  %d = call @noise(%bytes, %c0) : (index, index) -> tensor<?xi8>
  %s = call @noise(%groups, %bytes) : (index, index) -> tensor<?xi8>
  %m = call @noise(%indices, %groups) : (index, index) -> tensor<?xi8>
  %a = grit.bundle %d, %s, %m : tensor<?xi8>, tensor<?xi8>, tensor<?xi8> -> !sparse
  %b = grit.relayout %a : !sparse -> !sparse_columns
  %c = grit.relayout %b : !sparse_columns -> !sparse
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0
  %p:3 = grit.planes %c : !sparse -> tensor<512xi8>, tensor<64xi8>, tensor<128xi8>
  %d1 = tensor.cast %p#0 : tensor<512xi8> to tensor<?xi8>
  %s1 = tensor.cast %p#1 : tensor<64xi8> to tensor<?xi8>
  %m1 = tensor.cast %p#2 : tensor<128xi8> to tensor<?xi8>
  %n0 = call @differences(%d, %d1) : (tensor<?xi8>, tensor<?xi8>) -> index
  %n1 = call @differences(%s, %s1) : (tensor<?xi8>, tensor<?xi8>) -> index
  %n2 = call @differences(%m, %m1) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n0 : index
  vector.print %n1 : index
  vector.print %n2 : index
  // Scale (0, 1), two bytes, is number 16 when columns come first.
  // CHECK-NEXT: 1
  // CHECK-NEXT: 1
  %q:3 = grit.planes %b : !sparse_columns -> tensor<512xi8>, tensor<64xi8>, tensor<128xi8>
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c33 = arith.constant 33 : index
  %x0 = tensor.extract %s[%c2] : tensor<?xi8>
  %y0 = tensor.extract %q#1[%c32] : tensor<64xi8>
  %x1 = tensor.extract %s[%c3] : tensor<?xi8>
  %y1 = tensor.extract %q#1[%c33] : tensor<64xi8>
  %e0 = arith.cmpi eq, %x0, %y0 : i8
  %e1 = arith.cmpi eq, %x1, %y1 : i8
  vector.print %e0 : i1
  vector.print %e1 : i1
  return
}

func.func private @odd_widths() {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c72 = arith.constant 72 : index
  %c32 = arith.constant 32 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index

  // CHECK-NEXT: 0
  %d0 = call @noise(%c512, %c0) : (index, index) -> tensor<?xi8>
  %s0 = call @noise(%c32, %c0) : (index, index) -> tensor<?xi8>
  %a0 = grit.bundle %d0, %s0 : tensor<?xi8>, tensor<?xi8> -> !msb
  %b0 = grit.relayout %a0 : !msb -> !msb_tiled
  %e0 = grit.relayout %b0 : !msb_tiled -> !msb
  %p0:2 = grit.planes %e0 : !msb -> tensor<512xi8>, tensor<32xi8>
  %f0 = tensor.cast %p0#0 : tensor<512xi8> to tensor<?xi8>
  %n0 = call @differences(%d0, %f0) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n0 : index
  // The second row of the first tile is whole bytes of the second row.
  // CHECK-NEXT: 1
  %q0:2 = grit.planes %b0 : !msb_tiled -> tensor<512xi8>, tensor<32xi8>
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %x0 = tensor.extract %d0[%c16] : tensor<?xi8>
  %y0 = tensor.extract %q0#0[%c8] : tensor<512xi8>
  %z0 = arith.cmpi eq, %x0, %y0 : i8
  vector.print %z0 : i1

  // CHECK-NEXT: 0
  %d1 = call @noise(%c72, %c0) : (index, index) -> tensor<?xi8>
  %s1 = call @noise(%c3, %c0) : (index, index) -> tensor<?xi8>
  %a1 = grit.bundle %d1, %s1 : tensor<?xi8>, tensor<?xi8> -> !six
  %b1 = grit.relayout %a1 : !six -> !six_columns
  %e1 = grit.relayout %b1 : !six_columns -> !six
  %p1:2 = grit.planes %e1 : !six -> tensor<72xi8>, tensor<3xi8>
  %f1 = tensor.cast %p1#0 : tensor<72xi8> to tensor<?xi8>
  %n1 = call @differences(%d1, %f1) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n1 : index

  // The tail is zero when it comes back: compare with a tail of zero.
  // CHECK-NEXT: 0
  %d2 = arith.constant dense<[0x21, 0x43, 0x65, 0x87, 0x09]> : tensor<5xi8>
  %s2 = call @noise(%c3, %c0) : (index, index) -> tensor<?xi8>
  %a2 = grit.bundle %d2, %s2 : tensor<5xi8>, tensor<?xi8> -> !nine
  %b2 = grit.relayout %a2 : !nine -> !nine_columns
  %e2 = grit.relayout %b2 : !nine_columns -> !nine
  %p2:2 = grit.planes %e2 : !nine -> tensor<5xi8>, tensor<3xi8>
  %f2 = tensor.cast %p2#0 : tensor<5xi8> to tensor<?xi8>
  %g2 = tensor.cast %d2 : tensor<5xi8> to tensor<?xi8>
  %n2 = call @differences(%g2, %f2) : (tensor<?xi8>, tensor<?xi8>) -> index
  vector.print %n2 : index
  // 1 4 7, 2 5 8, 3 6 9 down the columns.
  // CHECK-NEXT: ( 65, 39, -123, 99, 9 )
  %q2:2 = grit.planes %b2 : !nine_columns -> tensor<5xi8>, tensor<3xi8>
  %zero = arith.constant 0 : i8
  %v = vector.transfer_read %q2#0[%c0], %zero {in_bounds = [true]} : tensor<5xi8>, vector<5xi8>
  vector.print %v : vector<5xi8>
  return
}

func.func @main() {
  call @dense() : () -> ()
  call @sparse() : () -> ()
  call @odd_widths() : () -> ()
  return
}
