//===- MappedFile.h - a file's bytes, read-only -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_MAPPEDFILE_H
#define GRIT_CONTAINER_MAPPEDFILE_H

#include "grit/Format/Status.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace grit {

/// The bytes of a regular file. They are mapped; where the file system cannot
/// map, they are read. Another process that shortens the file while it is
/// mapped makes reads of the lost part fault: replace files by rename, as the
/// writers here do.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::string &path);
  /// Bytes that are in memory already, under a name for messages.
  static MappedFile ofBytes(std::vector<uint8_t> bytes, std::string name);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    MappedFile(std::move(other)).swap(*this);
    return *this;
  }
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return view; }
  const std::string &path() const { return name; }
  /// Gives the memory of `part` back where it is of the mapping: its pages are
  /// read from the file again when they are needed. Other bytes stay.
  void release(std::span<const uint8_t> part) const;

private:
  void swap(MappedFile &other) noexcept;

  std::string name;
  std::span<const uint8_t> view;
  void *mapping = nullptr;
  std::vector<uint8_t> copy; ///< where nothing is mapped
};

} // namespace grit

#endif // GRIT_CONTAINER_MAPPEDFILE_H
