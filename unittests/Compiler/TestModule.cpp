//===- TestModule.cpp - modules, arrays and tensors for tests -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace grit;
using namespace grit::test;

int64_t grit::test::product(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string grit::test::attributeOf(const Contract &contract) {
  std::string name = contract.name();
  if (!contract.isRegistered())
    name = '"' + name + '"';
  return (contract.isGrade() ? "#grit.grade<" : "#grit.format<") + name + ">";
}

static std::string extents(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text;
}

std::string grit::test::arrayType(const Contract &contract,
                                  std::vector<int64_t> shape) {
  return "!grit.array<" + extents(shape) + attributeOf(contract) + ">";
}

std::string grit::test::tensorType(const char *element,
                                   std::vector<int64_t> shape) {
  return "tensor<" + extents(shape) + element + ">";
}

std::string grit::test::decodeSource(const Contract &contract,
                                     std::vector<int64_t> shape,
                                     const char *element) {
  std::string a = arrayType(contract, shape), y = tensorType(element, shape);
  return "func.func @decode(%a: " + a + ", %y: " + y + ") -> " + y +
         " {\n  %r = grit.decode ins(%a : " + a + ") outs(%y : " + y + ") -> " +
         y + "\n  return %r : " + y + "\n}\n";
}

std::string grit::test::matmulSource(const Contract &contract, int64_t m,
                                     int64_t n, int64_t k) {
  std::string x = tensorType("f32", {m, k}), w = arrayType(contract, {n, k}),
              y = tensorType("f32", {m, n});
  return "func.func @matmul(%x: " + x + ", %w: " + w + ", %y: " + y + ") -> " +
         y + " {\n  %r = grit.matmul ins(%x, %w : " + x + ", " + w +
         ") outs(%y : " + y + ") -> " + y + "\n  return %r : " + y + "\n}\n";
}

Array::Array(const Contract &contract, std::vector<int64_t> shape)
    : contract(contract), shape(std::move(shape)) {
  grit_detail_t detail;
  EXPECT_EQ(grit_view_init(contract.name().c_str(),
                           static_cast<int32_t>(this->shape.size()),
                           this->shape.data(), -1, &view, &detail),
            GRIT_OK)
      << detail.message;
  const int64_t *bytes = view.tag == GRIT_ARRAY_GRADE
                             ? view.u.grade.plane_bytes
                             : view.u.foreign.plane_bytes;
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    memory.emplace_back(static_cast<size_t>(bytes[i]));
    planes()[i] = memory[i].empty() ? nullptr : memory[i].data();
  }
}

void **Array::planes() {
  return view.tag == GRIT_ARRAY_GRADE ? view.u.grade.plane
                                      : view.u.foreign.plane;
}

void Array::quantize(std::mt19937 &random) {
  std::normal_distribution<float> normal;
  std::vector<float> input(static_cast<size_t>(product(shape)));
  for (float &value : input)
    value = normal(random);
  grit_detail_t detail;
  EXPECT_EQ(grit_quantize(input.data(), product(shape), &view, &detail),
            GRIT_OK)
      << detail.message;
}

void Array::scramble(std::mt19937 &random) {
  for (auto &plane : memory)
    std::generate(plane.begin(), plane.end(),
                  [&] { return static_cast<uint8_t>(random()); });
}

std::vector<float> Array::values() const {
  std::vector<float> result(static_cast<size_t>(product(shape)));
  grit_detail_t detail;
  EXPECT_EQ(grit_dequantize(&view, result.data(), product(shape), &detail),
            GRIT_OK)
      << detail.message;
  return result;
}

Tensor::Tensor(std::vector<int64_t> shape)
    : values(static_cast<size_t>(product(shape))) {
  view.data = values.data();
  view.dtype = GRIT_DTYPE_F32;
  view.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
}

void Tensor::fill(std::mt19937 &random) {
  std::normal_distribution<float> normal;
  for (float &value : values)
    value = normal(random);
}
