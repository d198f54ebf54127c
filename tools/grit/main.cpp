//===- main.cpp - the program grit -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Container/AtomicFile.h"
#include <csignal>
#include <cstdio>
#include <new>

using namespace grit;
using namespace grit::tool;

static constexpr Command (*kCommands[])(CLI::App &) = {
    addInspect, addQuantize, addDequantize, addConvert, addImport,  addFormats,
    addShow,    addCompile,  addRun,        addCheck,   addExplain, addScan};

/// An interrupted command leaves no half-written file.
static void onSignal(int signal) {
  AtomicFile::removeAll();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

static int run(int argc, char **argv) {
  CLI::App app("Reads, converts and checks quantized tensors.", "grit");
  app.set_version_flag("--version", GRIT_VERSION);
  app.footer("'grit COMMAND --help' explains a command. Exit codes: 0 done, "
             "1 input refused,\n2 output not written, 64 wrong command line; "
             "the help of check and scan lists theirs.");
  std::vector<Command> commands;
  for (auto add : kCommands)
    commands.push_back(add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? finishOutput(kOk) : kUsage;
  }
  for (const Command &command : commands)
    if (command.app->parsed())
      return command.run();
  std::fputs(app.help().c_str(), stderr);
  return kUsage;
}

int main(int argc, char **argv) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, onSignal);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("grit: error: out of memory\n", stderr);
    return kRefused;
  }
}
