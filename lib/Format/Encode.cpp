//===- Encode.cpp - numbers to the planes of a contract -------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "EncodeMeanSquare.h"
#include "EncodeRules.h"
#include "EncodeUnits.h"
#include "Parallel.h"
#include "PlaneWriter.h"
#include "grit/Format/Codec.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

using namespace grit;

//===----------------------------------------------------------------------===//
// The array in units
//===----------------------------------------------------------------------===//

namespace {
/// One array on its way into planes: the codes of everything, before packing.
class Encoder {
public:
  Encoder(const ArraySpec &spec, const Rule &rule,
          std::span<const float> values, const EncodeOptions &options)
      : spec(spec), format(spec.contract.description()), rule(rule),
        values(values), importance(options.importance) {
    if (options.search == EncodeOptions::Search::MeanSquare)
      search.emplace(format);
  }

  /// Refuses groups that do not nest.
  std::optional<Error> layOut();
  std::optional<Error> layOutCodes(size_t stored);
  std::optional<Error> chooseCodes();
  std::vector<std::vector<uint8_t>> pack(const PlaneSizes &sizes) const;

private:
  /// Buffers of one thread.
  struct Scratch {
    std::vector<float> values, importance;
    std::vector<uint8_t> codes;      ///< of a unit that is not contiguous,
    std::vector<uint32_t> wideCodes; ///< or these
    EncodeUnit unit;
    std::vector<int64_t> kept; ///< by group of the unit, where it is sparse
    int64_t row = -1;          ///< whose mean square the unit holds
  };
  std::optional<Error> encodeUnit(int64_t unit, Scratch &scratch);
  std::optional<Error> gather(const UnitPlace &place, Scratch &scratch) const;
  void selectSurvivors(int64_t unit, Scratch &scratch);
  void bindFactors(int64_t unit, EncodeUnit &bound);
  void bindCodes(int64_t first, int64_t count, EncodeUnit &bound);
  std::optional<Error> encodeSparse(int64_t unit, Scratch &scratch);
  std::optional<Error> encodeScattered(const UnitPlace &place,
                                       Scratch &scratch);
  std::optional<Error> applyRule(EncodeUnit &unit) const;
  void measureRow(int64_t first, Scratch &scratch) const;
  void derive(int64_t unit, const EncodeUnit &encoded);

  const ArraySpec &spec;
  const FormatDescription &format;
  const Rule &rule;
  std::span<const float> values, importance;
  std::optional<MeanSquareSearch> search; ///< after the rule

  UnitMap units;
  int64_t storedSize = 1;          ///< elements of a unit that are stored
  std::vector<uint8_t> codes;      ///< as the code field is addressed
  std::vector<uint32_t> wideCodes; ///< instead, where codes exceed 8 bits
  std::vector<uint8_t> survivors;  ///< as the index field is addressed
  std::vector<uint32_t> signs;     ///< by group of signs
  std::vector<std::vector<uint32_t>> scales, offsets, derived; ///< by group
};
} // namespace

std::optional<Error> Encoder::layOut() {
  Expected<UnitMap> map = UnitMap::of(spec);
  if (!map)
    return map.error();
  units = *map;
  storedSize = units.size();
  size_t stored = values.size();
  if (format.sparsity) {
    storedSize = units.size() / format.sparsity->m * format.sparsity->n;
    stored = units.count() * storedSize;
    survivors.resize(stored);
  }
  if (auto error = layOutCodes(stored))
    return error;
  for (const Factor &factor : format.scales)
    scales.emplace_back(units.groups(factor));
  for (const Factor &factor : format.offset.factors)
    offsets.emplace_back(units.groups(factor));
  for (const Derived &value : format.derived) {
    const Factor &field = value.field;
    if (!units.isContiguous() || format.sparsity || format.level.vector > 1 ||
        !wideCodes.empty() || units.size() % field.group)
      return refuseRule("of this contract", field.name,
                        "sums of consecutive codes of at most 8 bits", "others")
          .value();
    derived.emplace_back(values.size() / field.group);
  }
  return std::nullopt;
}

/// Room for codes and signs, of which a unit holds whole groups.
std::optional<Error> Encoder::layOutCodes(size_t stored) {
  const int64_t vector = format.level.vector;
  const std::optional<Signs> &groups = format.level.signs;
  if (vector > 1 || groups)
    if (!units.isContiguous() || format.sparsity || units.size() % vector ||
        (groups && units.size() % groups->group))
      return refuseRule("of this contract", "level",
                        "whole vectors of consecutive elements in " +
                            std::to_string(units.size()),
                        "others")
          .value();
  if (format.codes.width() > 8)
    wideCodes.resize(stored / vector);
  else
    codes.resize(stored / vector);
  if (groups)
    signs.resize(values.size() / groups->group);
  return std::nullopt;
}

std::optional<Error> Encoder::gather(const UnitPlace &place,
                                     Scratch &scratch) const {
  const int64_t size = place.size();
  scratch.values.resize(size);
  place.forEach(
      [&](int64_t i, int64_t index) { scratch.values[i] = values[index]; });
  if (!importance.empty()) {
    const int64_t last = spec.shape.back();
    const bool isShared = static_cast<int64_t>(importance.size()) == last;
    const int64_t matrix = isShared ? std::numeric_limits<int64_t>::max()
                                    : last * spec.shape[spec.shape.size() - 2];
    scratch.importance.resize(size);
    place.forEach([&](int64_t i, int64_t index) {
      scratch.importance[i] = importance[index / matrix * last + index % last];
    });
  }
  if (!rule.refusesNonFinite() || allFinite(scratch.values))
    return std::nullopt;
  int64_t at = 0;
  while (std::isfinite(scratch.values[at]))
    ++at;
  return makeError(Status::GradeUnknown,
                   "this contract has no code for a value that is not finite",
                   "values[" + std::to_string(place.element(at)) + "]",
                   "a finite number", numberText(scratch.values[at]),
                   "the tensor holds NaN or infinity",
                   "clean the tensor, or use a contract whose scales carry NaN")
      .value();
}

/// Keeps the n largest magnitudes of every m in place, in their order. NaN
/// counts as infinite; of equals, the first is kept.
void Encoder::selectSurvivors(int64_t unit, Scratch &scratch) {
  std::vector<float> &values = scratch.values;
  const int64_t group = format.scales[0].group;
  scratch.kept.assign(units.size() / group, 0);
  const unsigned n = format.sparsity->n, m = format.sparsity->m;
  uint8_t *positions = &survivors[unit * storedSize];
  size_t kept = 0;
  std::vector<uint8_t> ranked(m);
  for (int64_t run = 0; run < units.size(); run += m) {
    auto magnitude = [&](uint8_t i) {
      float a = std::fabs(values[run + i]);
      return std::isnan(a) ? std::numeric_limits<float>::infinity() : a;
    };
    std::iota(ranked.begin(), ranked.end(), 0);
    std::ranges::sort(ranked, [&](uint8_t a, uint8_t b) {
      float x = magnitude(a), y = magnitude(b);
      return x != y ? x > y : a < b;
    });
    std::sort(ranked.begin(), ranked.begin() + n);
    for (unsigned j = 0; j < n; ++j) {
      positions[kept] = ranked[j];
      ++scratch.kept[(run + ranked[j]) / group];
      if (!importance.empty())
        scratch.importance[kept] = scratch.importance[run + ranked[j]];
      values[kept++] = values[run + ranked[j]];
    }
  }
  values.resize(kept);
}

void Encoder::bindFactors(int64_t unit, EncodeUnit &bound) {
  auto bind = [&](const std::vector<Factor> &factors,
                  std::vector<std::vector<uint32_t>> &all,
                  std::vector<std::span<uint32_t>> &spans) {
    spans.clear();
    for (size_t i = 0; i < factors.size(); ++i) {
      std::span<uint32_t> groups(all[i]);
      if (int64_t count = units.groupsPerUnit(factors[i]))
        groups = groups.subspan(unit * count, count);
      spans.push_back(groups);
    }
  };
  bind(format.scales, scales, bound.scales);
  bind(format.offset.factors, offsets, bound.offsets);
}

void Encoder::bindCodes(int64_t first, int64_t count, EncodeUnit &bound) {
  first /= format.level.vector;
  count /= format.level.vector;
  if (!codes.empty())
    bound.codes = std::span(codes).subspan(first, count);
  if (!wideCodes.empty())
    bound.wideCodes = std::span(wideCodes).subspan(first, count);
}

/// A unit of whole runs, group by group: a run may lie in two groups, which
/// then have different numbers of survivors.
std::optional<Error> Encoder::encodeSparse(int64_t unit, Scratch &scratch) {
  selectSurvivors(unit, scratch);
  const int64_t groups = static_cast<int64_t>(scratch.kept.size());
  std::span<float> values = scratch.values;
  scratch.unit.scales.resize(1);
  int64_t done = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t count = scratch.kept[group];
    scratch.unit.values = values.subspan(done, count);
    if (!importance.empty())
      scratch.unit.importance =
          std::span(scratch.importance).subspan(done, count);
    scratch.unit.scales[0] =
        std::span(scales[0]).subspan(unit * groups + group, 1);
    bindCodes(unit * storedSize + done, count, scratch.unit);
    if (auto error = applyRule(scratch.unit))
      return error;
    done += count;
  }
  return std::nullopt;
}

/// The mean square of the row that element `first` lies in, summed in order.
void Encoder::measureRow(int64_t first, Scratch &scratch) const {
  const int64_t length = spec.shape.back(), row = first / length;
  if (row == scratch.row)
    return;
  float sum = 0;
  for (float x : values.subspan(row * length, length))
    sum += x * x;
  scratch.row = row;
  scratch.unit.rowMeanSquare = sum / static_cast<float>(length);
}

/// The fields that repeat what the codes of a unit say.
void Encoder::derive(int64_t unit, const EncodeUnit &encoded) {
  for (size_t i = 0; i < derived.size(); ++i) {
    const auto &[rule, field] = format.derived[i];
    const int64_t groups = units.size() / field.group;
    for (int64_t g = 0; g < groups; ++g) {
      float sum = 0; // of few small integers: exact
      for (uint8_t code : encoded.codes.subspan(g * field.group, field.group))
        sum += format.level.decode(code);
      if (rule == DerivedRule::ScaledSum)
        sum *= encoded.exactScale;
      derived[i][unit * groups + g] = wordCode(field.number, sum, kIeee);
    }
  }
}

/// Rules that have no code for infinity also have no scale for it.
std::optional<Error> Encoder::applyRule(EncodeUnit &unit) const {
  std::span<const float> importance = unit.importance;
  if (!rule.usesImportance())
    unit.importance = {}; // The search alone is to follow it.
  auto error = rule.encode(unit);
  unit.importance = importance;
  if (error)
    return error;
  if (rule.refusesNonFinite())
    if (auto error = checkScalesFinite(format, unit))
      return error;
  if (search)
    search->improve(unit);
  return std::nullopt;
}

/// A unit whose codes do not follow one another.
std::optional<Error> Encoder::encodeScattered(const UnitPlace &place,
                                              Scratch &scratch) {
  const int64_t size = place.size();
  auto run = [&](auto &own, auto &bound, auto &all) -> std::optional<Error> {
    own.resize(size);
    bound = own;
    if (auto error = applyRule(scratch.unit))
      return error;
    place.forEach([&](int64_t i, int64_t index) { all[index] = own[i]; });
    return std::nullopt;
  };
  return wideCodes.empty()
             ? run(scratch.codes, scratch.unit.codes, codes)
             : run(scratch.wideCodes, scratch.unit.wideCodes, wideCodes);
}

std::optional<Error> Encoder::encodeUnit(int64_t unit, Scratch &scratch) {
  const UnitPlace place = units.place(unit);
  if (auto error = gather(place, scratch))
    return error;
  scratch.unit.first = place.first;
  if (format.sparsity)
    return encodeSparse(unit, scratch);
  bindFactors(unit, scratch.unit);
  scratch.unit.values = scratch.values;
  scratch.unit.importance = scratch.importance;
  if (!importance.empty() && rule.usesRowMeanSquare())
    measureRow(place.first, scratch);
  if (!units.isContiguous())
    return encodeScattered(place, scratch);
  bindCodes(unit * storedSize, storedSize, scratch.unit);
  if (format.level.signs) {
    const int64_t groups = units.size() / format.level.signs->group;
    scratch.unit.signs = std::span(signs).subspan(unit * groups, groups);
  }
  if (auto error = applyRule(scratch.unit))
    return error;
  derive(unit, scratch.unit);
  return std::nullopt;
}

std::optional<Error> Encoder::chooseCodes() {
  rule.prepare(values, scales);
  std::mutex mutex;
  int64_t failedUnit = units.count();
  std::optional<Error> failure;
  // 2^14 elements are worth a thread.
  const int64_t grain = (1 << 14) / units.size() + 1;
  parallelFor(units.count(), grain, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t unit = begin; unit < end; ++unit) {
      auto error = encodeUnit(unit, scratch);
      if (!error)
        continue;
      // Whichever thread is first, the first unit is reported.
      std::lock_guard lock(mutex);
      if (unit < failedUnit) {
        failedUnit = unit;
        failure = std::move(error);
      }
      return;
    }
  });
  return failure;
}

std::vector<std::vector<uint8_t>> Encoder::pack(const PlaneSizes &sizes) const {
  std::vector<std::vector<uint8_t>> planes;
  for (int64_t size : sizes)
    planes.emplace_back(size);
  auto write = [&](const BitField &field, const auto &values) {
    writeCodes(field, std::span(values), planes[field.plane]);
  };
  if (wideCodes.empty())
    write(format.codes, codes);
  else
    write(format.codes, wideCodes);
  if (format.sparsity)
    write(format.sparsity->indices, survivors);
  if (format.level.signs)
    write(format.level.signs->bits, signs);
  for (size_t i = 0; i < scales.size(); ++i)
    write(format.scales[i].bits, scales[i]);
  for (size_t i = 0; i < offsets.size(); ++i)
    write(format.offset.factors[i].bits, offsets[i]);
  for (size_t i = 0; i < derived.size(); ++i)
    write(format.derived[i].field.bits, derived[i]);
  return planes;
}

//===----------------------------------------------------------------------===//
// Encode
//===----------------------------------------------------------------------===//

Expected<std::vector<std::vector<uint8_t>>>
grit::encode(const ArraySpec &spec, std::span<const float> values,
             const EncodeOptions &options) {
  if (auto error = checkEncodeArguments(spec, values))
    return tl::unexpected(*error);
  Expected<PlaneSizes> sizes = spec.planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  Expected<RulePtr> rule = makeRule(spec.contract, options);
  if (!rule)
    return tl::unexpected(rule.error());
  if (auto error = checkImportance(spec, **rule, options))
    return tl::unexpected(*error);

  Encoder encoder(spec, **rule, values, options);
  if (auto error = encoder.layOut())
    return tl::unexpected(*error);
  if (auto error = encoder.chooseCodes())
    return tl::unexpected(*error);
  std::vector<std::vector<uint8_t>> planes = encoder.pack(*sizes);
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  if (auto error = check_steps::checkLegality(spec, spans))
    return tl::unexpected(std::move(*error));
  return planes;
}
