//===- Scheduler.h - the threads of a block, on one CPU thread -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every device thread is a fiber. A fiber runs until it ends, fails or waits
// for others, so a schedule is an order of fibers. The schedules are hostile on
// purpose: a warp runs as far as it can before the next one starts, in an order
// that a seed permutes, so that a missing barrier shows up as a wrong result.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_UNITTESTS_EMULATOR_SCHEDULER_H
#define GRIT_UNITTESTS_EMULATOR_SCHEDULER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

namespace grit::emulator {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t size() const { return uint64_t(x) * y * z; }
};

/// Threads of a warp.
inline constexpr unsigned kWarp = 32;

class Scheduler {
public:
  Scheduler(Dim3 grid, Dim3 block, uint64_t seed);

  /// Runs `kernel` once for each thread of a block. Returns "" or what went
  /// wrong.
  std::string runBlock(Dim3 blockIndex, const std::function<void()> &kernel);

  //===--- What models ask and do, from inside a fiber
  //---------------------===//

  /// The scheduler whose fiber is running.
  static Scheduler &current();
  Dim3 grid() const { return gridDim; }
  Dim3 block() const { return blockDim; }
  Dim3 blockIndex() const { return blockIdx; }
  Dim3 threadIndex() const;
  unsigned lane() const { return running % kWarp; }
  /// Waits until all threads of the block have arrived.
  void blockBarrier();
  /// Stops the block with a message. Does not return.
  [[noreturn]] void fail(const std::string &message);
  /// The thread that is running, for messages.
  std::string where() const;

private:
  enum class State : uint8_t { Ready, Waiting, Done };
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state = State::Ready;
  };

  static void enter();
  void prepare();
  bool resume(unsigned thread);
  bool runWarp(const std::vector<unsigned> &threads);
  std::vector<std::vector<unsigned>> orderedWarps();
  std::string describeDeadlock() const;

  Dim3 gridDim, blockDim, blockIdx;
  std::mt19937_64 random;
  bool isPermuted;
  std::vector<Fiber> fibers;
  const std::function<void()> *kernel = nullptr;
  ucontext_t main;
  unsigned running = 0, waiting = 0, done = 0;
  std::string failure;
};

} // namespace grit::emulator

#endif // GRIT_UNITTESTS_EMULATOR_SCHEDULER_H
