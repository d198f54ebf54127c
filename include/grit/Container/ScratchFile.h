//===- ScratchFile.h - bytes that are made while a file is read -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_SCRATCHFILE_H
#define GRIT_CONTAINER_SCRATCHFILE_H

#include "grit/Format/Status.h"
#include <cstdint>
#include <span>
#include <vector>

namespace grit {

/// Bytes that no input holds as they are: few in memory, more in a mapped file
/// without a name, in the directory that TMPDIR names or in /var/tmp. They read
/// as zero until they are written.
class ScratchFile {
public:
  static constexpr uint64_t kInMemory = uint64_t(16) << 20;

  static Expected<ScratchFile> create(uint64_t size);

  ScratchFile() = default;
  ScratchFile(ScratchFile &&other) noexcept { swap(other); }
  ScratchFile &operator=(ScratchFile &&other) noexcept {
    ScratchFile(std::move(other)).swap(*this);
    return *this;
  }
  ~ScratchFile();

  Expected<void> writeAt(uint64_t offset, std::span<const uint8_t> bytes);
  std::span<const uint8_t> bytes() const { return view; }

private:
  void swap(ScratchFile &other) noexcept;

  std::span<const uint8_t> view;
  std::vector<uint8_t> memory;
  int descriptor = -1; ///< of the mapped file
};

} // namespace grit

#endif // GRIT_CONTAINER_SCRATCHFILE_H
