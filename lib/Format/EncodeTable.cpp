//===- EncodeTable.cpp - codes by the midpoints of a table ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The encoder customary for QLoRA's NF4: the scale of a block is its largest
// magnitude, and a code is the number of midpoints below the scaled value. Of a
// scale that is stored with less precision, what is stored counts.
//
//===----------------------------------------------------------------------===//

#include "EncodeTable.h"

#include <algorithm>
#include <utility>

using namespace grit;

namespace {
class TableAbsMaxRule : public Rule {
public:
  explicit TableAbsMaxRule(const FormatDescription &format)
      : scale(format.scales[0].number), encoding(format.encoding),
        elements(midpointSteps(format.level.number.table)) {}

  // An infinite scale would decode to NaN, and a NaN fits no level.
  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  Encoding encoding;
  StepTable elements;
};
} // namespace

StepTable grit::midpointSteps(std::span<const float> levels) {
  std::vector<std::pair<float, uint8_t>> sorted;
  for (size_t i = 0; i < levels.size(); ++i)
    sorted.emplace_back(levels[i], static_cast<uint8_t>(i));
  std::ranges::sort(sorted);
  std::vector<float> midpoints;
  for (size_t i = 1; i < sorted.size(); ++i)
    midpoints.push_back(static_cast<float>(
        (static_cast<double>(sorted[i - 1].first) + sorted[i].first) / 2));
  return StepTable::build([&](float y) {
    auto above = std::ranges::lower_bound(midpoints, y);
    return sorted[static_cast<size_t>(above - midpoints.begin())].second;
  });
}

void grit::encodeByMidpoints(const StepTable &steps,
                             std::span<const float> values, float m,
                             std::span<uint8_t> codes) {
  // The guard keeps the reciprocal of a zero or subnormal maximum finite.
  constexpr float kLeast = 1e-38f;
  const float reciprocal = 1 / std::max(m, kLeast);
  for (size_t i = 0; i < values.size(); ++i)
    codes[i] = steps(std::clamp(values[i] * reciprocal, -1.0f, 1.0f));
}

std::optional<Error> TableAbsMaxRule::encode(EncodeUnit &unit) const {
  uint32_t code = wordCode(scale, absMax(unit.values), encoding);
  unit.scales[0][0] = code;
  encodeByMidpoints(elements, unit.values, scale.decode(code), unit.codes);
  return std::nullopt;
}

std::optional<Error> grit::checkTable(const FormatDescription &format,
                                      std::string_view rule) {
  const std::vector<float> &levels = format.level.number.table;
  if (levels.size() <= 256 && allFinite(levels) && absMax(levels) == 1)
    return std::nullopt;
  return refuseRule(rule, "level",
                    "at most 256 finite levels, the largest magnitude 1",
                    "others")
      .value();
}

Expected<RulePtr> grit::makeTableAbsMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "table absmax";
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return tl::unexpected(*error);
  if (auto error = checkTable(format, name))
    return tl::unexpected(std::move(*error));
  return std::make_unique<TableAbsMaxRule>(format);
}
