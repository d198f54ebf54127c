//===- Rearrange.h - moves what an array stores, without decoding -*- C++ -*-=//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Relayout, and slice, transpose and concatenation where the laws allow them
// (Laws.h). The result decodes to what the operation gives on the decoded
// values. Planes are those of the contract, in order; sizes are checked first.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_REARRANGE_H
#define GRIT_FORMAT_REARRANGE_H

#include "grit/Format/Audit.h"
#include "grit/Format/Codec.h"
#include "grit/Format/Layout.h"
#include <span>
#include <vector>

namespace grit {

using PlaneBytes = std::vector<std::vector<uint8_t>>;

/// The items of one plane: how they follow one another in its slots, and which
/// slot each index has. This is all that code which moves or reads items of a
/// plane has to know of its placement; LayoutMap.h says how to compute with the
/// map. A relayout gathers by the map from new slots to old ones, which is
/// `target.map.inverse()->then(source.map)`.
struct PlaneItems {
  ItemPacking packing;
  LayoutMap map;
};

/// The items of plane number `plane`. Refuses a placement without a map (P10),
/// one that does not fit (P6), and a plane of blocks of several kinds of
/// values.
Expected<PlaneItems> planeItems(const ArraySpec &spec, unsigned plane);

/// The planes of the array under other placements (L1, L2). A plane whose two
/// words are the same one is copied; of words that are hashes, equal ones are
/// not enough (P17). In a plane that moves, bits that belong to no slot become
/// 0 (P20). Refuses words without a map (L3).
Expected<PlaneBytes> relayoutPlanes(const ArraySpec &spec,
                                    std::span<const ByteSpan> planes,
                                    const Placements &target);

/// The planes of sliceOf(spec, offsets, sizes).
Expected<PlaneBytes> slicePlanes(const ArraySpec &spec,
                                 std::span<const ByteSpan> planes,
                                 std::span<const int64_t> offsets,
                                 std::span<const int64_t> sizes);

/// The planes of transposeOf(spec, permutation).
Expected<PlaneBytes> transposePlanes(const ArraySpec &spec,
                                     std::span<const ByteSpan> planes,
                                     std::span<const int64_t> permutation);

/// The planes of the array that concatOf gives for the parts. Factors of the
/// whole array must have the same bits in all of them.
Expected<PlaneBytes> concatPlanes(std::span<const PlacedArray> parts, int axis);

} // namespace grit

#endif // GRIT_FORMAT_REARRANGE_H
