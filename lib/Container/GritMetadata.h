//===- GritMetadata.h - the __grit__ entry of safetensors files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_GRITMETADATA_H
#define GRIT_LIB_CONTAINER_GRITMETADATA_H

#include "grit/Container/Json.h"
#include "grit/Format/Contract.h"
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// What `__grit__` says about one tensor, before it is compared with the file.
struct ArrayRecord {
  /// Empty in the flat form, which has a descriptor and nothing else.
  std::string contract;
  std::vector<int64_t> shape;
  int axis = -1;
  std::optional<std::string> data, scale, meta; ///< placements by name
  std::vector<uint8_t> descriptor;
  std::optional<std::array<uint8_t, 16>> digest;

  bool isFlat() const { return contract.empty(); }
  /// The array; `tensorShape` is its shape in the flat form.
  Expected<ArraySpec> resolve(std::span<const int64_t> tensorShape) const;
};

/// Parses {"version": 1, "tensors": {...}} or the flat {name: 128 hex digits}.
Expected<std::map<std::string, ArrayRecord>>
parseGritMetadata(std::string_view json);

/// Writes the record of an array, the inverse of parsing.
void writeArrayRecord(JsonWriter &json, const ArraySpec &spec,
                      const std::array<uint8_t, 16> &digest);

/// The sizes of the four planes that a digest covers, zero where absent.
std::vector<int64_t> digestSizes(const ArraySpec &spec,
                                 const PlaneSizes &sizes);

} // namespace grit

#endif // GRIT_LIB_CONTAINER_GRITMETADATA_H
