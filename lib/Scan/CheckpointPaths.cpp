//===- CheckpointPaths.cpp - the files that a path stands for -------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointPaths.h"
#include "grit/Container/MappedFile.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <filesystem>
#include <set>

using namespace grit;
using namespace grit::scan;
namespace fs = std::filesystem;

static tl::unexpected<Error> pathError(std::string message,
                                       std::string declared, std::string found,
                                       std::string cause, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), "path",
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix));
}

static tl::unexpected<Error> indexError(const std::string &index,
                                        std::string message, std::string field,
                                        std::string declared,
                                        std::string found) {
  return makeError(Status::GradeUnknown, std::move(message),
                   index + ": " + std::move(field), std::move(declared),
                   std::move(found), "the index is damaged, or of other files",
                   "fetch the index again, or name the tensor files");
}

/// The entries of an index, which say where every tensor is.
static Expected<std::vector<ManifestEntry>> entriesOf(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return tl::unexpected(file.error());
  std::string error = "it is longer than an index may be";
  std::optional<Manifest> index;
  if (file->bytes().size() <= kMaxManifestBytes)
    index = parseManifest({reinterpret_cast<const char *>(file->bytes().data()),
                           file->bytes().size()},
                          path, error);
  if (!index || !index->isIndex)
    return indexError(path, "the index cannot be read", "weight_map",
                      "an object of tensors and their files",
                      index ? "a list" : error);
  std::map<std::string_view, std::string_view> seen;
  for (const ManifestEntry &entry : index->entries) {
    std::string field = "weight_map[" + quoteText(entry.tensor) + "]";
    if (entry.file.empty() || !staysInside(entry.file))
      return indexError(
          path,
          entry.file.empty() ? "the index names no file"
                             : "the index names a file outside its directory",
          field, "a file beside the index", quoteText(entry.file));
    auto [other, isNew] = seen.emplace(entry.tensor, entry.file);
    if (!isNew)
      return indexError(path, "the index names a tensor twice", field,
                        quoteText(other->second), quoteText(entry.file));
  }
  return std::move(index->entries);
}

static Expected<CheckpointPaths> indexedFiles(const std::string &path) {
  auto entries = entriesOf(path);
  if (!entries)
    return tl::unexpected(entries.error());
  CheckpointPaths paths{{}, path, {}};
  std::set<std::string> names;
  for (const ManifestEntry &entry : *entries) {
    std::string file = (fs::path(path).parent_path() / entry.file).string();
    paths.places.emplace_back(entry.tensor, file);
    names.insert(std::move(file));
  }
  paths.files.assign(names.begin(), names.end());
  return paths;
}

Expected<CheckpointPaths> grit::scan::pathsOf(const std::string &path) {
  std::error_code error;
  if (path.ends_with(".index.json"))
    return indexedFiles(path);
  if (!fs::is_directory(path, error))
    return CheckpointPaths{{path}, {}, {}};
  std::vector<std::string> files, indexes;
  for (fs::directory_iterator walk(path, error), end; !error && walk != end;
       walk.increment(error)) {
    std::string name = walk->path().string();
    if (name.ends_with(".safetensors.index.json"))
      indexes.push_back(name);
    else if (name.ends_with(".safetensors"))
      files.push_back(name);
  }
  if (error)
    return pathError("the directory cannot be read",
                     "a directory that can be listed", error.message(),
                     "it belongs to another user", "make it readable");
  if (indexes.size() == 1)
    return indexedFiles(indexes.front());
  if (files.empty() || indexes.size() > 1)
    return pathError(
        indexes.empty() ? "the directory holds no safetensors file"
                        : "the directory holds several checkpoints",
        "the files of one checkpoint",
        indexes.empty() ? "none" : std::to_string(indexes.size()) + " indexes",
        "another directory was meant", "name the index or the file");
  std::ranges::sort(files);
  return CheckpointPaths{std::move(files), {}, {}};
}

std::optional<Error> grit::scan::checkPlaces(const CheckpointPaths &paths,
                                             const Checkpoint &checkpoint) {
  for (const auto &[tensor, file] : paths.places) {
    auto found = checkpoint.tensors.find(tensor);
    const bool isThere = found != checkpoint.tensors.end();
    if (isThere && found->second.file->path == file)
      continue;
    return indexError(paths.index,
                      isThere ? "the index places a tensor in another file"
                              : "the files lack a tensor of the index",
                      "weight_map[" + quoteText(tensor) + "]", quoteText(file),
                      isThere ? quoteText(found->second.file->path)
                              : "in none of its files")
        .value();
  }
  return std::nullopt;
}
