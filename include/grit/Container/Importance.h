//===- Importance.h - reading llama.cpp's importance matrices -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_CONTAINER_IMPORTANCE_H
#define GRIT_CONTAINER_IMPORTANCE_H

#include "grit/Container/MappedFile.h"
#include "grit/Format/Codec.h"
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace grit {

/// How much the columns of tensors matter, by the tensor's name: what llama.cpp
/// calls an imatrix. Each number is the mean square of what a column was
/// multiplied with on sample data.
class ImportanceFile {
public:
  /// Opens a file of either form: GGUF, or the older one without a header. The
  /// first bytes decide which. What is malformed is refused by name.
  static Expected<ImportanceFile> open(const std::string &path);
  static Expected<ImportanceFile> read(MappedFile file);

  struct Entry {
    std::string name; ///< of the tensor
    /// A weight for each column, or as many for each matrix of a tensor that
    /// holds several.
    std::vector<float> weights;
  };
  const std::vector<Entry> &entries() const { return list; }
  const std::string &path() const { return name; }

  /// Null when the file has nothing for the tensor.
  const Entry *find(std::string_view tensor) const;

private:
  friend class ImportanceReader;

  std::string name;
  std::vector<Entry> list;
  std::unordered_map<std::string, size_t> index;
};

/// The weights of a tensor, which may be none where its encoder does not need
/// them. Refuses a tensor for which needed weights are missing, and weights
/// that do not fit its shape.
Expected<std::span<const float>> importanceOf(const ImportanceFile *file,
                                              std::string_view tensor,
                                              const ArraySpec &spec,
                                              bool isSearched);

} // namespace grit

#endif // GRIT_CONTAINER_IMPORTANCE_H
