//===- Parallel.h - contiguous ranges on a few threads -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_PARALLEL_H
#define GRIT_LIB_FORMAT_PARALLEL_H

#include <cstdint>
#include <functional>

namespace grit {

/// Cuts [0, count) into contiguous ranges, each a multiple of `grain` long (the
/// last one apart), and runs `body(begin, end)` once for each, on several
/// threads where that pays. `body` must not throw.
void parallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t, int64_t)> &body);

} // namespace grit

#endif // GRIT_LIB_FORMAT_PARALLEL_H
