//===- Registry.h - the contracts that are known by name and id -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contracts of the library are there from the start; users add grades and
// formats. Both stay for the life of the process, so that pointers to them stay
// valid.
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_REGISTRY_H
#define GRIT_LIB_FORMAT_REGISTRY_H

#include "grit/Format/Contract.h"
#include "grit/Format/FormatText.h"
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

/// The contract of a format, as if nobody knew it.
Contract makeFormatContract(const NamedFormat &format);

/// A member of a family and its name, "hurray.nf4(block=128)".
struct FamilyMember {
  std::string name;
  NamedFormat format;
};

/// The members of a family with one parameter, but for its default.
std::vector<FamilyMember> membersOf(std::string_view text,
                                    const NamedFormat &family);

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
/// The parameter of the family with this name.
std::optional<FormatParameter> findParameter(std::string_view family);

// The same of what users registered alone.
const Contract *findUserId(uint64_t id);
const Contract *findUserName(std::string_view name);
const Contract *findUserCanonical(std::string_view text);
std::optional<FormatParameter> findUserParameter(std::string_view family);

} // namespace registry
} // namespace grit

#endif // GRIT_LIB_FORMAT_REGISTRY_H
