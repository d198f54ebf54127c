//===- JitTest.cpp - compiled functions against the scalar codec -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatTestUtils.h"
#include "TestModule.h"
#include "grit/Compiler/Compiler.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace grit;
using namespace grit::test;

using Decode = grit_status_t (*)(const grit_array_view_t *,
                                 grit_tensor_view_t *);
using Matmul = grit_status_t (*)(const grit_tensor_view_t *,
                                 const grit_array_view_t *,
                                 grit_tensor_view_t *);

namespace {
class EveryContract : public testing::TestWithParam<std::string> {
protected:
  Contract contract = *Contract::parse(GetParam());
  std::mt19937 random{7};

  /// A contract with N:M sparsity has planes that no encoder writes: two
  /// survivors in one place.
  bool allowsAnyBytes() const {
    return !contract.description().sparsity.has_value();
  }
};
} // namespace

static std::unique_ptr<CompiledModule>
compile(const std::string &source, const CompilerOptions &options = {}) {
  std::string errors;
  auto module = CompiledModule::compile(source, "test.mlir", options, errors);
  EXPECT_NE(module, nullptr) << errors << source;
  return module;
}

template <typename Function>
static Function lookup(CompiledModule &module, const char *name) {
  std::string errors;
  void *address = module.lookup(name, errors);
  EXPECT_NE(address, nullptr) << errors;
  return reinterpret_cast<Function>(address);
}

static void expectSameBits(const std::vector<float> &found,
                           const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(found[i]),
              std::bit_cast<uint32_t>(expected[i]))
        << "element " << i << ": " << found[i] << " is not " << expected[i];
}

/// Within the bound of any order of binary32 additions.
static void expectProduct(const Tensor &x, const Array &w, const Tensor &before,
                          const Tensor &y, int64_t m, int64_t n, int64_t k) {
  std::vector<float> weight = w.values();
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      double sum = before.values[row * n + column], size = std::fabs(sum);
      for (int64_t i = 0; i < k; ++i) {
        double term =
            double(x.values[row * k + i]) * double(weight[column * k + i]);
        sum += term;
        size += std::fabs(term);
      }
      double bound = static_cast<double>(k + 2) *
                     std::numeric_limits<float>::epsilon() * size;
      ASSERT_NEAR(y.values[row * n + column], sum, bound)
          << "row " << row << ", column " << column;
    }
}

static void runDecode(CompiledModule &module, Array &array) {
  Tensor y(array.shape);
  auto decode = lookup<Decode>(module, "decode");
  ASSERT_NE(decode, nullptr);
  ASSERT_EQ(decode(&array.view, &y.view), GRIT_OK);
  expectSameBits(y.values, array.values());
}

TEST_P(EveryContract, DecodesBitForBit) {
  auto fixed = compile(decodeSource(contract, {5, 768}));
  auto open = compile(decodeSource(contract, {-1, 768}));
  ASSERT_TRUE(fixed && open);
  Array array(contract, {5, 768});
  array.quantize(random);
  runDecode(*fixed, array);
  runDecode(*open, array);
  if (!allowsAnyBytes())
    return;
  array.scramble(random);
  runDecode(*fixed, array);
  runDecode(*open, array);
}

TEST_P(EveryContract, DecodesEveryRowCount) {
  auto open = compile(decodeSource(contract, {-1, 256}));
  ASSERT_TRUE(open);
  for (int64_t rows : {1, 2, 16, 17, 63}) {
    Array array(contract, {rows, 256});
    array.quantize(random);
    runDecode(*open, array);
  }
}

/// Reshapes with several dynamic extents, in place and to a result of its own.
TEST_P(EveryContract, DecodesAnyExtents) {
  auto open = compile(decodeSource(contract, {-1, -1, 256}));
  ASSERT_TRUE(open);
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2, 3, 256}, std::vector<int64_t>{1, 1, 256},
        std::vector<int64_t>{0, 3, 256}}) {
    Array array(contract, shape);
    array.quantize(random);
    runDecode(*open, array);
  }
  auto empty = compile(decodeSource(contract, {0, 256}));
  ASSERT_TRUE(empty);
  Array none(contract, {0, 256});
  runDecode(*empty, none);
}

TEST_P(EveryContract, MultipliesWithLeadingDimensions) {
  std::string x = tensorType("f32", {-1, -1, 256}),
              w = arrayType(contract, {24, 256}),
              y = tensorType("f32", {-1, -1, 24});
  auto module = compile(
      "func.func @matmul(%x: " + x + ", %w: " + w + ", %y: " + y + ") -> " + y +
      " {\n  %r = grit.matmul ins(%x, %w : " + x + ", " + w +
      ") outs(%y : " + y + ") -> " + y + "\n  return %r : " + y + "\n}\n");
  ASSERT_TRUE(module);
  auto matmul = lookup<Matmul>(*module, "matmul");
  ASSERT_NE(matmul, nullptr);
  Array weight(contract, {24, 256});
  weight.quantize(random);
  for (auto [outer, m] : {std::pair<int64_t, int64_t>{2, 3}, {1, 1}, {3, 0}}) {
    Tensor input({outer, m, 256}), output({outer, m, 24});
    input.fill(random);
    output.fill(random);
    Tensor before = output;
    ASSERT_EQ(matmul(&input.view, &weight.view, &output.view), GRIT_OK);
    expectProduct(input, weight, before, output, outer * m, 24, 256);
  }
}

TEST_P(EveryContract, Multiplies) {
  for (bool isStatic : {true, false})
    for (auto [m, n, k] :
         {std::array<int64_t, 3>{1, 33, 512},
          std::array<int64_t, 3>{7, 40, 256}, std::array<int64_t, 3>{5, 2, 256},
          std::array<int64_t, 3>{4, 16, 256}}) {
      auto module = compile(isStatic ? matmulSource(contract, m, n, k)
                                     : matmulSource(contract, -1, -1, -1));
      ASSERT_TRUE(module);
      auto matmul = lookup<Matmul>(*module, "matmul");
      ASSERT_NE(matmul, nullptr);
      Tensor x({m, k}), y({m, n});
      Array w(contract, {n, k});
      x.fill(random);
      y.fill(random);
      w.quantize(random);
      Tensor before = y;
      Tensor input = x;
      ASSERT_EQ(matmul(&x.view, &w.view, &y.view), GRIT_OK);
      expectProduct(x, w, before, y, m, n, k);
      expectSameBits(x.values, input.values);
    }
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryContract,
                         testing::ValuesIn(rowwiseEncodableNames()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

TEST(Jit, ResultWithoutDestinationIsAnOperand) {
  Contract mxfp4 = *Contract::parse("mxfp4");
  std::string a = arrayType(mxfp4, {-1, 64}), y = tensorType("f32", {-1, 64});
  auto module = compile(
      "func.func @f(%a: " + a + ") -> " + y +
      " {\n  %n = grit.dim %a, 0 : " + a + "\n  %e = tensor.empty(%n) : " + y +
      "\n  %r = grit.decode ins(%a : " + a + ") outs(%e : " + y + ") -> " + y +
      "\n  return %r : " + y + "\n}\n");
  ASSERT_TRUE(module);
  auto f = lookup<Decode>(*module, "f");
  std::mt19937 random(3);
  Array array(mxfp4, {6, 64});
  array.scramble(random);
  Tensor result({6, 64});
  ASSERT_EQ(f(&array.view, &result.view), GRIT_OK);
  expectSameBits(result.values, array.values());
  Tensor shorter({5, 64});
  EXPECT_EQ(f(&array.view, &shorter.view), GRIT_SIZE_MISMATCH);
}

TEST(Jit, EncodesIntoPlanesOfTheCaller) {
  Contract mxfp4 = *Contract::parse("mxfp4");
  std::string a = arrayType(mxfp4, {4, 64}), x = tensorType("f32", {4, 64});
  auto module = compile("func.func @encode(%x: " + x + ") -> " + a +
                        " {\n  %r = grit.encode %x : " + x + " -> " + a +
                        "\n  return %r : " + a + "\n}\n");
  ASSERT_TRUE(module);
  auto encode =
      lookup<grit_status_t (*)(const grit_tensor_view_t *,
                               const grit_array_view_t *)>(*module, "encode");
  std::mt19937 random(5);
  Tensor input({4, 64});
  input.fill(random);
  Array found(mxfp4, {4, 64}), expected(mxfp4, {4, 64});
  ASSERT_EQ(encode(&input.view, &found.view), GRIT_OK);
  ASSERT_EQ(grit_quantize(input.values.data(), 256, &expected.view, nullptr),
            GRIT_OK);
  EXPECT_EQ(found.memory, expected.memory);
}

TEST(Jit, ThreadsGiveTheSameBits) {
  Contract mxfp4 = *Contract::parse("mxfp4");
  std::mt19937 random(11);
  Array w(mxfp4, {200, 256});
  w.quantize(random);
  Tensor x({3, 256}), one({3, 200}), two({3, 200});
  x.fill(random);
  std::string source = matmulSource(mxfp4, 3, 200, 256);
  auto single = compile(source), threaded = compile(source, {.threads = 2});
  ASSERT_TRUE(single && threaded);
  ASSERT_EQ(lookup<Matmul>(*single, "matmul")(&x.view, &w.view, &one.view),
            GRIT_OK);
  ASSERT_EQ(lookup<Matmul>(*threaded, "matmul")(&x.view, &w.view, &two.view),
            GRIT_OK);
  expectSameBits(two.values, one.values);
}

/// Results that are arguments, each other's, or the same one twice.
TEST(Jit, ResultsGoToTheirPlaces) {
  auto module = compile(R"(
    func.func private @add(%x: tensor<3xf32>, %s: f32) -> tensor<3xf32> {
      %r = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%x : tensor<3xf32>) {
        ^bb0(%a: f32):
          %m = arith.addf %a, %s : f32
          linalg.yield %m : f32
      } -> tensor<3xf32>
      return %r : tensor<3xf32>
    }
    func.func @twice(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      return %x, %x : tensor<3xf32>, tensor<3xf32>
    }
    func.func @both(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %r = linalg.copy ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) -> tensor<3xf32>
      return %r, %y : tensor<3xf32>, tensor<3xf32>
    }
    func.func @same(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %one = arith.constant 1.0 : f32
      %a = linalg.fill ins(%one : f32) outs(%y : tensor<3xf32>) -> tensor<3xf32>
      %b = linalg.copy ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) -> tensor<3xf32>
      return %a, %b : tensor<3xf32>, tensor<3xf32>
    }
    func.func @loop(%n: index, %y: tensor<3xf32>) -> tensor<3xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> tensor<3xf32> {
        %t = func.call @add(%s, %one) : (tensor<3xf32>, f32) -> tensor<3xf32>
        scf.yield %t : tensor<3xf32>
      }
      return %r : tensor<3xf32>
    }
    func.func @either(%n: index, %y: tensor<3xf32>) -> tensor<3xf32> {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %c = arith.cmpi eq, %n, %c0 : index
      cf.cond_br %c, ^a, ^b
    ^a:
      %p = linalg.fill ins(%one : f32) outs(%y : tensor<3xf32>) -> tensor<3xf32>
      return %p : tensor<3xf32>
    ^b:
      %q = linalg.fill ins(%two : f32) outs(%y : tensor<3xf32>) -> tensor<3xf32>
      return %q : tensor<3xf32>
    }
  )");
  ASSERT_TRUE(module);
  using Values = std::vector<float>;
  const Values from = {1, 2, 3}, old = {7, 8, 9};
  auto run = [&](const char *name, std::vector<Values *> tensors,
                 int64_t *number = nullptr) {
    std::string errors;
    auto function = module->lookupPacked(name, errors);
    ASSERT_NE(function, nullptr) << errors;
    std::vector<grit_tensor_view_t> views;
    for (Values *values : tensors)
      views.push_back({.data = values->data(),
                       .dtype = GRIT_DTYPE_F32,
                       .rank = 1,
                       .shape = {3}});
    std::vector<void *> operands;
    if (number)
      operands.push_back(number);
    for (grit_tensor_view_t &view : views)
      operands.push_back(&view);
    ASSERT_EQ(function(operands.data()), GRIT_OK) << name;
  };
  Values x = from, y = old, out(3), more(3);
  run("twice", {&x, &out, &more});
  EXPECT_EQ(out, from);
  EXPECT_EQ(more, from);
  out = more = Values(3);
  run("both", {&x, &y, &out}); // the first result lies in y, as it was is out
  EXPECT_EQ(y, from);
  EXPECT_EQ(out, old);
  y = old;
  run("same", {&x, &y, &out});
  EXPECT_EQ(y, Values(3, 1));
  EXPECT_EQ(out, from);
  int64_t three = 3, zero = 0;
  y = old;
  run("loop", {&y}, &three);
  EXPECT_EQ(y, (Values{10, 11, 12}));
  run("loop", {&y}, &zero);
  EXPECT_EQ(y, (Values{10, 11, 12}));
  run("either", {&y}, &zero);
  EXPECT_EQ(y, Values(3, 1));
  run("either", {&y}, &three);
  EXPECT_EQ(y, Values(3, 2));
}

/// A failing assertion is a status, as a refused operand is.
TEST(Jit, EncodeRefusesValuesWithoutCode) {
  Contract q8 = *Contract::parse("gguf.q8_0");
  std::string a = arrayType(q8, {2, 64}), x = tensorType("f32", {2, 64});
  auto module = compile("func.func @encode(%x: " + x + ") -> " + a +
                        " {\n  %r = grit.encode %x : " + x + " -> " + a +
                        "\n  return %r : " + a + "\n}\n");
  ASSERT_TRUE(module);
  auto encode =
      lookup<grit_status_t (*)(const grit_tensor_view_t *,
                               const grit_array_view_t *)>(*module, "encode");
  ASSERT_NE(encode, nullptr);
  Tensor input({2, 64});
  Array found(q8, {2, 64});
  EXPECT_EQ(encode(&input.view, &found.view), GRIT_OK);
  input.values[70] = std::numeric_limits<float>::quiet_NaN();
  testing::internal::CaptureStderr();
  EXPECT_EQ(encode(&input.view, &found.view), GRIT_GRADE_UNKNOWN);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "no code for a value that is not finite"),
            std::string::npos);
}

/// One of two arrays, chosen at run time.
TEST(Jit, ChoosesBetweenArrays) {
  Contract mxfp4 = *Contract::parse("mxfp4");
  std::string a = arrayType(mxfp4, {-1, 64}), y = tensorType("f32", {-1, 64});
  auto module = compile(
      "func.func @f(%n: index, %a: " + a + ", %b: " + a + ", %y: " + y +
      ") -> " + y +
      " {\n  %z = arith.constant 0 : index\n  %c = arith.cmpi eq, %n, %z : "
      "index\n  %w = scf.if %c -> " +
      a + " {\n    scf.yield %a : " + a + "\n  } else {\n    scf.yield %b : " +
      a + "\n  }\n  %r = grit.decode ins(%w : " + a + ") outs(%y : " + y +
      ") -> " + y + "\n  return %r : " + y + "\n}\n");
  ASSERT_TRUE(module);
  auto f = lookup<grit_status_t (*)(int64_t, const grit_array_view_t *,
                                    const grit_array_view_t *,
                                    grit_tensor_view_t *)>(*module, "f");
  ASSERT_NE(f, nullptr);
  std::mt19937 random(13);
  Array one(mxfp4, {3, 64}), other(mxfp4, {3, 64});
  one.scramble(random);
  other.scramble(random);
  Tensor found({3, 64});
  ASSERT_EQ(f(0, &one.view, &other.view, &found.view), GRIT_OK);
  expectSameBits(found.values, one.values());
  ASSERT_EQ(f(1, &one.view, &other.view, &found.view), GRIT_OK);
  expectSameBits(found.values, other.values());
}

/// MLIR's runtime library, which would copy such slices, is not linked.
TEST(Jit, CopiesStridedSlices) {
  auto module = compile(R"(
    func.func @f(%x: tensor<4x8xf32>) -> tensor<3x2xf32> {
      %r = tensor.extract_slice %x[1, 5] [3, 2] [1, 1] : tensor<4x8xf32> to tensor<3x2xf32>
      return %r : tensor<3x2xf32>
    }
  )");
  ASSERT_TRUE(module);
  auto f = lookup<grit_status_t (*)(const grit_tensor_view_t *,
                                    grit_tensor_view_t *)>(*module, "f");
  ASSERT_NE(f, nullptr);
  Tensor x({4, 8}), y({3, 2});
  for (int i = 0; i < 32; ++i)
    x.values[i] = static_cast<float>(i);
  ASSERT_EQ(f(&x.view, &y.view), GRIT_OK);
  EXPECT_EQ(y.values, (std::vector<float>{13, 14, 21, 22, 29, 30}));
}

TEST(Jit, ScalarsAndCallsInside) {
  // @outer calls @inner, which C can call, too.
  auto module = compile(R"(
    func.func @inner(%x: tensor<?xf32>, %s: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
        ^bb0(%a: f32, %b: f32):
          %m = arith.mulf %a, %s : f32
          linalg.yield %m : f32
      } -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
    func.func @outer(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %two = arith.constant 2.0 : f32
      %r = func.call @inner(%x, %two, %y) : (tensor<?xf32>, f32, tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
  )");
  ASSERT_TRUE(module);
  auto inner =
      lookup<grit_status_t (*)(const grit_tensor_view_t *, float,
                               grit_tensor_view_t *)>(*module, "inner");
  Tensor x({3}), y({3});
  x.values = {1, 2, 3};
  x.view.data = x.values.data();
  ASSERT_EQ(inner(&x.view, 3, &y.view), GRIT_OK);
  EXPECT_EQ(y.values, (std::vector<float>{3, 6, 9}));
  // The destination of a call is not known to be an argument: the result of
  // @outer is an operand of its own, and %y stays.
  auto outer = lookup<grit_status_t (*)(
      const grit_tensor_view_t *, const grit_tensor_view_t *,
      grit_tensor_view_t *)>(*module, "outer");
  Tensor z({3});
  ASSERT_EQ(outer(&x.view, &y.view, &z.view), GRIT_OK);
  EXPECT_EQ(z.values, (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(y.values, (std::vector<float>{3, 6, 9}));
  Tensor four({4});
  EXPECT_EQ(outer(&x.view, &four.view, &z.view), GRIT_SIZE_MISMATCH);
}
