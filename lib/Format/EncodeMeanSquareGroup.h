//===- EncodeMeanSquareGroup.h - the search in one group -*- C++ -*-==========//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_ENCODEMEANSQUAREGROUP_H
#define GRIT_LIB_FORMAT_ENCODEMEANSQUAREGROUP_H

#include "EncodeMeanSquare.h"

namespace grit {

/// What is chosen for a group.
struct Trial {
  uint32_t scale = 0;
  std::vector<uint32_t> offsets, codes;
  double error = 0;
};

/// One innermost group of a unit.
class GroupSearch {
public:
  GroupSearch(const MeanSquareSearch &search, EncodeUnit &unit, size_t index);

  void run();

private:
  /// A part of the group under one offset.
  struct Part {
    size_t begin, end;
  };
  float product(const std::vector<Factor> &factors,
                const std::vector<std::span<uint32_t>> &codes, size_t element,
                bool withInner) const;
  float joined(const Factor &factor, bool isOnly, float outer,
               uint32_t code) const {
    const float number = factor.number.decode(code);
    return isOnly ? number : outer * number;
  }
  float scaleOf(uint32_t code) const {
    return joined(format.scales.back(), format.scales.size() == 1, outerScale,
                  code);
  }
  /// The offset of a part under a code of the innermost factor.
  float offsetOf(size_t part, uint32_t code) const;
  float signOf(size_t element) const;
  float weightOf(size_t element) const {
    return unit.importance.empty() ? 1 : unit.importance[element];
  }
  float valueOf(float scale, float offset, float level) const;
  float levelFor(float scale, float offset, size_t element) const;

  double errorOf(size_t first, uint32_t code, float scale, float offset,
                 double limit) const;
  double chooseCodes(const Part &part, float scale, float offset,
                     std::span<uint32_t> codes, double limit);
  void tryScale(uint32_t code);
  double tryOffsets(size_t part, float scale, Trial &trial, double limit);
  std::optional<double> bestOffset(const Part &part, float scale,
                                   std::span<const uint32_t> codes) const;
  std::optional<double> bestScale() const;
  void takeHome();
  void store();

  const MeanSquareSearch &search;
  const FormatDescription &format;
  EncodeUnit &unit;
  size_t index, begin, end, vector;
  float outerScale = 1, outerOffset = 1;
  std::vector<Part> parts;
  size_t firstOffset = 0; ///< of `parts`, among the unit's
  bool movesOffset = false;
  Trial best, trial;
  std::vector<uint32_t> tried, near, chosen;
};

} // namespace grit

#endif // GRIT_LIB_FORMAT_ENCODEMEANSQUAREGROUP_H
