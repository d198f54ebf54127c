//===- Covering.cpp - arrays that hold every code under every scale -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Covering.h"
#include <algorithm>
#include <numeric>
#include <set>

using namespace grit;
using namespace grit::test;

/// Scale and offset factors of at most 8 bits: their codes can all be tried.
static std::vector<const Factor *>
narrowFactors(const FormatDescription &desc) {
  std::vector<const Factor *> result;
  for (const auto *factors : {&desc.scales, &desc.offset.factors})
    for (const Factor &factor : *factors)
      if (factor.bits.width() <= 8)
        result.push_back(&factor);
  return result;
}

/// Codes of one element each that are few enough, under factors whose groups do
/// not depend on the shape.
static bool canCover(const FormatDescription &desc) {
  constexpr unsigned kMostBits = 20;
  unsigned bits = desc.codes.width();
  for (const Factor *factor : narrowFactors(desc)) {
    if (factor->group < 1 || factor->order == ElementOrder::Block)
      return false;
    bits += factor->bits.width();
  }
  return bits <= kMostBits && desc.level.vector == 1 && !desc.codes.radix;
}

int64_t grit::test::countCombinations(const FormatDescription &desc) {
  if (!canCover(desc))
    return 0;
  int64_t result = int64_t(1) << desc.codes.width();
  for (const Factor *factor : narrowFactors(desc))
    result <<= factor->bits.width();
  return result;
}

ArraySpec grit::test::coveringSpec(const Contract &contract) {
  const FormatDescription &desc = contract.description();
  if (!canCover(desc))
    return take(ArraySpec::get(
        contract, {64, std::lcm(desc.axisMultiple,
                                std::max<int64_t>(desc.arrayMultiple, 256))}));
  int64_t group = 16;
  for (const Factor *factor : narrowFactors(desc))
    group = std::max(group, factor->group);
  int64_t columns =
      std::lcm(desc.axisMultiple, std::max<int64_t>(desc.arrayMultiple, 256));
  // A group that is shorter than the list of codes needs its scale repeated.
  group = std::max(group, int64_t(1) << desc.codes.width());
  int64_t rows = std::max<int64_t>(
      (countCombinations(desc) >> desc.codes.width()) * group / columns, 16);
  return take(ArraySpec::get(contract, {rows, columns}));
}

/// Survivors 0, 1, ... n - 1 of each run in the first places, shifted by up to
/// m - n: every index occurs.
static void writeSparseIndices(const ArraySpec &spec,
                               std::span<const std::span<uint8_t>> planes) {
  const Sparsity &sparsity = *spec.contract.description().sparsity;
  int64_t survivors = spec.numElements() / sparsity.m * sparsity.n;
  for (int64_t i = 0; i < survivors; ++i)
    writeField(sparsity.indices, i,
               i % sparsity.n + i / sparsity.n % (sparsity.m - sparsity.n + 1),
               planes);
}

std::vector<Bytes> grit::test::decodablePlanes(const ArraySpec &spec,
                                               Random &random) {
  std::vector<Bytes> planes = randomPlanes(spec, random);
  if (spec.contract.description().sparsity) {
    std::vector<std::span<uint8_t>> bytes(planes.begin(), planes.end());
    writeSparseIndices(spec, bytes);
  }
  return planes;
}

std::vector<Bytes> grit::test::coveringPlanes(const ArraySpec &spec,
                                              Random &random) {
  const FormatDescription &desc = spec.contract.description();
  std::vector<Bytes> planes = decodablePlanes(spec, random);
  if (!canCover(desc))
    return planes;
  std::vector<std::span<uint8_t>> bytes(planes.begin(), planes.end());
  int64_t elements = spec.numElements(), survivors = elements;
  if (desc.sparsity)
    survivors = elements / desc.sparsity->m * desc.sparsity->n;
  for (int64_t i = 0; i < survivors; ++i)
    writeField(desc.codes, i, i % (int64_t(1) << desc.codes.width()), bytes);
  int64_t radix = 1;
  for (const Factor *factor : narrowFactors(desc)) {
    int64_t codes = int64_t(1) << factor->bits.width();
    int64_t repeats = std::max<int64_t>(
        (int64_t(1) << desc.codes.width()) / factor->group, 1);
    for (int64_t group = 0; group < elements / factor->group; ++group)
      writeField(factor->bits, group, group / repeats / radix % codes, bytes);
    radix *= codes;
  }
  for (const Factor &factor : desc.scales)
    if (factor.group == 0)
      writeField(factor.bits, 0, bits(1.2345f) >> (32 - factor.bits.width()),
                 bytes);
  return planes;
}

/// The group of an element, in the order of the array where there is one.
static int64_t groupOf(const Factor &factor, int64_t element,
                       const ArraySpec &spec, std::span<const ByteSpan> bytes) {
  const FormatDescription &desc = spec.contract.description();
  if (!desc.order)
    return groupIndex(factor, element, spec);
  int64_t columns = spec.shape.back();
  return element / columns * (columns / factor.group) +
         readField(*desc.order, element % columns, bytes);
}

int64_t grit::test::countCovered(const ArraySpec &spec,
                                 const std::vector<Bytes> &planes) {
  const FormatDescription &desc = spec.contract.description();
  if (!canCover(desc))
    return 0;
  std::vector<ByteSpan> bytes(planes.begin(), planes.end());
  std::set<std::vector<uint32_t>> seen;
  int64_t perElement = desc.sparsity ? desc.sparsity->m / desc.sparsity->n : 1;
  for (int64_t i = 0; i < spec.numElements() / perElement; ++i) {
    std::vector<uint32_t> codes = {readField(desc.codes, i, bytes)};
    for (const Factor *factor : narrowFactors(desc))
      codes.push_back(readField(
          factor->bits, groupOf(*factor, i * perElement, spec, bytes), bytes));
    seen.insert(std::move(codes));
  }
  return static_cast<int64_t>(seen.size());
}
