//===- FilesTest.cpp - mapped and atomic files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include "grit/Container/AtomicFile.h"
#include "grit/Container/MappedFile.h"
#include <sys/stat.h>

using namespace grit;
using namespace grit::test;

static void store(const std::string &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

static std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

TEST(MappedFile, ReadsAFile) {
  TemporaryDirectory directory;
  store(directory.file("a"), "hello");
  Expected<MappedFile> file = MappedFile::open(directory.file("a"));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ(std::string(file->bytes().begin(), file->bytes().end()), "hello");
  MappedFile moved = std::move(*file);
  EXPECT_EQ(moved.bytes().size(), 5u);
  EXPECT_EQ(moved.path(), directory.file("a"));
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  TemporaryDirectory directory;
  store(directory.file("empty"), "");
  Expected<MappedFile> file = MappedFile::open(directory.file("empty"));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  TemporaryDirectory directory;
  Expected<MappedFile> missing = MappedFile::open(directory.file("missing"));
  ASSERT_FALSE(missing);
  EXPECT_TRUE(contains(missing.error().message, "No such file"));

  Expected<MappedFile> folder = MappedFile::open(directory.file("."));
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().found, "a directory");

  // Opening a pipe that nobody writes to must not wait.
  ASSERT_EQ(::mkfifo(directory.file("pipe").c_str(), 0600), 0);
  Expected<MappedFile> pipe = MappedFile::open(directory.file("pipe"));
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().found, "a device or pipe");
}

TEST(AtomicFile, AppearsOnCommit) {
  TemporaryDirectory directory;
  std::string path = directory.file("out");
  Expected<AtomicFile> file = AtomicFile::create(path);
  ASSERT_TRUE(file) << file.error().str();
  ASSERT_TRUE(file->writeAt(4, bytesOf("data")));
  ASSERT_TRUE(file->writeAt(0, bytesOf("head")));
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(file->commit(10));
  Bytes bytes = readFile(path);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
            std::string("headdata\0\0", 10));
  EXPECT_EQ(directory.numEntries(), 1u);
}

TEST(AtomicFile, LeavesTheOldFileWithoutCommit) {
  TemporaryDirectory directory;
  std::string path = directory.file("out");
  store(path, "old");
  {
    Expected<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->writeAt(0, bytesOf("new")));
    EXPECT_EQ(directory.numEntries(), 2u);
  }
  Bytes bytes = readFile(path);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "old");
  EXPECT_EQ(directory.numEntries(), 1u);
}

TEST(AtomicFile, RemoveAllDropsTemporaries) {
  TemporaryDirectory directory;
  Expected<AtomicFile> file = AtomicFile::create(directory.file("out"));
  ASSERT_TRUE(file);
  AtomicFile moved = std::move(*file);
  EXPECT_EQ(directory.numEntries(), 1u);
  AtomicFile::removeAll();
  EXPECT_EQ(directory.numEntries(), 0u);
}

TEST(AtomicFile, WritesThroughALink) {
  TemporaryDirectory directory;
  store(directory.file("real"), "old");
  std::filesystem::create_symlink("real", directory.file("link"));
  Expected<AtomicFile> file = AtomicFile::create(directory.file("link"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->writeAt(0, bytesOf("new")));
  ASSERT_TRUE(file->commit(3));
  EXPECT_TRUE(std::filesystem::is_symlink(directory.file("link")));
  Bytes bytes = readFile(directory.file("real"));
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "new");
}

TEST(AtomicFile, RefusesABadTarget) {
  TemporaryDirectory directory;
  EXPECT_FALSE(AtomicFile::create(directory.file(".")));
  EXPECT_FALSE(AtomicFile::create("/dev/null"));
  Expected<AtomicFile> file = AtomicFile::create(directory.file("no/such/dir"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().fix, "create the directory first");
}
