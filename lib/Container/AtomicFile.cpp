//===- AtomicFile.cpp - a file that appears whole -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/AtomicFile.h"
#include "WriteBytes.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace grit;

/// The names of temporary files in use. A handler may run between any two
/// instructions, so a name is published whole and freed only after its slot is
/// empty.
static std::atomic<char *> temporaries[16];
static_assert(std::atomic<char *>::is_always_lock_free);

static void publish(char *name) {
  for (std::atomic<char *> &slot : temporaries) {
    char *empty = nullptr;
    if (slot.compare_exchange_strong(empty, name))
      return;
  }
}

static void retract(char *name) {
  for (std::atomic<char *> &slot : temporaries) {
    char *expected = name;
    if (slot.compare_exchange_strong(expected, nullptr))
      return;
  }
}

void AtomicFile::removeAll() noexcept {
  for (std::atomic<char *> &slot : temporaries)
    if (char *name = slot.load())
      ::unlink(name);
}

static Error writeError(const std::string &path, const std::string &what,
                        int code) {
  Error error;
  error.status = Status::SizeMismatch;
  error.message = "cannot " + what + " '" + path + "': " + std::strerror(code);
  error.field = "output file";
  error.found = path;
  if (code == ENOSPC || code == EDQUOT)
    error.fix = "free some space, or write elsewhere";
  else if (code == ENOENT)
    error.fix = "create the directory first";
  return error;
}

/// Where a rename must go: a link keeps pointing at its file.
static std::string resolve(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored))
    return path;
  std::string real = std::filesystem::canonical(path, ignored).string();
  return ignored ? path : real;
}

Expected<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  file.target = resolve(path);
  struct stat info;
  if (::stat(file.target.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return makeError(Status::SizeMismatch,
                     "'" + path + "' exists and is not a regular file",
                     "output file", "a new or a regular file",
                     S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe",
                     "", "name a file");

  size_t slash = file.target.rfind('/');
  size_t base = slash == std::string::npos ? 0 : slash + 1;
  for (unsigned attempt = 0;; ++attempt) {
    std::string name =
        file.target.substr(0, base) + "." + file.target.substr(base) + "." +
        std::to_string(::getpid()) + "." + std::to_string(attempt) + ".tmp";
    // Published before it exists: removing a file that is not there is
    // harmless.
    file.temporary = ::strdup(name.c_str());
    publish(file.temporary);
    do {
      file.descriptor =
          ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file.descriptor < 0 && errno == EINTR);
    if (file.descriptor >= 0)
      return file;
    int code = errno;
    retract(file.temporary);
    std::free(std::exchange(file.temporary, nullptr));
    if (code != EEXIST || attempt == 1000)
      return tl::unexpected(writeError(path, "create", code));
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary)
    return;
  ::unlink(temporary);
  retract(temporary);
  std::free(temporary);
}

void AtomicFile::swap(AtomicFile &other) noexcept {
  std::swap(target, other.target);
  std::swap(temporary, other.temporary);
  std::swap(descriptor, other.descriptor);
}

Expected<void> AtomicFile::fail(const char *what) const {
  return tl::unexpected(writeError(target, what, errno));
}

Expected<void> AtomicFile::writeAt(uint64_t offset,
                                   std::span<const uint8_t> bytes) {
  if (!writeBytesAt(descriptor, offset, bytes))
    return fail("write");
  return {};
}

/// A rename is durable once its directory is. Some file systems cannot sync a
/// directory; the file itself is safe by then.
static void syncDirectory(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string directory =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int descriptor = ::open(directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

Expected<void> AtomicFile::commit(uint64_t size) {
  if (::ftruncate(descriptor, static_cast<off_t>(size)))
    return fail("resize");
  if (::fsync(descriptor))
    return fail("sync");
  int closing = std::exchange(descriptor, -1);
  if (::close(closing) && errno != EINTR)
    return fail("close");
  if (::rename(temporary, target.c_str()))
    return fail("rename the finished file to");
  retract(temporary);
  std::free(std::exchange(temporary, nullptr));
  syncDirectory(target);
  return {};
}
