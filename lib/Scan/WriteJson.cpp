//===- WriteJson.cpp - reports as JSON and SARIF -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Json.h"
#include "grit/Scan/Writers.h"

using namespace grit;
using namespace grit::scan;

static void writeFinding(JsonWriter &json, const Finding &finding) {
  const Rule &known = rule(finding.id);
  json.beginObject()
      .field("id", idText(finding.id))
      .field("name", known.name)
      .field("family", familyName(finding.id))
      .field("severity", severityName(known.severity))
      .field("certainty", certaintyName(known.certainty))
      .field("path", finding.path)
      .field("message", finding.message);
  json.key("where").beginArray();
  for (const std::string &where : finding.where)
    json.value(where);
  json.endArray().field("count", finding.count);
  if (!finding.declared.empty())
    json.field("declared", finding.declared);
  if (!finding.found.empty())
    json.field("found", finding.found);
  json.field("cause", finding.cause.empty() ? known.cause : finding.cause);
  json.field("fix", finding.fix.empty() ? known.fix : finding.fix);
  json.field("help", docAnchor(finding.id));
  json.endObject();
}

static void writeTensor(JsonWriter &json, const TensorReport &tensor,
                        const Report &report) {
  json.beginObject()
      .field("path", report.files[tensor.file].path)
      .field("name", tensor.name)
      .field("dtype", tensor.dtype)
      .field("shape", std::span<const int64_t>(tensor.shape))
      .field("bytes", tensor.bytes)
      .field("basis", tensor.basis);
  const std::pair<const char *, const std::string *> texts[] = {
      {"family", &tensor.family},
      {"role", &tensor.role},
      {"contract", &tensor.contract},
      {"canonical", &tensor.canonical},
      {"gid", &tensor.gid}};
  for (auto [name, text] : texts)
    if (!text->empty())
      json.field(name, *text);
  if (!tensor.logicalShape.empty())
    json.field("logical_shape", std::span<const int64_t>(tensor.logicalShape));
  json.endObject();
}

std::string grit::scan::writeJson(const Report &report, bool simple) {
  JsonWriter json(2);
  json.beginObject().field("version", kJsonVersion);
  json.field("exit_policy", simple ? "simple" : "graded");
  json.field("exit_code",
             simple ? report.simpleExitCode() : report.gradedExitCode());
  json.field("exit_code_graded", report.gradedExitCode());
  json.field("exit_code_simple", report.simpleExitCode());
  json.key("counts").beginObject();
  for (Severity severity : {Severity::Unreadable, Severity::Violation,
                            Severity::Disagreement, Severity::Warning})
    json.field(severityName(severity), report.count(severity));
  json.field("suppressed", report.suppressed).endObject();
  json.key("files").beginArray();
  for (const FileReport &file : report.files)
    json.beginObject()
        .field("path", file.path)
        .field("parsed", !file.format.empty())
        .field("format", file.format)
        .field("bytes", file.bytes)
        .endObject();
  json.endArray().key("findings").beginArray();
  for (const Finding &finding : report.findings)
    writeFinding(json, finding);
  json.endArray().key("tensors").beginArray();
  for (const TensorReport &tensor : report.tensors)
    writeTensor(json, tensor, report);
  json.endArray().endObject();
  return json.str() + "\n";
}

//===----------------------------------------------------------------------===//
// SARIF
//===----------------------------------------------------------------------===//

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

static void writeRule(JsonWriter &json, const Rule &rule) {
  json.beginObject().field("id", idText(rule.id)).field("name", rule.name);
  json.key("shortDescription")
      .beginObject()
      .field("text", rule.title)
      .endObject();
  json.key("fullDescription")
      .beginObject()
      .field("text", rule.cause)
      .endObject();
  json.key("help").beginObject().field("text", rule.fix).endObject();
  json.key("defaultConfiguration")
      .beginObject()
      .field("level", levelOf(rule.severity))
      .endObject();
  json.endObject();
}

static void writeResult(JsonWriter &json, const Finding &finding) {
  const Rule &known = rule(finding.id);
  std::string text = finding.message;
  if (!finding.declared.empty())
    text += "; declared: " + finding.declared;
  if (!finding.found.empty())
    text += "; found: " + finding.found;
  json.beginObject().field("ruleId", idText(finding.id));
  json.field("level", levelOf(known.severity));
  json.key("message").beginObject().field("text", text).endObject();
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
  json.key("properties")
      .beginObject()
      .field("certainty", certaintyName(known.certainty))
      .field("count", finding.count)
      .endObject();
  json.endObject();
}

std::string grit::scan::writeSarif(const Report &report,
                                   std::string_view toolVersion) {
  JsonWriter json(2);
  json.beginObject();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.field("version", "2.1.0").key("runs").beginArray().beginObject();
  json.key("tool").beginObject().key("driver").beginObject();
  json.field("name", "grit scan").field("version", toolVersion);
  json.key("rules").beginArray();
  for (const Rule &known : rules())
    writeRule(json, known);
  json.endArray().endObject().endObject();
  json.key("results").beginArray();
  for (const Finding &finding : report.findings)
    writeResult(json, finding);
  json.endArray().endObject().endArray().endObject();
  return json.str() + "\n";
}
