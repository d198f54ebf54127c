//===- EmulatorTest.cpp - what the emulator runs, refuses and catches -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels written by hand, whose behaviour is known, so that a fault in a
// generated kernel cannot hide in one of the emulator.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace grit::emulator;
using testing::HasSubstr;

namespace {
/// A device module given as text.
class Emulator : public testing::Test {
protected:
  Emulator() {
    context.loadDialect<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                        mlir::NVVM::NVVMDialect>();
  }

  llvm::Expected<std::unique_ptr<Device>> load(const std::string &body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "gpu.module @m {\n" + body + "\n}", &context);
    if (!module)
      return llvm::createStringError("the test's text does not parse");
    return Device::load(*module->getOps<mlir::gpu::GPUModuleOp>().begin());
  }
  std::string loadError(const std::string &body) {
    auto device = load(body);
    return device ? "" : llvm::toString(device.takeError());
  }
  /// Runs kernel @k of `body` over `out`.
  std::string run(const std::string &body, Dim3 grid, Dim3 block,
                  std::vector<int32_t> &out, uint64_t seed = 0) {
    auto device = load(body);
    if (!device)
      return llvm::toString(device.takeError());
    Buffer buffer{std::as_writable_bytes(std::span(out)), "out"};
    return llvm::toString((*device)->run({"k", grid, block, {buffer}}, seed));
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

/// out[i] = i for the linear index i of a thread in the grid.
static const char *kIota = R"(
  llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %n = nvvm.read.ptx.sreg.ntid.x : i32
    %m = llvm.mul %b, %n : i32
    %i = llvm.add %m, %t : i32
    %p = llvm.getelementptr %out[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %i, %p : i32, !llvm.ptr
    llvm.return
  })";

TEST_F(Emulator, RunsEveryThreadOfEveryBlock) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int32_t> out(5 * 70, -1);
    EXPECT_EQ(run(kIota, {5}, {70}, out, seed), "");
    for (int i = 0; i < 5 * 70; ++i)
      EXPECT_EQ(out[i], i) << "seed " << seed;
  }
}

TEST_F(Emulator, CatchesWriteBeyondBuffer) {
  std::vector<int32_t> out(5 * 70 - 1, -1);
  EXPECT_THAT(
      run(kIota, {5}, {70}, out),
      HasSubstr("k, block (4, 0, 0), thread (69, 0, 0): write of 4 bytes "
                "at byte 1396 of out, which has 1396"));
}

TEST_F(Emulator, CatchesMisalignment) {
  auto device = load(kIota);
  ASSERT_TRUE(bool(device));
  alignas(16) std::byte bytes[16];
  Buffer odd{std::span(bytes).subspan(1, 12), "out"};
  EXPECT_THAT(llvm::toString((*device)->run({"k", {1}, {2}, {odd}})),
              HasSubstr("misaligned write of 4 bytes"));
}

TEST_F(Emulator, RefusesUnknownKernel) {
  auto device = load(kIota);
  ASSERT_TRUE(bool(device));
  EXPECT_EQ(llvm::toString((*device)->run({"other", {}, {}, {}})),
            "emulator: no kernel 'other'");
}

//===----------------------------------------------------------------------===//
// Shared memory and barriers
//===----------------------------------------------------------------------===//

/// out[i] = 127 - i, by way of shared memory; the barrier is `barrier`.
static std::string reverse(const std::string &barrier) {
  return R"(
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<128 x i32>
  llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %last = llvm.mlir.constant(127 : i32) : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %s = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %w = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %t, %w : i32, !llvm.ptr<3>
    )" + barrier +
         R"(
    %o = llvm.sub %last, %t : i32
    %r = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %r : !llvm.ptr<3> -> i32
    %p = llvm.getelementptr %out[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %v, %p : i32, !llvm.ptr
    llvm.return
  })";
}

static bool isReversed(const std::vector<int32_t> &out) {
  for (int i = 0; i < 128; ++i)
    if (out[i] != 127 - i)
      return false;
  return true;
}

TEST_F(Emulator, BarrierOrdersSharedMemory) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int32_t> out(128);
    EXPECT_EQ(run(reverse("nvvm.barrier"), {2}, {128}, out, seed), "");
    EXPECT_TRUE(isReversed(out)) << "seed " << seed;
  }
}

TEST_F(Emulator, MissingBarrierIsVisible) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int32_t> out(128);
    EXPECT_EQ(run(reverse(""), {2}, {128}, out, seed), "");
    EXPECT_FALSE(isReversed(out)) << "seed " << seed;
  }
}

TEST_F(Emulator, ReportsDeadlock) {
  std::vector<int32_t> out(1);
  EXPECT_THAT(run(R"(
  llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %c = llvm.mlir.constant(30 : i32) : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %some = llvm.icmp "ult" %t, %c : i32
    llvm.cond_br %some, ^wait, ^end
  ^wait:
    nvvm.barrier
    llvm.br ^end
  ^end:
    llvm.return
  })",
                  {1}, {64}, out),
              HasSubstr("deadlock: 30 threads wait at a barrier that 34 others "
                        "never reach"));
}

//===----------------------------------------------------------------------===//
// What has no model
//===----------------------------------------------------------------------===//

TEST_F(Emulator, NamesIntrinsicWithoutModel) {
  EXPECT_EQ(loadError(R"(
  llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.warpid : i32
    llvm.store %t, %out : i32, !llvm.ptr
    llvm.return
  })"),
            "emulator: no model of 'llvm.nvvm.read.ptx.sreg.warpid', which k "
            "uses");
}

TEST_F(Emulator, NamesInlineAssembly) {
  EXPECT_THAT(loadError(R"(
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "membar.gl;", "" : () -> ()
    llvm.return
  })"),
              HasSubstr("no model of inline assembly 'membar.gl;' in k"));
}

TEST_F(Emulator, NamesExternalFunction) {
  EXPECT_EQ(loadError(R"(
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return
  })"),
            "emulator: no model of function '__nv_expf', which k calls");
}

TEST_F(Emulator, NamesAtomics) {
  EXPECT_THAT(loadError(R"(
  llvm.func @k(%p: !llvm.ptr, %x: i32) attributes {gpu.kernel, nvvm.kernel} {
    %y = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, i32
    llvm.return
  })"),
              HasSubstr("no model of 'atomicrmw' on memory in k"));
}
