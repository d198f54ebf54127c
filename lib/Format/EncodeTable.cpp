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

#include "EncodeRules.h"

#include <algorithm>

using namespace grit;

namespace {
class TableAbsMaxRule : public Rule {
public:
  explicit TableAbsMaxRule(const FormatDescription &format);

  // An infinite scale would decode to NaN, and a NaN fits no level.
  bool refusesNonFinite() const override { return true; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  Number scale;
  Encoding encoding;
  StepTable elements;
};
} // namespace

TableAbsMaxRule::TableAbsMaxRule(const FormatDescription &format)
    : scale(format.scales[0].number), encoding(format.encoding) {
  const std::vector<float> &levels = format.level.number.table;
  std::vector<float> midpoints;
  for (size_t i = 1; i < levels.size(); ++i)
    midpoints.push_back(static_cast<float>(
        (static_cast<double>(levels[i - 1]) + levels[i]) / 2));
  // Equal to a midpoint keeps the lower code.
  elements = StepTable::build([&](float y) {
    auto above = std::ranges::lower_bound(midpoints, y);
    return static_cast<uint8_t>(above - midpoints.begin());
  });
}

std::optional<Error> TableAbsMaxRule::encode(EncodeUnit &unit) const {
  // The guard keeps the reciprocal of a zero or subnormal maximum finite.
  constexpr float kLeast = 1e-38f;
  uint32_t code = wordCode(scale, absMax(unit.values), encoding);
  float reciprocal = 1 / std::max(scale.decode(code), kLeast);
  unit.scales[0][0] = code;
  for (size_t i = 0; i < unit.values.size(); ++i)
    unit.codes[i] =
        elements(std::clamp(unit.values[i] * reciprocal, -1.0f, 1.0f));
  return std::nullopt;
}

Expected<RulePtr> grit::makeTableAbsMaxRule(const FormatDescription &format) {
  constexpr std::string_view name = "table absmax";
  if (auto error = checkScaled(format, name, LevelKind::Table))
    return tl::unexpected(*error);
  const std::vector<float> &levels = format.level.number.table;
  if (levels.size() > 256 || !std::ranges::is_sorted(levels) ||
      absMax(levels) != 1)
    return refuseRule(name, "level",
                      "at most 256 ascending levels, the largest magnitude 1",
                      "others");
  return std::make_unique<TableAbsMaxRule>(format);
}
