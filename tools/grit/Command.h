//===- Command.h - one command of the program grit -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_TOOLS_GRIT_COMMAND_H
#define GRIT_TOOLS_GRIT_COMMAND_H

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace grit::tool {

/// What the program returns (docs/CommandLine.md).
enum ExitCode : int {
  kOk = 0,
  kRefused = 1,           ///< a file, tensor or contract was refused
  kOutputFailed = 2,      ///< the result could not be written
  kUsage = 64,            ///< the command line is wrong
  kNoContract = 3,        ///< `grit check` met nothing to check
  kScanOutputFailed = 74, ///< `grit scan`, whose 2 is a disagreement
};

/// A command that was declared to the parser, and how to run it. A command is
/// one file with one function that returns this; main.cpp lists them.
struct Command {
  CLI::App *app;
  std::function<int()> run;
};

/// The contracts that a command line adds to those of the library.
struct Registrations {
  std::vector<std::string> grades;  ///< NAME=TEXT
  std::vector<std::string> formats; ///< files with one text each

  /// All files that the command reads, `file` among them.
  std::vector<std::string> inputs(const std::string &file) const;
};

/// Declares an option that may be repeated, a value each time.
void addRepeated(CLI::App &app, const char *name, const char *type,
                 const char *help, std::vector<std::string> &values);

/// Declares `--grade NAME=TEXT` and `--format FILE` of the commands that read
/// contracts.
void addRegistrations(CLI::App &app, Registrations &registrations);
/// A contract as another library can be told of it.
struct RegisteredText {
  std::string name; ///< of a grade; a format's text names it
  std::string text;
};
/// Registers all of them; none after a message where one is refused, which is
/// an error of the command line.
std::optional<std::vector<RegisteredText>>
registerAll(const Registrations &registrations);

Command addImport(CLI::App &parent);
Command addInspect(CLI::App &parent);
Command addQuantize(CLI::App &parent);
Command addDequantize(CLI::App &parent);
Command addConvert(CLI::App &parent);
Command addFormats(CLI::App &parent);
Command addShow(CLI::App &parent);
Command addCompile(CLI::App &parent);
Command addRun(CLI::App &parent);
Command addScan(CLI::App &parent);
Command addCheck(CLI::App &parent);
Command addExplain(CLI::App &parent);

} // namespace grit::tool

#endif // GRIT_TOOLS_GRIT_COMMAND_H
