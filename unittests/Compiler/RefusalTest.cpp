//===- RefusalTest.cpp - what compiled functions and the compiler refuse -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every plane and every tensor of these calls lies at addresses where nothing
// is mapped: a function that touched one before its checks would crash.
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"
#include "grit/Compiler/Compiler.h"
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::test;
using testing::HasSubstr;

using Matmul = grit_status_t (*)(const grit_tensor_view_t *,
                                 const grit_array_view_t *,
                                 grit_tensor_view_t *);

namespace {
struct Failure {
  grit_status_t status = GRIT_OK;
  std::string message, location;
  int count = 0;
};

/// A matmul with dynamic extents and operands in no memory.
class Refusal : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    std::string errors;
    Contract contract = *Contract::parse(GetParam());
    module = CompiledModule::compile(matmulSource(contract, -1, 96, -1),
                                     "dir/refusal.mlir", {}, errors);
    ASSERT_NE(module, nullptr) << errors;
    matmul = reinterpret_cast<Matmul>(module->lookup("matmul", errors));
    ASSERT_NE(matmul, nullptr) << errors;
    int64_t shape[] = {96, 512};
    ASSERT_EQ(grit_view_init(GetParam().c_str(), 2, shape, -1, &w, nullptr),
              GRIT_OK);
    for (int i = 0; i < GRIT_MAXPLANES; ++i)
      if (bytes()[i] != 0)
        planes()[i] = nowhere(i);
    x = tensor(3, 512);
    y = tensor(3, 96);
    grit_set_failure_handler(
        [](grit_status_t status, const grit_detail_t *detail,
           const char *location, void *user) {
          auto &failure = *static_cast<Failure *>(user);
          failure.status = status;
          failure.message = detail->message;
          failure.location = location;
          ++failure.count;
        },
        &failure);
  }
  void TearDown() override { grit_set_failure_handler(nullptr, nullptr); }

  static void *nowhere(int i) {
    return reinterpret_cast<void *>(uintptr_t(4096) * (1 + i));
  }
  static grit_tensor_view_t tensor(int64_t rows, int64_t columns) {
    return {nowhere(9), GRIT_DTYPE_F32, 2, {rows, columns}};
  }
  void **planes() { return isGrade() ? w.u.grade.plane : w.u.foreign.plane; }
  int64_t *bytes() {
    return isGrade() ? w.u.grade.plane_bytes : w.u.foreign.plane_bytes;
  }
  int64_t *shape() { return isGrade() ? w.u.grade.shape : w.u.foreign.shape; }
  bool isGrade() const { return w.tag == GRIT_ARRAY_GRADE; }

  /// The call is refused, and told once, with the place of the function.
  void expectRefused(grit_status_t status, const char *words) {
    failure = {};
    EXPECT_EQ(matmul(&x, &w, &y), status);
    EXPECT_EQ(failure.status, status);
    EXPECT_EQ(failure.count, 1);
    EXPECT_THAT(failure.message, HasSubstr(words));
    EXPECT_EQ(failure.location, "dir/refusal.mlir:1: in matmul");
  }

  std::unique_ptr<CompiledModule> module;
  Matmul matmul = nullptr;
  grit_tensor_view_t x = {}, y = {};
  grit_array_view_t w = {};
  Failure failure;
};
} // namespace

TEST_P(Refusal, NullViews) {
  EXPECT_NE(matmul(nullptr, &w, &y), GRIT_OK);
  EXPECT_NE(matmul(&x, nullptr, &y), GRIT_OK);
  EXPECT_NE(matmul(&x, &w, nullptr), GRIT_OK);
}

TEST_P(Refusal, EveryFlippedBitOfTheIdentity) {
  // The descriptor of a grade, the id of a foreign format; the note of a
  // descriptor (bytes 28 to 31) is anybody's.
  auto *identity = isGrade() ? reinterpret_cast<uint8_t *>(&w.u.grade.d)
                             : reinterpret_cast<uint8_t *>(&w.u.foreign.id);
  size_t size = isGrade() ? sizeof(grit_desc_t) : sizeof(uint64_t);
  for (size_t bit = 0; bit < 8 * size; ++bit) {
    if (isGrade() && bit / 32 == 7)
      continue;
    identity[bit / 8] ^= 1 << bit % 8;
    EXPECT_NE(matmul(&x, &w, &y), GRIT_OK) << "bit " << bit;
    identity[bit / 8] ^= 1 << bit % 8;
  }
}

TEST_P(Refusal, WrongSizesOfPlanes) {
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    for (int64_t change : {-1, 1, 1 << 20}) {
      bytes()[i] += change;
      expectRefused(GRIT_SIZE_MISMATCH, "operand 'w'");
      bytes()[i] -= change;
    }
}

TEST_P(Refusal, PlanesWithoutAddress) {
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    if (bytes()[i] == 0)
      continue;
    void *address = std::exchange(planes()[i], nullptr);
    EXPECT_NE(matmul(&x, &w, &y), GRIT_OK) << "plane " << i;
    planes()[i] = address;
  }
}

TEST_P(Refusal, WrongShapes) {
  y = tensor(4, 96);
  expectRefused(GRIT_SIZE_MISMATCH, "extent 0 of 'y' must equal extent 0 of "
                                    "'x'");
  y = tensor(3, 95);
  expectRefused(GRIT_SIZE_MISMATCH, "operand 'y' has extent 1 of 95");
  y = tensor(3, 96);
  x = tensor(3, 256);
  expectRefused(GRIT_SIZE_MISMATCH, "must equal extent 1 of 'x'");
  x = tensor(-3, 512);
  expectRefused(GRIT_SIZE_MISMATCH, "operand 'x' has a shape that no memory");
  x = tensor(int64_t(1) << 60, 512);
  expectRefused(GRIT_SIZE_MISMATCH, "operand 'x' has a shape that no memory");
}

TEST_P(Refusal, WrongTensors) {
  x.dtype = GRIT_DTYPE_F16;
  expectRefused(GRIT_SIZE_MISMATCH, "wrong type of numbers");
  x = tensor(3, 512);
  x.rank = 3;
  expectRefused(GRIT_SIZE_MISMATCH, "wrong rank");
  x = tensor(3, 512);
  x.data = nullptr;
  expectRefused(GRIT_SIZE_MISMATCH, "has no memory");
  x.data = static_cast<char *>(nowhere(9)) + 2;
  expectRefused(GRIT_PLACEMENT_UNKNOWN, "is not aligned");
}

TEST_P(Refusal, AnotherContractOrPlacement) {
  const char *other = GetParam() == "nvf4" ? "mxfp4" : "nvf4";
  grit_array_view_t right = w;
  int64_t shape[] = {96, 512};
  ASSERT_EQ(grit_view_init(other, 2, shape, -1, &w, nullptr), GRIT_OK);
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    planes()[i] = nowhere(i);
  expectRefused(GRIT_GRADE_UNKNOWN, "has the wrong contract");
  w = right;
  w.tag ^= 1;
  EXPECT_NE(matmul(&x, &w, &y), GRIT_OK);
}

INSTANTIATE_TEST_SUITE_P(Contracts, Refusal,
                         testing::Values("mxfp4", "nvf4", "gguf.q4_k",
                                         "hurray.nf4"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = c == '.' ? '_' : c;
                           return name;
                         });

//===----------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------===//

static std::string errorsOf(const std::string &source,
                            const CompilerOptions &options = {}) {
  std::string errors;
  EXPECT_EQ(CompiledModule::compile(source, "in.mlir", options, errors),
            nullptr);
  return errors;
}

TEST(CompilerErrors, HaveALocation) {
  EXPECT_THAT(errorsOf("func.func @f(%x: tensor<4x"), HasSubstr("in.mlir:1:"));
  EXPECT_THAT(errorsOf("func.func @f(%a: !grit.array<4x33x#grit.grade<mxfp4>>)"
                       " {\n  return\n}"),
              HasSubstr("33"));
  EXPECT_THAT(errorsOf("func.func @f(%m: memref<4xf32>) { return }"),
              HasSubstr("in.mlir:1:1: error: argument 0 of public function "
                        "'f' has type 'memref<4xf32>'"));
}

TEST(CompilerErrors, NameTheExtentThatNobodyGives) {
  EXPECT_THAT(errorsOf(R"(
    func.func @f(%x: tensor<4xindex>) { return })"),
              HasSubstr("which C cannot pass"));
  EXPECT_THAT(errorsOf(R"(
    func.func @f(%x: tensor<8xi64>) -> tensor<?xi64> {
      %c0 = arith.constant 0 : index
      %v = tensor.extract %x[%c0] : tensor<8xi64>
      %n = arith.index_cast %v : i64 to index
      %e = tensor.empty(%n) : tensor<?xi64>
      return %e : tensor<?xi64>
    })"),
              HasSubstr("extent 0 of result 'result0'"));
}

TEST(CompilerErrors, NameTheOption) {
  std::string source = "func.func @f(%x: tensor<4xf32>) { return }";
  EXPECT_THAT(errorsOf(source, {.cpu = "no-such-cpu"}),
              HasSubstr("no-such-cpu"));
  EXPECT_THAT(errorsOf(source, {.threads = -1}), HasSubstr("threads"));
  EXPECT_THAT(errorsOf(source, {.checkLevel = 3}), HasSubstr("check level"));
}

TEST(CompilerErrors, UnknownFunctionIsNamedWithTheKnown) {
  std::string errors;
  auto module = CompiledModule::compile(
      "func.func @f(%x: tensor<4xf32>) { return }", "in.mlir", {}, errors);
  ASSERT_NE(module, nullptr) << errors;
  EXPECT_EQ(module->lookup("g", errors), nullptr);
  EXPECT_THAT(errors, HasSubstr("no public function 'g'; it has: f"));
}

TEST(CompilerErrors, HeadersNeedNamesOfC) {
  std::string errors;
  auto module = CompiledModule::compile(
      "func.func @while(%x: tensor<4xf32>) { return }", "in.mlir", {}, errors);
  ASSERT_NE(module, nullptr) << errors;
  llvm::SmallVector<char, 0> bytes;
  EXPECT_FALSE(module->emit(Artifact::Header, bytes, errors));
  EXPECT_THAT(errors, HasSubstr("C cannot declare a function 'while'"));
}
