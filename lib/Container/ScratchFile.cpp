//===- ScratchFile.cpp - bytes that are made while a file is read ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/ScratchFile.h"
#include "WriteBytes.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace grit;

static tl::unexpected<Error> failed(const std::string &directory,
                                    const char *what) {
  const char *reason = std::strerror(errno);
  return makeError(Status::SizeMismatch,
                   std::string("cannot ") + what + " a temporary file in '" +
                       directory + "': " + reason,
                   "temporary file", "a directory with space for a copy",
                   reason, "the disk is full, or cannot be written",
                   "set TMPDIR to a directory on another disk");
}

static std::string scratchDirectory() {
  const char *chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

Expected<ScratchFile> ScratchFile::create(uint64_t size) {
  ScratchFile file;
  if (size <= kInMemory) {
    file.memory.resize(size);
    file.view = file.memory;
    return file;
  }
  const std::string directory = scratchDirectory();
  std::string name = directory + "/grit-XXXXXX";
  file.descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (file.descriptor < 0)
    return failed(directory, "create");
  ::unlink(name.c_str());
  if (::ftruncate(file.descriptor, static_cast<off_t>(size)))
    return failed(directory, "resize");
  void *address =
      ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (address == MAP_FAILED)
    return failed(directory, "map");
  file.view = {static_cast<const uint8_t *>(address), size};
  return file;
}

ScratchFile::~ScratchFile() {
  if (descriptor < 0)
    return;
  if (!view.empty())
    ::munmap(const_cast<uint8_t *>(view.data()), view.size());
  ::close(descriptor);
}

void ScratchFile::swap(ScratchFile &other) noexcept {
  std::swap(view, other.view);
  std::swap(memory, other.memory);
  std::swap(descriptor, other.descriptor);
}

Expected<void> ScratchFile::writeAt(uint64_t offset,
                                    std::span<const uint8_t> bytes) {
  assert(offset <= view.size() && bytes.size() <= view.size() - offset);
  if (descriptor < 0) {
    std::ranges::copy(bytes, memory.begin() + static_cast<ptrdiff_t>(offset));
    return {};
  }
  if (!writeBytesAt(descriptor, offset, bytes))
    return failed(scratchDirectory(), "write");
  return {};
}
