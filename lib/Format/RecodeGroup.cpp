//===- RecodeGroup.cpp - groups of elements while recoding ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecodeGroup.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace grit;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void GroupValues::set(const FormatDescription &format,
                      std::span<const float> scales,
                      std::span<const float> offsets) {
  scale = 1;
  hasScale = false;
  after.clear();
  for (size_t i = 0; i < scales.size(); ++i) {
    const Factor &factor = format.scales[i];
    if (factor.afterLevel) {
      after.emplace_back(factor.op, scales[i]);
      continue;
    }
    scale = hasScale ? joinFactor(factor.op, scale, scales[i]) : scales[i];
    hasScale = true;
  }
  offset = offsets.empty() ? 0 : offsets[0];
  for (size_t i = 1; i < offsets.size(); ++i)
    offset = joinFactor(format.offset.factors[i].op, offset, offsets[i]);
}

double GroupValues::wholeScale() const {
  double whole = scale;
  for (auto [op, value] : after) {
    if (op == FactorOp::Multiply)
      whole *= value;
    else if (op == FactorOp::Divide)
      whole /= value;
  }
  return whole;
}

double GroupValues::wholeOffset(const FormatDescription &format) const {
  return format.offset.kind == Offset::Kind::ZeroPoint ? offset * wholeScale()
                                                       : double(offset);
}

float CodeFinder::valueOf(float level, const GroupValues &group) const {
  const Offset::Kind kind = format.offset.kind;
  float value = level;
  if (kind == Offset::Kind::ZeroPoint)
    value = value - group.offset;
  if (group.hasScale)
    value = group.scale * value;
  for (auto [op, factor] : group.after)
    value = joinFactor(op, value, factor);
  if (kind == Offset::Kind::Minimum)
    value = value - group.offset;
  return projectValue(format.projection, value);
}

/// The steps to the value are monotonic in the level, so the levels next to the
/// one that exact arithmetic asks for are all that have to be tried; under a
/// scale of 0 only the sign of the level counts.
std::optional<uint32_t> CodeFinder::find(float value, const GroupValues &group,
                                         std::vector<uint32_t> &scratch) const {
  double x = value;
  if (format.offset.kind == Offset::Kind::Minimum)
    x += group.offset;
  for (size_t i = group.after.size(); i-- > 0;) {
    auto [op, factor] = group.after[i];
    x = op == FactorOp::Multiply ? x / factor
        : op == FactorOp::Divide ? x * factor
                                 : x - factor;
  }
  x /= group.scale;
  if (format.offset.kind == Offset::Kind::ZeroPoint)
    x += group.offset;
  const uint32_t wanted = std::bit_cast<uint32_t>(value);
  auto isLevel = [&](float level) {
    return std::bit_cast<uint32_t>(valueOf(level, group)) == wanted;
  };
  scratch.clear();
  if (std::isnan(x)) {
    levels.notANumber(scratch);
    levels.around(0, scratch);
    levels.extremes(scratch);
  } else if (auto near = levels.nearest(x); near && isLevel(near->value)) {
    return near->code; // mostly
  } else {
    levels.around(x, scratch);
  }
  auto code = std::ranges::find_if(scratch, [&](uint32_t candidate) {
    return isLevel(levels.decode(candidate));
  });
  return code == scratch.end() ? std::nullopt : std::optional(*code);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

std::optional<Error> FactorValues::add(const std::vector<Factor> &factors,
                                       std::vector<Field> &fields) {
  for (const Factor &factor : factors) {
    Expected<PlacedField> placed =
        PlacedField::of(*spec, fieldOf(factor, *spec));
    if (!placed)
      return placed.error();
    fields.push_back({&factor, std::move(*placed), -1});
  }
  return std::nullopt;
}

Expected<FactorValues> FactorValues::get(const ArraySpec &spec,
                                         std::span<const ByteSpan> planes) {
  FactorValues result(spec, planes);
  const FormatDescription &format = spec.contract.description();
  if (auto error = result.order.read(planes))
    return tl::unexpected(std::move(*error));
  if (auto error = result.add(format.scales, result.scaleFields))
    return tl::unexpected(std::move(*error));
  if (auto error = result.add(format.offset.factors, result.offsetFields))
    return tl::unexpected(std::move(*error));
  result.scaleValues.resize(result.scaleFields.size());
  result.offsetValues.resize(result.offsetFields.size());
  return result;
}

bool FactorValues::read(int64_t element) {
  bool isChanged = false;
  auto readAll = [&](std::vector<Field> &fields, std::vector<float> &values) {
    for (size_t i = 0; i < fields.size(); ++i) {
      Field &field = fields[i];
      int64_t group = order.groupOf(*field.factor, element);
      if (group == field.current)
        continue;
      isChanged = true;
      field.current = group;
      values[i] = field.factor->number.decode(field.placed.read(group, planes));
    }
  };
  readAll(scaleFields, scaleValues);
  readAll(offsetFields, offsetValues);
  return isChanged;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static int64_t extentFromEnd(const ArraySpec &spec, size_t i) {
  return spec.shape.size() > i ? spec.shape[spec.shape.size() - 1 - i] : 1;
}

int64_t grit::groupSize(const Factor &factor, const ArraySpec &spec) {
  if (factor.group == 0)
    return spec.numElements();
  if (factor.group == kWholeAxis)
    return spec.shape[spec.axis];
  return factor.order == ElementOrder::Block ? factor.group * factor.rows
                                             : factor.group;
}

static void elementsOfBlock(const Factor &factor, int64_t block,
                            const ArraySpec &spec,
                            std::vector<int64_t> &elements) {
  const int64_t columns = extentFromEnd(spec, 0);
  const int64_t rows = extentFromEnd(spec, 1);
  const int64_t across = (columns - 1) / factor.group + 1;
  const int64_t down = (rows - 1) / factor.rows + 1;
  const int64_t matrix = block / (across * down);
  const int64_t top = block / across % down * factor.rows;
  const int64_t left = block % across * factor.group;
  for (int64_t row = top; row < std::min(top + factor.rows, rows); ++row)
    for (int64_t column = left; column < std::min(left + factor.group, columns);
         ++column)
      elements.push_back((matrix * rows + row) * columns + column);
}

void grit::elementsOf(const Factor &factor, int64_t group,
                      const ArraySpec &spec, std::vector<int64_t> &elements) {
  elements.clear();
  if (factor.group && factor.order == ElementOrder::Block)
    return elementsOfBlock(factor, group, spec, elements);
  const int64_t size = groupSize(factor, spec);
  int64_t first = group * size, stride = 1;
  if (factor.group && factor.order == ElementOrder::AxisFastest) {
    for (size_t i = spec.axis + 1; i < spec.shape.size(); ++i)
      stride *= spec.shape[i];
    const int64_t axis = spec.shape[spec.axis], line = first / axis;
    first = (line / stride * axis + first % axis) * stride + line % stride;
  }
  const int64_t count =
      stride == 1 ? std::min(size, spec.numElements() - first) : size;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(first + i * stride);
}
