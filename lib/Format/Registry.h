//===- Registry.h - the contracts that are known by name and id -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contracts of the library are there from the start; users add grades. Both
// stay for the life of the process, so that pointers to them stay valid.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_REGISTRY_H
#define GRIT_LIB_FORMAT_REGISTRY_H

#include "grit/Format/Contract.h"
#include <span>

namespace grit {

struct Contract::Impl {
  std::string name;
  std::string userName;
  bool registered = false;
  std::string canonical;
  uint64_t id = 0;
  std::optional<Grade> grade;
  FormatDescription description;
  Placements placements;
  std::string summary;
};

/// The contract of a grade that nobody registered.
Expected<Contract> makeGradeContract(const Grade &grade);

/// The contract of a format in text: a registered one where it is the same.
Expected<Contract> makeTextContract(std::string_view text);

/// A copy under a name that a user gives it.
Contract nameForUser(const Contract &contract, std::string name);

namespace registry {

/// The contracts of the library; members of families follow, without their
/// default, which has its place under the family's name.
std::span<const Contract> contracts();

// Each gives null for what is not known. `findId` takes no lock.
const Contract *findId(uint64_t id);
const Contract *findName(std::string_view name);
const Contract *findCanonical(std::string_view text);

} // namespace registry
} // namespace grit

#endif // GRIT_LIB_FORMAT_REGISTRY_H
