//===- Transport.cpp - stored words under another contract ----------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Transport.h"
#include "ArrayFields.h"
#include "CheckSteps.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <bit>

using namespace grit;

static tl::unexpected<Error> refuse(const ArraySpec &target, std::string field,
                                    std::string declared, std::string found,
                                    std::string cause) {
  return makeError(Status::GradeUnknown,
                   "the words of this array are not those of " +
                       target.contract.displayName(),
                   std::move(field), std::move(declared), std::move(found),
                   std::move(cause),
                   "decode the array and encode it again, which changes "
                   "values");
}

/// One code for each element, and nothing beside codes and scales.
static Expected<void> checkParts(const ArraySpec &spec,
                                 const ArraySpec &target) {
  const FormatDescription &format = spec.contract.description();
  const char *found = nullptr;
  if (format.level.vector > 1)
    found = "codes that stand for several elements";
  else if (format.level.signs || format.level.book)
    found = "signs or levels beside the codes";
  else if (format.sparsity)
    found = "N:M sparsity";
  else if (format.offset.kind != Offset::Kind::None)
    found = "an offset";
  else if (format.codes.width() > 16)
    found = "codes of more than 16 bits";
  if (!found)
    return {};
  return refuse(target, "contract", "one code for each element, and scales",
                spec.contract.displayName() + ": " + found,
                "words are moved between plain formats only");
}

/// How large the groups of a factor are: the whole array, blocks, lines, so
/// many elements.
static std::pair<int, int64_t> groupRank(const Factor &factor) {
  if (factor.group == 0)
    return {0, 0};
  if (factor.order == ElementOrder::Block)
    return {1, 0};
  return factor.group == kWholeAxis ? std::pair<int, int64_t>(2, 0)
                                    : std::pair(3, -factor.group);
}

/// The scales from the largest groups to the smallest.
static std::vector<const Factor *> bySize(const FormatDescription &format) {
  std::vector<const Factor *> factors;
  for (const Factor &factor : format.scales)
    factors.push_back(&factor);
  std::ranges::sort(factors, [](const Factor *a, const Factor *b) {
    auto one = groupRank(*a), other = groupRank(*b);
    return one != other ? one < other : a < b;
  });
  return factors;
}

namespace {

/// Moves the words of one array.
class Transporter {
public:
  Transporter(const ArraySpec &source, std::span<const ByteSpan> planes,
              const ArraySpec &target, const TransportOptions &options)
      : source(source), planes(planes), target(target), options(options),
        from(source.contract.description()),
        into(target.contract.description()) {}

  Expected<PlaneBytes> run();

private:
  Expected<void> mapCodes();
  Expected<void> moveCodes();
  Expected<void> moveFactor(const Factor &old, const Factor &fresh);
  uint32_t wordFor(const Factor &old, const Factor &fresh, uint32_t word) const;
  /// The element of the source at the place of an element of the target, or
  /// nothing for one that pads a row.
  std::optional<int64_t> elementOf(int64_t element) const {
    int64_t column = element % longRow;
    if (column >= row)
      return std::nullopt;
    return element / longRow * row + column;
  }

  const ArraySpec &source;
  std::span<const ByteSpan> planes;
  const ArraySpec &target;
  const TransportOptions &options;
  const FormatDescription &from, &into;
  int64_t row = 0, longRow = 0; ///< elements
  PlaneBytes result;
  std::vector<std::span<uint8_t>> spans;
  std::vector<std::optional<uint32_t>> codeMap; ///< by code of the source
  uint32_t zeroCode = 0;
};

} // namespace

/// The code of the same level, for each code of the source.
Expected<void> Transporter::mapCodes() {
  auto levelBits = [](const FormatDescription &format, uint32_t code) {
    return std::bit_cast<uint32_t>(format.level.decode(code));
  };
  const uint32_t codes = 1u << into.codes.width();
  codeMap.resize(size_t(1) << from.codes.width());
  for (uint32_t old = 0; old < codeMap.size(); ++old)
    for (uint32_t code = 0; code < codes && !codeMap[old]; ++code)
      // A NaN has many codes: the same one where the words are the same.
      if (levelBits(into, code) == levelBits(from, old) &&
          (from.level.number != into.level.number || code == old))
        codeMap[old] = code;
  while (zeroCode < codes && levelBits(into, zeroCode) != 0)
    ++zeroCode;
  if (zeroCode < codes)
    return {};
  return refuse(target, "level", "a code of 0 for the end of a row", "none",
                "rows of the target are longer");
}

Expected<void> Transporter::moveCodes() {
  Expected<PlacedField> codes = PlacedField::of(source, codesOf(from));
  if (!codes)
    return tl::unexpected(codes.error());
  const int64_t count = target.numElements();
  for (int64_t element = 0; element < count; ++element) {
    std::optional<int64_t> old = elementOf(element);
    uint32_t code = zeroCode;
    if (old) {
      uint32_t word = codes->read(*old, planes);
      if (!codeMap[word]) {
        tl::unexpected<Error> error =
            refuse(target, "codes[" + std::to_string(*old) + "]",
                   "a code whose level the target has, too",
                   hexWord(word, (from.codes.width() + 3) / 4),
                   "the source has levels that the target lacks");
        error.value().code = ErrorCode::IllegalCode;
        return error;
      }
      code = *codeMap[word];
    }
    writeField(into.codes, element, code, spans);
  }
  return {};
}

uint32_t Transporter::wordFor(const Factor &old, const Factor &fresh,
                              uint32_t word) const {
  float value = old.number.decode(word);
  if (old.group == 0 && options.invertWhole)
    value = 1 / value;
  else if (old.number == fresh.number)
    return word;
  Expected<uint32_t> rounded =
      encodeWord(fresh.number.word, value, Rounding::RNE, Saturation::OvfInf);
  // What has no word is no number, and legality decides on the NaN of the word.
  return rounded.value_or(0);
}

Expected<void> Transporter::moveFactor(const Factor &old, const Factor &fresh) {
  Expected<PlacedField> field = PlacedField::of(source, fieldOf(old, source));
  if (!field)
    return tl::unexpected(field.error());
  std::vector<bool> isSet(
      static_cast<size_t>(unitCount(target, fresh.group, fresh.rows)));
  std::vector<ByteSpan> written(result.begin(), result.end());
  const int64_t count = target.numElements();
  for (int64_t element = 0; element < count; ++element) {
    auto group = static_cast<size_t>(groupIndex(fresh, element, target));
    std::optional<int64_t> at = elementOf(element);
    if (!at)
      continue;
    int64_t oldGroup = groupIndex(old, *at, source);
    uint32_t word = wordFor(old, fresh, field->read(oldGroup, planes));
    if (!isSet[group]) {
      writeField(fresh.bits, static_cast<int64_t>(group), word, spans);
      isSet[group] = true;
    } else if (readField(fresh.bits, static_cast<int64_t>(group), written) !=
               word) {
      return refuse(target, fresh.name + "[" + std::to_string(group) + "]",
                    "one word for the whole group",
                    "several among the groups of '" + old.name + "'",
                    "the groups of the source are smaller");
    }
  }
  return {};
}

Expected<PlaneBytes> Transporter::run() {
  row = source.shape.back();
  longRow = target.shape.back();
  if (row > longRow || source.numElements() / std::max<int64_t>(row, 1) !=
                           target.numElements() / std::max<int64_t>(longRow, 1))
    return makeError(
        Status::SizeMismatch, "the rows of the arrays do not match", "shape",
        shapeText(source.shape) + ", or longer rows", shapeText(target.shape),
        {}, "give the target the rows of the source");
  if (from.scales.size() != into.scales.size())
    return refuse(target, "scales", std::to_string(into.scales.size()),
                  std::to_string(from.scales.size()),
                  "the contracts have other factors");
  Expected<PlaneSizes> sizes = target.planeSizes();
  if (!sizes)
    return tl::unexpected(sizes.error());
  for (int64_t size : *sizes)
    result.emplace_back(size);
  spans.assign(result.begin(), result.end());
  if (auto done = mapCodes(); !done)
    return tl::unexpected(done.error());
  if (auto done = moveCodes(); !done)
    return tl::unexpected(done.error());
  std::vector<const Factor *> old = bySize(from), fresh = bySize(into);
  for (size_t i = 0; i < fresh.size(); ++i)
    if (auto done = moveFactor(*old[i], *fresh[i]); !done)
      return tl::unexpected(done.error());
  std::vector<ByteSpan> written(result.begin(), result.end());
  if (auto error = check_steps::checkLegality(target, written))
    return tl::unexpected(std::move(*error));
  return std::move(result);
}

Expected<PlaneBytes> grit::transportWords(const ArraySpec &source,
                                          std::span<const ByteSpan> planes,
                                          const ArraySpec &target,
                                          const TransportOptions &options) {
  if (auto error = checkArray(source, planes))
    return tl::unexpected(std::move(*error));
  ArraySpec canonical = target;
  canonical.placements = target.contract.canonicalPlacements();
  if (auto error = canonical.verify())
    return tl::unexpected(std::move(*error));
  if (auto done = checkParts(source, canonical); !done)
    return tl::unexpected(done.error());
  if (auto done = checkParts(canonical, canonical); !done)
    return tl::unexpected(done.error());
  return Transporter(source, planes, canonical, options).run();
}
