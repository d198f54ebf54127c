//===- Layers.h - recognizing one module -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_SCAN_LAYERS_H
#define GRIT_LIB_SCAN_LAYERS_H

#include "Model.h"

namespace grit::scan {

/// The tensors of one module, by the last part of their names.
struct Module {
  std::string name;
  std::map<std::string_view, const TensorInfo *> parts;

  const TensorInfo *get(std::string_view part) const {
    auto entry = parts.find(part);
    return entry == parts.end() ? nullptr : entry->second;
  }
  /// The first of the parts that is there.
  const TensorInfo *any(std::initializer_list<std::string_view> names) const {
    for (std::string_view name : names)
      if (const TensorInfo *info = get(name))
        return info;
    return nullptr;
  }
};

/// What recognizers share.
struct Recognition {
  const Checkpoint &checkpoint;
  Collector &collector;

  std::string pathOf(const TensorInfo &tensor) const;
  void add(Id id, const Module &module, const TensorInfo &tensor,
           std::string message, std::string declared = {},
           std::string found = {}, std::string cause = {}) const;
  /// The full name of a part that the module lacks.
  bool mayHave(const Module &module, std::string_view part) const;

  /// Packed codes (`bits` of them in each unit of `unitBits`) against the
  /// groups of the scale; reports and returns the group size, 0 if unknown.
  int64_t judgeGroups(const Module &module, const TensorInfo &codes,
                      int64_t units, int64_t groups, int64_t unitBits,
                      std::optional<int64_t> bits,
                      std::optional<int64_t> group) const;
};

/// The modules of the tensors that no record describes, by name.
std::map<std::string_view, Module> modulesOf(const Checkpoint &checkpoint);

/// Modules whose codes are packed into 32-bit words: GPTQ, AWQ,
/// compressed-tensors, MLX.
std::optional<Layer> recognizeWords(const Recognition &scan,
                                    const Module &module);
/// Modules of 4- and 8-bit floats and bytes: NVFP4, MXFP4, MXFP8, FP8, INT8.
std::optional<Layer> recognizeFloats(const Recognition &scan,
                                     const Module &module);
/// Codebooks and others without a spelling: bitsandbytes, HQQ.
std::optional<Layer> recognizeOthers(const Recognition &scan,
                                     const Module &module);

} // namespace grit::scan

#endif // GRIT_LIB_SCAN_LAYERS_H
