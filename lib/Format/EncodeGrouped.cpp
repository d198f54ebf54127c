//===- EncodeGrouped.cpp - signed integers under one scale ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scale of a group is its largest magnitude over the largest integer, and
// codes come from the reciprocal of what is stored: a division would choose
// another integer here and there.
//
//===----------------------------------------------------------------------===//

#include "EncodeGrouped.h"

#include <algorithm>
#include <vector>

using namespace grit;

Expected<SignedGroups> SignedGroups::get(const FormatDescription &format,
                                         std::string_view rule) {
  if (auto error = checkScaled(format, rule, LevelKind::Number))
    return tl::unexpected(std::move(*error));
  const Number &level = format.level.number;
  FormatWord word = level.word;
  if (!level.isPlain() || level.exp2 || !word.isInteger() ||
      word.isUnsigned() || word.width() > 8 || word.width() < 2 ||
      format.sparsity)
    return refuseRule(rule, "level", "a signed integer of 2 to 8 bits",
                      word.str());
  const Factor &factor = format.scales[0];
  FormatWord scale = factor.number.word;
  if (!factor.number.isPlain() || factor.number.exp2 || !scale.isFloat() ||
      scale.isUnsigned() || !scale.hasInf() || factor.group <= 0)
    return refuseRule(rule, factor.name,
                      "a float with a sign and infinities, per group",
                      scale.str());
  // Zeros times an infinite reciprocal would have no code.
  if (!std::isfinite(1 / factor.number.decode(1)))
    return refuseRule(rule, factor.name,
                      "a float whose least number has a reciprocal",
                      scale.str());
  SignedGroups groups;
  groups.scale = factor.number;
  groups.codeMask = (1u << word.width()) - 1;
  groups.most = (1 << (word.width() - 1)) - 1;
  groups.least = -groups.most - 1;
  while (format.isIllegal(uint32_t(groups.least) & groups.codeMask))
    ++groups.least;
  for (int q = std::min(groups.least, -1); q <= groups.most; ++q)
    if (format.isIllegal(uint32_t(q) & groups.codeMask))
      return refuseRule(rule, "illegal", "integers at the low end alone",
                        std::to_string(q));
  return groups;
}

void SignedGroups::choose(std::span<const float> values, uint32_t word,
                          std::span<int8_t> integers) const {
  const float reciprocal = 1 / scale.decode(word);
  const auto low = static_cast<float>(least), high = static_cast<float>(most);
  for (size_t i = 0; i < values.size(); ++i) {
    float rounded = std::nearbyint(values[i] * reciprocal);
    integers[i] = static_cast<int8_t>(std::clamp(rounded, low, high));
  }
}

void SignedGroups::store(uint32_t word, std::span<const int8_t> integers,
                         EncodeUnit &unit) const {
  unit.scales[0][0] = word;
  for (size_t i = 0; i < integers.size(); ++i)
    unit.codes[i] =
        static_cast<uint8_t>(static_cast<uint32_t>(integers[i]) & codeMask);
}

uint32_t SignedGroups::absMaxWord(float amax) const {
  return positiveCode(scale, amax / static_cast<float>(most), kIeee);
}

namespace {
class GroupedRule : public Rule {
public:
  GroupedRule(SignedGroups groups, bool searches, bool negativeScales)
      : groups(std::move(groups)), searches(searches),
        negativeScales(negativeScales) {}

  bool refusesNonFinite() const override { return true; }
  bool usesImportance() const override { return searches; }
  std::optional<Error> encode(EncodeUnit &unit) const override;

private:
  SignedGroups groups;
  bool searches, negativeScales;
};
} // namespace

std::optional<Error> GroupedRule::encode(EncodeUnit &unit) const {
  const float amax = absMax(unit.values);
  if (amax == 0) {
    unit.scales[0][0] = 0;
    clearCodes(unit);
    return std::nullopt;
  }
  uint32_t word = groups.absMaxWord(amax);
  std::vector<int8_t> integers(unit.values.size());
  // The driver refuses an infinite scale.
  if (searches && std::isfinite(groups.scale.decode(word)))
    word = searchScale(groups, unit.values, unit.importance, amax,
                       negativeScales, integers);
  else
    groups.choose(unit.values, word, integers);
  groups.store(word, integers, unit);
  return std::nullopt;
}

Expected<RulePtr> grit::makeGroupedRule(const FormatDescription &format,
                                        bool negativeScales) {
  const bool searches = format.encoding.rule == EncodeRule::GroupedSearch;
  Expected<SignedGroups> groups =
      SignedGroups::get(format, searches ? "grouped search" : "grouped absmax");
  if (!groups)
    return tl::unexpected(groups.error());
  return std::make_unique<GroupedRule>(std::move(*groups), searches,
                                       negativeScales);
}
