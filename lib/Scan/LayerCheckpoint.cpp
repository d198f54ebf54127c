//===- LayerCheckpoint.cpp - the files and layers of a checkpoint -*- C++
//-*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerArrays.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <filesystem>

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

/// The files that an index names, in the order of their names.
static Expected<std::vector<std::string>>
indexedFiles(const std::string &path) {
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
    return pathError("the index cannot be read", "a weight_map",
                     index ? "a manifest" : error, "the file is damaged",
                     "name the tensor files or their directory");
  std::set<std::string> names;
  for (const ManifestEntry &entry : index->entries) {
    if (!staysInside(entry.file))
      return pathError("the index names a file outside its directory",
                       "a file beside the index", quoteText(entry.file),
                       "the index is damaged",
                       "name the tensor files or their directory");
    names.insert((fs::path(path).parent_path() / entry.file).string());
  }
  return std::vector<std::string>(names.begin(), names.end());
}

/// The files that a path stands for.
static Expected<std::vector<std::string>> filesOf(const std::string &path) {
  std::error_code error;
  if (path.ends_with(".index.json"))
    return indexedFiles(path);
  if (!fs::is_directory(path, error))
    return std::vector{path};
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
  return files;
}

Expected<std::unique_ptr<CheckpointFiles>>
CheckpointFiles::open(const std::string &path,
                      const CheckpointOptions &options) {
  Expected<std::vector<std::string>> names = filesOf(path);
  if (!names)
    return tl::unexpected(names.error());
  auto checkpoint = std::make_unique<CheckpointFiles>();
  checkpoint->name = path;
  std::deque<LoadedFile> loaded;
  Checkpoint joined;
  for (const std::string &name : *names) {
    Expected<std::unique_ptr<TensorFile>> file = openTensorFile(name);
    if (!file)
      return tl::unexpected(file.error());
    LoadedFile &entry = loaded.emplace_back();
    entry.path = name;
    entry.file = std::move(*file);
    for (const TensorInfo &info : entry.file->tensors())
      if (!joined.tensors.emplace(info.name, TensorRef{&entry, &info, 0})
               .second)
        return makeError(
            Status::GradeUnknown, "several files hold a tensor of this name",
            "tensor " + quoteText(info.name), "one file", "also in " + name,
            "the directory holds several checkpoints",
            "name one file, or an index");
  }
  std::vector<ConfigProblem> problems;
  joined.config =
      readConfigIn(fs::path(names->front()).parent_path().string(), problems);
  const std::string &declared = joined.config.checkpointFormat;
  if (!options.checkpointFormat.empty() && !declared.empty() &&
      declared != options.checkpointFormat)
    return makeError(
        Status::GradeUnknown, "the configuration declares another format",
        "checkpoint_format", quoteText(declared),
        quoteText(options.checkpointFormat),
        "the format is only asked for where no configuration states it",
        "leave it out, or correct " + joined.config.path);
  joined.config.statedFormat = options.checkpointFormat;
  checkpoint->all = arraysOf(joined);
  for (LoadedFile &file : loaded)
    checkpoint->opened.push_back(std::move(file.file));
  return checkpoint;
}
