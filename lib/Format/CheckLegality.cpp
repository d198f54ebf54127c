//===- CheckLegality.cpp - codes and factors that a contract forbids ------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decode is defined for every byte. Some formats call some of them illegal all
// the same: a code beyond the range of their encoders, a scale that is not
// finite. Of several faults that of a factor is reported, then that of a code.
//
//===----------------------------------------------------------------------===//

#include "CheckSteps.h"
#include "PlacedField.h"
#include "grit/Format/Text.h"
#include <cmath>
#include <limits>

using namespace grit;

bool check_steps::hasLegality(const FormatDescription &description) {
  if (!description.illegalCodes.empty())
    return true;
  for (const auto *factors : {&description.scales, &description.offset.factors})
    for (const Factor &factor : *factors)
      if (!factor.demands.empty())
        return true;
  return false;
}

namespace {

/// One array, in the order of its planes.
class LegalityChecker {
public:
  LegalityChecker(const ArraySpec &spec, std::span<const ByteSpan> planes)
      : spec(spec), format(spec.contract.description()), planes(planes) {}

  std::optional<Error> run();

private:
  std::optional<Error> checkFactor(const Factor &factor) const;
  std::optional<Error> checkCodes() const;
  std::optional<Error> checkCleared(const Factor &factor,
                                    const std::vector<bool> &isZero) const;
  std::optional<Error> checkElement(int64_t element,
                                    const Factor &factor) const;
  float levelOf(int64_t element) const;
  Error illegal(ErrorCode code, std::string message, std::string field,
                std::string declared, std::string found, unsigned plane) const;

  const ArraySpec &spec;
  const FormatDescription &format;
  std::span<const ByteSpan> planes;
  std::optional<PlacedField> codes, book;
};

} // namespace

std::optional<Demand> check_steps::unmetDemand(const Demands &demands,
                                               float x) {
  if (demands.has(Demand::Finite) && !std::isfinite(x))
    return Demand::Finite;
  if (demands.has(Demand::Unsigned) && std::signbit(x))
    return Demand::Unsigned;
  if (demands.has(Demand::NotNegative) && !(x >= 0))
    return Demand::NotNegative;
  if (demands.has(Demand::Positive) && !(x > 0))
    return Demand::Positive;
  if (demands.has(Demand::PlusZero) && x == 0 && std::signbit(x))
    return Demand::PlusZero;
  return std::nullopt;
}

static std::string_view demandText(Demand demand) {
  static constexpr std::string_view texts[] = {
      "a finite number",  "a number whose sign bit is 0",
      "0 or more",        "more than 0",
      "no negative zero", "zero levels only"};
  return texts[static_cast<unsigned>(demand)];
}

Error LegalityChecker::illegal(ErrorCode code, std::string message,
                               std::string field, std::string declared,
                               std::string found, unsigned plane) const {
  return {Status::DigestMismatch,
          std::move(message),
          std::move(field),
          std::move(declared),
          std::move(found),
          "the bytes are damaged, or were written for another contract than " +
              spec.contract.displayName(),
          "write the array again with an encoder of the contract",
          static_cast<int>(planeSlot(format, plane)),
          code};
}

std::optional<Error> LegalityChecker::checkFactor(const Factor &factor) const {
  if (factor.demands.empty())
    return std::nullopt;
  Expected<PlacedField> field = PlacedField::of(spec, fieldOf(factor, spec));
  if (!field)
    return std::nullopt;
  const bool clears = factor.demands.has(Demand::ZeroClears);
  std::vector<bool> isZero;
  bool anyZero = false;
  for (int64_t i = 0; i < field->size(); ++i) {
    uint32_t code = field->read(i, planes);
    float value = factor.number.decode(code);
    if (auto demand = check_steps::unmetDemand(factor.demands, value))
      return illegal(
          ErrorCode::IllegalFactor,
          "the contract calls a number of '" + factor.name + "' illegal",
          factor.name + "[" + std::to_string(i) + "]",
          std::string(demandText(*demand)),
          hexWord(code, (factor.bits.width() + 3) / 4), factor.bits.plane);
    if (!clears || value != 0)
      continue;
    isZero.resize(static_cast<size_t>(field->size()));
    isZero[static_cast<size_t>(i)] = anyZero = true;
  }
  return anyZero ? checkCleared(factor, isZero) : std::nullopt;
}

float LegalityChecker::levelOf(int64_t element) const {
  const Level &level = format.level;
  int64_t vector = level.vector;
  uint32_t entry = codes->read(element / vector, planes);
  if (vector > 1)
    entry = entry * level.vector + static_cast<uint32_t>(element % vector);
  return level.decode(level.book ? book->read(entry, planes) : entry);
}

std::optional<Error> LegalityChecker::checkElement(int64_t element,
                                                   const Factor &factor) const {
  if (levelOf(element) == 0)
    return std::nullopt;
  return illegal(ErrorCode::CodeUnderZeroScale,
                 "'" + factor.name + "' is 0, and an element under it is not",
                 "codes[" + std::to_string(element / format.level.vector) + "]",
                 "a code of 0",
                 hexWord(codes->read(element / format.level.vector, planes),
                         (format.codes.width() + 3) / 4),
                 format.codes.plane);
}

/// Groups of consecutive elements are looked up; of others, every element is.
std::optional<Error>
LegalityChecker::checkCleared(const Factor &factor,
                              const std::vector<bool> &isZero) const {
  if (!codes)
    return std::nullopt;
  const int64_t count = spec.numElements();
  if (factor.order == ElementOrder::RowMajor && factor.group > 0) {
    for (size_t group = 0; group < isZero.size(); ++group)
      for (int64_t i = 0; isZero[group] && i < factor.group; ++i)
        if (auto error = checkElement(
                static_cast<int64_t>(group) * factor.group + i, factor))
          return error;
    return std::nullopt;
  }
  for (int64_t element = 0; element < count; ++element)
    if (isZero[static_cast<size_t>(groupIndex(factor, element, spec))])
      if (auto error = checkElement(element, factor))
        return error;
  return std::nullopt;
}

std::optional<Error> LegalityChecker::checkCodes() const {
  if (format.illegalCodes.empty() || !codes)
    return std::nullopt;
  std::vector<bool> isIllegal(size_t(1) << format.codes.width());
  std::string list;
  const int digits = static_cast<int>((format.codes.width() + 3) / 4);
  for (uint32_t code : format.illegalCodes) {
    isIllegal[code] = true;
    list += (list.empty() ? "" : ", ") + hexWord(code, digits);
  }
  for (int64_t i = 0; i < codes->size(); ++i)
    if (uint32_t code = codes->read(i, planes); isIllegal[code])
      return illegal(ErrorCode::IllegalCode,
                     "the contract calls a code illegal",
                     "codes[" + std::to_string(i) + "]", "none of " + list,
                     hexWord(code, digits), format.codes.plane);
  return std::nullopt;
}

std::optional<Error> LegalityChecker::run() {
  const bool isEmpty = spec.numElements() == 0;
  if (!isEmpty) {
    if (auto field = PlacedField::of(spec, codesOf(format)))
      codes = std::move(*field);
    if (format.level.book)
      if (auto field = PlacedField::of(spec, {&*format.level.book, 0}))
        book = std::move(*field);
    if (format.level.book && !book)
      codes.reset();
  }
  for (const auto *factors : {&format.scales, &format.offset.factors})
    for (const Factor &factor : *factors)
      // What belongs to the whole array is there without an element as well.
      if (!isEmpty || factor.group == 0)
        if (auto error = checkFactor(factor))
          return error;
  return isEmpty ? std::nullopt : checkCodes();
}

std::optional<Error>
check_steps::checkLegality(const ArraySpec &spec,
                           std::span<const ByteSpan> planes) {
  if (!hasLegality(spec.contract.description()))
    return std::nullopt;
  return LegalityChecker(spec, planes).run();
}
