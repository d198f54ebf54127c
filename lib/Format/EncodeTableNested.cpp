//===- EncodeTableNested.cpp - table codes under scales that are codes ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bitsandbytes' double quantization: of the largest magnitudes of the blocks,
// less their mean, 256 share a scale, under which each becomes an index into a
// table of 256 numbers. Elements are encoded under the magnitudes as they were.
//
//===----------------------------------------------------------------------===//

#include "EncodeTable.h"

#include <algorithm>

using namespace grit;

static constexpr std::string_view kName = "table_abs_max_nested";

namespace {
class TableAbsMaxNestedRule : public Rule {
public:
  explicit TableAbsMaxNestedRule(const FormatDescription &format)
      : nested(format.scales[1].number), mean(format.scales[2].number),
        group(format.scales[0].group),
        elements(midpointSteps(format.level.number.table)),
        indices(binnedSteps(format.scales[0].number.table)) {}

  bool refusesNonFinite() const override { return true; }
  void prepare(std::span<const float> values,
               std::span<std::vector<uint32_t>> scales) const override;
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  static StepTable binnedSteps(std::span<const float> numbers);

  Number nested, mean;
  int64_t group;
  StepTable elements, indices;
};
} // namespace

/// From [-1, 1] to the indices of ascending numbers, by way of 2^16 bins: each
/// has the index of the number that is nearest to its middle.
StepTable TableAbsMaxNestedRule::binnedSteps(std::span<const float> numbers) {
  constexpr int kBins = 65536;
  std::vector<uint8_t> ofBin(kBins);
  size_t index = 0;
  for (int i = 0; i < kBins; ++i) {
    const float middle = -1.0f + 2.0f * static_cast<float>(i) / (kBins - 1);
    while (index + 1 < numbers.size() &&
           0.5f * (numbers[index] + numbers[index + 1]) < middle)
      ++index;
    ofBin[i] = static_cast<uint8_t>(index);
  }
  return StepTable::build([&](float x) {
    x = std::clamp(x, -1.0f, 1.0f);
    // Whether the product is rounded on its own makes no difference: all of
    // its 2^25 values were tried.
    const float place = (x + 1.0f) * 0.5f * (kBins - 1) + 0.5f;
    return ofBin[static_cast<int>(place)];
  });
}

void TableAbsMaxNestedRule::prepare(
    std::span<const float> values,
    std::span<std::vector<uint32_t>> scales) const {
  // The home's order of this sum depends on the processor; this one is exact
  // but for its last digits.
  double sum = 0;
  const size_t size = static_cast<size_t>(group), blocks = values.size() / size;
  for (size_t i = 0; i < blocks; ++i)
    if (float m = absMax(values.subspan(i * size, size)); std::isfinite(m))
      sum += m; // infinities are refused later, with their place
  const double average = blocks ? sum / static_cast<double>(blocks) : 0;
  scales[2][0] = wordCode(mean, static_cast<float>(average), kIeee);
}

std::optional<Error> TableAbsMaxNestedRule::encode(EncodeUnit &unit) const {
  const float offset = mean.decode(unit.scales[2][0]);
  const size_t size = static_cast<size_t>(group);
  std::vector<float> rests(unit.scales[0].size());
  for (size_t g = 0; g < rests.size(); ++g) {
    auto values = unit.values.subspan(g * size, size);
    const float m = absMax(values);
    rests[g] = m - offset;
    encodeByMidpoints(elements, values, m, unit.codes.subspan(g * size, size));
  }
  const float m = absMax(rests);
  unit.scales[1][0] = wordCode(nested, m, kIeee);
  for (size_t g = 0; g < rests.size(); ++g) {
    const float x = rests[g] * (1 / m);
    unit.scales[0][g] = m == 0 || std::isnan(x) ? 0 : indices(x);
  }
  return std::nullopt;
}

static bool isSingle(const Factor &factor) {
  return factor.number.isPlain() && factor.number.word == words::Binary32 &&
         factor.number.exp2 == 0 && !factor.afterLevel && !factor.bits.radix;
}

Expected<RulePtr>
grit::makeTableAbsMaxNestedRule(const FormatDescription &format) {
  if (auto error = checkScaled(format, kName, LevelKind::Table, 3))
    return tl::unexpected(std::move(*error));
  const Factor &index = format.scales[0], &nested = format.scales[1],
               &mean = format.scales[2];
  if (!isSingle(nested) || !isSingle(mean) || nested.op != FactorOp::Multiply ||
      mean.op != FactorOp::Add || mean.group != 0)
    return refuseRule(kName, "scales",
                      "a table, a binary32 factor and a binary32 addend of the "
                      "whole array",
                      "others");
  const std::vector<float> &numbers = index.number.table;
  if (index.bits.radix || numbers.size() != 256 ||
      !std::ranges::is_sorted(numbers))
    return refuseRule(kName, index.name, "256 ascending numbers", "others");
  if (index.group <= 0 || nested.group <= 0 || nested.group % index.group ||
      index.order != ElementOrder::RowMajor || format.sparsity)
    return refuseRule(kName, index.name,
                      "groups in row-major order that share the next factor",
                      "others");
  if (auto error = checkTable(format, kName))
    return tl::unexpected(std::move(*error));
  return std::make_unique<TableAbsMaxNestedRule>(format);
}
