//===- Spread.cpp - how scales are spread -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"
#include "grit/Format/Fields.h"
#include <bit>
#include <cmath>
#include <cstring>

using namespace grit;
using namespace grit::scan;

/// Enough for a picture, and soon done however large the tensor is.
static constexpr int64_t kMostSamples = 4096;

namespace {
/// Counts numbers by the powers of two that they lie between.
class Counter {
public:
  explicit Counter(std::string name) { spread.name = std::move(name); }

  void add(float value) {
    ++spread.samples;
    if (!std::isfinite(value))
      ++spread.nonFinite;
    else if (value == 0.0F)
      ++spread.zeros;
    else
      ++counts[std::ilogb(value)];
  }
  ScaleSpread finish() {
    if (counts.empty())
      return spread;
    spread.first = counts.begin()->first;
    spread.counts.resize(
        static_cast<size_t>(counts.rbegin()->first - spread.first) + 1);
    for (auto [exponent, count] : counts)
      spread.counts[static_cast<size_t>(exponent - spread.first)] = count;
    return spread;
  }

private:
  ScaleSpread spread;
  std::map<int, uint64_t> counts;
};
} // namespace

/// Calls `visit` with up to kMostSamples indices below `count`, evenly apart.
template <typename Visitor>
static void sample(int64_t count, const Visitor &visit) {
  int64_t samples = std::min(count, kMostSamples);
  for (int64_t j = 0; j < samples; ++j)
    visit(static_cast<int64_t>(static_cast<__int128>(j) * count / samples));
}

static float floatOf(const ScalePlane &plane, int64_t index) {
  auto at = static_cast<size_t>(index);
  if (plane.type == ScaleType::Word)
    return decodeWord(plane.word, plane.bytes[at]);
  uint32_t bits = 0;
  if (plane.type == ScaleType::Float32) {
    std::memcpy(&bits, &plane.bytes[4 * at], 4);
    return std::bit_cast<float>(bits);
  }
  std::memcpy(&bits, &plane.bytes[2 * at], 2);
  return plane.type == ScaleType::Float16 ? decodeWord(words::Binary16, bits)
                                          : std::bit_cast<float>(bits << 16);
}

ScaleSpread grit::scan::spreadOf(const ScalePlane &plane, std::string name) {
  int64_t width = plane.type == ScaleType::Word      ? 1
                  : plane.type == ScaleType::Float32 ? 4
                                                     : 2;
  Counter counter(std::move(name));
  sample(static_cast<int64_t>(plane.bytes.size()) / width,
         [&](int64_t index) { counter.add(floatOf(plane, index)); });
  return counter.finish();
}

std::vector<ScaleSpread> grit::scan::spreadsOf(const TensorInfo &tensor) {
  std::vector<ScaleSpread> spreads;
  const ArraySpec &spec = *tensor.array;
  std::vector<ByteSpan> planes = tensor.planes();
  int64_t elements = spec.numElements();
  if (elements == 0)
    return spreads;
  for (const Factor &factor : spec.contract.description().scales) {
    Counter counter(factor.name);
    int64_t groups = unitCount(spec, factor.group, factor.rows);
    sample(groups, [&](int64_t index) {
      counter.add(factor.number.decode(readField(factor.bits, index, planes)));
    });
    spreads.push_back(counter.finish());
  }
  return spreads;
}
