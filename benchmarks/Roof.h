//===- Roof.h - how fast this machine can be -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two speeds that no kernel can exceed: reading memory, and multiplying and
// adding binary32 numbers. They are measured, in the run that they are compared
// with, because machines differ and clouds change. C linkage, so that Python
// can load the library too.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_BENCHMARKS_ROOF_H
#define GRIT_BENCHMARKS_ROOF_H

extern "C" {

/// Bytes per second that `threads` threads together read from memory that no
/// cache holds; the best of a few runs.
double grit_roof_read(int threads);

/// Binary32 operations per second (a fused multiply-add is two) that `threads`
/// threads together do in registers, with the widest vectors there are.
double grit_roof_flops(int threads);
}

#endif // GRIT_BENCHMARKS_ROOF_H
