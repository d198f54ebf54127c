//===- Formats.cpp - grit formats -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "grit/Format/Documentation.h"
#include "grit/Format/Text.h"

using namespace grit;
using namespace grit::tool;

static std::string bitsText(const FormatDescription &description) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", description.bitsPerElement());
  return text;
}

/// The names of the library, then those of the command line.
static std::vector<std::pair<std::string, Contract>> listed() {
  std::vector<std::pair<std::string, Contract>> contracts;
  for (const std::string &name : registeredContractNames())
    contracts.emplace_back(name, *Contract::parse(name));
  for (const Contract &contract : userContracts())
    contracts.emplace_back(contract.userName(), contract);
  return contracts;
}

static void printJson() {
  JsonWriter json(2);
  json.beginObject().field("version", 1).key("formats").beginArray();
  for (const auto &[name, contract] : listed()) {
    const FormatDescription &description = contract.description();
    json.beginObject().field("name", name).field("summary", contract.summary());
    json.field("kind", contract.isGrade() ? "grade" : "foreign");
    json.field("canonical", contract.canonical());
    json.field("id", hexWord(contract.id(), 16));
    json.field("bits_per_element", description.bitsPerElement());
    json.field("axis_multiple", description.axisMultiple);
    json.key("planes").beginArray();
    for (const PlaneInfo &plane : description.planes)
      json.value(plane.name);
    json.endArray();
    json.field("encodes", description.encoding.rule != EncodeRule::None);
    json.endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

static void printText() {
  std::vector<std::vector<std::string>> rows = {
      {"name", "bits", "id", "what it is"}};
  for (const auto &[name, contract] : listed()) {
    rows.push_back({name, bitsText(contract.description()),
                    hexWord(contract.id(), 16), contract.summary()});
  }
  printTable(rows, {1});
}

Command grit::tool::addFormats(CLI::App &parent) {
  struct Options {
    bool json = false, markdown = false;
    Registrations registrations;
  };
  auto options = std::make_shared<Options>();
  CLI::App *app =
      parent.add_subcommand("formats", "Lists the contracts known by name");
  CLI::Option *json = app->add_flag("--json", options->json, "Print JSON");
  app->add_flag("--markdown", options->markdown,
                "Print the table of docs/Formats.md")
      ->excludes(json);
  addRegistrations(*app, options->registrations);
  return {app, [options] {
            if (!registerAll(options->registrations))
              return static_cast<int>(kUsage);
            if (options->json)
              printJson();
            else if (options->markdown)
              std::printf("%s", documentationTable().c_str());
            else
              printText();
            return finishOutput(kOk);
          }};
}
