//===- EveryCodeTest.cpp - every code under every scale, compiled -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The codec in lib/Format, to which these tests compare, is itself compared to
// other people's decoders over the same codes: python/tests/test_decode_oracle.
//
//===----------------------------------------------------------------------===//

#include "Covering.h"
#include "TestModule.h"
#include "grit/Compiler/Compiler.h"
#include "grit/InitAll.h"
#include "grit/KernelGen/KernelGen.h"
#include "grit/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace grit;
using namespace grit::test;

namespace {
class EveryCode : public testing::TestWithParam<std::string> {
protected:
  ArraySpec spec = coveringSpec(contract(GetParam()));
  std::vector<Bytes> planes;

  void SetUp() override {
    Random random(1);
    planes = coveringPlanes(spec, random);
    ASSERT_EQ(countCovered(spec, planes),
              countCombinations(spec.contract.description()));
  }
  std::string source() const { return decodeSource(spec.contract, spec.shape); }
  /// The planes in the memory of `array`.
  void fill(Array &array) const;
  void expectDecodes(const CompilerOptions &options);
  void expectRounds(const CompilerOptions &options, const char *element,
                    const llvm::fltSemantics &semantics, grit_dtype_t dtype);
};
} // namespace

/// Calls @decode with views in order.
static void call(const std::string &source, const CompilerOptions &options,
                 std::vector<void *> operands) {
  std::string errors;
  auto module = CompiledModule::compile(source, "test.mlir", options, errors);
  ASSERT_NE(module, nullptr) << errors << source;
  auto decode = module->lookupPacked("decode", errors);
  ASSERT_NE(decode, nullptr) << errors;
  ASSERT_EQ(decode(operands.data()), GRIT_OK);
}

void EveryCode::fill(Array &array) const {
  size_t next = 0;
  for (auto &memory : array.memory)
    if (!memory.empty())
      std::copy(planes.at(next).begin(), planes.at(next).end(), memory.begin()),
          ++next;
  ASSERT_EQ(next, planes.size());
}

void EveryCode::expectDecodes(const CompilerOptions &options) {
  Array array(spec.contract, spec.shape);
  fill(array);
  Tensor y(spec.shape);
  call(source(), options, {&array.view, &y.view});
  expectSameBits(y.values, decodeAll(spec, planes), GetParam());
}

TEST_P(EveryCode, WithTheFeaturesOfThisProcessor) { expectDecodes({}); }

TEST_P(EveryCode, WithoutAvx512) { expectDecodes({.features = "-avx512f"}); }

TEST_P(EveryCode, WithTheOldestProcessor) { expectDecodes({.cpu = "x86-64"}); }

/// A matrix whose rows no vector divides, as far as the contract allows: parts
/// of blocks at both edges.
static ArraySpec oddSpec(const Contract &contract) {
  const FormatDescription &desc = contract.description();
  int64_t columns = desc.axisMultiple * (desc.axisMultiple == 1 ? 131 : 3);
  int64_t rows = static_cast<int64_t>(llvm::alignTo(
      129, desc.arrayMultiple / std::gcd(desc.arrayMultiple, columns)));
  return take(ArraySpec::get(contract, {rows, columns}));
}

TEST_P(EveryCode, OfOddRowsAndUnknownExtents) {
  ArraySpec odd = oddSpec(spec.contract);
  Random random(2);
  std::vector<Bytes> bytes = decodablePlanes(odd, random);
  std::vector<float> expected = decodeAll(odd, bytes);
  for (const std::vector<int64_t> &shape :
       {odd.shape, std::vector<int64_t>{-1, -1}}) {
    Array array(odd.contract, odd.shape);
    planes = bytes;
    fill(array);
    Tensor y(odd.shape);
    call(decodeSource(odd.contract, shape), {}, {&array.view, &y.view});
    expectSameBits(y.values, expected, GetParam());
  }
}

/// A narrow result is the binary32 value, rounded once to nearest even.
void EveryCode::expectRounds(const CompilerOptions &options,
                             const char *element,
                             const llvm::fltSemantics &semantics,
                             grit_dtype_t dtype) {
  Array array(spec.contract, spec.shape);
  fill(array);
  std::vector<uint16_t> words(spec.numElements());
  Tensor y(spec.shape);
  y.view.data = words.data();
  y.view.dtype = dtype;
  call(decodeSource(spec.contract, spec.shape, element), options,
       {&array.view, &y.view});
  std::vector<float> exact = decodeAll(spec, planes);
  for (size_t i = 0; i < exact.size(); ++i) {
    llvm::APFloat expected(exact[i]),
        found(semantics, llvm::APInt(16, words[i]));
    bool lost = false;
    expected.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    if (expected.isNaN() && found.isNaN())
      continue;
    ASSERT_TRUE(found.bitwiseIsEqual(expected))
        << GetParam() << ": element " << i << ", " << exact[i] << ", as "
        << element << " is " << found.convertToDouble();
  }
}

TEST_P(EveryCode, RoundedToNarrowFloats) {
  for (const CompilerOptions &options :
       {CompilerOptions(), CompilerOptions{.features = "-avx512f"},
        CompilerOptions{.cpu = "x86-64"}}) {
    expectRounds(options, "bf16", llvm::APFloat::BFloat(), GRIT_DTYPE_BF16);
    expectRounds(options, "f16", llvm::APFloat::IEEEhalf(), GRIT_DTYPE_F16);
  }
}

/// The module after grit-to-linalg, as another compiler would get it: nothing
/// but builtin types and upstream dialects.
static std::string toLinalg(const std::string &source) {
  mlir::DialectRegistry registry;
  registerDialectsForPipelines(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  mlir::PassManager passes(&context);
  buildGritToLinalgPipeline(passes);
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE() << source;
    return "";
  }
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

TEST_P(EveryCode, ThroughLinalg) {
  std::string lowered = toLinalg(source());
  EXPECT_EQ(lowered.find("grit"), std::string::npos) << lowered;
  std::vector<grit_tensor_view_t> views;
  for (Bytes &plane : planes)
    views.push_back({.data = plane.data(),
                     .dtype = GRIT_DTYPE_I8,
                     .rank = 1,
                     .shape = {static_cast<int64_t>(plane.size())}});
  std::vector<void *> operands;
  for (grit_tensor_view_t &view : views)
    operands.push_back(&view);
  Tensor y(spec.shape);
  operands.push_back(&y.view);
  call(lowered, {}, operands);
  expectSameBits(y.values, decodeAll(spec, planes), GetParam());
}

/// The registered contracts that kernels are generated for.
static std::vector<std::string> emittedNames() {
  std::vector<std::string> names = registeredContractNames();
  std::erase_if(names, [](const std::string &name) {
    return kernelgen::whyNotEmitted(contract(name).description()).has_value();
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryCode,
                         testing::ValuesIn(emittedNames()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });
