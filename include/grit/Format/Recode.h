//===- Recode.h - the same values under another contract -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_RECODE_H
#define GRIT_FORMAT_RECODE_H

#include "grit/Format/Codec.h"
#include <optional>
#include <span>
#include <vector>

namespace grit {

/// Planes of `target` that decode to the very bits that `planes` decode to
/// under `source`: signs of zeros count, and NaN is NaN. The scales of the
/// target are searched among numbers that those of the source suggest, so an
/// array that has such planes may be refused; planes that are returned have
/// been decoded again and compared. An array that keeps its contract is moved
/// (Rearrange.h) and not searched.
///
/// A refusal names the first element without a code. GradeUnknown also for a
/// target whose codes are no choice for each element (vectors of levels, sign
/// planes, tables in the array, sparsity). Uses several threads.
Expected<std::vector<std::vector<uint8_t>>>
recode(const ArraySpec &source, std::span<const ByteSpan> planes,
       const ArraySpec &target);

/// Why no array of another contract can be recoded to this one; nothing for
/// one that recode searches for.
std::optional<Error> checkRecodeTarget(const Contract &target);

} // namespace grit

#endif // GRIT_FORMAT_RECODE_H
