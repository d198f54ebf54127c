//===- CheckAllocationTest.cpp - a check that passes allocates nothing -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program of its own, because it replaces operator new.
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "grit/Format/Check.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

static size_t numAllocations = 0;

static void *allocate(size_t size) {
  ++numAllocations;
  return std::malloc(size ? size : 1);
}

void *operator new(size_t size) {
  if (void *memory = allocate(size))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return allocate(size);
}
void *operator new[](size_t size) { return operator new(size); }
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return allocate(size);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

// (C3)
TEST(Check, SuccessAtLevel1AllocatesNothing) {
  for (const grit::golden::Vector &v : grit::golden::file().vectors) {
    grit::CheckInput input{v.descriptor, v.shape, v.planeBytes, {}, {}};
    ASSERT_FALSE(grit::check(input, 1)); // fills the registry
    size_t before = numAllocations;
    bool passed = !grit::check(input, 1);
    size_t after = numAllocations;
    EXPECT_TRUE(passed);
    EXPECT_EQ(before, after) << v.name;
  }
}
