//===- Grades.cpp - grades that the command line names -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::tool;

static Expected<Contract> registerPair(const std::string &pair) {
  size_t equals = pair.find('=');
  if (equals == std::string::npos || pair.find('(') < equals)
    return makeError(Status::GradeUnknown, "a grade is named NAME=TEXT",
                     "--grade", "NAME=grit1(...)", quoteText(pair),
                     "the name is missing",
                     "write e.g. --grade 'mine=grit1(e=e2m1,...)'");
  Expected<Contract> contract =
      registerGrade(pair.substr(0, equals), pair.substr(equals + 1));
  if (!contract)
    contract.error().field = "--grade: " + contract.error().field;
  return contract;
}

void grit::tool::addGradeOption(CLI::App &app,
                                std::vector<std::string> &pairs) {
  app.add_option("--grade", pairs,
                 "Also know this grade by id and name; may be repeated")
      ->type_name("NAME=TEXT")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

bool grit::tool::registerGrades(const std::vector<std::string> &pairs) {
  for (const std::string &pair : pairs)
    if (Expected<Contract> contract = registerPair(pair); !contract) {
      printError(contract.error());
      return false;
    }
  return true;
}
