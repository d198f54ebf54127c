//===- AtomicFile.h - a file that appears whole -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_ATOMICFILE_H
#define GRIT_CONTAINER_ATOMICFILE_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <span>
#include <string>

namespace grit {

/// Writes to a temporary file beside the target. `commit` syncs it and renames
/// it over the target; without a commit the destructor removes it, so that a
/// reader sees the old file or the whole new one.
class AtomicFile {
public:
  static Expected<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept { swap(other); }
  AtomicFile &operator=(AtomicFile &&other) noexcept {
    AtomicFile(std::move(other)).swap(*this);
    return *this;
  }
  ~AtomicFile();

  /// Stores `bytes` at `offset`; whatever lies between two writes reads as
  /// zero.
  Expected<void> writeAt(uint64_t offset, std::span<const uint8_t> bytes);
  /// Sets the length, syncs, and renames the file into place.
  Expected<void> commit(uint64_t size);
  const std::string &path() const { return target; }

  /// Removes the temporary files of this process. Async-signal-safe: a handler
  /// of SIGINT or SIGTERM may call it.
  static void removeAll() noexcept;

private:
  AtomicFile() = default;
  void swap(AtomicFile &other) noexcept;
  Expected<void> fail(const char *what) const;

  std::string target;
  char *temporary = nullptr; ///< owned; a slot that signal handlers read
  int descriptor = -1;
};

} // namespace grit

#endif // GRIT_CONTAINER_ATOMICFILE_H
