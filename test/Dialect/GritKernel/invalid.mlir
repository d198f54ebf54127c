// RUN: grit-opt %s -split-input-file -verify-diagnostics

// One lane has no offset.
func.func @unpack_offset_count(%b: vector<2xi8>) -> vector<4xi8> {
  // expected-error @+1 {{'grit_kernel.unpack' op needs one offset per lane, 4, but got 3}}
  %c = grit_kernel.unpack %b offsets = [0, 4, 8] width = 4 : vector<2xi8> -> vector<4xi8>
  return %c : vector<4xi8>
}

// -----

// The last code ends beyond the window.
func.func @unpack_beyond(%b: vector<2xi8>) -> vector<2xi8> {
  // expected-error @+1 {{'grit_kernel.unpack' op offset 13 with width 4 reaches beyond the 16 bits given}}
  %c = grit_kernel.unpack %b offsets = [0, 13] width = 4 : vector<2xi8> -> vector<2xi8>
  return %c : vector<2xi8>
}

// -----

// Codes of more than eight bits do not fit a lane.
func.func @unpack_width(%b: vector<4xi8>) -> vector<2xi8> {
  // expected-error @+1 {{attribute 'width' failed to satisfy constraint}}
  %c = grit_kernel.unpack %b offsets = [0, 9] width = 9 : vector<4xi8> -> vector<2xi8>
  return %c : vector<2xi8>
}

// -----

// Levels are binary32.
func.func @lookup_element(%c: vector<16xi8>) -> vector<16xf32> {
  // expected-error @+1 {{'grit_kernel.lookup' op table must be of type tensor<Nxf32>, but got 'tensor<4xi8>'}}
  %e = grit_kernel.lookup %c table = dense<[0, 1, 2, 3]> : tensor<4xi8> : vector<16xi8> -> vector<16xf32>
  return %e : vector<16xf32>
}

// -----

// A code of w bits selects one of 2^w levels.
func.func @lookup_size(%c: vector<16xi8>) -> vector<16xf32> {
  // expected-error @+1 {{'grit_kernel.lookup' op table size must be a power of two, but got 3}}
  %e = grit_kernel.lookup %c table = dense<[0.0, 1.0, 2.0]> : tensor<3xf32> : vector<16xi8> -> vector<16xf32>
  return %e : vector<16xf32>
}

// -----

func.func @lookup_lanes(%c: vector<16xi8>) -> vector<8xf32> {
  // expected-error @+1 {{'grit_kernel.lookup' op needs as many levels as codes, 16, but got 8}}
  %e = grit_kernel.lookup %c table = dense<[0.0, 1.0]> : tensor<2xf32> : vector<16xi8> -> vector<8xf32>
  return %e : vector<8xf32>
}

// -----

func.func @dot_lanes(%a: vector<8xi8>, %acc: vector<3xi32>) -> vector<3xi32> {
  // expected-error @+1 {{'grit_kernel.dot' op lanes of the operands must be a multiple of the accumulator's 3, but got 8}}
  %r = grit_kernel.dot %a, %a, %acc : vector<8xi8>, vector<3xi32>
  return %r : vector<3xi32>
}

// -----

func.func @dot_kinds(%a: vector<8xi8>, %acc: vector<2xf32>) -> vector<2xf32> {
  // expected-error @+1 {{'grit_kernel.dot' op cannot accumulate 'i8' products in 'f32'}}
  %r = grit_kernel.dot %a, %a, %acc : vector<8xi8>, vector<2xf32>
  return %r : vector<2xf32>
}

// -----

func.func @dot_f32(%a: vector<8xf32>, %acc: vector<2xf32>) -> vector<2xf32> {
  // expected-error @+1 {{'grit_kernel.dot' op binary32 lanes accumulate one to one, but got 8 and 2}}
  %r = grit_kernel.dot %a, %a, %acc : vector<8xf32>, vector<2xf32>
  return %r : vector<2xf32>
}
