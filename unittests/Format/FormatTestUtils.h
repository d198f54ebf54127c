//===- FormatTestUtils.h - helpers for tests of lib/Format -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_FORMATTESTUTILS_H
#define GRIT_UNITTESTS_FORMAT_FORMATTESTUTILS_H

#include "grit/Format/Codec.h"
#include <bit>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace grit::test {

using Bytes = std::vector<uint8_t>;

/// The value of an Expected; ends the process with the error's text when there
/// is none, so that no test goes on without it.
template <typename T> T take(Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << value.error().str();
    std::abort();
  }
  return std::move(*value);
}

/// The registered contracts that have an encoder.
std::vector<std::string> encodableNames();
/// Those that encode any rows of 256 elements, without importance.
std::vector<std::string> rowwiseEncodableNames();

inline Contract contract(std::string_view text) {
  return take(Contract::parse(text));
}

/// An array under a contract, the last axis its group axis.
inline ArraySpec specOf(std::string_view text, std::vector<int64_t> shape,
                        int axis = -1) {
  return take(ArraySpec::get(contract(text), std::move(shape), axis));
}

inline uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
inline float value(uint32_t word) { return std::bit_cast<float>(word); }

/// Every NaN as the one that leaves decode.
inline uint32_t canonicalBits(float x) {
  return x != x ? 0x7FC00000u : bits(x);
}

/// Even weights for a contract whose encoder needs importance.
inline std::vector<float> neededImportance(const ArraySpec &spec) {
  if (importanceUse(spec.contract) != ImportanceUse::Needed)
    return {};
  return std::vector<float>(spec.shape.back(), 1.0f);
}

/// encode() of numbers that have codes.
inline std::vector<Bytes> encodeAll(const ArraySpec &spec,
                                    const std::vector<float> &values) {
  return take(encode(spec, values, neededImportance(spec)));
}

/// decode() of whole planes.
inline std::vector<float> decodeAll(const ArraySpec &spec,
                                    const std::vector<Bytes> &planes) {
  std::vector<ByteSpan> spans(planes.begin(), planes.end());
  std::vector<float> out(spec.numElements());
  if (auto done = decode(spec, spans, out); !done) {
    ADD_FAILURE() << done.error().str();
    std::abort();
  }
  return out;
}

/// Counts and reports the elements whose bits differ.
inline void expectSameBits(const std::vector<float> &actual,
                           const std::vector<float> &expected,
                           const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  size_t wrong = 0;
  for (size_t i = 0; i < actual.size(); ++i)
    if (bits(actual[i]) != canonicalBits(expected[i]) && wrong++ < 5)
      ADD_FAILURE() << what << ": element " << i << std::hex << " is "
                    << bits(actual[i]) << ", expected "
                    << canonicalBits(expected[i]);
  EXPECT_EQ(wrong, 0u) << what;
}

/// A small generator with the same numbers everywhere (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  Bytes bytes(size_t count) {
    Bytes result(count);
    for (uint8_t &byte : result)
      byte = static_cast<uint8_t>(next());
    return result;
  }

private:
  uint64_t state;
};

/// Writes the groups of an order from the last to the first, again and again.
void writeOrder(const ArraySpec &spec, std::vector<Bytes> &planes);

/// Random planes of the right sizes, for decode: it is defined for every byte,
/// but in an order only for groups that there are.
inline std::vector<Bytes> randomPlanes(const ArraySpec &spec, Random &random) {
  std::vector<Bytes> planes;
  for (int64_t size : take(spec.planeSizes()))
    planes.push_back(random.bytes(size));
  if (spec.contract.description().order)
    writeOrder(spec, planes);
  return planes;
}

/// Random planes that level 2 of a check accepts: other codes and scales stand
/// for those that the contract calls illegal, and no scale is 0 that would have
/// to clear its group.
std::vector<Bytes> legalPlanes(const ArraySpec &spec, Random &random);

/// SHA-256 as lower-case hex.
std::string sha256(const Bytes &bytes);

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_FORMATTESTUTILS_H
