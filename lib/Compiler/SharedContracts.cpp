//===- SharedContracts.cpp - one set of user contracts ----------------- ===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedContracts.h"
#include "grit-c/grit.h"
#include "grit/Format/Contract.h"

using namespace grit;

static bool takeFromLibrary(std::string &errors) {
  const char *name = nullptr;
  for (size_t i = 0; const char *text = grit_registered(i, &name); ++i) {
    Expected<Contract> contract =
        name ? registerGrade(name, text) : registerFormat(text);
    if (!contract) {
      errors = "error: " + contract.error().str();
      return false;
    }
  }
  return true;
}

static bool giveToLibrary(std::string &errors) {
  for (size_t i = 0; const Registration *own = registration(i); ++i) {
    grit_detail_t detail = {};
    grit_status_t status =
        own->name.empty()
            ? grit_register_format(own->text.c_str(), nullptr, &detail)
            : grit_register_grade(own->name.c_str(), own->text.c_str(), nullptr,
                                  &detail);
    if (status != GRIT_OK) {
      errors = std::string("error: ") + detail.message;
      return false;
    }
  }
  return true;
}

bool grit::shareContracts(std::string &errors) {
  return takeFromLibrary(errors) && giveToLibrary(errors);
}
