//===- Covering.h - arrays that hold every code under every scale -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_COVERING_H
#define GRIT_UNITTESTS_FORMAT_COVERING_H

#include "FormatTestUtils.h"

namespace grit::test {

/// How many combinations of an element's code and the codes of its scale and
/// offset factors of at most 8 bits a contract has. Wider factors have too many
/// codes to try them all; 0 for a contract with more than 2^20 combinations, or
/// whose codes stand for several elements: its planes are random.
int64_t countCombinations(const FormatDescription &desc);

/// A matrix that is large enough for all of them.
ArraySpec coveringSpec(const Contract &contract);

/// Random planes that decode: each run of a sparse format has its survivors in
/// places of their own, in order. Other formats allow any bytes.
std::vector<Bytes> decodablePlanes(const ArraySpec &spec, Random &random);

/// Planes in which each combination of narrow factors occurs in some group, and
/// each code in each group. Wide scales are random, save that of the whole
/// array. `countCovered` proves it.
std::vector<Bytes> coveringPlanes(const ArraySpec &spec, Random &random);

/// How many combinations an array holds.
int64_t countCovered(const ArraySpec &spec, const std::vector<Bytes> &planes);

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_COVERING_H
