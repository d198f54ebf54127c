//===- EncodeInputs.h - integer inputs of encode tests -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same numbers as scripts/make-encode-vectors.py makes; their kinds are
// described in spec/conformance/README.md.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_ENCODEINPUTS_H
#define GRIT_UNITTESTS_FORMAT_ENCODEINPUTS_H

#include "grit/Format/Contract.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grit::test {

/// `count` numbers of a kind; an unknown kind ends the process.
std::vector<float> encodeInputs(std::string_view kind, uint32_t seed,
                                int64_t count);

/// As many rows of 256 as are asked for, or as an array of the contract needs.
ArraySpec rowsOf(const std::string &name, int64_t rows);

/// Positive weights.
std::vector<float> importanceInputs(uint32_t seed, int64_t count);

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_ENCODEINPUTS_H
