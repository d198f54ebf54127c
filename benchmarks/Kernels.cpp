//===- Kernels.cpp - speed of compiled decode and matmul -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of every registered contract on a matrix of 4096 x 4096 weights. The
// counter `roof` is the part of the machine's speed (Roof.h) that was reached.
//
//===----------------------------------------------------------------------===//

#include "KernelCases.h"
#include "Roof.h"
#include "grit/Format/Contract.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <vector>

using namespace grit;
using namespace grit::bench;

static constexpr Extents kExtents = {4096, 4096};

/// The seconds that one call takes at the roof.
static double secondsAtRoof(const KernelCase &kernel) {
  double read = kernel.bytes / grit_roof_read(kernel.threads, kernel.bytes);
  double compute =
      kernel.flops > 0 ? kernel.flops / grit_roof_flops(kernel.threads) : 0;
  return std::max(read, compute);
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs the case for the benchmark, and reports the fraction of the roof: the
/// roof of right before and right after, so that a machine that changes its
/// speed changes both, over the median call.
static void measure(benchmark::State &state,
                    const Expected<KernelCase> &kernel) {
  if (!kernel)
    return state.SkipWithError(kernel.error().str().c_str());
  std::vector<double> seconds;
  double roof = secondsAtRoof(*kernel) / 2;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    if (kernel->call() != GRIT_OK)
      return state.SkipWithError("the kernel refused its operands");
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count());
    seconds.push_back(time.count());
  }
  roof += secondsAtRoof(*kernel) / 2;
  state.counters["roof"] = roof / median(seconds);
  state.SetBytesProcessed(static_cast<int64_t>(
      kernel->bytes * static_cast<double>(state.iterations())));
}

/// `make` compiles and checks the case when the benchmark is run.
template <typename Make>
static void add(const std::string &name, const Make &make) {
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State &state) { measure(state, make()); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.2);
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  for (const std::string &contract : registeredContractNames())
    for (int threads : {1, 2}) {
      std::string suffix = "/threads:" + std::to_string(threads);
      add("decode/" + contract + suffix,
          [=] { return decodeCase(contract, kExtents, threads); });
      for (int64_t n : {1, 512})
        add("matmul/" + contract + "/n:" + std::to_string(n) + suffix,
            [=] { return matmulCase(contract, kExtents, n, threads); });
    }
  // Those whose scales fill tiles of 128 x 4 bytes.
  for (std::string contract : {"mxfp4", "nvf4"})
    add("relayout/" + contract + "/threads:1",
        [=] { return relayoutCase(contract, kExtents); });
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
