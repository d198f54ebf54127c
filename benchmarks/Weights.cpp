//===- Weights.cpp - arrays to run kernels on -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "grit/Format/Codec.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace grit;
using namespace grit::bench;

using Planes = std::vector<std::vector<uint8_t>>;
using Generator = std::minstd_rand;

std::vector<float> grit::bench::numbers(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Planes without an encoder
//===----------------------------------------------------------------------===//

/// A code whose number is neither tiny nor huge, as scales of weights are.
static uint32_t ordinaryCode(const Number &number, unsigned width,
                             Generator &random) {
  std::uniform_int_distribution<uint32_t> codes(
      0, static_cast<uint32_t>((uint64_t(1) << width) - 1));
  for (;;) {
    uint32_t code = codes(random);
    if (number.isTable() && code >= number.table.size())
      continue;
    float magnitude = std::fabs(number.decode(code));
    if (magnitude >= 0x1p-6f && magnitude <= 0x1p6f)
      return code;
  }
}

static void drawFactor(const Factor &factor, const ArraySpec &spec,
                       std::span<const std::span<uint8_t>> planes,
                       Generator &random) {
  int64_t groups = groupIndex(factor, spec.numElements() - 1, spec) + 1;
  for (int64_t group = 0; group < groups; ++group)
    writeField(factor.bits, group,
               ordinaryCode(factor.number, factor.bits.width(), random),
               planes);
}

/// Neighbours in different groups, as after a sort by activations.
static void spreadOrder(const BitField &order, const ArraySpec &spec,
                        std::span<const std::span<uint8_t>> planes) {
  int64_t positions = spec.shape[static_cast<size_t>(spec.axis)];
  int64_t groups = positions / spec.contract.description().axisMultiple;
  for (int64_t k = 0; k < positions; ++k)
    writeField(order, k, static_cast<uint32_t>(k % groups), planes);
}

static Planes drawPlanes(const ArraySpec &spec, const PlaneSizes &sizes) {
  const FormatDescription &desc = spec.contract.description();
  Generator random(1);
  Planes planes;
  for (int64_t size : sizes) {
    planes.emplace_back(static_cast<size_t>(size));
    for (uint8_t &byte : planes.back())
      byte = static_cast<uint8_t>(random() >> 8);
  }
  std::vector<std::span<uint8_t>> bytes(planes.begin(), planes.end());
  for (const auto *factors : {&desc.scales, &desc.offset.factors})
    for (const Factor &factor : *factors)
      drawFactor(factor, spec, bytes, random);
  if (desc.order)
    spreadOrder(*desc.order, spec, bytes);
  const Number &level = desc.level.number;
  // Levels that are no finite number are left out: a product has to be near.
  unsigned width = desc.codes.width();
  if (desc.level.book)
    for (int64_t entry = 0; entry < int64_t(desc.level.vector) << width;
         ++entry)
      writeField(*desc.level.book, entry,
                 ordinaryCode(level, desc.level.book->width(), random), bytes);
  else if (!desc.codes.radix && desc.level.vector == 1 &&
           !level.word.isInteger())
    for (int64_t i = 0; i < spec.numElements(); ++i)
      writeField(desc.codes, i, ordinaryCode(level, width, random), bytes);
  return planes;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static void **planesOf(grit_array_view_t &view) {
  return view.tag == GRIT_ARRAY_GRADE ? view.u.grade.plane
                                      : view.u.foreign.plane;
}
static const int64_t *planeBytesOf(const grit_array_view_t &view) {
  return view.tag == GRIT_ARRAY_GRADE ? view.u.grade.plane_bytes
                                      : view.u.foreign.plane_bytes;
}

Expected<Weights> grit::bench::emptyWeights(const std::string &contract,
                                            int64_t rows, int64_t columns) {
  Weights weights;
  const int64_t shape[] = {rows, columns};
  grit_detail_t detail;
  if (grit_view_init(contract.c_str(), 2, shape, -1, &weights.view, &detail) !=
      GRIT_OK)
    return makeError(Status::SizeMismatch, detail.message);
  weights.planes.resize(GRIT_MAXPLANES);
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    int64_t size = planeBytesOf(weights.view)[i];
    weights.planes[i].resize(static_cast<size_t>(size));
    planesOf(weights.view)[i] = size ? weights.planes[i].data() : nullptr;
    weights.numBytes += size;
  }
  return weights;
}

/// Encoders that search are slow: this many rows are filled, then repeated.
static constexpr int64_t kFilledRows = 256;

Expected<Weights> grit::bench::makeWeights(const std::string &name,
                                           int64_t rows, int64_t columns) {
  Expected<Weights> weights = emptyWeights(name, rows, columns);
  if (!weights)
    return weights;
  Expected<Contract> contract = Contract::parse(name);
  Expected<ArraySpec> part =
      ArraySpec::get(*contract, {std::min(rows, kFilledRows), columns});
  if (!part)
    return tl::unexpected(part.error());
  Planes planes;
  if (contract->description().encoding.rule == EncodeRule::None) {
    planes = drawPlanes(*part, *part->planeSizes());
  } else {
    std::vector<float> importance;
    if (importanceUse(*contract) == ImportanceUse::Needed)
      importance.assign(static_cast<size_t>(columns), 1.0f);
    Expected<Planes> encoded =
        encode(*part, numbers(part->numElements(), 1), importance);
    if (!encoded)
      return tl::unexpected(encoded.error());
    planes = std::move(*encoded);
  }
  // Rows lie one after the other in every plane but those of constant size.
  const FormatDescription &desc = contract->description();
  for (unsigned i = 0; i < planes.size(); ++i) {
    auto &whole = weights->planes[planeSlot(desc, i)];
    for (size_t at = 0; at < whole.size(); at += planes[i].size())
      std::memcpy(whole.data() + at, planes[i].data(),
                  std::min(planes[i].size(), whole.size() - at));
  }
  weights->decoded.resize(static_cast<size_t>(rows * columns));
  grit_detail_t detail;
  if (grit_dequantize(&weights->view, weights->decoded.data(), rows * columns,
                      &detail) != GRIT_OK)
    return makeError(Status::SizeMismatch, detail.message);
  return weights;
}
