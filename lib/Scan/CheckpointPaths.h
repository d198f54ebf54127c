//===- CheckpointPaths.h - the files that a path stands for -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_CHECKPOINTPATHS_H
#define GRIT_LIB_SCAN_CHECKPOINTPATHS_H

#include "Manifest.h"
#include "Model.h"
#include <string>
#include <utility>
#include <vector>

namespace grit::scan {

/// The files of a checkpoint, and where an index says that its tensors are.
struct CheckpointPaths {
  std::vector<std::string> files; ///< sorted
  std::string index;              ///< or "" without one
  std::vector<std::pair<std::string, std::string>> places; ///< tensor, file
};

/// A tensor file; an index and the files it names; or a directory with one of
/// the two. Files are not opened, but for the index.
Expected<CheckpointPaths> pathsOf(const std::string &path);

/// What the index says of tensors that the files hold otherwise: half a
/// checkpoint must not pass for a whole one.
std::optional<Error> checkPlaces(const CheckpointPaths &paths,
                                 const Checkpoint &checkpoint);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_CHECKPOINTPATHS_H
