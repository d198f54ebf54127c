//===- Explain.cpp - grit explain -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Scan/Explain.h"
#include "Command.h"
#include "Output.h"

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string a, b;
  Registrations registrations;
  bool json = false;
};
} // namespace

static void printText(const Options &options,
                      const scan::Explanation &explanation) {
  std::vector<std::vector<std::string>> rows = {{"field", "A", "B"}};
  for (const scan::FieldDifference &field : explanation.fields) {
    // Long texts stand below each other.
    constexpr size_t kLongest = 44;
    if (field.a.size() > kLongest || field.b.size() > kLongest) {
      rows.push_back({field.field, "A: " + field.a, ""});
      rows.push_back({"", "B: " + field.b, ""});
    } else {
      rows.push_back({field.field, field.a, field.b});
    }
  }
  std::printf("A: %s\nB: %s\n", printable(options.a).c_str(),
              printable(options.b).c_str());
  std::vector<std::vector<std::string>> shortRows, longRows;
  for (auto &row : rows)
    (row[2].empty() ? longRows : shortRows).push_back(std::move(row));
  if (shortRows.size() > 1)
    printTable(shortRows, {});
  for (const auto &row : longRows)
    std::printf("%s%s\n", row[0].empty() ? "" : (row[0] + "\n").c_str(),
                ("  " + row[1]).c_str());
  if (explanation.fields.empty())
    std::puts("no field differs");
  std::printf("%s\n", explanation.meaning.c_str());
}

static void printJson(const Options &options,
                      const scan::Explanation &explanation) {
  JsonWriter json(2);
  json.beginObject().field("version", 1);
  json.field("a", options.a).field("b", options.b);
  json.field("same_bytes", explanation.sameBytes);
  json.key("differences").beginArray();
  for (const scan::FieldDifference &field : explanation.fields)
    json.beginObject()
        .field("field", field.field)
        .field("a", field.a)
        .field("b", field.b)
        .endObject();
  json.endArray().field("meaning", explanation.meaning).endObject();
  std::printf("%s\n", json.str().c_str());
}

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  Expected<scan::Subject> a = scan::readSubject(options.a);
  Expected<scan::Subject> b = scan::readSubject(options.b);
  for (const auto *side : {&a, &b})
    if (!*side)
      printError(side->error());
  if (!a || !b)
    return kRefused;
  scan::Explanation explanation = scan::explain(*a, *b);
  if (options.json)
    printJson(options, explanation);
  else
    printText(options, explanation);
  return finishOutput(kOk);
}

Command grit::tool::addExplain(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "explain", "Says what tells two contracts, arrays or descriptors apart");
  const char *what = "FILE, FILE::TENSOR, 128 hex digits, a name, a grade "
                     "string, a contract id or a gid";
  app->add_option("A", options->a, what)->required();
  app->add_option("B", options->b, what)->required();
  addRegistrations(*app, options->registrations);
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return run(*options); }};
}
