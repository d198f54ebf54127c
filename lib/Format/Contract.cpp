//===- Contract.cpp - contracts by name and by text -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/Contract.h"
#include "Registry.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <charconv>

using namespace grit;

const std::string &Contract::name() const { return impl->name; }
bool Contract::isRegistered() const { return impl->registered; }
const std::string &Contract::canonical() const { return impl->canonical; }
uint64_t Contract::id() const { return impl->id; }
const Grade *Contract::grade() const {
  return impl->grade ? &*impl->grade : nullptr;
}
const FormatDescription &Contract::description() const {
  return impl->description;
}
const Placements &Contract::canonicalPlacements() const {
  return impl->placements;
}
const std::string &Contract::summary() const { return impl->summary; }
const std::string &Contract::userName() const { return impl->userName; }
const std::string &Contract::displayName() const {
  return userName().empty() ? name() : userName();
}

static tl::unexpected<Error> unknown(std::string_view text, std::string message,
                                     std::string declared, std::string fix) {
  return makeError(Status::GradeUnknown, std::move(message), "contract",
                   std::move(declared), quoteText(text), {}, std::move(fix));
}

std::optional<Contract> Contract::lookupId(uint64_t id) {
  const Contract *contract = registry::findId(id);
  return contract ? std::optional<Contract>(*contract) : std::nullopt;
}

/// "name(block=128)", lower case and without spaces.
static Expected<Contract> parseMember(std::string_view original,
                                      std::string_view text) {
  size_t open = text.find('(');
  std::string_view name = text.substr(0, open);
  std::optional<FormatParameter> found = registry::findParameter(name);
  if (!found) {
    if (registry::findName(name))
      return unknown(original, std::string(name) + " takes no parameter",
                     std::string(name), "write the name alone");
    return unknown(
        original, "unknown contract " + quoteText(name),
        "a registered name or grit1(...)",
        didYouMean(name, std::vector<std::string_view>{"hurray.nf4", "grit1"}));
  }
  const FormatParameter &parameter = *found;
  std::string prefix = parameter.name + "=";
  std::string declared =
      std::string(name) + "(" + prefix + "N), N a power of two from " +
      std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
  std::string_view argument = text.substr(open + 1);
  if (argument.empty() || argument.back() != ')' ||
      !argument.starts_with(prefix))
    return unknown(original, "malformed parameter of " + std::string(name),
                   declared,
                   "write e.g. " + std::string(name) + "(" + prefix +
                       std::to_string(parameter.byDefault) + ")");
  argument.remove_suffix(1);
  argument.remove_prefix(prefix.size());
  int64_t value = 0;
  auto [end, code] = std::from_chars(argument.data(),
                                     argument.data() + argument.size(), value);
  if (code != std::errc() || end != argument.data() + argument.size() ||
      !parameter.accepts(value))
    return unknown(original,
                   parameter.name + " size of " + std::string(name) +
                       " is not one that the format has",
                   declared, "choose a power of two within the limits");
  std::string member = std::string(name);
  if (value != parameter.byDefault)
    member += "(" + prefix + std::to_string(value) + ")";
  if (const Contract *contract = registry::findName(member))
    return *contract;
  return unknown(original, std::string(name) + " has no such member", declared,
                 "choose another value");
}

/// The part of a name before its dot, with it; nothing for a name without one.
static std::string_view nameSpace(std::string_view name) {
  return name.substr(0, name.find('.') + 1);
}

/// Names without a name space, and one of each name space.
static std::string knownNames() {
  const std::vector<std::string> &names = registeredContractNames();
  std::string text;
  std::vector<std::string_view> seen;
  for (const std::string &name : names) {
    std::string_view space = nameSpace(name);
    if (!space.empty()) {
      if (std::ranges::find(seen, space) != seen.end())
        continue;
      seen.push_back(space);
    }
    text += (text.empty() ? "" : ", ") + name;
    auto others = std::ranges::count(names, space, nameSpace) - 1;
    if (!space.empty() && others)
      text += " and " + std::to_string(others) + " more of " +
              std::string(space.substr(0, space.size() - 1));
  }
  return text;
}

/// Lower case without ASCII white space.
static std::string normalized(std::string_view text) {
  std::string result = toLower(text);
  std::erase_if(result, [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
           c == '\f';
  });
  return result;
}

/// A known name for one that is not known: first one whose name space was left
/// off ("q4_0", also with an ending, "q4_0_x"), then the nearest by spelling.
static std::string suggestName(std::string_view name) {
  std::vector<std::string_view> names(registeredContractNames().begin(),
                                      registeredContractNames().end());
  std::string_view best, bestPart;
  for (std::string_view known : names) {
    size_t dot = known.find('.');
    if (dot == std::string_view::npos)
      continue;
    std::string_view part = known.substr(dot + 1);
    bool isPart = name == part || (name.starts_with(part) &&
                                   name.substr(part.size()).starts_with("_"));
    if (isPart && part.size() > bestPart.size()) {
      best = known;
      bestPart = part;
    }
  }
  if (!best.empty())
    return "did you mean '" + std::string(best) + "'?";
  std::vector<Contract> users = userContracts();
  for (const Contract &contract : users)
    names.push_back(contract.userName());
  return didYouMean(name, names);
}

Expected<Contract> Contract::parse(std::string_view text) {
  if (text.size() > kMaxFormatText)
    return unknown(text, "a contract of this length is not read",
                   "at most " + std::to_string(kMaxFormatText) + " characters",
                   "check where the text is from");
  std::string name = normalized(text);
  if (name.starts_with("grit1(")) {
    Expected<Grade> grade = Grade::parse(text);
    if (!grade)
      return tl::make_unexpected(grade.error());
    return fromGrade(*grade);
  }
  if (name.starts_with("gritfmt1(") || name.starts_with("#")) {
    if (const Contract *contract = registry::findCanonical(name))
      return *contract;
    return makeTextContract(text);
  }
  if (name.starts_with("grade_"))
    if (auto *contract = registry::findName(std::string_view(name).substr(6));
        contract && contract->isGrade())
      return *contract;
  if (const Contract *contract = registry::findName(name))
    return *contract;
  if (name.find('(') != std::string::npos)
    return parseMember(text, name);
  std::string suggestion = suggestName(name);
  return unknown(
      text, "unknown contract",
      "a name (" + knownNames() + ") or a text grit1(...) or gritfmt1(...)",
      suggestion.empty() ? "use one of the names, in any case" : suggestion);
}

Expected<Contract> Contract::fromGrade(const Grade &grade) {
  if (const Contract *contract = registry::findCanonical(grade.canonical()))
    return *contract;
  return makeGradeContract(grade);
}
