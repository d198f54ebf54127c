//===- CAPITest.cpp - libGritCompiler.so, loaded at run time -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"
#include "grit-c/compiler.h"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::test;
using testing::HasSubstr;

namespace {
/// The library as a program that does not link it sees it.
class CompilerCAPI : public testing::Test {
protected:
  void SetUp() override {
    handle = dlopen(GRIT_COMPILER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    compiler =
        function<decltype(grit_compiler_create)>("grit_compiler_create")();
  }
  void TearDown() override {
    function<decltype(grit_compiler_destroy)>("grit_compiler_destroy")(
        compiler);
  }
  template <typename Type> Type *function(const char *name) {
    void *address = dlsym(handle, name);
    EXPECT_NE(address, nullptr) << name;
    return reinterpret_cast<Type *>(address);
  }
  grit_module_t *compile(const std::string &source) {
    return function<decltype(grit_compiler_compile)>("grit_compiler_compile")(
        compiler, source.data(), source.size(), "in.mlir", nullptr);
  }
  std::string lastError() {
    return function<decltype(grit_compiler_last_error)>(
        "grit_compiler_last_error")(compiler);
  }
  std::string emit(grit_module_t *module, grit_artifact_t artifact) {
    const char *data = nullptr;
    size_t size = 0;
    int status = function<decltype(grit_module_emit)>("grit_module_emit")(
        module, artifact, &data, &size);
    EXPECT_EQ(status, 0) << lastError();
    return status == 0 ? std::string(data, size) : std::string();
  }

  void *handle = nullptr;
  grit_compiler_t *compiler = nullptr;
};
} // namespace

// Modules use the names that libgrit.so was told.
TEST_F(CompilerCAPI, KnowsRegisteredContracts) {
  std::string module = "func.func @f(%a: !grit.array<8x#grit.format<"
                       "compiler.mine>>, %y: tensor<8xf32>) -> tensor<8xf32> {"
                       "  return %y : tensor<8xf32>\n}";
  EXPECT_EQ(compile(module), nullptr);
  EXPECT_THAT(lastError(), HasSubstr("compiler.mine"));
  auto tell = function<decltype(grit_register_format)>("grit_register_format");
  const char *text = "gritfmt1(name=compiler.mine,planes=[a=8/2@0],"
                     "codes=a:4@0+i*4,level=s4,scales=[],axis=2)";
  ASSERT_EQ(tell(text, nullptr, nullptr), GRIT_OK);
  grit_module_t *compiled = compile(module);
  ASSERT_NE(compiled, nullptr) << lastError();
  function<decltype(grit_module_destroy)>("grit_module_destroy")(compiled);
}

TEST_F(CompilerCAPI, CompilesEmitsAndRuns) {
  Contract contract = *Contract::parse("gguf.q8_0");
  grit_module_t *module = compile(decodeSource(contract, {-1, 64}));
  ASSERT_NE(module, nullptr) << lastError();
  EXPECT_THAT(emit(module, GRIT_ARTIFACT_MLIR), HasSubstr("llvm.func @decode"));
  EXPECT_THAT(emit(module, GRIT_ARTIFACT_LLVM),
              HasSubstr("define i32 @decode"));
  EXPECT_THAT(emit(module, GRIT_ARTIFACT_ASSEMBLY), HasSubstr("decode:"));
  EXPECT_TRUE(emit(module, GRIT_ARTIFACT_OBJECT)
                  .starts_with("\x7f"
                               "ELF"));
  EXPECT_THAT(emit(module, GRIT_ARTIFACT_HEADER),
              HasSubstr("grit_status_t decode(\n    const grit_array_view_t "
                        "*a,\n    grit_tensor_view_t *y);"));
  EXPECT_THAT(emit(module, GRIT_ARTIFACT_SIGNATURES),
              HasSubstr("\"contract\": \"gguf.q8_0\""));

  auto packed = function<decltype(grit_module_lookup_packed)>(
      "grit_module_lookup_packed")(module, "decode");
  ASSERT_NE(packed, nullptr) << lastError();
  std::mt19937 random(1);
  Array array(contract, {3, 64});
  array.quantize(random);
  Tensor y({3, 64});
  void *operands[] = {&array.view, &y.view};
  ASSERT_EQ(packed(operands), GRIT_OK);
  EXPECT_EQ(y.values, array.values());
  EXPECT_EQ(function<decltype(grit_module_lookup)>("grit_module_lookup")(
                module, "other"),
            nullptr);
  EXPECT_THAT(lastError(), HasSubstr("no public function 'other'"));
  function<decltype(grit_module_destroy)>("grit_module_destroy")(module);
}

TEST_F(CompilerCAPI, ErrorsHaveLocations) {
  EXPECT_EQ(compile("module {\n  func.func @f( }"), nullptr);
  EXPECT_THAT(lastError(), HasSubstr("in.mlir:2:"));
  const std::string bytecode("ML\xefR\x0d\x01garbage", 13);
  EXPECT_EQ(compile(bytecode), nullptr);
  EXPECT_THAT(lastError(), HasSubstr("error"));
}
