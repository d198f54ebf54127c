//===- Discover.cpp - from paths to files -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include <algorithm>
#include <filesystem>

using namespace grit;
using namespace grit::scan;
namespace fs = std::filesystem;

namespace {
class Discovery {
public:
  Discovery(Collector &collector, Report &report)
      : collector(collector), report(report) {}

  void visit(const std::string &path);
  Inputs take() { return std::move(inputs); }

private:
  void visitDirectory(const std::string &path);
  void visitFile(const std::string &path);
  void visitManifest(const MappedFile &file);
  void unreadable(const std::string &path, const Error &error);
  /// False when the path was met before, under any spelling.
  bool isNew(const std::string &path);

  Collector &collector;
  Report &report;
  Inputs inputs;
  std::set<std::string> met;
};
} // namespace

static bool isTensorFile(const std::string &name) {
  return name.ends_with(".safetensors") || name.ends_with(".gguf");
}
static bool isIndexFile(const std::string &name) {
  return name.ends_with(".index.json");
}

void Discovery::unreadable(const std::string &path, const Error &error) {
  report.files.push_back({path, "", 0});
  collector.add(Id::Unreadable, path, "", error.message, error.declared,
                error.found, error.cause, error.fix);
}

bool Discovery::isNew(const std::string &path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return met.insert(error ? path : real.string()).second;
}

void Discovery::visitManifest(const MappedFile &file) {
  std::string_view text(reinterpret_cast<const char *>(file.bytes().data()),
                        file.bytes().size());
  std::string error = "it is longer than an index may be";
  std::optional<Manifest> manifest;
  if (text.size() <= kMaxManifestBytes)
    manifest = parseManifest(text, file.path(), error);
  if (!manifest)
    return unreadable(
        file.path(),
        makeError(Status::GradeUnknown, "the file is no index and no manifest",
                  "file", "\"weight_map\", or a list of path, tensor and desc",
                  error, "a configuration, or another JSON file",
                  "name tensor files or their directory; a configuration "
                  "beside them is read with them")
            .value());
  report.files.push_back(
      {file.path(), manifest->isIndex ? "index" : "manifest", text.size()});
  fs::path directory = fs::path(file.path()).parent_path();
  std::set<std::string> files;
  for (const ManifestEntry &entry : manifest->entries)
    files.insert(entry.file);
  for (const std::string &name : files) {
    std::string path = (directory / name).string();
    std::error_code ignored;
    if (!staysInside(name))
      collector.add(Id::ManifestPath, file.path(), "",
                    "a file outside the directory is named",
                    "a file beside the index", name);
    else if (!fs::exists(path, ignored))
      collector.add(Id::MissingShard, file.path(), name,
                    "files that are named are not there");
    else if (isNew(path))
      inputs.files.push_back(path);
  }
  inputs.manifests.push_back(std::move(*manifest));
}

void Discovery::visitFile(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return unreadable(path, file.error());
  ByteSpan bytes = file->bytes();
  // A safetensors file whose header has 123 or 91 bytes begins like JSON, but
  // its length has zero bytes behind.
  size_t first = 0;
  while (first < std::min<size_t>(bytes.size(), 64) &&
         (bytes[first] == ' ' || bytes[first] == '\n' || bytes[first] == '\r' ||
          bytes[first] == '\t'))
    ++first;
  bool isJson = first < bytes.size() &&
                (bytes[first] == '{' || bytes[first] == '[') &&
                !(bytes.size() > 8 && bytes[7] == 0);
  if (!isNew(path))
    return;
  if (isJson)
    visitManifest(*file);
  else
    inputs.files.push_back(path);
}

void Discovery::visitDirectory(const std::string &path) {
  // Links to directories are not followed: they may form a cycle.
  constexpr size_t kMostFiles = 100'000;
  constexpr int kDeepest = 32;
  std::vector<std::string> files, indexes;
  std::error_code error;
  fs::recursive_directory_iterator walk(
      path, fs::directory_options::skip_permission_denied, error);
  for (; !error && walk != fs::recursive_directory_iterator();
       walk.increment(error)) {
    if (walk.depth() >= kDeepest)
      walk.disable_recursion_pending();
    std::error_code ignored;
    if (!walk->is_regular_file(ignored))
      continue;
    std::string name = walk->path().string();
    if (isTensorFile(name))
      files.push_back(name);
    else if (isIndexFile(name))
      indexes.push_back(name);
    if (files.size() + indexes.size() > kMostFiles)
      break;
  }
  if (error)
    return unreadable(
        path, makeError(Status::GradeUnknown, "the directory cannot be read",
                        "directory", "a directory that can be listed",
                        error.message(), "it belongs to another user",
                        "make it readable")
                  .value());
  if (files.empty() && indexes.empty())
    return unreadable(
        path,
        makeError(Status::GradeUnknown, "the directory holds no tensor file",
                  "directory", "names that end in .safetensors or .gguf",
                  "none", "the files are elsewhere, or were not fetched",
                  "name the directory of the checkpoint")
            .value());
  std::ranges::sort(files);
  std::ranges::sort(indexes);
  for (const std::string &name : indexes)
    visitFile(name);
  for (const std::string &name : files)
    visitFile(name);
}

void Discovery::visit(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    visitDirectory(path);
  else
    visitFile(path);
}

Inputs grit::scan::discover(std::span<const std::string> paths,
                            Collector &collector, Report &report) {
  Discovery discovery(collector, report);
  for (const std::string &path : paths)
    discovery.visit(path);
  return discovery.take();
}
