//===- Registrations.cpp - contracts that the command line adds -----------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Format/FormatText.h"
#include "grit/Format/Text.h"
#include <cerrno>
#include <cstring>
#include <fstream>

using namespace grit;
using namespace grit::tool;

static Expected<RegisteredText> registerPair(const std::string &pair) {
  size_t equals = pair.find('=');
  if (equals == std::string::npos || pair.find('(') < equals)
    return makeError(Status::GradeUnknown, "a grade is named NAME=TEXT",
                     "--grade", "NAME=grit1(...)", quoteText(pair),
                     "the name is missing",
                     "write e.g. --grade 'mine=grit1(e=e2m1,...)'");
  RegisteredText result = {pair.substr(0, equals), pair.substr(equals + 1)};
  Expected<Contract> contract = registerGrade(result.name, result.text);
  if (contract)
    return result;
  contract.error().field = "--grade: " + contract.error().field;
  return tl::unexpected(contract.error());
}

static Expected<std::string> readText(const std::string &path) {
  // A byte more than a text may have, so that longer ones are refused as such.
  constexpr std::streamsize kMost = kMaxFormatText + 1;
  std::string text(kMost, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), kMost);
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof()))
    return makeError(Status::GradeUnknown, "the file cannot be read",
                     "--format " + path, "a file with one text gritfmt1(...)",
                     std::strerror(errno), {}, "check the name");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

static Expected<RegisteredText> registerFile(const std::string &path) {
  Expected<std::string> text = readText(path);
  if (!text)
    return tl::unexpected(text.error());
  Expected<Contract> contract = registerFormat(*text);
  if (contract)
    return RegisteredText{{}, std::move(*text)};
  contract.error().field = "--format " + path + ": " + contract.error().field;
  return tl::unexpected(contract.error());
}

void grit::tool::addRepeated(CLI::App &app, const char *name, const char *type,
                             const char *help,
                             std::vector<std::string> &values) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void grit::tool::addRegistrations(CLI::App &app, Registrations &registrations) {
  addRepeated(app, "--grade", "NAME=TEXT",
              "Also know this grade by id and name; may be repeated",
              registrations.grades);
  addRepeated(app, "--format", "FILE",
              "Also know the format that this file describes; may be repeated",
              registrations.formats);
}

std::vector<std::string> Registrations::inputs(const std::string &file) const {
  std::vector<std::string> result = formats;
  result.push_back(file);
  return result;
}

std::optional<std::vector<RegisteredText>>
grit::tool::registerAll(const Registrations &registrations) {
  std::vector<RegisteredText> result;
  auto addEach = [&](const std::vector<std::string> &values, auto add) {
    for (const std::string &value : values) {
      Expected<RegisteredText> added = add(value);
      if (!added) {
        printError(added.error());
        return false;
      }
      result.push_back(std::move(*added));
    }
    return true;
  };
  if (!addEach(registrations.grades, registerPair) ||
      !addEach(registrations.formats, registerFile))
    return std::nullopt;
  return result;
}
