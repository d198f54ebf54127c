//===- Scheduler.cpp - the threads of a block, on one CPU thread -===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include <algorithm>
#include <numeric>

using namespace grit::emulator;

/// Kernels keep what they have in registers; their frames are small.
static constexpr size_t kStackBytes = 256 * 1024;

static Scheduler *active = nullptr;

Scheduler &Scheduler::current() { return *active; }

Scheduler::Scheduler(Dim3 grid, Dim3 block, uint64_t seed)
    : gridDim(grid), blockDim(block), random(seed), isPermuted(seed != 0),
      fibers(block.size()) {}

Dim3 Scheduler::threadIndex() const {
  return {running % blockDim.x, running / blockDim.x % blockDim.y,
          running / (blockDim.x * blockDim.y)};
}

static std::string text(Dim3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

std::string Scheduler::where() const {
  return "block " + text(blockIdx) + ", thread " + text(threadIndex());
}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

void Scheduler::enter() {
  (*active->kernel)();
  Fiber &self = active->fibers[active->running];
  self.state = State::Done;
  ++active->done;
  swapcontext(&self.context, &active->main);
}

void Scheduler::prepare() {
  for (Fiber &fiber : fibers) {
    if (!fiber.stack)
      fiber.stack = std::make_unique<char[]>(kStackBytes);
    fiber.state = State::Ready;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
  }
  waiting = done = 0;
  failure.clear();
}

/// Runs a thread until it stops; false when it could not run.
bool Scheduler::resume(unsigned thread) {
  if (fibers[thread].state != State::Ready || !failure.empty())
    return false;
  running = thread;
  swapcontext(&main, &fibers[thread].context);
  return true;
}

void Scheduler::blockBarrier() {
  if (++waiting == fibers.size()) {
    waiting = 0;
    for (Fiber &fiber : fibers)
      fiber.state = State::Ready;
    return;
  }
  Fiber &self = fibers[running];
  self.state = State::Waiting;
  swapcontext(&self.context, &main);
}

void Scheduler::fail(const std::string &message) {
  failure = where() + ": " + message;
  swapcontext(&fibers[running].context, &main);
  std::abort(); // a failed block is never resumed
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The threads of the block, warp by warp, in the order of this schedule.
std::vector<std::vector<unsigned>> Scheduler::orderedWarps() {
  std::vector<std::vector<unsigned>> warps((fibers.size() + kWarp - 1) / kWarp);
  for (unsigned thread = 0; thread < fibers.size(); ++thread)
    warps[thread / kWarp].push_back(thread);
  if (isPermuted) {
    for (std::vector<unsigned> &warp : warps)
      std::shuffle(warp.begin(), warp.end(), random);
    std::shuffle(warps.begin(), warps.end(), random);
  }
  return warps;
}

/// Runs a warp until nothing in it moves; false when nothing did.
bool Scheduler::runWarp(const std::vector<unsigned> &threads) {
  bool moved = false;
  for (bool again = true; again;) {
    again = false;
    for (unsigned thread : threads)
      again |= resume(thread);
    moved |= again;
  }
  return moved;
}

std::string Scheduler::describeDeadlock() const {
  return "block " + text(blockIdx) + ": deadlock: " + std::to_string(waiting) +
         " threads wait at a barrier that " + std::to_string(done) +
         " others never reach";
}

std::string Scheduler::runBlock(Dim3 blockIndex,
                                const std::function<void()> &body) {
  active = this;
  blockIdx = blockIndex;
  kernel = &body;
  prepare();
  std::vector<std::vector<unsigned>> warps = orderedWarps();
  while (done < fibers.size()) {
    bool moved = false;
    for (const std::vector<unsigned> &warp : warps)
      moved |= runWarp(warp);
    if (!failure.empty())
      return failure;
    if (!moved)
      return describeDeadlock();
  }
  return {};
}
