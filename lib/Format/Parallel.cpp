//===- Parallel.cpp - contiguous ranges on a few threads ------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

using namespace grit;

void grit::parallelFor(int64_t count, int64_t grain,
                       const std::function<void(int64_t, int64_t)> &body) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t workers = std::min<int64_t>(
      grains, std::max(1u, std::thread::hardware_concurrency()));
  const int64_t length = (grains + workers - 1) / workers * grain;

  std::vector<std::thread> threads;
  int64_t begin = length;
  for (; begin < count; begin += length) {
    try {
      threads.emplace_back(body, begin, std::min(begin + length, count));
    } catch (const std::system_error &) {
      break; // No more threads to be had: the caller's does the rest.
    }
  }
  body(0, std::min(length, count));
  if (begin < count)
    body(begin, count);
  for (std::thread &thread : threads)
    thread.join();
}
