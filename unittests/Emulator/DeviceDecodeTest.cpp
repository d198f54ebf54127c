//===- DeviceDecodeTest.cpp - decode on the emulated device -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Covering.h"
#include "DeviceTest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <gmock/gmock.h>

using namespace grit;
using namespace grit::emulator;
using namespace grit::test;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Contracts, DeviceKernels,
                         testing::ValuesIn(rowwiseEncodableNames()),
                         instanceName);

static std::vector<float> decodeOnDevice(const ArraySpec &spec,
                                         const std::vector<Bytes> &planes,
                                         const std::string &element,
                                         uint64_t seed) {
  std::unique_ptr<Program> program = compiled(decodeText(spec, element));
  std::vector<DeviceMemory> memories = upload(spec, planes);
  size_t count = spec.numElements();
  Bytes poison(count * bytesOf(element), 0x5A);
  memories.emplace_back("out", poison.data(), poison.size());
  std::vector<Buffer> arguments = buffersOf(memories);
  EXPECT_EQ(llvm::toString(program->run("f", arguments, seed)), "");
  return loaded(memories.back(), count, element);
}

TEST_P(DeviceKernels, DecodeEveryCodeUnderEveryScale) {
  ArraySpec spec = coveringSpec(contract(GetParam()));
  Random random(1);
  std::vector<Bytes> planes = coveringPlanes(spec, random);
  EXPECT_EQ(countCovered(spec, planes),
            countCombinations(spec.contract.description()));
  expectSameBits(decodeOnDevice(spec, planes, "f32", 0),
                 decodeAll(spec, planes), GetParam());
}

TEST_P(DeviceKernels, DecodeRandomBytes) {
  ArraySpec spec = take(ArraySpec::get(contract(GetParam()), {7, 512}));
  Random random(2);
  std::vector<Bytes> planes = decodablePlanes(spec, random);
  for (uint64_t seed : kSeeds)
    expectSameBits(decodeOnDevice(spec, planes, "f32", seed),
                   decodeAll(spec, planes), GetParam());
}

/// A NaN is only a NaN here: devices round one to a payload of their own.
TEST_P(DeviceKernels, DecodeToNarrowFloats) {
  ArraySpec spec = take(ArraySpec::get(contract(GetParam()), {3, 256}));
  Random random(3);
  std::vector<Bytes> planes = decodablePlanes(spec, random);
  std::vector<float> exact = decodeAll(spec, planes);
  for (const char *element : {"bf16", "f16"}) {
    Bytes rounded = stored(exact, element);
    DeviceMemory memory("expected", rounded.data(), rounded.size());
    expectSameBits(decodeOnDevice(spec, planes, element, 1),
                   loaded(memory, exact.size(), element),
                   GetParam() + " to " + element);
  }
}

TEST(DeviceKernelsOnAxis, DecodeWhereGroupsRunAlongAnotherAxis) {
  unsigned tried = 0;
  Random random(4);
  for (const std::string &name : encodableNames()) {
    auto spec = ArraySpec::get(contract(name), {2, 512, 3}, /*axis=*/1);
    // Contracts that count groups along the row-major index have no such array.
    if (!spec || spec->verify() ||
        spec->contract.description().scales[0].order == ElementOrder::RowMajor)
      continue;
    ++tried;
    std::vector<Bytes> planes = decodablePlanes(*spec, random);
    expectSameBits(decodeOnDevice(*spec, planes, "f32", 1),
                   decodeAll(*spec, planes), name);
  }
  EXPECT_GE(tried, 1u);
}

/// The first of some shapes that a contract can have: with ragged edges, whole
/// groups, whole groups of groups.
static ArraySpec smallArray(const std::string &name) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{3, 70}, {3, 256}, {64, 256}})
    if (auto spec = ArraySpec::get(contract(name), shape);
        spec && !spec->verify())
      return *spec;
  ADD_FAILURE() << name << " has none of the shapes";
  std::abort();
}

/// Grids, signs, chains of factors, lines and blocks with ragged edges.
class DeviceKernelsDecoded : public testing::TestWithParam<std::string> {};

TEST_P(DeviceKernelsDecoded, DecodeRandomBytes) {
  Random random(6);
  ArraySpec spec = smallArray(GetParam());
  std::vector<Bytes> planes = decodablePlanes(spec, random);
  expectSameBits(decodeOnDevice(spec, planes, "f32", 1),
                 decodeAll(spec, planes), GetParam());
}

static std::vector<std::string> otherNames() {
  std::vector<std::string> names = registeredContractNames();
  std::vector<std::string> encodable = rowwiseEncodableNames();
  std::erase_if(names, [&](const std::string &name) {
    return llvm::is_contained(encodable, name);
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Contracts, DeviceKernelsDecoded,
                         testing::ValuesIn(otherNames()), instanceName);

/// Codes that no run of lanes fits go one by one.
TEST(DeviceKernelsScalar, DecodeGroupsOfOddSize) {
  Random random(5);
  for (const char *text : {"grit1(e=e2m1,k0=7,s0=e8m0,esr=exp2floormaxabs)",
                           "grit1(e=u6,k0=5,s0=binary16,esr=ratiomaxabs)"}) {
    ArraySpec spec = take(ArraySpec::get(contract(text), {3, 35}));
    std::vector<Bytes> planes = decodablePlanes(spec, random);
    expectSameBits(decodeOnDevice(spec, planes, "f32", 1),
                   decodeAll(spec, planes), text);
  }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Makes every kernel skip its check of bounds.
static unsigned removeBoundChecks(Program &program) {
  unsigned removed = 0;
  for (auto function :
       program.deviceModule().getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto branch = mlir::dyn_cast<mlir::LLVM::CondBrOp>(
        function.getBody().front().getTerminator());
    if (!branch)
      continue;
    mlir::OpBuilder b(branch);
    auto always =
        mlir::LLVM::ConstantOp::create(b, branch.getLoc(), b.getBoolAttr(true));
    branch.getConditionMutable().assign(always);
    ++removed;
  }
  return removed;
}

TEST_P(DeviceKernels, MissingBoundCheckIsCaught) {
  if (contract(GetParam()).description().level.vector > 1)
    GTEST_SKIP() << "threads of two elements fill whole blocks";
  ArraySpec spec = take(ArraySpec::get(contract(GetParam()), {1, 256}));
  Random random(6);
  std::vector<DeviceMemory> memories =
      upload(spec, decodablePlanes(spec, random));
  std::vector<float> out(256);
  memories.emplace_back("out", out.data(), 4 * out.size());
  std::vector<Buffer> arguments = buffersOf(memories);
  std::unique_ptr<Program> program = compiled(decodeText(spec, "f32"));
  ASSERT_EQ(removeBoundChecks(*program), 1u);
  EXPECT_THAT(llvm::toString(program->run("f", arguments)),
              HasSubstr("which has"));
}

/// A plane that is one byte too short, as if every index were one too high; or
/// by a block, whose last bytes decode may not read.
TEST_P(DeviceKernels, AccessBeyondAnyPlaneIsCaught) {
  ArraySpec spec = take(ArraySpec::get(contract(GetParam()), {2, 256}));
  Random random(7);
  std::vector<Bytes> planes = decodablePlanes(spec, random);
  std::unique_ptr<Program> program = compiled(decodeText(spec, "f32"));
  std::vector<float> out(512);
  for (size_t cut = 0; cut <= planes.size(); ++cut) {
    std::vector<DeviceMemory> memories = upload(spec, planes);
    memories.emplace_back("out", out.data(), 4 * out.size());
    std::vector<Buffer> arguments = buffersOf(memories);
    Buffer &shorter = arguments[cut];
    const FormatDescription &format = spec.contract.description();
    bool hasUnread = cut < planes.size() && !format.derived.empty();
    size_t missing = hasUnread ? format.planes[cut].bits / 8 : 1;
    shorter.bytes = shorter.bytes.first(shorter.bytes.size() - missing);
    EXPECT_THAT(llvm::toString(program->run("f", arguments)),
                HasSubstr("of " + shorter.name + ", which has"));
  }
}
