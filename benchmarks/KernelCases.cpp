//===- KernelCases.cpp - compiled kernels whose results are right ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCases.h"
#include "Weights.h"
#include "grit-c/compiler.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

using namespace grit;
using namespace grit::bench;

/// The weights that the case before had, when it was of the same contract and
/// extents: all contracts together would not fit in memory.
static Expected<std::shared_ptr<Weights>> weightsOf(const std::string &contract,
                                                    Extents extents) {
  static std::string kept;
  static std::shared_ptr<Weights> weights;
  std::string key = contract + " " + std::to_string(extents.rows) + " " +
                    std::to_string(extents.columns);
  if (key != kept) {
    weights.reset();
    kept.clear();
    Expected<Weights> made =
        makeWeights(contract, extents.rows, extents.columns);
    if (!made)
      return tl::unexpected(made.error());
    weights = std::make_shared<Weights>(std::move(*made));
    kept = key;
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// `options` begins with a comma, if it is not empty.
static std::string arrayType(const std::string &contract, Extents extents,
                             const std::string &options = "") {
  Expected<Contract> parsed = Contract::parse(contract);
  bool isGrade = parsed && parsed->isGrade();
  return "!grit.array<" + std::to_string(extents.rows) + "x" +
         std::to_string(extents.columns) + "x#grit." +
         (isGrade ? "grade" : "format") + "<" + contract + ">" + options + ">";
}

static std::string tensorType(const std::string &rows, int64_t columns) {
  return "tensor<" + rows + "x" + std::to_string(columns) + "xf32>";
}

static std::string decodeSource(const std::string &contract, Extents extents) {
  std::string array = arrayType(contract, extents);
  std::string tensor =
      tensorType(std::to_string(extents.rows), extents.columns);
  return "func.func @kernel(%w: " + array + ", %y: " + tensor + ") -> " +
         tensor + " {\n  %r = grit.decode ins(%w : " + array +
         ") outs(%y : " + tensor + ") -> " + tensor +
         "\n  return %r : " + tensor + "\n}\n";
}

static std::string matmulSource(const std::string &contract, Extents extents) {
  std::string array = arrayType(contract, extents);
  std::string x = tensorType("?", extents.columns),
              y = tensorType("?", extents.rows);
  return "func.func @kernel(%x: " + x + ", %w: " + array + ", %y: " + y +
         ") -> " + y + " {\n  %r = grit.matmul ins(%x, %w : " + x + ", " +
         array + ") outs(%y : " + y + ") -> " + y + "\n  return %r : " + y +
         "\n}\n";
}

static std::string relayoutSource(const std::string &from,
                                  const std::string &to) {
  return "func.func @kernel(%a: " + from + ") -> " + to +
         " {\n  %r = grit.relayout %a : " + from + " -> " + to +
         "\n  return %r : " + to + "\n}\n";
}

/// Compiles once per source and number of threads.
static Expected<grit_packed_function_t> kernelOf(const std::string &source,
                                                 int threads) {
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
    return makeError(Status::GradeUnknown, grit_compiler_last_error(compiler));
  return kernel;
}

static grit_tensor_view_t tensorView(std::vector<float> &data, int64_t rows,
                                     int64_t columns) {
  return {data.data(), GRIT_DTYPE_F32, 2, {rows, columns}};
}

static tl::unexpected<Error> wrongResult(const std::string &what) {
  return makeError(Status::DigestMismatch, what);
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

Expected<KernelCase> grit::bench::decodeCase(const std::string &contract,
                                             Extents extents, int threads) {
  auto weights = weightsOf(contract, extents);
  if (!weights)
    return tl::unexpected(weights.error());
  auto kernel = kernelOf(decodeSource(contract, extents), threads);
  if (!kernel)
    return tl::unexpected(kernel.error());
  auto out = std::make_shared<std::vector<float>>((*weights)->decoded.size());
  auto call = [=, weights = *weights, kernel = *kernel] {
    grit_tensor_view_t view = tensorView(*out, extents.rows, extents.columns);
    void *operands[] = {&weights->view, &view};
    return kernel(operands);
  };
  if (call() != GRIT_OK || std::memcmp(out->data(), (*weights)->decoded.data(),
                                       out->size() * sizeof(float)) != 0)
    return wrongResult("the decoded values are not exact");
  return KernelCase{call, threads,
                    static_cast<double>((*weights)->numBytes) +
                        static_cast<double>(out->size() * sizeof(float)),
                    0};
}

/// True when some outputs of every row are within the bound of a sum of
/// products rounded to binary32, in any order.
static bool isNear(const std::vector<float> &x, const Weights &weights,
                   const std::vector<float> &y, Extents extents, int64_t n) {
  for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 8))
    for (int64_t row = i % 7; row < extents.rows; row += 61) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < extents.columns; ++k) {
        double product = double(x[i * extents.columns + k]) *
                         weights.decoded[row * extents.columns + k];
        sum += product;
        magnitude += std::fabs(product);
      }
      double bound =
          magnitude * 2 * static_cast<double>(extents.columns) * 0x1p-24;
      if (!(std::fabs(y[i * extents.rows + row] - sum) <= bound))
        return false;
    }
  return true;
}

Expected<KernelCase> grit::bench::matmulCase(const std::string &contract,
                                             Extents extents, int64_t n,
                                             int threads) {
  auto weights = weightsOf(contract, extents);
  if (!weights)
    return tl::unexpected(weights.error());
  auto kernel = kernelOf(matmulSource(contract, extents), threads);
  if (!kernel)
    return tl::unexpected(kernel.error());
  auto x =
      std::make_shared<std::vector<float>>(numbers(n * extents.columns, 2));
  auto y = std::make_shared<std::vector<float>>(n * extents.rows);
  auto call = [=, weights = *weights, kernel = *kernel] {
    grit_tensor_view_t in = tensorView(*x, n, extents.columns),
                       out = tensorView(*y, n, extents.rows);
    void *operands[] = {&in, &weights->view, &out};
    return kernel(operands);
  };
  if (call() != GRIT_OK || !isNear(*x, **weights, *y, extents, n))
    return wrongResult("the products are not near");
  return KernelCase{
      call, threads,
      static_cast<double>((*weights)->numBytes) +
          static_cast<double>((x->size() + y->size()) * sizeof(float)),
      2.0 * static_cast<double>(n * extents.rows * extents.columns)};
}

Expected<KernelCase> grit::bench::relayoutCase(const std::string &contract,
                                               Extents extents) {
  auto weights = weightsOf(contract, extents);
  auto moved = emptyWeights(contract, extents.rows, extents.columns);
  auto back = emptyWeights(contract, extents.rows, extents.columns);
  for (const Error *error :
       {weights ? nullptr : &weights.error(), moved ? nullptr : &moved.error(),
        back ? nullptr : &back.error()})
    if (error)
      return tl::unexpected(*error);
  moved->view.u.grade.d.placement_data = GRIT_PLACEMENT_TILE_16x16;
  moved->view.u.grade.d.placement_scale = GRIT_PLACEMENT_SWIZZLE_128x4B;
  std::string own = arrayType(contract, extents),
              other = arrayType(contract, extents,
                                ", data = tile_16x16, scale = swizzle_128x4b");
  auto there = kernelOf(relayoutSource(own, other), 1),
       home = kernelOf(relayoutSource(other, own), 1);
  if (!there || !home)
    return tl::unexpected(there ? home.error() : there.error());
  auto target = std::make_shared<Weights>(std::move(*moved));
  auto call = [weights = *weights, target, there = *there] {
    void *operands[] = {&weights->view, &target->view};
    return there(operands);
  };
  void *reversed[] = {&target->view, &back->view};
  if (call() != GRIT_OK || (*home)(reversed) != GRIT_OK ||
      target->planes == (*weights)->planes ||
      back->planes != (*weights)->planes)
    return wrongResult("the bytes do not come back");
  return KernelCase{call, 1, 2 * static_cast<double>((*weights)->numBytes), 0};
}
