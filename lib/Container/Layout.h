//===- Layout.h - checks that readers share -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_CONTAINER_LAYOUT_H
#define GRIT_LIB_CONTAINER_LAYOUT_H

#include "grit/Container/TensorFile.h"
#include <string>
#include <string_view>
#include <vector>

namespace grit {

/// The bytes that a tensor claims, from the start of the data.
struct Extent {
  uint64_t begin = 0, end = 0;
  std::string name;
};

/// The error with the usual cause and fix of a file that breaks its format,
/// where it names none itself.
Error withUsualCause(Error error);

/// Collects the error, or hands it back when problems are not collected.
std::optional<Error> reportProblem(const OpenOptions &options, Error error);

/// Checks that tensors follow each other without overlap or gap and fill
/// `dataBytes`. With an alignment each may begin at the next multiple of it,
/// and the last may be padded to one. Unless the extents are `complete`, bytes
/// that belong to none of them say nothing: they may be those of an entry that
/// could not be read.
std::optional<Error> checkLayout(std::vector<Extent> extents,
                                 uint64_t dataBytes, const OpenOptions &options,
                                 uint64_t alignment = 1, bool complete = true);

/// Refuses names that are empty, too long, not UTF-8, or hold a NUL.
std::optional<Error> checkTensorName(std::string_view name);

/// grit_check, level 1, of an array stored in `bytes` bytes: its planes must
/// fill them exactly.
std::optional<Error> checkArrayBytes(const ArraySpec &spec, uint64_t bytes);

} // namespace grit

#endif // GRIT_LIB_CONTAINER_LAYOUT_H
