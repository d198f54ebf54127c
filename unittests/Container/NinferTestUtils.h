//===- NinferTestUtils.h - records for tests -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_CONTAINER_NINFERTESTUTILS_H
#define GRIT_UNITTESTS_CONTAINER_NINFERTESTUTILS_H

#include "FormatTestUtils.h"
#include "grit/Container/Ninfer.h"
#include <algorithm>

namespace grit::test {

/// A record with the one layout of the format.
inline ninfer::Record recordOf(const std::string &format,
                               std::vector<int64_t> shape,
                               int64_t divisors = 1) {
  return {format, std::string(ninfer::findFormat(format)->layout),
          std::move(shape), divisors};
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_CONTAINER_NINFERTESTUTILS_H
