// RUN: grit-opt %s -split-input-file -verify-diagnostics -grit-record-interface

// expected-error @below {{argument 0 of public function 'memory' has type 'memref<4xf32>', which C cannot pass}}
// expected-note @below {{a ranked tensor of f32}}
// expected-note @below {{make the function private}}
func.func @memory(%m: memref<4xf32>) {
  return
}

// -----

// expected-error @below {{result 0 of public function 'number' has type 'f32', which C cannot pass}}
// expected-note @below {{a ranked tensor of f32}}
// expected-note @below {{make the function private}}
func.func @number(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{extent 0 of result 'result0' of public function 'unknown' is not an extent of an argument}}
// expected-note @below {{return a static shape, or pass the destination}}
func.func @unknown(%x: tensor<8xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<8xi64>
  %n = arith.index_cast %v : i64 to index
  %e = tensor.empty(%n) : tensor<?xi64>
  return %e : tensor<?xi64>
}

// -----

// expected-error @below {{public function 'never' can never run: an extent would have to be both 4 and 8}}
func.func @never(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %b = tensor.cast %y : tensor<8xf32> to tensor<?xf32>
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-error @below {{already has a recorded interface}}
func.func @twice() attributes {grit.interface = 1} {
  return
}

// -----

// expected-error@below {{'grit_check_expected' begins with grit_, as the names do that grit keeps for itself}}
// expected-note@below {{choose another name}}
func.func private @grit_check_expected(i32)

// -----

// expected-error@below {{'memcpy' is a function of the C library, which compiled code may call}}
// expected-note@below {{choose another name}}
func.func @memcpy(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@below {{'elsewhere' is declared and not defined}}
// expected-note@below {{a compiled module calls nothing outside}}
func.func private @elsewhere(tensor<4xf32>)
