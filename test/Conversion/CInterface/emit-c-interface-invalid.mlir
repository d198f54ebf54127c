// RUN: grit-opt %s -split-input-file -verify-diagnostics -grit-emit-c-interface

// expected-error @below {{has a malformed 'grit.interface' attribute}}
llvm.func @number() attributes {grit.interface = 1 : i64} {
  llvm.return
}

// -----

// expected-error @below {{has a malformed 'grit.interface' attribute}}
llvm.func @shared() attributes {grit.interface = {location = "", operands = [], shared = [array<i64: 0, 0, 1, 0>]}} {
  llvm.return
}

// -----

// expected-error @below {{has another signature than its recorded interface}}
llvm.func @signature(%x: i64) attributes {grit.interface = {location = "", operands = [], shared = []}} {
  llvm.return
}
