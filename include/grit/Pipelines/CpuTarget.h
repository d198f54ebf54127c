//===- CpuTarget.h - what a processor offers -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_PIPELINES_CPUTARGET_H
#define GRIT_PIPELINES_CPUTARGET_H

#include <cstdint>
#include <string>

namespace grit {

/// A processor, resolved: no "native" is left in it.
struct CpuTarget {
  std::string triple;
  std::string cpu;
  /// Every feature that is on, as LLVM writes them ("+avx2,+fma,...").
  std::string features;

  bool has(const char *feature) const;
  /// Width of a vector register in bits.
  int64_t vectorBits() const;
};

/// Resolves a processor name ("native" for this machine) and further features
/// for `triple` (empty for this machine's). An unknown processor or triple
/// gives an error in `error` and an empty triple.
CpuTarget resolveCpuTarget(const std::string &triple, const std::string &cpu,
                           const std::string &features, std::string &error);

} // namespace grit

#endif // GRIT_PIPELINES_CPUTARGET_H
