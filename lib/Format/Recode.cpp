//===- Recode.cpp - the same values under another contract ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Recode.h"
#include "CheckSteps.h"
#include "EncodeRules.h"
#include "PlaneWriter.h"
#include "RecodeSearch.h"
#include "grit/Format/Rearrange.h"
#include "grit/Format/Text.h"

#include <bit>
#include <cmath>

using namespace grit;

static constexpr const char *kFix =
    "decode the array and encode it again, which changes values (grit convert "
    "--requantize)";

//===----------------------------------------------------------------------===//
// What can be recoded
//===----------------------------------------------------------------------===//

std::optional<Error> grit::checkRecodeTarget(const Contract &target) {
  const FormatDescription &format = target.description();
  const char *found = nullptr;
  if (format.level.vector > 1)
    found = "codes that stand for several elements";
  else if (format.level.signs)
    found = "signs beside the codes";
  else if (format.level.book)
    found = "levels that each array carries";
  else if (format.sparsity)
    found = "N:M sparsity";
  else if (format.order)
    found = "groups in an order that each array carries";
  if (!found)
    return std::nullopt;
  return makeError(Status::GradeUnknown,
                   "arrays of other contracts are not recoded to this one",
                   "target contract", "one code for each element",
                   target.displayName() + ": " + found, {}, kFix)
      .value();
}

/// Groups of the target that cut one another cannot be searched one by one.
static std::optional<Error> checkNesting(const RecodePlan &plan) {
  const ArraySpec &target = plan.target;
  const bool isLast =
      static_cast<size_t>(target.axis) + 1 == target.shape.size();
  for (size_t i = 0; i + 1 < plan.tiers.size(); ++i) {
    const RecodeTier &outer = plan.tiers[i], &inner = plan.tiers[i + 1];
    auto order = [&](const RecodeTier &tier) {
      ElementOrder result = tier.groups.order;
      return isLast && result == ElementOrder::AxisFastest
                 ? ElementOrder::RowMajor
                 : result;
    };
    if (order(outer) == order(inner) && order(outer) != ElementOrder::Block &&
        outer.size % inner.size == 0)
      continue;
    return makeError(Status::GradeUnknown,
                     "arrays of other contracts are not recoded to this one",
                     "target contract",
                     "groups that divide into the smaller ones",
                     target.contract.displayName() + ": groups of " +
                         std::to_string(outer.size) + " and of " +
                         std::to_string(inner.size) + " elements",
                     {}, kFix)
        .value();
  }
  return std::nullopt;
}

/// What both arrays must have in common.
static std::optional<Error> checkSpecs(const ArraySpec &source,
                                       const ArraySpec &target) {
  if (source.shape != target.shape)
    return makeError(Status::SizeMismatch,
                     "an array is recoded to its own shape", "shape",
                     shapeText(source.shape), shapeText(target.shape), {},
                     "give the target the shape of the source")
        .value();
  return target.verify();
}

//===----------------------------------------------------------------------===//
// Why not
//===----------------------------------------------------------------------===//

static std::string causeOf(const RecodeFailure &failure, float value,
                           const RecodePlan &plan) {
  if (failure.hasOtherZero)
    return std::signbit(value)
               ? "the target has no -0 here, only +0; nothing else differs in "
                 "this element"
               : "the target has no +0 here, only -0; nothing else differs in "
                 "this element";
  if (failure.inexact)
    return "no code of the target's factor " + failure.inexact->name + " is " +
           numberText(static_cast<float>(failure.wanted));
  if (failure.isMixed)
    return "a group of the target has " +
           std::to_string(plan.tiers.back().size) +
           " elements, and the source has several scales in it";
  return "no level of the target, under the scales that were tried, is this "
         "value";
}

static Error notLossless(const RecodeFailure &failure, const RecodePlan &plan) {
  const auto element = std::max<int64_t>(failure.element, 0);
  const float value = plan.values[element];
  return makeError(Status::GradeUnknown,
                   "the array has values that the other contract does not hold",
                   "element " + std::to_string(element),
                   "a code of " + plan.target.contract.displayName(),
                   numberText(value) + ", as " +
                       plan.source.contract.displayName() + " decodes it",
                   causeOf(failure, value, plan), kFix)
      .value();
}

//===----------------------------------------------------------------------===//
// Planes
//===----------------------------------------------------------------------===//

/// The fields that repeat what the codes say.
static std::vector<uint32_t> derivedCodes(const Derived &derived,
                                          const RecodePlan &plan,
                                          const RecodedArray &recoded) {
  const auto &[rule, field] = derived;
  std::vector<uint32_t> result(unitCount(plan.target, field.group, field.rows));
  std::vector<int64_t> elements;
  for (size_t group = 0; group < result.size(); ++group) {
    elementsOf(field, static_cast<int64_t>(group), plan.target, elements);
    float sum = 0; // of few small integers: exact
    for (int64_t element : elements)
      sum += plan.into.level.decode(recoded.wideCodes.empty()
                                        ? recoded.codes[element]
                                        : recoded.wideCodes[element]);
    if (rule == DerivedRule::ScaledSum) {
      std::vector<float> scales;
      for (size_t i = 0; i < plan.into.scales.size(); ++i) {
        const Factor &factor = plan.into.scales[i];
        int64_t at = groupIndex(factor, elements.front(), plan.target);
        scales.push_back(factor.number.decode(recoded.scales[i][at]));
      }
      GroupValues values;
      values.set(plan.into, scales, {});
      sum *= values.scale;
    }
    result[group] = wordCode(field.number, sum, kIeee);
  }
  return result;
}

static PlaneBytes pack(const RecodePlan &plan, const RecodedArray &recoded,
                       const PlaneSizes &sizes) {
  const FormatDescription &format = plan.into;
  PlaneBytes planes;
  for (int64_t size : sizes)
    planes.emplace_back(size);
  auto write = [&](const BitField &field, const auto &values) {
    writeCodes(field, std::span(values), planes[field.plane]);
  };
  if (recoded.wideCodes.empty())
    write(format.codes, recoded.codes);
  else
    write(format.codes, recoded.wideCodes);
  for (size_t i = 0; i < recoded.scales.size(); ++i)
    write(format.scales[i].bits, recoded.scales[i]);
  for (size_t i = 0; i < recoded.offsets.size(); ++i)
    write(format.offset.factors[i].bits, recoded.offsets[i]);
  for (const Derived &derived : format.derived)
    write(derived.field.bits, derivedCodes(derived, plan, recoded));
  return planes;
}

/// Decodes the planes and compares; the contract may call the codes illegal.
static std::optional<Error> prove(const RecodePlan &plan,
                                  const PlaneBytes &planes) {
  std::vector<float> again(plan.values.size());
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  if (auto decoded = decode(plan.target, spans, again); !decoded)
    return decoded.error();
  for (size_t i = 0; i < again.size(); ++i)
    if (std::bit_cast<uint32_t>(again[i]) !=
        std::bit_cast<uint32_t>(plan.values[i]))
      return notLossless({.element = static_cast<int64_t>(i)}, plan);
  return check_steps::checkLegality(plan.target, spans);
}

//===----------------------------------------------------------------------===//
// Recode
//===----------------------------------------------------------------------===//

Expected<PlaneBytes> grit::recodeBySearch(const ArraySpec &source,
                                          std::span<const ByteSpan> planes,
                                          const ArraySpec &target) {
  if (auto error = checkRecodeTarget(target.contract))
    return tl::unexpected(std::move(*error));
  ArraySpec canonical = target;
  canonical.placements = target.contract.canonicalPlacements();
  Expected<PlaneSizes> sizes = canonical.planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  std::vector<float> values(static_cast<size_t>(source.numElements()));
  if (auto decoded = decode(source, planes, values); !decoded)
    return tl::unexpected(decoded.error());
  const RecodePlan plan(source, planes, values, canonical);
  PlaneBytes result;
  if (values.empty()) {
    for (int64_t size : *sizes)
      result.emplace_back(size);
    return result;
  }
  if (auto error = checkNesting(plan))
    return tl::unexpected(std::move(*error));
  RecodedArray recoded;
  auto failure = searchCodes(plan, recoded);
  if (!failure)
    return tl::unexpected(failure.error());
  if (*failure)
    return tl::unexpected(notLossless(**failure, plan));
  result = pack(plan, recoded, *sizes);
  if (auto error = prove(plan, result))
    return tl::unexpected(std::move(*error));
  if (canonical.placements == target.placements)
    return result;
  std::vector<ByteSpan> spans(result.begin(), result.end());
  return relayoutPlanes(canonical, spans, target.placements);
}

Expected<PlaneBytes> grit::recode(const ArraySpec &source,
                                  std::span<const ByteSpan> planes,
                                  const ArraySpec &target) {
  if (auto error = checkSpecs(source, target))
    return tl::unexpected(std::move(*error));
  if (source.contract == target.contract && source.axis == target.axis)
    return relayoutPlanes(source, planes, target.placements);
  return recodeBySearch(source, planes, target);
}
