//===- OutputFile.h - files that commands write -*- C++ -*-===//
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

/// One tensor of the output.
struct OutputTensor {
  std::string name;
  std::string dtype; ///< the type in the words of the source
  std::vector<int64_t> shape;
  /// Plain numbers of this type ...
  std::optional<ElementType> element;
  /// ... or an array; with neither, GGUF blocks of the type `dtype`.
  std::optional<ArraySpec> array;
};

/// The bytes of all planes of an array whose sizes were checked.
uint64_t planeBytes(const ArraySpec &spec);

/// True when the name of the file asks for GGUF.
bool isGgufPath(const std::string &path);

/// `source` without its last extension, then ".<suffix>.safetensors"; of a
/// directory, a file beside it.
std::string defaultOutput(const std::string &source, const std::string &suffix);

/// Why no file can have this name; empty where one can. For CLI::Option::check.
std::string checkOutputName(const std::string &path);

/// True when the output would take the place of an input, whatever their
/// spelling.
bool replacesInput(const std::string &output, const std::string &input);
/// True when two outputs would be one file. Neither needs to exist.
bool isSameOutput(const std::string &a, const std::string &b);
Error replacesInputError(const std::string &output);

/// Refuses an output that would take the place of one of `inputs`.
std::optional<Error> checkOutput(const std::string &path,
                                 const std::vector<std::string> &inputs);
/// Refuses a file whose kind cannot hold `contract`.
std::optional<Error> checkHolds(const std::string &path,
                                const Contract &contract);

/// A writer for `tensors`, GGUF or safetensors by the name of the file. What
/// the source, where there is one, says about itself is kept where the format
/// can hold it. The byte order is that of a GGUF file.
Expected<std::unique_ptr<TensorWriter>>
createOutput(const std::string &path, const TensorFile *source,
             const std::vector<OutputTensor> &tensors,
             std::endian order = std::endian::little);

/// Writes a file of text, whole or not at all.
Expected<void> writeTextFile(const std::string &path, const std::string &text);

/// What the program returns for an error of a writer: a file that cannot be
/// written is another matter than a tensor that the format cannot hold.
int writerExitCode(const Error &error);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_OUTPUTFILE_H
