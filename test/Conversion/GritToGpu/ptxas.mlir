// Every kernel of every contract assembles for each generation, without spills.
// REQUIRES: ptxas
// RUN: grit-opt %S/Inputs/contracts.mlir --grit-to-nvvm="chip=sm_80 format=isa" | %python %grit_src/scripts/extract-ptx.py > %t.80.ptx
// RUN: %ptxas -arch=sm_80 -v %t.80.ptx -o %t.cubin 2>&1 | FileCheck %s
// RUN: grit-opt %S/Inputs/contracts.mlir --grit-to-nvvm="chip=sm_90a format=isa" | %python %grit_src/scripts/extract-ptx.py > %t.90.ptx
// RUN: %ptxas -arch=sm_90a -v %t.90.ptx -o %t.cubin 2>&1 | FileCheck %s
// RUN: grit-opt %S/Inputs/contracts.mlir --grit-to-nvvm="chip=sm_100a format=isa" | %python %grit_src/scripts/extract-ptx.py > %t.100.ptx
// RUN: %ptxas -arch=sm_100a -v %t.100.ptx -o %t.cubin 2>&1 | FileCheck %s
// RUN: grit-opt %S/Inputs/contracts.mlir --grit-to-nvvm="chip=sm_120a format=isa" | %python %grit_src/scripts/extract-ptx.py > %t.120.ptx
// RUN: %ptxas -arch=sm_120a -v %t.120.ptx -o %t.cubin 2>&1 | FileCheck %s

// CHECK-COUNT-24: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: bytes stack frame
// CHECK-NOT: warning
