//===- RecodeArrays.h - what tests of recode share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_RECODEARRAYS_H
#define GRIT_UNITTESTS_FORMAT_RECODEARRAYS_H

#include "FormatTestUtils.h"
#include "grit/Format/Rearrange.h"
#include "grit/Format/Recode.h"

namespace grit::test {

inline std::vector<ByteSpan> spansOf(const PlaneBytes &planes) {
  return {planes.begin(), planes.end()};
}

inline Expected<PlaneBytes> recodeTo(const ArraySpec &source,
                                     const PlaneBytes &planes,
                                     const ArraySpec &target) {
  return recode(source, spansOf(planes), target);
}

/// Recodes, and compares what both decode to.
inline PlaneBytes expectRecodes(const ArraySpec &source,
                                const PlaneBytes &planes,
                                const ArraySpec &target,
                                const std::string &what) {
  auto result = recodeTo(source, planes, target);
  if (!result) {
    ADD_FAILURE() << what << ": " << result.error().str();
    return {};
  }
  expectSameBits(decodeAll(target, *result), decodeAll(source, planes), what);
  return *result;
}

/// One row of `columns` elements.
inline ArraySpec rowOf(std::string_view text, int64_t columns) {
  return specOf(text, {1, columns});
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_RECODEARRAYS_H
