//===- Walk.h - addresses of a run, split into base and lanes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_KERNELGEN_WALK_H
#define GRIT_LIB_KERNELGEN_WALK_H

#include "grit/Format/Description.h"

namespace grit::kernelgen {

/// For an index base + c with base a multiple of `align` and c below it: true
/// when the digit's value depends on the base (it may depend on c as well, and
/// is then the sum of both parts; `canSplit` says that it is).
bool hasDynamicPart(const Digit &digit, int64_t align);

/// The largest power of two (at most 8) that divides every address of a slice.
int64_t addressAlignment(const BitSlice &slice);

} // namespace grit::kernelgen

#endif // GRIT_LIB_KERNELGEN_WALK_H
