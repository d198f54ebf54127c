//===- FormatTestUtils.cpp - helpers for tests of lib/Format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "grit/Format/Fields.h"
#include <cmath>

using namespace grit;
using namespace grit::test;

/// The first 32 bits of the fraction of a root of the n-th prime; FIPS 180-4
/// takes its constants from there.
static std::vector<uint32_t> rootFractions(unsigned count, bool cube) {
  std::vector<uint32_t> result;
  for (unsigned n = 2; result.size() < count; ++n) {
    bool prime = true;
    for (unsigned d = 2; d * d <= n; ++d)
      prime &= n % d != 0;
    if (!prime)
      continue;
    long double root =
        cube ? std::cbrt((long double)n) : std::sqrt((long double)n);
    result.push_back(
        static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L));
  }
  return result;
}

void test::writeOrder(const ArraySpec &spec, std::vector<Bytes> &planes) {
  const FormatDescription &desc = spec.contract.description();
  int64_t extent = spec.shape[static_cast<size_t>(spec.axis)];
  int64_t groups = extent / desc.axisMultiple;
  // Codes that count up meet every group.
  int64_t period = int64_t(1) << desc.codes.width();
  std::vector<std::span<uint8_t>> bytes(planes.begin(), planes.end());
  for (int64_t k = 0; k < extent; ++k)
    writeField(*desc.order, k,
               static_cast<uint32_t>(groups - 1 - (k + k / period) % groups),
               bytes);
}

std::vector<std::string> test::encodableNames() {
  std::vector<std::string> names = registeredContractNames();
  std::erase_if(names, [](const std::string &name) {
    return contract(name).description().encoding.rule == EncodeRule::None;
  });
  return names;
}

std::vector<std::string> test::rowwiseEncodableNames() {
  std::vector<std::string> names = encodableNames();
  std::erase_if(names, [](const std::string &name) {
    const Contract c = contract(name);
    return 256 % c.description().arrayMultiple != 0 ||
           importanceUse(c) == ImportanceUse::Needed;
  });
  return names;
}

/// A number that meets every demand, whatever they are: finite, and not 0; not
/// negative where one is about signs.
static bool meetsAll(const Demands &demands, float x) {
  const bool hasSign = !demands.has(Demand::Unsigned) &&
                       !demands.has(Demand::NotNegative) &&
                       !demands.has(Demand::Positive);
  return demands.empty() || (std::isfinite(x) && x != 0 && (hasSign || x > 0));
}

std::vector<test::Bytes> test::legalPlanes(const ArraySpec &spec,
                                           Random &random) {
  std::vector<Bytes> planes = randomPlanes(spec, random);
  std::vector<ByteSpan> in(planes.begin(), planes.end());
  std::vector<std::span<uint8_t>> out(planes.begin(), planes.end());
  const FormatDescription &format = spec.contract.description();
  for (const auto *factors : {&format.scales, &format.offset.factors})
    for (const Factor &factor : *factors) {
      const int64_t count = unitCount(spec, factor.group, factor.rows);
      for (int64_t i = 0; i < count; ++i)
        while (!meetsAll(factor.demands,
                         factor.number.decode(readField(factor.bits, i, in))))
          writeField(factor.bits, i, static_cast<uint32_t>(random.next()), out);
    }
  if (format.illegalCodes.empty())
    return planes;
  for (int64_t i = 0; i < spec.numElements() / format.level.vector; ++i)
    while (format.isIllegal(readField(format.codes, i, in)))
      writeField(format.codes, i, static_cast<uint32_t>(random.next()), out);
  return planes;
}

std::string test::sha256(const Bytes &bytes) {
  static const std::vector<uint32_t> k = rootFractions(64, /*cube=*/true);
  std::vector<uint32_t> h = rootFractions(8, /*cube=*/false);
  Bytes padded = bytes;
  padded.push_back(0x80);
  while (padded.size() % 64 != 56)
    padded.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8)
    padded.push_back(static_cast<uint8_t>(uint64_t(bytes.size()) * 8 >> shift));
  for (size_t at = 0; at < padded.size(); at += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = padded[at + 4 * i] << 24 | padded[at + 4 * i + 1] << 16 |
             padded[at + 4 * i + 2] << 8 | padded[at + 4 * i + 3];
    for (int i = 16; i < 64; ++i)
      w[i] =
          w[i - 16] + w[i - 7] +
          (std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^
           w[i - 15] >> 3) +
          (std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
    std::vector<uint32_t> s = h;
    for (int i = 0; i < 64; ++i) {
      uint32_t t1 =
          s[7] +
          (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
          ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
      uint32_t t2 =
          (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s.insert(s.begin(), t1 + t2);
      s[4] += t1;
      s.pop_back();
    }
    for (int i = 0; i < 8; ++i)
      h[i] += s[i];
  }
  std::string text;
  for (uint32_t word : h)
    for (int shift = 28; shift >= 0; shift -= 4)
      text.push_back("0123456789abcdef"[word >> shift & 15]);
  return text;
}
