//===- MappedFile.cpp - a file's bytes, read-only -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/MappedFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace grit;

static Error systemError(const std::string &path, const char *what, int code) {
  Error error;
  error.status = Status::SizeMismatch;
  error.message =
      std::string("cannot ") + what + " '" + path + "': " + std::strerror(code);
  error.field = "file";
  error.declared = "a file that can be read";
  error.found = std::strerror(code);
  if (code == ENOENT || code == ENOTDIR) {
    error.cause = "the path is misspelt, or relative to another directory";
    error.fix = "check the path";
  } else if (code == EACCES) {
    error.cause = "the file belongs to another user";
    error.fix = "make the file readable";
  }
  return error;
}

/// Reads a whole file that cannot be mapped.
static int readAll(int descriptor, std::vector<uint8_t> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::pread(descriptor, bytes.data() + done,
                            bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    if (count == 0)
      break; // The file became shorter; what is left is what there is.
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return 0;
}

Expected<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor;
  do {
    // A FIFO would block without O_NONBLOCK, before it can be refused.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0)
    return tl::unexpected(systemError(path, "open", errno));

  struct stat info;
  int failure = ::fstat(descriptor, &info) ? errno : 0;
  MappedFile file;
  file.name = path;
  if (!failure && !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    bool isDirectory = S_ISDIR(info.st_mode);
    return makeError(
        Status::SizeMismatch, "'" + path + "' is not a regular file", "file",
        "a regular file", isDirectory ? "a directory" : "a device or pipe",
        isDirectory ? "the directory of a checkpoint was named"
                    : "only files that can be read at any place will do",
        isDirectory ? "name one of its files; inspect, dequantize, import, "
                      "convert --to and scan take directories"
                    : "copy it to a file first");
  }
  if (!failure && info.st_size > 0) {
    size_t size = static_cast<size_t>(info.st_size);
    void *address =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address != MAP_FAILED) {
      file.mapping = address;
      file.view = {static_cast<const uint8_t *>(address), size};
    } else {
      file.copy.resize(size);
      failure = readAll(descriptor, file.copy);
      file.view = file.copy;
    }
  }
  ::close(descriptor);
  if (failure)
    return tl::unexpected(systemError(path, "read", failure));
  return file;
}

MappedFile MappedFile::ofBytes(std::vector<uint8_t> bytes, std::string name) {
  MappedFile file;
  file.name = std::move(name);
  file.copy = std::move(bytes);
  file.view = file.copy;
  return file;
}

void MappedFile::release(std::span<const uint8_t> part) const {
  if (!mapping || part.empty() || part.data() < view.data() ||
      part.data() + part.size() > view.data() + view.size())
    return;
  // The page where the part ends goes with what follows it.
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = static_cast<size_t>(part.data() - view.data());
  const size_t begin = first / page * page;
  const size_t end = first + part.size() == view.size()
                         ? view.size()
                         : (first + part.size()) / page * page;
  if (begin < end)
    ::madvise(static_cast<uint8_t *>(mapping) + begin, end - begin,
              MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (mapping)
    ::munmap(mapping, view.size());
}

void MappedFile::swap(MappedFile &other) noexcept {
  std::swap(name, other.name);
  std::swap(view, other.view);
  std::swap(mapping, other.mapping);
  std::swap(copy, other.copy);
}
