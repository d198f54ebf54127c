//===- Show.cpp - grit show -----------------------------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Output.h"
#include "OutputFile.h"
#include "ShowSvg.h"
#include "grit/Format/BitMap.h"
#include "grit/Format/Documentation.h"
#include "grit/Format/Text.h"
#include <algorithm>

using namespace grit;
using namespace grit::tool;

namespace {
struct Options {
  std::string contract, svg;
  Registrations registrations;
  bool json = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

/// Calls `visit` with the rows that are printed, those that repeat once.
template <typename Visit>
static void forShownRows(const PlaneMap &map, Visit visit) {
  for (const MapRun &run : map.runs)
    for (size_t i = run.first; i < run.first + run.rows; ++i)
      visit(i, map.rows[i]);
}

/// "." where the word for an unread bit has no room.
static std::string fittedLabel(const PlaneMap &map, const MapSegment &segment,
                               size_t room) {
  std::string label = mapLabel(map, segment);
  return segment.field < 0 && label.size() > room ? "." : label;
}

/// Characters per bit, a line between two of them included, so that labels fit.
static size_t cellWidth(const PlaneMap &map) {
  constexpr size_t kLeast = 4, kMost = 12;
  size_t width = kLeast;
  forShownRows(map, [&](size_t, const MapRow &row) {
    for (const MapSegment &segment : row) {
      size_t count = segment.high - segment.low + 1;
      size_t size = fittedLabel(map, segment, 0).size();
      width = std::max(width, (size + count) / count);
    }
  });
  return std::min(width, kMost);
}

static void printRow(const PlaneMap &map, size_t byte, const MapRow &row,
                     size_t cell) {
  std::string line;
  for (const MapSegment &segment : row) {
    size_t room = (segment.high - segment.low + 1) * cell - 1;
    std::string label = fittedLabel(map, segment, room);
    label.resize(std::max(label.size(), room), ' ');
    line += label + "|";
  }
  std::printf("%6zu |%s\n", byte, line.c_str());
}

static void printPlane(const PlaneMap &map) {
  std::printf("\nplane %s: %s", map.plane.c_str(), map.holds.c_str());
  std::printf("; shown: %s%s\n", map.isWhole ? "" : "the first ",
              sizeText(map.rows.size()).c_str());
  size_t cell = cellWidth(map);
  std::string heading;
  for (int bit = 7; bit >= 0; --bit)
    heading += std::to_string(bit) + std::string(cell - 1, ' ');
  heading.erase(heading.find_last_not_of(' ') + 1);
  std::printf("  byte  %s\n", heading.c_str());
  for (const MapRun &run : map.runs) {
    for (size_t i = run.first; i < run.first + run.rows; ++i)
      printRow(map, i, map.rows[i], cell);
    if (run.count > 1)
      std::printf("        %s\n", mapRepeat(map, run).c_str());
  }
  for (const MapField &field : map.fields)
    std::printf("  %s: %s\n", field.name.c_str(), field.summary.c_str());
}

static void printText(const Contract &contract,
                      const std::vector<PlaneMap> &maps) {
  std::string summary = printable(contract.summary());
  std::printf("%s%s%s\n", printable(contract.displayName()).c_str(),
              summary.empty() ? "" : ": ", summary.c_str());
  std::printf("id %s, %g bits per element, the axis a multiple of %s\n",
              hexWord(contract.id(), 16).c_str(),
              contract.description().bitsPerElement(),
              std::to_string(contract.description().axisMultiple).c_str());
  for (const PlaneMap &map : maps)
    printPlane(map);
}

//===----------------------------------------------------------------------===//
// As JSON
//===----------------------------------------------------------------------===//

static void writeSegment(JsonWriter &json, const PlaneMap &map, size_t byte,
                         const MapSegment &segment) {
  auto integer = [](size_t value) { return static_cast<int64_t>(value); };
  json.beginObject().field("byte", integer(byte));
  json.field("high", integer(segment.high)).field("low", integer(segment.low));
  if (segment.field >= 0) {
    json.field("field", map.fields[static_cast<size_t>(segment.field)].name);
    json.field("values", std::span<const int64_t>(segment.values));
    json.field("top", integer(segment.top));
    json.field("bottom", integer(segment.bottom));
  }
  json.endObject();
}

static void printJson(const Contract &contract,
                      const std::vector<PlaneMap> &maps) {
  JsonWriter json(2);
  json.beginObject().field("version", 1).field("name", contract.displayName());
  json.field("summary", contract.summary());
  json.field("canonical", contract.canonical());
  json.field("id", hexWord(contract.id(), 16)).key("planes").beginArray();
  for (const PlaneMap &map : maps) {
    json.beginObject().field("name", map.plane).field("holds", map.holds);
    json.field("bits", map.bits).field("whole", map.isWhole);
    json.key("fields").beginArray();
    for (const MapField &field : map.fields) {
      json.beginObject().field("name", field.name);
      json.field("kind", std::string(mapKindName(field.kind)));
      json.field("summary", field.summary).endObject();
    }
    json.endArray().key("segments").beginArray();
    for (size_t byte = 0; byte < map.rows.size(); ++byte)
      for (const MapSegment &segment : map.rows[byte])
        writeSegment(json, map, byte, segment);
    json.endArray().endObject();
  }
  json.endArray().endObject();
  std::printf("%s\n", json.str().c_str());
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static int run(const Options &options) {
  if (!registerAll(options.registrations))
    return kUsage;
  if (auto error = checkOutput(options.svg, options.registrations.formats)) {
    printError(*error);
    return kRefused;
  }
  Expected<Contract> contract = Contract::parse(options.contract);
  if (!contract) {
    printError(contract.error());
    return kRefused;
  }
  std::vector<PlaneMap> maps = bitMaps(contract->description());
  if (!options.svg.empty())
    if (Expected<void> written =
            writeTextFile(options.svg, drawBitMaps(contract->displayName(),
                                                   contract->summary(), maps));
        !written) {
      printError(written.error());
      return kOutputFailed;
    }
  if (options.json)
    printJson(*contract, maps);
  else
    printText(*contract, maps);
  return finishOutput(kOk);
}

Command grit::tool::addShow(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand(
      "show", "Shows which bits of a format belong to which number");
  app->add_option("FORMAT", options->contract,
                  "A name (grit formats) or a text, grit1(...) or "
                  "gritfmt1(...)")
      ->required();
  app->add_option("--svg", options->svg, "Also draw it into this file")
      ->type_name("FILE")
      ->check(checkOutputName);
  addRegistrations(*app, options->registrations);
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return run(*options); }};
}
