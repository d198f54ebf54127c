//===- Registry.cpp - the contracts that are known by name and id ---------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "ForeignFormats.h"
#include "grit/Format/Descriptor.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <atomic>
#include <mutex>

using namespace grit;

namespace {

struct RegisteredGrade {
  std::string_view name, text, summary;
};

} // namespace

static constexpr RegisteredGrade kGrades[] = {
    {"mxfp4", "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2floormaxabs)",
     "OCP MXFP4: 32 FP4 elements under a power of two, its exponent rounded "
     "down"},
    {"mxfp4_rne", "grit1(e=e2m1,k0=32,s0=e8m0,esr=exp2rnemaxabs)",
     "MXFP4 whose shared exponent is rounded to nearest at encode"},
    {"nvf4", "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,esr=ratiomaxabs)",
     "NVFP4: 16 FP4 elements under an FP8 scale under a binary32 scale per "
     "tensor"},
    {"nvf4_rtz",
     "grit1(e=e2m1,k0=16,s0=e4m3,k1=0,s1=binary32,er=rtz,esr=ratiomaxabs)",
     "NVFP4 whose codes are rounded toward zero at encode"},
    {"q4ks",
     "grit1(e=u4,k0=32,s0=u6,k1=8,s1=binary16,zp=u6,zps=l1,esr=affineminmax)",
     "the numbers of ggml's Q4_K in separate planes: 8 groups of 32 with "
     "six-bit scales and minima"},
    {"i8s24", "grit1(e=s8,k0=32,s0=binary16,sp=2:4:u2:asclsb,esr=ratiomaxabs)",
     "2:4 sparse signed bytes, 32 logical elements per binary16 scale"},
    {"mxfp8_e4m3", "grit1(e=e4m3,k0=32,s0=e8m0,esr=exp2floormaxabs)",
     "OCP MXFP8: 32 E4M3 elements under a power of two, its exponent rounded "
     "down"},
};

/// What the names that the library has, or may get, begin with.
static constexpr std::string_view kReserved[] = {
    "grade_", "grit1", "gritdec1", "gritfmt1", "gguf.", "hurray.",
    "mxfp6",  "mxfp8", "mxint8",   "ct.",      "bnb.",  "deepseek.",
    "gptq.",  "hqq.",  "mlx.",     "ninfer."};

//===----------------------------------------------------------------------===//
// Making contracts
//===----------------------------------------------------------------------===//

/// Where an array of a grade lies by default.
static Placements gradePlacements(const Grade &grade) {
  Placements result{placements::RowMajor, placements::RowMajor, {}};
  if (grade.isSparse())
    result.meta = placements::LinearMeta;
  else if (grade.hasZeroPoint())
    result.meta = placements::RowMajor;
  return result;
}

Expected<Contract> grit::makeGradeContract(const Grade &grade) {
  Expected<FormatDescription> description = describe(grade);
  if (!description)
    return tl::make_unexpected(description.error());
  auto impl = std::make_shared<Contract::Impl>();
  impl->canonical = grade.canonical();
  impl->id = fnv1a64(impl->canonical);
  impl->grade = grade;
  impl->description = std::move(*description);
  impl->placements = gradePlacements(grade);
  impl->name = impl->canonical;
  impl->summary = "an unregistered grade of GRIT v1";
  for (const RegisteredGrade &known : kGrades)
    if (known.text == impl->canonical) {
      impl->name = known.name;
      impl->summary = known.summary;
      impl->registered = true;
    }
  return Contract(std::move(impl));
}

static std::shared_ptr<Contract::Impl> makeFormat(const NamedFormat &format) {
  auto impl = std::make_shared<Contract::Impl>();
  impl->description = format.description;
  impl->canonical = canonicalText(impl->description);
  impl->id = fnv1a64(impl->canonical);
  impl->placements = format.placements;
  impl->summary = format.summary;
  return impl;
}

static Contract makeForeign(const NamedFormat &format, std::string name) {
  std::shared_ptr<Contract::Impl> impl = makeFormat(format);
  impl->name = std::move(name);
  impl->registered = true;
  return Contract(std::move(impl));
}

/// The members of a family but for its default.
static void addMembers(const ForeignFormat &family,
                       std::vector<Contract> &contracts) {
  const FormatParameter &parameter = *family.parameter();
  for (int64_t value = parameter.least; value <= parameter.most; value *= 2) {
    if (value == parameter.byDefault)
      continue;
    const ParameterValue chosen{parameter.name, value};
    if (Expected<NamedFormat> member =
            parseFormat(family.text, std::span(&chosen, 1)))
      contracts.push_back(
          makeForeign(*member, family.format.name + "(" + parameter.name + "=" +
                                   std::to_string(value) + ")"));
  }
}

Expected<Contract> grit::makeTextContract(std::string_view text) {
  Expected<NamedFormat> format = parseFormat(text);
  if (!format)
    return tl::unexpected(format.error());
  std::shared_ptr<Contract::Impl> impl = makeFormat(*format);
  if (const Contract *known = registry::findCanonical(impl->canonical))
    return *known;
  impl->name = impl->canonical;
  return Contract(std::move(impl));
}

//===----------------------------------------------------------------------===//
// The contracts of the library
//===----------------------------------------------------------------------===//

static std::vector<Contract> makeContracts() {
  std::vector<Contract> contracts;
  for (const RegisteredGrade &known : kGrades) {
    // The table's strings are grades; a test reads all of them.
    Expected<Grade> grade = Grade::parse(known.text);
    if (grade)
      if (Expected<Contract> contract = makeGradeContract(*grade))
        contracts.push_back(std::move(*contract));
  }
  for (const ForeignFormat &foreign : foreignFormats())
    contracts.push_back(makeForeign(foreign.format, foreign.format.name));
  for (const ForeignFormat &foreign : foreignFormats())
    if (foreign.parameter())
      addMembers(foreign, contracts);
  return contracts;
}

std::span<const Contract> registry::contracts() {
  static const std::vector<Contract> all = makeContracts();
  return all;
}

const std::vector<std::string> &grit::registeredContractNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const RegisteredGrade &known : kGrades)
      result.emplace_back(known.name);
    for (const ForeignFormat &foreign : foreignFormats())
      result.push_back(foreign.format.name);
    return result;
  }();
  return names;
}

//===----------------------------------------------------------------------===//
// Grades of users
//===----------------------------------------------------------------------===//

namespace {

/// Lists that only grow at their front. A reader needs no lock: what it sees
/// was complete before it became visible, and is never taken away.
struct UserGrades {
  struct Node {
    Contract contract;
    const Node *next;
  };
  static constexpr size_t kNumLists = 256;

  std::mutex writers;
  std::atomic<const Node *> lists[kNumLists];

  std::atomic<const Node *> &listOf(uint64_t id) {
    return lists[id % kNumLists];
  }
  template <typename Predicate> const Contract *find(Predicate matches) {
    for (auto &list : lists)
      for (const Node *node = list.load(std::memory_order_acquire); node;
           node = node->next)
        if (matches(node->contract))
          return &node->contract;
    return nullptr;
  }
};

} // namespace

static UserGrades &userGrades() {
  // Never destroyed: other threads may look ids up while the process ends.
  static UserGrades &grades = *new UserGrades();
  return grades;
}

const Contract *registry::findId(uint64_t id) {
  for (const Contract &contract : contracts())
    if (contract.id() == id)
      return &contract;
  const auto &list = userGrades().listOf(id);
  for (const UserGrades::Node *node = list.load(std::memory_order_acquire);
       node; node = node->next)
    if (node->contract.id() == id)
      return &node->contract;
  return nullptr;
}

const Contract *registry::findName(std::string_view name) {
  for (const Contract &contract : contracts())
    if (contract.name() == name)
      return &contract;
  return userGrades().find(
      [&](const Contract &contract) { return contract.userName() == name; });
}

const Contract *registry::findCanonical(std::string_view text) {
  for (const Contract &contract : contracts())
    if (contract.canonical() == text)
      return &contract;
  return userGrades().find(
      [&](const Contract &contract) { return contract.canonical() == text; });
}

std::vector<Contract> grit::userContracts() {
  std::vector<Contract> result;
  userGrades().find([&](const Contract &contract) {
    result.push_back(contract);
    return false;
  });
  std::ranges::sort(result, {}, &Contract::userName);
  return result;
}

static tl::unexpected<Error> refuse(std::string message, std::string field,
                                    std::string declared, std::string found,
                                    std::string cause, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), std::move(field),
                   std::move(declared), std::move(found), std::move(cause),
                   std::move(fix));
}

/// A letter, then letters, digits, '_', '-' and '.'.
static bool isName(std::string_view text) {
  auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= 64 && isLetter(text[0]) &&
         std::ranges::all_of(text, [&](char c) {
           return isLetter(c) || (c >= '0' && c <= '9') || c == '_' ||
                  c == '-' || c == '.';
         });
}

/// A name that the library may give to something of its own.
static bool isReserved(std::string_view name) {
  return std::ranges::any_of(kReserved, [&](std::string_view prefix) {
    return name.starts_with(prefix);
  });
}

static std::string reservedText() {
  std::string text;
  for (std::string_view prefix : kReserved)
    text += (text.empty() ? "" : ", ") + std::string(prefix);
  return text;
}

/// Refuses a pair of name and grade of which one is already taken.
static std::optional<Error> clash(std::string_view spelling,
                                  const std::string &name,
                                  const Contract &contract) {
  auto describeKnown = [](const Contract &known) {
    return quoteText(known.userName().empty() ? known.name()
                                              : known.userName()) +
           " = " + known.canonical();
  };
  auto causeOf = [](const Contract &known) {
    return known.isRegistered() ? "the library has it from the start"
                                : "it was registered before";
  };
  std::string wanted = quoteText(spelling) + " = " + contract.canonical();
  if (const Contract *known = registry::findName(name))
    return refuse("the name is taken", "name", describeKnown(*known), wanted,
                  causeOf(*known), "choose another name")
        .value();
  const Contract *known = registry::findCanonical(contract.canonical());
  if (known)
    return refuse("the grade has a name already", "grade",
                  describeKnown(*known), wanted, causeOf(*known),
                  "use that name")
        .value();
  if ((known = registry::findId(contract.id())))
    return refuse("the id of the grade is taken by another contract", "grade",
                  describeKnown(*known), wanted,
                  "two strings have the hash " + hexWord(contract.id(), 16),
                  "change the grade in a field that does not matter")
        .value();
  return std::nullopt;
}

Contract grit::nameForUser(const Contract &contract, std::string name) {
  auto impl = std::make_shared<Contract::Impl>(*contract.impl);
  impl->userName = std::move(name);
  impl->summary = "a grade that the program registered";
  return Contract(std::move(impl));
}

Expected<Contract> grit::registerGrade(std::string_view name,
                                       std::string_view text) {
  std::string lower = toLower(name);
  if (!isName(lower) || isReserved(lower))
    return refuse("the name cannot be given to a grade", "name",
                  "a letter, then letters, digits, '_', '-' and '.', at most "
                  "64, not beginning with a prefix that the library uses (" +
                      reservedText() + ")",
                  quoteText(name), {}, "choose another name");
  Expected<Grade> grade = Grade::parse(text);
  if (!grade)
    return tl::unexpected(grade.error());
  Expected<Contract> contract = makeGradeContract(*grade);
  if (!contract)
    return contract;
  UserGrades &grades = userGrades();
  std::lock_guard lock(grades.writers);
  const Contract *same = registry::findName(lower);
  if (same && *same == *contract)
    return *same;
  if (std::optional<Error> error = clash(name, lower, *contract))
    return tl::unexpected(std::move(*error));
  auto &list = grades.listOf(contract->id());
  auto *node = new UserGrades::Node{nameForUser(*contract, lower),
                                    list.load(std::memory_order_relaxed)};
  list.store(node, std::memory_order_release);
  return node->contract;
}
