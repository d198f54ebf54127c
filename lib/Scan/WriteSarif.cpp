//===- WriteSarif.cpp - reports as SARIF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Json.h"
#include "grit/Format/Fingerprint.h"
#include "grit/Format/Text.h"
#include "grit/Scan/Writers.h"

using namespace grit;
using namespace grit::scan;

static std::string_view levelOf(Severity severity) {
  switch (severity) {
  case Severity::Unreadable:
  case Severity::Violation:
    return "error";
  case Severity::Disagreement:
    return "warning";
  case Severity::Warning:
    return "note";
  }
  return "none";
}

/// A path as a URI: bytes that a URI has no place for become %XX.
static std::string uriOf(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._~/";
  // "./a" and "a" are one file, and annotators compare the text.
  while (path.starts_with("./")) {
    path.remove_prefix(2);
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  }
  if (path.empty())
    return "."; // the current directory itself
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += "0123456789ABCDEF"[byte >> 4];
      uri += "0123456789ABCDEF"[byte & 15];
    }
  }
  return uri;
}

static void writeText(JsonWriter &json, const char *key,
                      std::string_view text) {
  json.key(key).beginObject().field("text", text).endObject();
}

static void writeRule(JsonWriter &json, const Rule &rule,
                      std::string_view documentation) {
  json.beginObject().field("id", idText(rule.id)).field("name", rule.name);
  writeText(json, "shortDescription", rule.title);
  writeText(json, "fullDescription", rule.cause);
  std::string fields = "Cause: " + std::string(rule.cause) +
                       "\n\nExample: " + std::string(rule.example) +
                       "\n\nFix: " + std::string(rule.fix);
  json.key("help")
      .beginObject()
      .field("text", fields)
      .field("markdown", fields)
      .endObject();
  json.field("helpUri",
             std::string(documentation) + "#" + toLower(idText(rule.id)));
  json.key("defaultConfiguration")
      .beginObject()
      .field("level", levelOf(rule.severity))
      .endObject();
  json.key("properties")
      .beginObject()
      .field("certainty", certaintyName(rule.certainty))
      .field("family", familyName(rule.id))
      .endObject();
  json.endObject();
}

/// Annotators show the message and nothing else of a result.
static std::string messageOf(const Finding &finding) {
  const Rule &known = rule(finding.id);
  std::string text = finding.message;
  auto add = [&](const char *name, std::string_view value) {
    if (!value.empty())
      text += "\n" + std::string(name) + ": " + std::string(value);
  };
  std::string where;
  for (const std::string &place : finding.where)
    where += (where.empty() ? "" : ", ") + quoteText(place);
  if (finding.count > finding.where.size())
    where += " and " + std::to_string(finding.count - finding.where.size()) +
             " more";
  add("where", where);
  add("declared", finding.declared);
  add("found", finding.found);
  add("cause", finding.cause.empty() ? known.cause : finding.cause);
  add("fix", finding.fix.empty() ? known.fix : finding.fix);
  return text;
}

/// The same for the same finding in a later run, wherever it is scanned.
static std::string fingerprintOf(const Finding &finding) {
  std::string text =
      idText(finding.id) + "\n" + uriOf(finding.path) + "\n" + finding.message;
  for (const std::string &where : finding.where)
    text += "\n" + where;
  return hexWord(fnv1a64(text), 16).substr(2);
}

static void writeResult(JsonWriter &json, const Finding &finding) {
  const Rule &known = rule(finding.id);
  json.beginObject().field("ruleId", idText(finding.id));
  json.field("ruleIndex", static_cast<int64_t>(&known - rules().data()));
  json.field("level", levelOf(known.severity));
  writeText(json, "message", messageOf(finding));
  json.key("locations").beginArray().beginObject();
  json.key("physicalLocation")
      .beginObject()
      .key("artifactLocation")
      .beginObject()
      .field("uri", uriOf(finding.path))
      .endObject()
      .endObject();
  if (!finding.where.empty()) {
    json.key("logicalLocations").beginArray();
    for (const std::string &where : finding.where)
      json.beginObject().field("fullyQualifiedName", where).endObject();
    json.endArray();
  }
  json.endObject().endArray();
  json.key("partialFingerprints")
      .beginObject()
      .field("gritScan/v1", fingerprintOf(finding))
      .endObject();
  json.key("properties")
      .beginObject()
      .field("certainty", certaintyName(known.certainty))
      .field("count", finding.count)
      .field("fix", finding.fix.empty() ? known.fix : finding.fix)
      .endObject();
  json.endObject();
}

std::string grit::scan::writeSarif(const Report &report,
                                   std::string_view toolVersion,
                                   std::string_view documentation) {
  JsonWriter json(2);
  json.beginObject();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.field("version", "2.1.0").key("runs").beginArray().beginObject();
  json.key("tool").beginObject().key("driver").beginObject();
  json.field("name", "grit scan").field("version", toolVersion);
  json.key("rules").beginArray();
  for (const Rule &known : rules())
    writeRule(json, known, documentation);
  json.endArray().endObject().endObject();
  json.key("results").beginArray();
  for (const Finding &finding : report.findings)
    writeResult(json, finding);
  json.endArray().endObject().endArray().endObject();
  return json.str() + "\n";
}
