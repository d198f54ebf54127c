//===- LayoutSteps.h - one step of a layout map -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_LAYOUTSTEPS_H
#define GRIT_LIB_FORMAT_LAYOUTSTEPS_H

#include "grit/Format/LayoutMap.h"

namespace grit {

/// The slot that one step gives `index`.
int64_t applyStep(const LayoutStep &step, int64_t index);

/// The step from slots to indices, or none: see LayoutMap::inverse.
std::optional<LayoutStep> invertStep(const LayoutStep &step);

/// A step on blocks of `size` indices.
LayoutStep stepOfBlocks(const LayoutStep &step, int64_t size);

/// The plainest step that does the same to `size` indices, or none for a step
/// that moves nothing: digits where digits do, bits before tables.
std::optional<LayoutStep> simplifyStep(LayoutStep step, int64_t size);

/// One step that does what `first` and then `second` do, where there is one.
std::optional<LayoutStep> fuseSteps(const LayoutStep &first,
                                    const LayoutStep &second);

/// Without digits of radix 1, and with neighbours that are one digit merged.
std::vector<LayoutDigit> mergeDigits(std::span<const LayoutDigit> digits);

/// The digits take separate places in the slot, each place divides the next,
/// and all lie below `range`.
bool areSeparate(const DigitMove &move);

/// The largest table, and so the longest Perm.
inline constexpr size_t kMaxSlotTable = 4096;

} // namespace grit

#endif // GRIT_LIB_FORMAT_LAYOUTSTEPS_H
