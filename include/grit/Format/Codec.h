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
#include <optional>
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

/// What may be asked of encode.
struct EncodeOptions {
  enum class Search : uint8_t {
    None, ///< what the contract's rule chooses
    /// Then other codes of the innermost scales and offsets, where these lower
    /// the squared error of a group; never more than the rule's.
    MeanSquare,
  };

  /// How much the squared error of an element counts: one weight per element of
  /// the last axis, or as many for each matrix of the last two axes.
  std::span<const float> importance = {};
  Search search = Search::None;
  /// Another rule than the contract's. Refused where the rule has no use for
  /// the description.
  std::optional<EncodeRule> rule = std::nullopt;
  /// GroupedSearch may choose scales below 0.
  bool negativeScales = false;
};

/// Encodes `values` (row-major) under the contract's rule; what comes out is
/// legal under the contract. Importance is refused where neither the rule nor
/// the search uses it.
Expected<std::vector<std::vector<uint8_t>>>
encode(const ArraySpec &spec, std::span<const float> values,
       const EncodeOptions &options);
inline Expected<std::vector<std::vector<uint8_t>>>
encode(const ArraySpec &spec, std::span<const float> values,
       std::span<const float> importance = {}) {
  return encode(spec, values, EncodeOptions{importance});
}

/// What the encoder of a contract does with importance.
enum class ImportanceUse : uint8_t { None, Optional, Needed };
/// None where there is no encoder.
ImportanceUse importanceUse(const Contract &contract);

} // namespace grit

#endif // GRIT_FORMAT_CODEC_H
