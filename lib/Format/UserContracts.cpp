//===- UserContracts.cpp - grades and formats that a program registers ----===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "grit/Format/Documentation.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

using namespace grit;

//===----------------------------------------------------------------------===//
// The lists
//===----------------------------------------------------------------------===//

namespace {

/// A contract under the name that a user gives it.
struct Entry {
  std::string name;
  Contract contract;
  /// Of the default of a family.
  std::optional<FormatParameter> parameter = std::nullopt;
};

/// Lists that only grow at their front. A reader needs no lock: what it sees
/// was complete before it became visible, and is never taken away.
struct UserContracts {
  struct Node {
    Contract contract;
    std::optional<FormatParameter> parameter;
    const Node *next;
  };
  static constexpr size_t kNumLists = 256;

  std::mutex writers;
  std::deque<Registration> texts; ///< under the lock; none ever moves
  std::atomic<const Node *> lists[kNumLists];

  std::atomic<const Node *> &listOf(uint64_t id) {
    return lists[id % kNumLists];
  }
  void add(const Entry &entry) {
    auto &list = listOf(entry.contract.id());
    list.store(new Node{nameForUser(entry.contract, entry.name),
                        entry.parameter, list.load(std::memory_order_relaxed)},
               std::memory_order_release);
  }
  template <typename Predicate> const Node *find(Predicate matches) {
    for (auto &list : lists)
      for (const Node *node = list.load(std::memory_order_acquire); node;
           node = node->next)
        if (matches(node->contract))
          return node;
    return nullptr;
  }
};

} // namespace

static UserContracts &userLists() {
  // Never destroyed: other threads may look ids up while the process ends.
  static UserContracts &lists = *new UserContracts();
  return lists;
}

static const UserContracts::Node *findNode(std::string_view name) {
  return userLists().find(
      [&](const Contract &contract) { return contract.userName() == name; });
}

const Contract *registry::findUserId(uint64_t id) {
  const auto &list = userLists().listOf(id);
  for (const UserContracts::Node *node = list.load(std::memory_order_acquire);
       node; node = node->next)
    if (node->contract.id() == id)
      return &node->contract;
  return nullptr;
}

const Contract *registry::findUserName(std::string_view name) {
  const UserContracts::Node *node = findNode(name);
  return node ? &node->contract : nullptr;
}

const Contract *registry::findUserCanonical(std::string_view text) {
  const UserContracts::Node *node = userLists().find(
      [&](const Contract &contract) { return contract.canonical() == text; });
  return node ? &node->contract : nullptr;
}

std::optional<FormatParameter>
registry::findUserParameter(std::string_view family) {
  const UserContracts::Node *node = findNode(family);
  return node ? node->parameter : std::nullopt;
}

std::vector<Contract> grit::userContracts() {
  std::vector<Contract> result;
  userLists().find([&](const Contract &contract) {
    result.push_back(contract);
    return false;
  });
  std::ranges::sort(result, {}, &Contract::userName);
  return result;
}

const Registration *grit::registration(size_t index) {
  UserContracts &lists = userLists();
  std::lock_guard lock(lists.writers);
  return index < lists.texts.size() ? &lists.texts[index] : nullptr;
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

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

/// What the names that the library has, or may get, begin with: texts, grades
/// of its own, and each family of registered formats.
static const std::vector<std::string_view> &reservedPrefixes() {
  static const std::vector<std::string_view> prefixes = [] {
    std::vector<std::string_view> all = {
        "grade_", "grit1", "gritdec1", "gritfmt1", "mxfp6", "mxfp8", "mxint8"};
    for (std::string_view name : registeredContractNames()) {
      std::string_view family = name.substr(0, name.find('.') + 1);
      if (!family.empty() && std::ranges::find(all, family) == all.end())
        all.push_back(family);
    }
    return all;
  }();
  return prefixes;
}

/// A name that the library may give to something of its own.
static bool isReserved(std::string_view name) {
  return std::ranges::any_of(reservedPrefixes(), [&](std::string_view prefix) {
    return name.starts_with(prefix);
  });
}

static std::string reservedText() {
  std::string text;
  for (std::string_view prefix : reservedPrefixes())
    text += (text.empty() ? "" : ", ") + std::string(prefix);
  return text;
}

/// "grade" or "format".
static const char *kindOf(const Contract &contract) {
  return contract.isGrade() ? "grade" : "format";
}

/// Refuses a name that is none, or one that the library may want.
static std::optional<Error> checkName(std::string_view spelling,
                                      const std::string &name) {
  if (isName(name) && !isReserved(name))
    return std::nullopt;
  return refuse("the name cannot be given to a contract", "name",
                "a letter, then letters, digits, '_', '-' and '.', at most "
                "64, not beginning with a prefix that the library uses (" +
                    reservedText() + ")",
                quoteText(spelling), {}, "choose another name")
      .value();
}

/// What a registration says beyond the bytes: a text of the same bytes and
/// another encoder is another registration.
static bool isSameRegistration(const Contract &a, const Contract &b) {
  return a == b && a.description().encoding == b.description().encoding &&
         a.canonicalPlacements() == b.canonicalPlacements();
}

static std::string describePair(std::string name, const Contract &contract) {
  std::string text = std::move(name) + " = " + contract.canonical();
  if (!contract.isGrade())
    text += ", encode=" +
            std::string(encodeRuleName(contract.description().encoding.rule));
  return text;
}

/// Refuses a pair of name and contract of which one is already taken.
static std::optional<Error> clash(std::string_view spelling,
                                  const std::string &name,
                                  const Contract &contract) {
  auto describeKnown = [](const Contract &known) {
    return describePair(quoteText(known.displayName()), known);
  };
  auto causeOf = [](const Contract &known) {
    return known.isRegistered() ? "the library has it from the start"
                                : "it was registered before";
  };
  std::string wanted = describePair(quoteText(spelling), contract);
  std::string kind = kindOf(contract);
  if (const Contract *known = registry::findName(name))
    return refuse("the name is taken", "name", describeKnown(*known), wanted,
                  causeOf(*known), "choose another name")
        .value();
  const Contract *known = registry::findCanonical(contract.canonical());
  if (known)
    return refuse("the " + kind + " has a name already", kind,
                  describeKnown(*known), wanted, causeOf(*known),
                  "use that name")
        .value();
  if ((known = registry::findId(contract.id())))
    return refuse("the id of the " + kind + " is taken by another contract",
                  kind, describeKnown(*known), wanted,
                  "two strings have the hash " + hexWord(contract.id(), 16),
                  "change the " + kind + " in a field that does not matter")
        .value();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

Contract grit::nameForUser(const Contract &contract, std::string name) {
  auto impl = std::make_shared<Contract::Impl>(*contract.impl);
  impl->userName = std::move(name);
  if (contract.isGrade() || impl->summary.empty())
    impl->summary =
        std::string("a ") + kindOf(contract) + " that the program registered";
  return Contract(std::move(impl));
}

/// Adds all of the entries, or none, as `text` is registered. The first gives
/// its kind to messages.
static Expected<Contract> addAll(std::string_view spelling,
                                 const std::vector<Entry> &entries,
                                 std::string_view text) {
  UserContracts &lists = userLists();
  std::lock_guard lock(lists.writers);
  const Entry &first = entries.front();
  const Contract *same = registry::findName(first.name);
  if (same && isSameRegistration(*same, first.contract))
    return *same;
  for (const Entry &entry : entries)
    if (std::optional<Error> error =
            clash(&entry == &first ? spelling : std::string_view(entry.name),
                  entry.name, entry.contract))
      return tl::unexpected(std::move(*error));
  for (const Entry &entry : entries)
    lists.add(entry);
  lists.texts.push_back({first.contract.isGrade() ? first.name : std::string(),
                         std::string(text)});
  return *registry::findUserName(first.name);
}

Expected<Contract> grit::registerGrade(std::string_view name,
                                       std::string_view text) {
  std::string lower = toLower(name);
  if (std::optional<Error> error = checkName(name, lower))
    return tl::unexpected(std::move(*error));
  Expected<Grade> grade = Grade::parse(text);
  if (!grade)
    return tl::unexpected(grade.error());
  Expected<Contract> contract = makeGradeContract(*grade);
  if (!contract)
    return contract;
  return addAll(name, {{lower, *contract}}, text);
}

Expected<Contract> grit::registerFormat(std::string_view text) {
  if (text.size() > kMaxFormatText)
    return refuse("a format of this length is not read", "text",
                  "at most " + std::to_string(kMaxFormatText) + " characters",
                  std::to_string(text.size()), {},
                  "check where the text is from");
  Expected<NamedFormat> format = parseFormat(text);
  if (!format)
    return tl::unexpected(format.error());
  if (format->name.empty())
    return refuse("a format needs a name to be registered", "name",
                  "the part name=", "none", {}, "write e.g. name = mine");
  std::string spelling = format->name;
  format->name = toLower(spelling);
  if (std::optional<Error> error = checkName(spelling, format->name))
    return tl::unexpected(std::move(*error));
  std::vector<Entry> entries = {{format->name, makeFormatContract(*format)}};
  if (format->parameters.size() == 1)
    entries.front().parameter = format->parameters.front();
  for (FamilyMember &member : membersOf(text, *format))
    entries.push_back(
        {std::move(member.name), makeFormatContract(member.format)});
  return addAll(spelling, entries, text);
}
