//===- Kernels.cpp - speed of compiled decode and matmul -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of every contract, compiled in this process, on a matrix of 4096 x
// 4096 weights. Results are checked before anything is timed: decode bit for
// bit, matmul against sums in binary64, relayout by the way back. The counter
// `roof` is the part of the machine's speed (Roof.h) that was reached.
//
//===----------------------------------------------------------------------===//

#include "Roof.h"
#include "grit-c/compiler.h"
#include "grit-c/grit.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

static constexpr int64_t kRows = 4096, kColumns = 4096;
/// Encoders that search are slow: this many rows are quantized, then repeated.
static constexpr int64_t kQuantizedRows = 256;

static const char *const kContracts[] = {
    "mxfp4",     "mxfp4_rne",  "nvf4",        "nvf4_rtz",
    "q4ks",      "i8s24",      "gguf.q4_0",   "gguf.q4_k",
    "gguf.q8_0", "gguf.mxfp4", "gguf.iq4_nl", "hurray.nf4"};

//===----------------------------------------------------------------------===//
// Numbers and arrays
//===----------------------------------------------------------------------===//

/// Numbers between -1 and 1 that look random and are the same everywhere.
static std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
  return values;
}

namespace {
/// An array with its planes.
struct Weights {
  grit_array_view_t view;
  std::vector<std::vector<uint8_t>> planes;
  std::vector<float> decoded;
  int64_t numBytes = 0;
};
} // namespace

static void **planesOf(grit_array_view_t &view) {
  return view.tag == GRIT_ARRAY_GRADE ? view.u.grade.plane
                                      : view.u.foreign.plane;
}
static const int64_t *planeBytesOf(const grit_array_view_t &view) {
  return view.tag == GRIT_ARRAY_GRADE ? view.u.grade.plane_bytes
                                      : view.u.foreign.plane_bytes;
}

/// Fills `weights` for `rows` rows, planes of zeros.
static bool allocate(const char *contract, int64_t rows, Weights &weights) {
  const int64_t shape[] = {rows, kColumns};
  if (grit_view_init(contract, 2, shape, -1, &weights.view, nullptr) != GRIT_OK)
    return false;
  weights.planes.resize(GRIT_MAXPLANES);
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    int64_t size = planeBytesOf(weights.view)[i];
    weights.planes[i].resize(static_cast<size_t>(size));
    planesOf(weights.view)[i] = size ? weights.planes[i].data() : nullptr;
    weights.numBytes += size;
  }
  return true;
}

/// The weights of a contract, made once; null when that fails.
static Weights *weightsOf(const std::string &contract) {
  static std::map<std::string, std::unique_ptr<Weights>> made;
  std::unique_ptr<Weights> &entry = made[contract];
  if (entry)
    return entry.get();
  auto whole = std::make_unique<Weights>();
  Weights part;
  if (!allocate(contract.c_str(), kRows, *whole) ||
      !allocate(contract.c_str(), kQuantizedRows, part))
    return nullptr;
  std::vector<float> values = numbers(kQuantizedRows * kColumns, 1);
  if (grit_quantize(values.data(), static_cast<int64_t>(values.size()),
                    &part.view, nullptr) != GRIT_OK)
    return nullptr;
  // Rows lie one after the other in every plane but those of constant size.
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    for (size_t at = 0; at < whole->planes[i].size();
         at += part.planes[i].size())
      std::memcpy(whole->planes[i].data() + at, part.planes[i].data(),
                  part.planes[i].size());
  whole->decoded.resize(kRows * kColumns);
  if (grit_dequantize(&whole->view, whole->decoded.data(), kRows * kColumns,
                      nullptr) != GRIT_OK)
    return nullptr;
  entry = std::move(whole);
  return entry.get();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// `options` begins with a comma, if it is not empty.
static std::string arrayType(const std::string &contract,
                             const std::string &options = "") {
  bool foreign = contract.find('.') != std::string::npos;
  return "!grit.array<" + std::to_string(kRows) + "x" +
         std::to_string(kColumns) + "x#grit." + (foreign ? "format" : "grade") +
         "<" + contract + ">" + options + ">";
}

static std::string tensorType(const std::string &rows, int64_t columns) {
  return "tensor<" + rows + "x" + std::to_string(columns) + "xf32>";
}

static std::string decodeSource(const std::string &contract) {
  std::string array = arrayType(contract);
  std::string tensor = tensorType(std::to_string(kRows), kColumns);
  return "func.func @kernel(%w: " + array + ", %y: " + tensor + ") -> " +
         tensor + " {\n  %r = grit.decode ins(%w : " + array +
         ") outs(%y : " + tensor + ") -> " + tensor +
         "\n  return %r : " + tensor + "\n}\n";
}

static std::string matmulSource(const std::string &contract) {
  std::string array = arrayType(contract);
  std::string x = tensorType("?", kColumns), y = tensorType("?", kRows);
  return "func.func @kernel(%x: " + x + ", %w: " + array + ", %y: " + y +
         ") -> " + y + " {\n  %r = grit.matmul ins(%x, %w : " + x + ", " +
         array + ") outs(%y : " + y + ") -> " + y + "\n  return %r : " + y +
         "\n}\n";
}

/// Compiles once per source and number of threads; null, with the reason in
/// `error`, when it is refused.
static std::string relayoutSource(const std::string &from,
                                  const std::string &to) {
  return "func.func @kernel(%a: " + from + ") -> " + to +
         " {\n  %r = grit.relayout %a : " + from + " -> " + to +
         "\n  return %r : " + to + "\n}\n";
}

static grit_packed_function_t kernelOf(const std::string &source, int threads,
                                       std::string &error) {
  static grit_compiler_t *compiler = grit_compiler_create();
  static std::map<std::pair<std::string, int>, grit_packed_function_t> kept;
  grit_packed_function_t &kernel = kept[{source, threads}];
  if (kernel)
    return kernel;
  const grit_compiler_options_t options = {nullptr, nullptr, threads, 1};
  // Modules live as long as the program.
  if (grit_module_t *module = grit_compiler_compile(
          compiler, source.data(), source.size(), "benchmark.mlir", &options))
    kernel = grit_module_lookup_packed(module, "kernel");
  if (!kernel)
    error = grit_compiler_last_error(compiler);
  return kernel;
}

static grit_tensor_view_t tensorView(std::vector<float> &data, int64_t rows,
                                     int64_t columns) {
  return {data.data(), GRIT_DTYPE_F32, 2, {rows, columns}};
}

//===----------------------------------------------------------------------===//
// Roof
//===----------------------------------------------------------------------===//

/// The seconds that one call of `bytes` and `flops` takes at the roof.
static double secondsAtRoof(int threads, double bytes, double flops) {
  double read = bytes / grit_roof_read(threads, bytes);
  double compute = flops > 0 ? flops / grit_roof_flops(threads) : 0;
  return std::max(read, compute);
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs `call` for the benchmark, and reports the fraction of the roof: the
/// roof of right before and right after, so that a machine that changes its
/// speed changes both, over the median call.
template <typename Call>
static void measure(benchmark::State &state, const Call &call, int threads,
                    double bytes, double flops) {
  std::vector<double> seconds;
  double roof = secondsAtRoof(threads, bytes, flops) / 2;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    if (call() != GRIT_OK)
      return state.SkipWithError("the kernel refused its operands");
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count());
    seconds.push_back(time.count());
  }
  roof += secondsAtRoof(threads, bytes, flops) / 2;
  state.counters["roof"] = roof / median(seconds);
  state.SetBytesProcessed(
      static_cast<int64_t>(bytes * static_cast<double>(state.iterations())));
}

//===----------------------------------------------------------------------===//
// Benchmarks
//===----------------------------------------------------------------------===//

static void decode(benchmark::State &state, const std::string &contract,
                   int threads) {
  Weights *weights = weightsOf(contract);
  if (!weights)
    return state.SkipWithError("the weights cannot be made");
  std::string error;
  grit_packed_function_t kernel =
      kernelOf(decodeSource(contract), threads, error);
  if (!kernel)
    return state.SkipWithError(error.c_str());
  std::vector<float> out(kRows * kColumns);
  grit_tensor_view_t view = tensorView(out, kRows, kColumns);
  void *operands[] = {&weights->view, &view};
  if (kernel(operands) != GRIT_OK ||
      std::memcmp(out.data(), weights->decoded.data(),
                  out.size() * sizeof(float)) != 0)
    return state.SkipWithError("the decoded values are not exact");
  measure(
      state, [&] { return kernel(operands); }, threads,
      static_cast<double>(weights->numBytes) +
          static_cast<double>(out.size() * sizeof(float)),
      0);
}

/// Moves the weights to tiles and swizzled scales; the way back must give the
/// bytes that they were.
static void relayout(benchmark::State &state, const std::string &contract) {
  Weights *weights = weightsOf(contract);
  auto moved = std::make_unique<Weights>(), back = std::make_unique<Weights>();
  if (!weights || !allocate(contract.c_str(), kRows, *moved) ||
      !allocate(contract.c_str(), kRows, *back))
    return state.SkipWithError("the weights cannot be made");
  moved->view.u.grade.d.placement_data = GRIT_PLACEMENT_TILE_16x16;
  moved->view.u.grade.d.placement_scale = GRIT_PLACEMENT_SWIZZLE_128x4B;
  std::string own = arrayType(contract),
              other = arrayType(contract,
                                ", data = tile_16x16, scale = swizzle_128x4b");
  std::string error;
  grit_packed_function_t there = kernelOf(relayoutSource(own, other), 1, error);
  grit_packed_function_t home = kernelOf(relayoutSource(other, own), 1, error);
  if (!there || !home)
    return state.SkipWithError(error.c_str());
  void *operands[] = {&weights->view, &moved->view};
  void *reversed[] = {&moved->view, &back->view};
  if (there(operands) != GRIT_OK || home(reversed) != GRIT_OK ||
      moved->planes == weights->planes || back->planes != weights->planes)
    return state.SkipWithError("the bytes do not come back");
  measure(
      state, [&] { return there(operands); }, 1,
      2 * static_cast<double>(weights->numBytes), 0);
}

/// True when some outputs of every row are within the bound of a sum of
/// products rounded to binary32, in any order.
static bool isNear(const std::vector<float> &x, const Weights &weights,
                   const std::vector<float> &y, int64_t rows) {
  for (int64_t row = 0; row < rows; row += std::max<int64_t>(1, rows / 8))
    for (int64_t n = row % 7; n < kRows; n += 61) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < kColumns; ++k) {
        double product =
            double(x[row * kColumns + k]) * weights.decoded[n * kColumns + k];
        sum += product;
        magnitude += std::fabs(product);
      }
      double bound = magnitude * 2 * kColumns * 0x1p-24;
      if (!(std::fabs(y[row * kRows + n] - sum) <= bound))
        return false;
    }
  return true;
}

static void matmul(benchmark::State &state, const std::string &contract,
                   int64_t rows, int threads) {
  Weights *weights = weightsOf(contract);
  if (!weights)
    return state.SkipWithError("the weights cannot be made");
  std::string error;
  grit_packed_function_t kernel =
      kernelOf(matmulSource(contract), threads, error);
  if (!kernel)
    return state.SkipWithError(error.c_str());
  std::vector<float> x = numbers(rows * kColumns, 2), y(rows * kRows);
  grit_tensor_view_t in = tensorView(x, rows, kColumns),
                     out = tensorView(y, rows, kRows);
  void *operands[] = {&in, &weights->view, &out};
  if (kernel(operands) != GRIT_OK || !isNear(x, *weights, y, rows))
    return state.SkipWithError("the products are not near");
  measure(
      state, [&] { return kernel(operands); }, threads,
      static_cast<double>(weights->numBytes) +
          static_cast<double>((x.size() + y.size()) * sizeof(float)),
      2.0 * static_cast<double>(rows * kRows * kColumns));
}

static benchmark::internal::Benchmark *
add(const std::string &name,
    const std::function<void(benchmark::State &)> &run) {
  return benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.2);
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  for (std::string contract : kContracts)
    for (int threads : {1, 2}) {
      std::string suffix = "/threads:" + std::to_string(threads);
      add("decode/" + contract + suffix,
          [=](benchmark::State &state) { decode(state, contract, threads); });
      for (int64_t rows : {1, 512})
        add("matmul/" + contract + "/n:" + std::to_string(rows) + suffix,
            [=](benchmark::State &state) {
              matmul(state, contract, rows, threads);
            });
    }
  // Those whose scales fill tiles of 128 x 4 bytes.
  for (std::string contract : {"mxfp4", "nvf4"})
    add("relayout/" + contract + "/threads:1",
        [=](benchmark::State &state) { relayout(state, contract); });
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
