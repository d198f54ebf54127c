//===- DeviceTest.cpp - device kernels in memory, on numbers -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>

using namespace grit;
using namespace grit::emulator;
using namespace grit::test;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::vector<DeviceMemory>
grit::emulator::upload(const ArraySpec &spec,
                       const std::vector<Bytes> &planes) {
  std::vector<DeviceMemory> result;
  for (size_t i = 0; i < planes.size(); ++i)
    result.emplace_back(spec.contract.description().planes[i].name,
                        planes[i].data(), planes[i].size());
  return result;
}

std::vector<Buffer>
grit::emulator::buffersOf(std::vector<DeviceMemory> &memories) {
  std::vector<Buffer> result;
  for (DeviceMemory &memory : memories)
    result.push_back(memory.buffer());
  return result;
}

static std::string extents(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text;
}

static std::string arrayType(const ArraySpec &spec) {
  std::string text = "!grit.array<" + extents(spec.shape);
  text += spec.contract.isGrade() ? "#grit.grade<\"" : "#grit.format<";
  text += spec.contract.isGrade() ? spec.contract.canonical() + "\""
                                  : spec.contract.name();
  text += ">";
  if (spec.axis != int(spec.shape.size()) - 1)
    text += ", axis = " + std::to_string(spec.axis);
  return text + ">";
}

static std::string tensorType(const std::vector<int64_t> &shape,
                              const std::string &element) {
  return "tensor<" + extents(shape) + element + ">";
}

std::string grit::emulator::decodeText(const ArraySpec &spec,
                                       const std::string &element) {
  std::string array = arrayType(spec), out = tensorType(spec.shape, element);
  return "func.func @f(%a: " + array + ", %init: " + out + ") -> " + out +
         " {\n  %r = grit.decode ins(%a : " + array + ") outs(%init : " + out +
         ") -> " + out + "\n  return %r : " + out + "\n}\n";
}

std::string grit::emulator::matmulText(const MatmulCase &test,
                                       const ArraySpec &weight) {
  auto with = [&](int64_t last) {
    std::vector<int64_t> shape = test.rows;
    shape.push_back(last);
    return shape;
  };
  std::string array = arrayType(weight);
  std::string x = tensorType(with(test.k), test.x);
  std::string y = tensorType(with(test.columns), test.y);
  return "func.func @f(%x: " + x + ", %w: " + array + ", %y: " + y + ") -> " +
         y + " {\n  %r = grit.matmul ins(%x, %w : " + x + ", " + array +
         ") outs(%y : " + y + ") " + test.accum + " -> " + y +
         "\n  return %r : " + y + "\n}\n";
}

std::unique_ptr<Program> grit::emulator::compiled(const std::string &text) {
  auto program = Program::compile(text);
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError()) << text;
    std::abort();
  }
  return std::move(*program);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &semantics(const std::string &element) {
  return element == "bf16"  ? llvm::APFloat::BFloat()
         : element == "f16" ? llvm::APFloat::IEEEhalf()
                            : llvm::APFloat::IEEEsingle();
}

size_t grit::emulator::bytesOf(const std::string &element) {
  return element == "f32" ? 4 : 2;
}

Bytes grit::emulator::stored(const std::vector<float> &values,
                             const std::string &element) {
  Bytes result;
  for (float value : values) {
    llvm::APFloat number(value);
    bool lost = false;
    number.convert(semantics(element), llvm::APFloat::rmNearestTiesToEven,
                   &lost);
    uint64_t word = number.bitcastToAPInt().getZExtValue();
    for (size_t i = 0; i < bytesOf(element); ++i)
      result.push_back(word >> 8 * i);
  }
  return result;
}

std::vector<float> grit::emulator::loaded(const DeviceMemory &memory,
                                          size_t count,
                                          const std::string &element) {
  std::vector<float> result;
  const auto *bytes = static_cast<const uint8_t *>(memory.data());
  for (size_t i = 0; i < count; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i * bytesOf(element), bytesOf(element));
    llvm::APFloat number(semantics(element),
                         llvm::APInt(8 * bytesOf(element), word));
    bool lost = false;
    number.convert(llvm::APFloat::IEEEsingle(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    result.push_back(number.convertToFloat());
  }
  return result;
}

std::vector<float> grit::emulator::randomFloats(size_t count, Random &random) {
  std::vector<float> result(count);
  for (float &value : result)
    value = static_cast<float>(static_cast<int64_t>(random.next())) * 0x1p-63f;
  return result;
}

std::string
grit::emulator::instanceName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
