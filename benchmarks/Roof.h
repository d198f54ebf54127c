//===- Roof.h - how fast this machine can be -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two speeds that no kernel can exceed: reading what it works on, and
// multiplying and adding binary32 numbers. They are measured, in the run that
// they are compared with, because machines differ and clouds change. C linkage,
// so that Python can load the library too.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_BENCHMARKS_ROOF_H
#define GRIT_BENCHMARKS_ROOF_H

extern "C" {

/// Bytes per second that `threads` threads together read, over and over, from
/// `bytes` bytes: the speed of whatever holds as much. 0: more than any cache.
/// The best of a few runs.
double grit_roof_read(int threads, double bytes);

/// Binary32 operations per second (a fused multiply-add is two) that `threads`
/// threads together do in registers, with the widest vectors there are.
double grit_roof_flops(int threads);
}

#endif // GRIT_BENCHMARKS_ROOF_H
