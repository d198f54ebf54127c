//===- Models.cpp - what device instructions do -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Scheduler.h"
#include <bit>

using namespace grit::emulator;

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

static Scheduler &device() { return Scheduler::current(); }

template <uint32_t Dim3::*Part> static int32_t threadIndex() {
  return device().threadIndex().*Part;
}
template <uint32_t Dim3::*Part> static int32_t blockIndex() {
  return device().blockIndex().*Part;
}
template <uint32_t Dim3::*Part> static int32_t blockSize() {
  return device().block().*Part;
}
template <uint32_t Dim3::*Part> static int32_t gridSize() {
  return device().grid().*Part;
}
static int32_t laneIndex() { return device().lane(); }
static void blockBarrier(int32_t barrier) {
  if (barrier != 0)
    device().fail("only barrier 0 is modelled");
  device().blockBarrier();
}

template <typename Function> static void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

#define GRIT_SPECIAL_REGISTER(NAME, FUNCTION)                                  \
  {"llvm.nvvm.read.ptx.sreg." NAME ".x", "i32 ()",                             \
   address(FUNCTION<&Dim3::x>)},                                               \
      {"llvm.nvvm.read.ptx.sreg." NAME ".y", "i32 ()",                         \
       address(FUNCTION<&Dim3::y>)},                                           \
  {                                                                            \
    "llvm.nvvm.read.ptx.sreg." NAME ".z", "i32 ()",                            \
        address(FUNCTION<&Dim3::z>)                                            \
  }

std::span<const Model> grit::emulator::models() {
  static const Model table[] = {
      GRIT_SPECIAL_REGISTER("tid", threadIndex),
      GRIT_SPECIAL_REGISTER("ctaid", blockIndex),
      GRIT_SPECIAL_REGISTER("ntid", blockSize),
      GRIT_SPECIAL_REGISTER("nctaid", gridSize),
      {"llvm.nvvm.read.ptx.sreg.laneid", "i32 ()", address(laneIndex)},
      {"llvm.nvvm.barrier.cta.sync.aligned.all", "void (i32)",
       address(blockBarrier)},
  };
  return table;
}

//===----------------------------------------------------------------------===//
// Host helpers
//===----------------------------------------------------------------------===//

/// binary32 to bfloat16, nearest even. A bfloat16 travels in the low half of a
/// vector register, where the float with these bits has it too.
static float truncateToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  if (value != value)
    rounded = bits >> 16 | 0x40; // stay a NaN, a quiet one
  return std::bit_cast<float>(rounded);
}

std::span<const Helper> grit::emulator::hostHelpers() {
  static const Helper table[] = {{"__truncsfbf2", address(truncateToBFloat)}};
  return table;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::vector<Region> &grit::emulator::accessibleRegions() {
  static std::vector<Region> regions;
  return regions;
}

void grit::emulator::checkAccess(const void *pointer, uint64_t bytes,
                                 uint64_t alignment, bool isWrite) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto access = [&] {
    return (isWrite ? "write of " : "read of ") + std::to_string(bytes) +
           " bytes";
  };
  const Region *nearest = nullptr;
  for (const Region &region : accessibleRegions()) {
    if (address < region.begin)
      continue;
    if (address - region.begin + bytes <= region.bytes) {
      if (address % alignment != 0)
        device().fail("misaligned " + access() + ", said to be aligned to " +
                      std::to_string(alignment) + ", at byte " +
                      std::to_string(address - region.begin) + " of " +
                      std::string(region.name));
      return;
    }
    if (!nearest || region.begin > nearest->begin)
      nearest = &region;
  }
  if (!nearest)
    device().fail(access() + " below every buffer");
  device().fail(access() + " at byte " +
                std::to_string(address - nearest->begin) + " of " +
                std::string(nearest->name) + ", which has " +
                std::to_string(nearest->bytes));
}
