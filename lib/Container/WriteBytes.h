//===- WriteBytes.h - bytes to a place in a file -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_WRITEBYTES_H
#define GRIT_LIB_CONTAINER_WRITEBYTES_H

#include <cerrno>
#include <cstdint>
#include <span>
#include <unistd.h>

namespace grit {

/// Writes all bytes from `offset` of a file on. False, with the reason in
/// errno, when the system takes no more.
inline bool writeBytesAt(int descriptor, uint64_t offset,
                         std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(),
                             static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

} // namespace grit

#endif // GRIT_LIB_CONTAINER_WRITEBYTES_H
