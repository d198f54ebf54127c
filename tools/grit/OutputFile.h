//===- OutputFile.h - the tensor file that a command writes -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_OUTPUTFILE_H
#define GRIT_TOOLS_GRIT_OUTPUTFILE_H

#include "grit/Container/Gguf.h"
#include "grit/Container/Safetensors.h"

namespace grit::tool {

/// One tensor of the output, in the order of the source.
struct OutputTensor {
  const TensorInfo *source = nullptr;
  std::vector<int64_t> shape;
  /// Plain numbers of this type ...
  std::optional<ElementType> element;
  /// ... or an array; with neither, the source's GGUF blocks as they are.
  std::optional<ArraySpec> array;
};

/// True when the name of the file asks for GGUF.
bool isGgufPath(const std::string &path);

/// `source` without its last extension, then ".<suffix>.safetensors".
std::string defaultOutput(const std::string &source, const std::string &suffix);

/// Refuses an output that is the input, or whose kind cannot hold `contract`.
std::optional<Error> checkOutput(const std::string &path,
                                 const TensorFile &source,
                                 const Contract *contract = nullptr);

/// A writer for `tensors`, GGUF or safetensors by the name of the file. What
/// the source says about itself is kept where the format can hold it.
Expected<std::unique_ptr<TensorWriter>>
createOutput(const std::string &path, const TensorFile &source,
             const std::vector<OutputTensor> &tensors);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_OUTPUTFILE_H
