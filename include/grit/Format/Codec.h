//===- Codec.h - scalar decode and encode, from the description -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For reading and for oracles, not for speed: kernels come from KernelGen. The
// steps and their rounding are those of GRIT v1, sections 8 to 10.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_FORMAT_CODEC_H
#define GRIT_FORMAT_CODEC_H

#include "grit/Format/Contract.h"
#include <cstdint>
#include <span>
#include <vector>

namespace grit {

using ByteSpan = std::span<const uint8_t>;

/// The value of a bit field: code number `index` of the plane it lives in.
uint32_t readField(const BitField &field, int64_t index,
                   std::span<const ByteSpan> planes);
/// Stores the low bits of `value`; the rest of the bytes is kept. Of a field of
/// digits that share bits, the bits themselves.
void writeField(const BitField &field, int64_t index, uint32_t value,
                std::span<const std::span<uint8_t>> planes);

/// Copies values 0 to `count` - 1 of a field into another one, each of a plane
/// of its own. False when a value of either lies outside its bytes.
bool copyField(const BitField &from, ByteSpan source, const BitField &to,
               std::span<uint8_t> target, int64_t count);

/// The index of the group that element `index` (row-major) belongs to.
int64_t groupIndex(const Factor &factor, int64_t index, const ArraySpec &spec);

/// Decodes a whole array into `out` (numElements values, row-major). Planes are
/// those of the description, in order; sizes and placements are checked first.
Expected<void> decode(const ArraySpec &spec, std::span<const ByteSpan> planes,
                      std::span<float> out);

/// Encodes `values` (row-major) under the contract's rule. `importance`, where
/// the rule uses it, is one weight per element of the last axis.
Expected<std::vector<std::vector<uint8_t>>>
encode(const ArraySpec &spec, std::span<const float> values,
       std::span<const float> importance = {});

} // namespace grit

#endif // GRIT_FORMAT_CODEC_H
