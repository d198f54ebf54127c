//===- Rules.cpp - rules and their documentation -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <cassert>

using namespace grit;
using namespace grit::scan;

std::span<const Rule> grit::scan::rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (auto part : {rulesOfFiles(), rulesOfModels(), rulesOfContents()})
      list.insert(list.end(), part.begin(), part.end());
    std::ranges::sort(list, {}, &Rule::id);
    return list;
  }();
  return all;
}

const Rule &grit::scan::rule(Id id) {
  auto found = std::ranges::lower_bound(rules(), id, {}, &Rule::id);
  assert(found != rules().end() && found->id == id && "an id without a rule");
  return *found;
}

std::string grit::scan::idText(Id id) {
  std::string number = std::to_string(static_cast<unsigned>(id));
  return "GRIT-S" + std::string(3 - number.size(), '0') + number;
}

std::string grit::scan::docAnchor(Id id) {
  return "docs/Findings.md#" + toLower(idText(id));
}

std::string_view grit::scan::severityName(Severity severity) {
  constexpr std::string_view kNames[] = {"unreadable", "violation",
                                         "disagreement", "warning"};
  return kNames[static_cast<size_t>(severity)];
}

std::string_view grit::scan::certaintyName(Certainty certainty) {
  constexpr std::string_view kNames[] = {"proven", "inferred", "ambiguous",
                                         "not expressible"};
  return kNames[static_cast<size_t>(certainty)];
}

namespace {
struct Family {
  unsigned first;
  std::string_view name, title;
};
} // namespace

static constexpr Family kFamilies[] = {
    {1, "files", "Files"},
    {11, "contracts", "Declared contracts"},
    {21, "indexes", "Indexes, manifests and configurations"},
    {30, "declared", "Declared against implied"},
    {40, "missing", "Missing planes"},
    {50, "conventions", "Conventions"},
    {60, "siblings", "Siblings and roles"},
    {70, "across", "Across files"},
    {80, "codes", "Codes"},
    {90, "unproven", "What no header proves"},
};

static const Family &familyOf(Id id) {
  const Family *found = kFamilies;
  for (const Family &family : kFamilies)
    if (family.first <= static_cast<unsigned>(id))
      found = &family;
  return *found;
}

std::string_view grit::scan::familyName(Id id) { return familyOf(id).name; }

static constexpr std::string_view kIntroduction =
    R"(# Findings of `grit scan`

`grit scan --list-findings` prints this page. Ids are stable: a number is never given
to another finding. The severity decides the exit code
([Command line](CommandLine.md#scan)). The certainty says how much the bytes prove:

- **proven**: it follows from the bytes and from what the file declares;
- **inferred**: names, types and shapes suggest it; nothing states it;
- **ambiguous**: two readings fit, and they decode to different numbers;
- **not expressible**: it is understood, and GRIT v1 has no spelling for it.

A finding marked *deep* needs `--deep`, which reads the planes.
)";

std::string grit::scan::documentation() {
  std::string text(kIntroduction);
  const Family *family = nullptr;
  for (const Rule &rule : rules()) {
    if (&familyOf(rule.id) != family) {
      family = &familyOf(rule.id);
      text += "\n## " + std::string(family->title) + "\n";
    }
    text += "\n### " + idText(rule.id) + "\n\n**" + std::string(rule.name) +
            "**: " + std::string(rule.title) + ". *" +
            std::string(severityName(rule.severity)) + ", " +
            std::string(certaintyName(rule.certainty)) +
            (rule.deep ? ", deep*\n\n" : "*\n\n");
    text += "- Cause: " + std::string(rule.cause) + "\n";
    text += "- Example: " + std::string(rule.example) + "\n";
    text += "- Fix: " + std::string(rule.fix) + "\n";
  }
  return text;
}
