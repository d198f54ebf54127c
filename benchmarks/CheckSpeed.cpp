//===- CheckSpeed.cpp - how fast checks and digests are -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the time of a level-1 check from C++ and through the C interface, the
// rates of the digest, and the rates of 128-bit multiplications alone, one per
// byte, as JSON. benchmarks/check.py sets those of Python beside them.
//
//===----------------------------------------------------------------------===//

#include "grit-c/grit.h"
#include "grit/Format/Check.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"
#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace grit;

static constexpr const char *kGrades[] = {"mxfp4", "mxfp4_rne", "nvf4",
                                          "q4ks",  "i8s24",     "nvf4_rtz"};
static constexpr int64_t kExtent = 4096;

/// Seconds of this thread in the fastest of many short runs: others that use
/// the processor do not count.
template <typename Body> static double secondsOf(Body &&body) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double best = 1e9;
  for (int run = 0; run < 100; ++run) {
    double start = now();
    body();
    best = std::min(best, now() - start);
  }
  return best;
}

/// Nanoseconds of a call that returns whether it failed.
template <typename Call> static double nanosecondsOf(Call &&call) {
  constexpr int kCalls = 10000;
  int failures = 0;
  double seconds = secondsOf([&] {
    for (int i = 0; i < kCalls; ++i)
      failures += call();
  });
  return failures ? -1 : seconds / kCalls * 1e9;
}

/// Nanoseconds of the check of a view, from C and from C++; below 0 when it
/// fails.
static std::pair<double, double> timeCheck(const char *name) {
  int64_t shape[] = {kExtent, kExtent};
  grit_array_view_t array;
  if (grit_view_init(name, 2, shape, -1, &array, nullptr) != GRIT_OK)
    return {-1, -1};
  const grit_view_t &view = array.u.grade;
  grit_detail_t detail;
  double c =
      nanosecondsOf([&] { return grit_check(&view, 1, &detail) != GRIT_OK; });
  CheckInput input;
  input.descriptor = {reinterpret_cast<const uint8_t *>(&view.d), 64};
  input.shape = shape;
  input.planeBytes = view.plane_bytes;
  double cpp = nanosecondsOf([&] { return check(input, 1).has_value(); });
  return {c, cpp};
}

/// Chains of 128-bit multiplications by the prime of FNV-1a, which is all that
/// a digest cannot do without.
template <unsigned chains> static double multiplyRate() {
  using Wide = unsigned __int128;
  constexpr size_t kSteps = 1 << 19;
  const Wide prime = (Wide(1) << 88) | 0x13b;
  Wide values[chains];
  uint64_t sum = 0;
  double seconds = secondsOf([&] {
    for (unsigned c = 0; c < chains; ++c)
      values[c] = Wide(c + 3) << 60 | 1;
    for (size_t i = 0; i < kSteps; ++i)
      for (unsigned c = 0; c < chains; ++c) {
        // Opaque, so that powers are not multiplied together.
        uint64_t low = static_cast<uint64_t>(values[c]);
        asm("" : "+r"(low));
        values[c] = (values[c] >> 64 << 64 | low) * prime;
      }
    for (unsigned c = 0; c < chains; ++c)
      sum += static_cast<uint64_t>(values[c] >> 64);
  });
  return sum ? double(kSteps) * chains / seconds * 1e-9 : 0;
}

static void printDigest() {
  constexpr size_t kBytes = 1 << 20;
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
  std::printf("  \"digest_gb_per_s\": {\"one_chain\": %.3f, \"four_chains\": "
              "%.3f, \"checksum\": %u},\n",
              kBytes / one * 1e-9, 4 * kBytes / four * 1e-9, sum);
  std::printf("  \"multiply_gb_per_s\": {\"one_chain\": %.3f, "
              "\"four_chains\": %.3f}\n",
              multiplyRate<1>(), multiplyRate<4>());
}

int main() {
  bool ok = true;
  std::printf("{\n  \"check_ns\": {");
  const char *separator = "";
  for (const char *name : kGrades) {
    auto [c, cpp] = timeCheck(name);
    ok &= c >= 0 && cpp >= 0;
    std::printf("%s\n    \"%s\": {\"c\": %.1f, \"cpp\": %.1f}", separator, name,
                c, cpp);
    separator = ",";
  }
  std::printf("\n  },\n");
  printDigest();
  std::printf("}\n");
  if (!ok)
    std::fprintf(stderr, "a check failed\n");
  return ok ? 0 : 1;
}
