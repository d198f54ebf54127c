//===- Ninfer.h - the tensors of NInfer's files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of NInfer has a numeric format, a storage layout and a logical
// shape, and is one run of bytes, its payload. Here is what the three say of
// the payload: its sizes, the array that it is, and the way between the two.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_NINFER_H
#define GRIT_CONTAINER_NINFER_H

#include "grit/Format/Rearrange.h"
#include "grit/Format/Transport.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grit::ninfer {

/// What the record of a tensor says. `divisors` is the number of source
/// matrices that were stacked with a divisor of their own.
struct Record {
  std::string format; ///< "q4_g64_fp16"
  std::string layout; ///< "row_split_k128_v1"
  std::vector<int64_t> shape;
  int64_t divisors = 1;
};

/// A numeric format of NInfer's registry.
struct Format {
  std::string_view name;     ///< "q4_g64_fp16"
  std::string_view contract; ///< the contract of grit that it is
  std::string_view layout;   ///< the one layout that stores it
};

/// The 30 formats, in the order of the registry.
std::span<const Format> formats();
/// The format of a name, or null.
const Format *findFormat(std::string_view name);

/// Tensors begin at multiples of this in a file.
inline constexpr int64_t kAlignment = 256;

/// A part of a payload. Bytes between parts are 0.
struct Section {
  std::string_view name; ///< "codes", "base", "high", "scales", "divisors", ...
  int64_t offset = 0, bytes = 0;
};

/// Where the parts of a payload lie.
struct Geometry {
  std::vector<Section> sections;
  int64_t bytes = 0;                ///< of the payload
  std::vector<int64_t> storedShape; ///< with rows as they are padded
};

/// The sizes of a payload. Refuses a record that NInfer refuses: an unknown
/// format or layout, a pair of them that does not go together, a shape that the
/// layout does not take, divisors that do not fit.
Expected<Geometry> geometryOf(const Record &record);

/// The array that the payload is: its shape has the padded rows.
Expected<ArraySpec> arrayOf(const Record &record);

/// The planes of arrayOf(record). Refuses a payload of another length. Bytes of
/// padding are not looked at.
Expected<PlaneBytes> readPayload(const Record &record, ByteSpan payload);

/// The payload of an array with the shape, contract and placements of
/// arrayOf(record).
Expected<std::vector<uint8_t>> writePayload(const Record &record,
                                            std::span<const ByteSpan> planes);

/// What level 2 of a check finds in a payload: codes and scales that the format
/// calls illegal, and padding that NInfer would not have written.
std::optional<Error> checkPayload(const Record &record, ByteSpan payload);

/// The values of the logical shape, row-major.
Expected<std::vector<float>> decodePayload(const Record &record,
                                           ByteSpan payload);

/// The payload of values of the logical shape. A weight of `importance` stands
/// for a column of that shape.
Expected<std::vector<uint8_t>> encodePayload(const Record &record,
                                             std::span<const float> values,
                                             const EncodeOptions &options = {});

/// NInfer's import_encoded: the payload with the words of an array that another
/// tool encoded. Refuses a pair of contracts that is not imported, and words
/// that are not legal under the target.
Expected<std::vector<uint8_t>> importEncoded(const ArraySpec &source,
                                             std::span<const ByteSpan> planes,
                                             const Record &target);

/// A matrix and its record.
struct Tensor {
  Record record;
  std::vector<uint8_t> payload;
};

/// The nvfp4 matrices, one below the other. Each has one divisor; the result
/// has as many as divisorsOfStack says.
Expected<Tensor> stackMatrices(std::span<const Tensor> parts);

/// How many divisors a matrix has that is stacked from these: one where all
/// words are the same, else one for each, which then need equal rows.
Expected<int64_t> divisorsOfStack(std::span<const float> divisors,
                                  std::span<const int64_t> rows);

} // namespace grit::ninfer

#endif // GRIT_CONTAINER_NINFER_H
