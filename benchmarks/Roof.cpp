//===- Roof.cpp - how fast this machine can be -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roof.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

/// What measured loops compute goes here, so that they are not removed.
static std::atomic<uint64_t> sink;

/// The seconds from the moment when all threads are ready until all are done.
template <typename Work>
static double timeThreads(int count, const Work &work) {
  std::atomic<int> waiting = count;
  std::atomic<bool> go = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (!go)
        std::this_thread::yield();
      work(i);
    });
  while (waiting)
    std::this_thread::yield();
  Clock::time_point start = Clock::now();
  go = true;
  for (std::thread &thread : threads)
    thread.join();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The size of the largest cache, or a guess.
static size_t largestCache() {
  size_t largest = size_t(32) << 20;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" +
                       std::to_string(index) + "/size");
    size_t size;
    char unit = 0;
    if (file >> size >> unit)
      largest = std::max(largest, size << (unit == 'M' ? 20 : 10));
  }
  return largest;
}

/// Twice the largest cache, between 256 MiB and 1 GiB.
static size_t readBytes() {
  return std::clamp(2 * largestCache(), size_t(1) << 28, size_t(1) << 30);
}

/// Sums words; several sums, so that no addition waits for the one before.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t sumWords(const uint64_t *words, size_t count) {
  constexpr size_t kLanes = 64;
  uint64_t sums[kLanes] = {};
  for (size_t i = 0; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += words[i + lane];
  uint64_t total = 0;
  for (uint64_t sum : sums)
    total += sum;
  return total;
}

double grit_roof_read(int threads, double bytes) {
  size_t size = bytes > 0 ? static_cast<size_t>(bytes) : readBytes();
  size_t share = std::max<size_t>(size / 8 / static_cast<size_t>(threads), 64);
  // Pages that were written: untouched ones would all be the same zero page.
  std::vector<uint64_t> words(share * static_cast<size_t>(threads), 1);
  // Enough passes that starting threads takes no part of the time.
  size_t passes = std::max<size_t>(1, (size_t(1) << 23) / share);
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    double seconds = timeThreads(threads, [&](int i) {
      for (size_t pass = 0; pass < passes; ++pass)
        sink += sumWords(words.data() + share * static_cast<size_t>(i), share);
    });
    best = std::max(best,
                    static_cast<double>(words.size() * 8 * passes) / seconds);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Multiplying and adding
//===----------------------------------------------------------------------===//

/// `kChains` independent chains hide the latency of the operation on every
/// processor of today; this file is compiled with contraction on.
static constexpr int kChains = 14;

#define GRIT_ROOF_LOOP(Vector)                                                 \
  Vector sums[kChains];                                                        \
  float seed = static_cast<float>(sink.load() & 1);                            \
  for (int i = 0; i < kChains; ++i)                                            \
    sums[i] = Vector{} + (seed + static_cast<float>(i));                       \
  Vector factor = Vector{} + (0.5f + seed), addend = Vector{} + (1.0f + seed); \
  for (int64_t step = 0; step < steps; ++step)                                 \
    for (int i = 0; i < kChains; ++i)                                          \
      sums[i] = sums[i] * factor + addend;                                     \
  for (int i = 1; i < kChains; ++i)                                            \
    sums[0] += sums[i];                                                        \
  return sums[0][0]

using Lanes4 = float __attribute__((vector_size(16)));
static float multiplyAdd4(int64_t steps) { GRIT_ROOF_LOOP(Lanes4); }

#if defined(__x86_64__)
using Lanes8 = float __attribute__((vector_size(32)));
__attribute__((target("avx2,fma"))) static float multiplyAdd8(int64_t steps) {
  GRIT_ROOF_LOOP(Lanes8);
}
using Lanes16 = float __attribute__((vector_size(64)));
// Compilers otherwise take two registers of half the width.
#if defined(__clang__)
#define GRIT_ROOF_WHOLE_WIDTH                                                  \
  __attribute__((target("avx512f"), min_vector_width(512)))
#else
#define GRIT_ROOF_WHOLE_WIDTH                                                  \
  __attribute__((target("avx512f,prefer-vector-width=512")))
#endif
GRIT_ROOF_WHOLE_WIDTH static float multiplyAdd16(int64_t steps) {
  GRIT_ROOF_LOOP(Lanes16);
}
#endif

double grit_roof_flops(int threads) {
  float (*loop)(int64_t) = multiplyAdd4;
  int lanes = 4;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loop = multiplyAdd16;
    lanes = 16;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loop = multiplyAdd8;
    lanes = 8;
  }
#endif
  constexpr int64_t kSteps = 4'000'000;
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    double seconds = timeThreads(threads, [&](int) {
      float result = loop(kSteps);
      uint32_t bits;
      std::memcpy(&bits, &result, sizeof bits);
      sink += bits & 2;
    });
    best = std::max(best, 2.0 * lanes * kChains * kSteps * threads / seconds);
  }
  return best;
}
