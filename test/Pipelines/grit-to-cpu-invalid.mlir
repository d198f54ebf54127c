// Options that grit-to-cpu cannot use.

// RUN: not grit-opt %s -grit-to-cpu="cpu=pentium-nine" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not grit-opt %s -grit-to-cpu="features=+no-such" 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: not grit-opt %s -grit-to-cpu="cpu=i386" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not grit-opt %s -grit-to-cpu="features=+soft-float" 2>&1 | FileCheck %s --check-prefix=SOFT
// RUN: not grit-opt %s -grit-to-cpu="threads=-1" 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not grit-opt %s -grit-to-cpu="check-level=3" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not grit-opt %s -pass-pipeline="builtin.module(grit-to-cpu{cpu=pentium-nine})" 2>&1 | FileCheck %s --check-prefix=CPU

// CPU: pentium-nine
// FEATURE: no-such
// MODE: processor 'i386' has no 64-bit mode
// SOFT: feature 'soft-float' leaves no registers
// THREADS: threads must be 0 to 4096, but got -1
// LEVEL: the check level must be 0, 1 or 2, but got 3
module {}
