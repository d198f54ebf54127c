//===- Output.h - what commands print -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_OUTPUT_H
#define GRIT_TOOLS_GRIT_OUTPUT_H

#include "grit/Container/Json.h"
#include "grit/Container/TensorFile.h"
#include "grit/Format/Contract.h"
#include "grit/Format/Status.h"
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grit::tool {

/// Prints the error, each of its parts on a line, to standard error.
void printError(const Error &error);
void printWarning(const Error &error);

/// Call it when all is printed: `code`, or kOutputFailed after a message when
/// standard output did not take everything.
int finishOutput(int code);

/// Text from a file, fit for a terminal: UTF-8 stays as it is; what a terminal
/// obeys or does not show, and bytes that are no UTF-8, become hex escapes.
/// Long text is cut.
std::string printable(std::string_view text);

/// Prints rows with aligned columns; the first row is the heading. Columns in
/// `right` are numbers.
void printTable(const std::vector<std::vector<std::string>> &rows,
                const std::vector<size_t> &right);

/// "90.9 MB".
std::string sizeText(uint64_t bytes);

/// The error as an object of its parts.
void writeError(JsonWriter &json, const Error &error);

/// The members that identify an array: contract, id, gid, placements, ...
void writeArray(JsonWriter &json, const ArraySpec &spec);

/// True when the shell pattern matches the name ('*' also across dots and
/// slashes).
bool matches(const std::string &pattern, const std::string &name);
bool matchesAny(const std::vector<std::string> &patterns,
                const std::string &name);

/// Why a pattern that matches no tensor of the file is refused.
Error noMatchError(const char *option, const std::string &pattern,
                   const TensorFile &file);

/// A bar on standard error while work goes on; nothing where that is no
/// terminal.
class Progress {
public:
  Progress(std::string_view what, uint64_t total);
  ~Progress();
  void add(uint64_t amount);

private:
  void draw();

  std::string what;
  uint64_t total, done = 0;
  bool shown;
  std::chrono::steady_clock::time_point last;
};

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_OUTPUT_H
