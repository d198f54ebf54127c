//===- Transport.h - stored words under another contract -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recode keeps values and looks for words that give them. Transport keeps words
// and asks whether the other contract has them: nothing is searched, and
// nothing is rounded but a factor whose number format is another one.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_TRANSPORT_H
#define GRIT_FORMAT_TRANSPORT_H

#include "grit/Format/Rearrange.h"
#include <span>

namespace grit {

struct TransportOptions {
  /// The factors of the whole array become their reciprocals in binary32: of a
  /// source that multiplies by what the target divides by.
  bool invertWhole = false;
};

/// The planes of `target`, in its canonical placements, with the codes and
/// factors of `source`. Both have the same rows; those of the target may be
/// longer, and end with elements whose level is zero under factors that are
/// zero. A code goes to the code of the same level. Of both contracts the
/// scales are taken from the largest groups to the smallest, and each goes to
/// the one at its place: as it is where both have the same number, else rounded
/// to nearest, ties to even; one of a larger group is repeated. What is not
/// legal under the target is refused.
Expected<PlaneBytes> transportWords(const ArraySpec &source,
                                    std::span<const ByteSpan> planes,
                                    const ArraySpec &target,
                                    const TransportOptions &options = {});

} // namespace grit

#endif // GRIT_FORMAT_TRANSPORT_H
