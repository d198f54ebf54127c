//===- RecodeGroup.h - groups of elements while recoding -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_RECODEGROUP_H
#define GRIT_LIB_FORMAT_RECODEGROUP_H

#include "GroupOrder.h"
#include "NearestCode.h"
#include "PlacedField.h"
#include "ValueSteps.h"
#include "grit/Format/Codec.h"
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace grit {

/// What the factors of a format say about the elements of a group.
struct GroupValues {
  float scale = 1; ///< the product before the level
  bool hasScale = false;
  float offset = 0; ///< the zero point, or the minimum
  /// Factors that follow the level.
  std::vector<std::pair<FactorOp, float>> after;

  /// From the value of each factor, in the order of the description.
  void set(const FormatDescription &format, std::span<const float> scales,
           std::span<const float> offsets);

  /// Everything that multiplies the level, in exact arithmetic nearly.
  double wholeScale() const;
  /// What is taken away, in units of the value.
  double wholeOffset(const FormatDescription &format) const;
};

/// Finds the code of an element among those of a group.
class CodeFinder {
public:
  explicit CodeFinder(const FormatDescription &format)
      : format(format),
        levels(format.level.number, format.codes, format.illegalCodes) {}

  /// The code whose value has the bits of `value`.
  std::optional<uint32_t> find(float value, const GroupValues &group,
                               std::vector<uint32_t> &scratch) const;
  const NearestCode &numbers() const { return levels; }

private:
  float valueOf(float level, const GroupValues &group) const;

  const FormatDescription &format;
  NearestCode levels;
};

/// The factors of an array as one thread reads them.
class FactorValues {
public:
  static Expected<FactorValues> get(const ArraySpec &spec,
                                    std::span<const ByteSpan> planes);

  /// Reads the factors at an element; false when it is in the same groups as
  /// the one before.
  bool read(int64_t element);
  std::span<const float> scales() const { return scaleValues; }
  std::span<const float> offsets() const { return offsetValues; }

private:
  struct Field {
    const Factor *factor;
    PlacedField placed;
    int64_t current = -1; ///< the group that was read last
  };
  FactorValues(const ArraySpec &spec, std::span<const ByteSpan> planes)
      : spec(&spec), planes(planes), order(spec) {}
  std::optional<Error> add(const std::vector<Factor> &factors,
                           std::vector<Field> &fields);

  const ArraySpec *spec;
  std::span<const ByteSpan> planes;
  GroupOrder order;
  std::vector<Field> scaleFields, offsetFields;
  std::vector<float> scaleValues, offsetValues;
};

/// The elements, as row-major indices in ascending order of their place in the
/// group, of one group of a factor. A group of 0 elements is the whole array.
void elementsOf(const Factor &factor, int64_t group, const ArraySpec &spec,
                std::vector<int64_t> &elements);

/// The number of elements of a whole group.
int64_t groupSize(const Factor &factor, const ArraySpec &spec);

} // namespace grit

#endif // GRIT_LIB_FORMAT_RECODEGROUP_H
