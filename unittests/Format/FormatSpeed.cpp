//===- FormatSpeed.cpp - how fast checks and digests are ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the time of a level-1 check and the rates of the digest. Not a test:
// the numbers are those of the machine.
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Check.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace grit;

/// Seconds of the fastest of several runs.
template <typename Body> static double secondsOf(Body &&body) {
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    auto start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

static bool timeCheck(const char *name, std::vector<int64_t> shape) {
  auto contract = Contract::parse(name);
  if (!contract)
    return false;
  auto spec = ArraySpec::get(*contract, shape);
  auto sizes = spec ? spec->planeSizes() : tl::unexpected(spec.error());
  auto descriptor = spec ? spec->descriptor() : std::nullopt;
  if (!sizes || !descriptor)
    return false;
  std::array<int64_t, 4> slots{};
  for (unsigned i = 0; i < sizes->size(); ++i)
    slots[planeSlot(contract->description(), i)] = (*sizes)[i];
  CheckInput input{*descriptor, shape, slots, {}, {}};
  constexpr int kCalls = 200000;
  int failures = 0;
  double seconds = secondsOf([&] {
    for (int i = 0; i < kCalls; ++i)
      failures += check(input, 1).has_value();
  });
  std::printf("check %-9s level 1: %6.1f ns\n", name, seconds / kCalls * 1e9);
  return failures == 0;
}

static void timeDigest() {
  constexpr size_t kBytes = 32 << 20;
  std::vector<std::vector<uint8_t>> bytes(4, std::vector<uint8_t>(kBytes, 7));
  std::vector<std::array<std::span<const uint8_t>, 1>> planes;
  std::vector<std::span<const std::span<const uint8_t>>> arrays;
  for (const auto &plane : bytes)
    planes.push_back({plane});
  for (const auto &plane : planes)
    arrays.emplace_back(plane);
  unsigned sum = 0;
  double one = secondsOf([&] { sum += digest(planes[0])[0]; });
  double four = secondsOf([&] { sum += digests(arrays)[0][0]; });
  std::array<Fnv128, 4> hashes;
  double pieces = secondsOf([&] {
    for (size_t at = 0; at < kBytes; at += 1 << 16) {
      std::array<HashUpdate, 4> updates;
      for (size_t i = 0; i < 4; ++i)
        updates[i] = {&hashes[i], planes[i][0].subspan(at, 1 << 16)};
      updateTogether(updates);
    }
  });
  std::printf("digest, one chain:   %.3f GB/s\n", kBytes / one * 1e-9);
  std::printf("digest, four chains: %.3f GB/s  (checksum %u)\n",
              4 * kBytes / four * 1e-9, sum);
  std::printf("digest, four in pieces of 64 KiB: %.3f GB/s\n",
              4 * kBytes / pieces * 1e-9);
}

int main() {
  bool ok = true;
  for (const char *name : {"mxfp4", "nvf4", "q4ks", "i8s24"})
    ok &= timeCheck(name, {4096, 4096});
  timeDigest();
  if (!ok)
    std::fprintf(stderr, "a check failed\n");
  return ok ? 0 : 1;
}
