//===- Laws.h - what may be done to an array without decoding it -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws L4 to L6 of GRIT v1, section 5.4, as questions about arrays without
// their bytes: a verifier asks them about types, Rearrange.h before it moves
// bytes. Each answers with the array that results, or with a refusal that names
// the law. Extents must be known.
//
// The rule behind the laws: the result decodes to what the operation gives when
// it is done to the decoded values. It does when each group of the result, by
// which its elements share a scale, is a whole group of an operand with its
// elements in the same order. The result keeps contract, group axis, placements
// and note; where a placement has no map over the result, there is none.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_LAWS_H
#define GRIT_FORMAT_LAWS_H

#include "grit/Format/Contract.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace grit {

/// The array of the elements `offsets[i]` to `offsets[i] + sizes[i] - 1` along
/// each axis i (L5). SizeMismatch: the box is not inside the array, cuts the
/// group axis elsewhere than between groups, or takes parts of groups that run
/// over the ends of rows.
Expected<ArraySpec> sliceOf(const ArraySpec &spec,
                            std::span<const int64_t> offsets,
                            std::span<const int64_t> sizes);

/// The array whose axis i is axis `permutation[i]` of `spec` (L4).
/// SizeMismatch: the permutation is none, moves the group axis, or moves an
/// axis that groups run over.
Expected<ArraySpec> transposeOf(const ArraySpec &spec,
                                std::span<const int64_t> permutation);

/// The array of the parts one behind the other along `axis`, of which each is
/// then a slice (L5). The note is marked ASSUMED when that of one part is (A4).
/// GradeUnknown: the parts have different contracts, or one scale each for the
/// whole array, which only their bytes can show to be equal. PlacementUnknown:
/// different placements. SizeMismatch: extents or group axes that do not fit.
Expected<ArraySpec> concatOf(std::span<const ArraySpec> parts, int axis);

/// Refuses a sparse contract whose indices need not rise (sp_order 0) with
/// GradeUnknown, on behalf of an operation that relies on their order (L6).
std::optional<Error> requireAscending(const Contract &contract,
                                      std::string_view operation);

} // namespace grit

#endif // GRIT_FORMAT_LAWS_H
