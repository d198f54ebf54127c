//===- LayerCheckpoint.cpp - the files and layers of a checkpoint ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointPaths.h"
#include "LayerArrays.h"
#include "grit/Format/Text.h"
#include <filesystem>

using namespace grit;
using namespace grit::scan;

Expected<std::unique_ptr<CheckpointFiles>>
CheckpointFiles::open(const std::string &path,
                      const CheckpointOptions &options) {
  Expected<CheckpointPaths> paths = pathsOf(path);
  if (!paths)
    return tl::unexpected(paths.error());
  auto checkpoint = std::make_unique<CheckpointFiles>();
  checkpoint->name = path;
  std::deque<LoadedFile> loaded;
  Checkpoint joined;
  for (const std::string &name : paths->files) {
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
  if (auto error = checkPlaces(*paths, joined))
    return tl::unexpected(std::move(*error));
  std::vector<ConfigProblem> problems;
  joined.config = readConfigIn(
      std::filesystem::path(paths->files.front()).parent_path().string(),
      problems);
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
