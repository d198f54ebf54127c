//===- CheckProbes.cpp - what grit_check warns about -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "PlacedField.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cmath>

using namespace grit;
using namespace grit::check_steps;

std::string_view grit::warningName(Warning::Kind kind) {
  switch (kind) {
  case Warning::Kind::GroupAxisNotInnermost:
    return "group-axis-not-innermost";
  case Warning::Kind::Minus1WithoutEffect:
    return "minus1-without-effect";
  case Warning::Kind::ScalesWithoutSpread:
    return "scales-without-spread";
  case Warning::Kind::CodesFarFromLimit:
    return "codes-far-from-limit";
  }
  return "unknown warning";
}

//===----------------------------------------------------------------------===//
// The declaration
//===----------------------------------------------------------------------===//

void check_steps::warnAboutDeclaration(const Grade &grade, int groupAxis,
                                       std::span<const int64_t> shape,
                                       std::vector<Warning> &warnings) {
  // The product of the later extents exceeds 1: an extent of 0 leaves nothing
  // to be grouped.
  auto later = shape.subspan(static_cast<size_t>(groupAxis) + 1);
  if (std::ranges::any_of(later, [](int64_t extent) { return extent > 1; }) &&
      std::ranges::find(later, 0) == later.end())
    warnings.push_back({Warning::Kind::GroupAxisNotInnermost,
                        "the group axis " + std::to_string(groupAxis) +
                            " is not the innermost one; groups are runs of the "
                            "row-major order",
                        "group_axis",
                        std::to_string(groupAxis) + " in " + shapeText(shape),
                        "group the last axis, or make sure that the writer "
                        "counted groups in row-major order"});
  if (grade.zpMinusOne && grade.zpLevel1)
    warnings.push_back({Warning::Kind::Minus1WithoutEffect,
                        "ZP_MINUS1 has no effect together with ZP_L1SCALED",
                        "flags", "ZP_MINUS1|ZP_L1SCALED",
                        "use zpc=asis: minima are read as they are stored"});
}

//===----------------------------------------------------------------------===//
// Level 3
//===----------------------------------------------------------------------===//

namespace {

/// The groups that are looked at: number j * groups div count.
struct Samples {
  int64_t groups, count;

  explicit Samples(int64_t groups)
      : groups(groups), count(std::min<int64_t>(64, groups)) {}
  int64_t operator[](int64_t j) const {
    return static_cast<int64_t>(static_cast<__int128>(j) * groups / count);
  }
};

} // namespace

static void probeScales(const ArraySpec &spec, const Factor &scale,
                        const Samples &samples,
                        std::span<const ByteSpan> planes,
                        std::vector<Warning> &warnings) {
  if (!scale.number.word.isExponentOnly())
    return;
  Expected<PlacedField> codes = PlacedField::of(spec, fieldOf(scale, spec));
  if (!codes)
    return;
  uint32_t first = codes->read(samples[0], planes);
  for (int64_t j = 1; j < samples.count; ++j)
    if (codes->read(samples[j], planes) != first)
      return;
  warnings.push_back(
      {Warning::Kind::ScalesWithoutSpread,
       "all of the " + std::to_string(samples.count) +
           " sampled scales are equal",
       "scale0", "code " + hexWord(first, 2) + " in each",
       "look whether the scale plane was filled with a constant"});
}

/// The largest magnitude of the codes in the sampled groups, or 0 where they
/// cannot be found. Survivors of a sparse array are followed from the start: a
/// repeated index shifts all later ones.
static int32_t largestCode(const ArraySpec &spec, const Samples &samples,
                           std::span<const ByteSpan> planes) {
  const FormatDescription &description = spec.contract.description();
  Expected<PlacedField> codes = PlacedField::of(spec, codesOf(description));
  if (!codes)
    return 0;
  int32_t largest = 0;
  auto see = [&](int64_t code) {
    auto value = static_cast<int8_t>(codes->read(code, planes));
    largest = std::max(largest, std::abs(static_cast<int32_t>(value)));
  };
  int64_t k0 = description.scales.back().group;
  if (!description.sparsity) {
    for (int64_t j = 0; j < samples.count; ++j)
      for (int64_t i = 0; i < k0; ++i)
        see(samples[j] * k0 + i);
    return largest;
  }
  const Sparsity &sparsity = *description.sparsity;
  Expected<PlacedField> indices = PlacedField::of(spec, indicesOf(sparsity));
  if (!indices)
    return 0;
  int64_t code = 0, next = 0;
  for (int64_t run = 0; run < spec.numElements() / sparsity.m; ++run) {
    uint32_t kept = 0;
    for (unsigned slot = 0; slot < sparsity.n; ++slot)
      kept |= 1u << indices->read(run * sparsity.n + slot, planes);
    for (unsigned position = 0; position < sparsity.m; ++position) {
      if (!(kept >> position & 1))
        continue;
      int64_t group = (run * sparsity.m + position) / k0;
      while (next < samples.count && samples[next] < group)
        ++next;
      if (next < samples.count && samples[next] == group)
        see(code);
      ++code;
    }
  }
  return largest;
}

void check_steps::probe(const ArraySpec &spec, std::span<const ByteSpan> slots,
                        std::vector<Warning> &warnings) {
  const FormatDescription &description = spec.contract.description();
  if (description.scales.empty() || description.scales.back().group <= 0 ||
      description.scales.back().order == ElementOrder::Block)
    return;
  const Factor &scale = description.scales.back();
  Samples samples(spec.numElements() / scale.group);
  if (samples.count < 2)
    return;
  std::vector<ByteSpan> planes;
  for (unsigned i = 0; i < description.planes.size(); ++i)
    planes.push_back(slots[planeSlot(description, i)]);
  probeScales(spec, scale, samples, planes, warnings);
  if (description.level.number.word != words::S8)
    return;
  int32_t largest = largestCode(spec, samples, planes);
  constexpr int32_t kHalfRange = 64;
  if (largest > 0 && largest < kHalfRange)
    warnings.push_back(
        {Warning::Kind::CodesFarFromLimit,
         "the largest of the sampled codes is " + std::to_string(largest) +
             ", and a scale of its group would bring it near 127",
         "data", std::to_string(largest),
         "look whether the scales are those of these codes"});
}
