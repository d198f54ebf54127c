//===- RecodeCandidates.cpp - what a factor may be -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeWorker.h"

#include <algorithm>
#include <cmath>

using namespace grit;

void RecodeWorker::readSource(RecodeRegion &region) {
  constexpr size_t kPlaces = 4;
  region.sources.clear();
  const size_t last = region.elements.size() - 1;
  for (size_t i = 0; i < kPlaces; ++i) {
    if (!source.read(region.elements[i * last / (kPlaces - 1)]) && i > 0)
      continue; // the same groups as before
    GroupValues here;
    here.set(plan.from, source.scales(), source.offsets());
    auto same = [&](const GroupValues &other) {
      return other.wholeScale() == here.wholeScale() &&
             other.offset == here.offset;
    };
    if (std::ranges::none_of(region.sources, same))
      region.sources.push_back(std::move(here));
    if (i > 0)
      continue;
    region.scales.assign(source.scales().begin(), source.scales().end());
    region.offsets.assign(source.offsets().begin(), source.offsets().end());
  }
}

/// List 0: what gives a level of the target for each of the source. List 1:
/// other multiples. List 2: under which the largest magnitude has some level,
/// whatever the source says.
std::vector<double> RecodeWorker::wantedScales(const RecodeRegion &region,
                                               int list) const {
  std::vector<double> result;
  const size_t begin = list == 0 ? 0 : plan.numCovering;
  const size_t end = list == 0   ? plan.numCovering
                     : list == 1 ? plan.ratios.size()
                                 : begin;
  for (size_t i = begin; i < end; ++i)
    for (const GroupValues &here : region.sources)
      result.push_back(here.wholeScale() * plan.ratios[i]);
  constexpr size_t kMaxLevels = 256;
  const auto &levels = plan.finder.numbers().entries();
  if (list == 2 && plan.into.offset.kind == Offset::Kind::None &&
      region.amax > 0 && levels.size() <= kMaxLevels)
    for (const NearestCode::Entry &level : levels)
      if (level.value != 0 && std::isfinite(level.value))
        result.push_back(region.amax / std::fabs(double(level.value)));
  return result;
}

std::vector<double>
RecodeWorker::wantedOffsets(const RecodeRegion &region) const {
  GroupValues target;
  target.set(plan.into, scales, offsets);
  const double scale = target.wholeScale();
  std::vector<double> result;
  for (const GroupValues &here : region.sources)
    for (double shift : plan.shifts) {
      double value = here.wholeOffset(plan.from) + shift * scale;
      if (plan.into.offset.kind == Offset::Kind::ZeroPoint)
        value = plan.from.offset.kind == Offset::Kind::ZeroPoint &&
                        here.wholeScale() == scale
                    ? here.offset + shift
                    : value / scale;
      result.push_back(value);
      if (value == 0)
        result.push_back(-value);
    }
  return result;
}

/// What the factor must be for its product to be `product`.
double RecodeWorker::solve(const RecodeSlot &slot, double product) const {
  const auto &factors =
      slot.isOffset ? plan.into.offset.factors : plan.into.scales;
  const auto &values = slot.isOffset ? offsets : scales;
  const std::vector<size_t> &order = plan.order[slot.isOffset];
  double before = 1;
  bool isFirst = true;
  size_t at = 0;
  for (; order[at] != slot.index; ++at) {
    const Factor &factor = factors[order[at]];
    double value = values[order[at]];
    if (isFirst && !factor.afterLevel)
      before = value;
    else if (factor.op == FactorOp::Add)
      before += value;
    else
      before = factor.op == FactorOp::Divide ? before / value : before * value;
    isFirst = false;
  }
  for (size_t i = order.size(); i-- > at + 1;) {
    double value = values[order[i]];
    const FactorOp op = factors[order[i]].op;
    product = op == FactorOp::Multiply ? product / value
              : op == FactorOp::Divide ? product * value
                                       : product - value;
  }
  if (isFirst && !slot.factor->afterLevel)
    return product;
  switch (slot.factor->op) {
  case FactorOp::Multiply:
    return product / before;
  case FactorOp::Divide:
    return before / product;
  case FactorOp::Add:
    return product - before;
  }
  return product;
}

/// Values of a factor that is not the last of its product: those that the
/// source has for groups as large, a neutral one, and one that lets the rest of
/// the product reach the largest value.
std::vector<double> RecodeWorker::guesses(const RecodeSlot &slot,
                                          const RecodeRegion &region) const {
  const auto &factors =
      slot.isOffset ? plan.from.offset.factors : plan.from.scales;
  const auto &values = slot.isOffset ? region.offsets : region.scales;
  const bool divides = slot.factor->op == FactorOp::Divide;
  std::vector<double> same, other;
  for (size_t i = 0; i < factors.size(); ++i) {
    auto &list = factors[i].group == slot.factor->group ? same : other;
    bool isInverse = divides != (factors[i].op == FactorOp::Divide);
    double value = values[i];
    for (double x : {isInverse ? 1 / value : value, value})
      for (size_t r = 0; r < std::max<size_t>(plan.numCovering, 1); ++r)
        list.push_back(divides ? x / plan.ratios[r] : x * plan.ratios[r]);
    list.push_back(value);
  }
  same.push_back(slot.factor->op == FactorOp::Add ? 0 : 1);
  const auto &levels = plan.finder.numbers().entries();
  if (!slot.isOffset && region.amax > 0 && !levels.empty()) {
    double top = std::max(std::fabs(double(levels.front().value)),
                          std::fabs(double(levels.back().value)));
    for (const RecodeSlot &rest : plan.slots)
      if (rest.isSolved && !rest.isOffset && !rest.numbers.entries().empty())
        top *= rest.numbers.entries().back().value;
    double peak = std::exp2(std::ceil(std::log2(region.amax / top)));
    if (std::isfinite(peak) && peak > 0)
      same.push_back(divides ? 1 / peak : peak);
  }
  same.insert(same.end(), other.begin(), other.end());
  return same;
}

/// Values of the last factor of a product.
std::vector<double> RecodeWorker::solved(const RecodeSlot &slot,
                                         const RecodeRegion &region, int list) {
  std::vector<double> result;
  if (!slot.isOffset)
    result = wantedScales(region, list);
  else if (list == 0)
    result = wantedOffsets(region);
  if (!slot.isOffset || plan.into.offset.kind == Offset::Kind::Minimum)
    for (double &value : result)
      value = solve(slot, value);
  if (list == 0) {
    bool isExact = result.empty() || std::ranges::any_of(result, [&](double x) {
                     auto near = slot.numbers.nearest(x);
                     return near && near->value == static_cast<float>(x);
                   });
    if (!isExact) {
      inexact = slot.factor;
      wanted = result.front();
    } else if (inexact == slot.factor) {
      inexact = nullptr;
    }
  }
  // Under a factor of 0 or NaN nothing can be solved for, and anything may do.
  if (list == 1) {
    const auto &theirs = slot.isOffset ? region.offsets : region.scales;
    result.insert(result.end(), theirs.begin(), theirs.end());
    result.push_back(0);
  }
  return result;
}

void RecodeWorker::addCandidates(const RecodeSlot &slot,
                                 const RecodeRegion &region, int list,
                                 std::vector<uint32_t> &codes) {
  std::vector<double> values;
  if (slot.isSolved)
    values = solved(slot, region, list);
  else if (list == 0)
    values = guesses(slot, region);
  for (double value : values)
    if (auto near = slot.numbers.nearest(value))
      if (std::ranges::find(codes, near->code) == codes.end())
        codes.push_back(near->code);
}
