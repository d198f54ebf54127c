//===- FromThreads.h - registering from several threads -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_FORMAT_FROMTHREADS_H
#define GRIT_UNITTESTS_FORMAT_FROMTHREADS_H

#include "grit/Format/Contract.h"
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace grit::test {

/// Four threads register the contracts 0 to count - 1, each in an order of its
/// own, and look each up at once by name and id. `nameOf` is the name of a
/// contract, `add` registers it.
inline void registerFromThreads(
    int count, const std::function<std::string(int)> &nameOf,
    const std::function<Expected<Contract>(const std::string &, int)> &add) {
  constexpr int kThreads = 4, kApart = 17;
  std::vector<std::thread> threads;
  std::array<int, kThreads> found{};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < count; ++i) {
        int number = (i + t * kApart) % count;
        std::string name = nameOf(number);
        Expected<Contract> made = add(name, number);
        Expected<Contract> read = Contract::parse(name);
        if (made && read && *made == *read &&
            Contract::lookupId(made->id()) == *made)
          ++found[t];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int own : found)
    EXPECT_EQ(own, count);
}

} // namespace grit::test

#endif // GRIT_UNITTESTS_FORMAT_FROMTHREADS_H
